#ifndef OUT_KIND_H
#define OUT_KIND_H

#include "model/event_traits.h"

/* What an event is besides its class, for formats without such a notion: they have a schema for each kind, or
 * state it by name.  The order is part of the output of CTF. */
enum event_kind {
	KIND_SPAN,
	KIND_ASYNC, /* a span that overlaps others of its track */
	KIND_INSTANT,
	KIND_COUNTER,
	KIND_ARROW_OUT,
	KIND_ARROW_IN,
	KIND_ARROW_STEP, /* an arrow arrives and continues */
	KIND_BEGIN,
	KIND_END,
	EVENT_KINDS
};

static inline enum event_kind event_kind(const struct event *e)
{
	static const uint8_t kinds[] = {
		[PHASE_SPAN] = KIND_SPAN,        [PHASE_BEGIN] = KIND_BEGIN,
		[PHASE_END] = KIND_END,          [PHASE_INSTANT] = KIND_INSTANT,
		[PHASE_COUNTER] = KIND_COUNTER,  [PHASE_FLOW_OUT] = KIND_ARROW_OUT,
		[PHASE_FLOW_IN] = KIND_ARROW_IN,
	};

	if (event_is_step(e))
		return KIND_ARROW_STEP;
	return event_is_async(e) ? KIND_ASYNC : (enum event_kind)kinds[e->phase];
}

static inline bool kind_is_span(enum event_kind kind)
{
	return kind == KIND_SPAN || kind == KIND_ASYNC;
}

static inline bool kind_is_arrow(enum event_kind kind)
{
	return kind == KIND_ARROW_OUT || kind == KIND_ARROW_IN || kind == KIND_ARROW_STEP;
}

#endif
