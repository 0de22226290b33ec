#ifndef OUT_KIND_H
#define OUT_KIND_H

#include "model/event_traits.h"

/* What an event is besides its class, for formats without such a notion: they have a schema for each kind, or
 * state it by name.  The order is part of the output of CTF. */
enum event_kind {
	EVENT_KIND_SPAN,
	EVENT_KIND_ASYNC, /* a span that overlaps others of its track */
	EVENT_KIND_INSTANT,
	EVENT_KIND_COUNTER,
	EVENT_KIND_ARROW_OUT,
	EVENT_KIND_ARROW_IN,
	EVENT_KIND_ARROW_STEP, /* an arrow arrives and continues */
	EVENT_KIND_BEGIN,
	EVENT_KIND_END,
	EVENT_KINDS
};

static inline enum event_kind event_kind(const struct event *e)
{
	static const uint8_t kinds[] = {
		[PHASE_SPAN] = EVENT_KIND_SPAN,        [PHASE_BEGIN] = EVENT_KIND_BEGIN,
		[PHASE_END] = EVENT_KIND_END,          [PHASE_INSTANT] = EVENT_KIND_INSTANT,
		[PHASE_COUNTER] = EVENT_KIND_COUNTER,  [PHASE_FLOW_OUT] = EVENT_KIND_ARROW_OUT,
		[PHASE_FLOW_IN] = EVENT_KIND_ARROW_IN,
	};

	if (event_is_step(e))
		return EVENT_KIND_ARROW_STEP;
	return event_is_async(e) ? EVENT_KIND_ASYNC : (enum event_kind)kinds[e->phase];
}

static inline bool kind_is_span(enum event_kind kind)
{
	return kind == EVENT_KIND_SPAN || kind == EVENT_KIND_ASYNC;
}

static inline bool kind_is_arrow(enum event_kind kind)
{
	return kind == EVENT_KIND_ARROW_OUT || kind == EVENT_KIND_ARROW_IN || kind == EVENT_KIND_ARROW_STEP;
}

#endif
