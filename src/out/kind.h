#ifndef OUT_KIND_H
#define OUT_KIND_H

#include "model/event_traits.h"

/*
 * The kind of an event, and its name in tables, lines and reports.  Formats without such a notion have a
 * schema for each kind, or state it by name.  The order is part of the output of CTF.  An async span overlaps
 * others of its track; a step is an arrow that arrives and continues; structure is no event, and is not among
 * EVENT_KINDS.
 */
#define EVENT_KIND_ROWS(ROW)                                                                                 \
	ROW(SPAN, "span")                                                                                    \
	ROW(ASYNC, "async")                                                                                  \
	ROW(INSTANT, "instant")                                                                              \
	ROW(COUNTER, "counter")                                                                              \
	ROW(ARROW_OUT, "flow_out")                                                                           \
	ROW(ARROW_IN, "flow_in")                                                                             \
	ROW(ARROW_STEP, "flow_step")                                                                         \
	ROW(BEGIN, "begin")                                                                                  \
	ROW(END, "end")                                                                                      \
	ROW(STRUCTURE, "structure")

enum event_kind {
#define ROW(kind, name) EVENT_KIND_##kind,
	EVENT_KIND_ROWS(ROW)
#undef ROW
	    EVENT_KINDS = EVENT_KIND_STRUCTURE
};

static inline enum event_kind event_kind(const struct event *e)
{
	static const uint8_t kinds[] = {
		[PHASE_SPAN] = EVENT_KIND_SPAN,        [PHASE_BEGIN] = EVENT_KIND_BEGIN,
		[PHASE_END] = EVENT_KIND_END,          [PHASE_INSTANT] = EVENT_KIND_INSTANT,
		[PHASE_COUNTER] = EVENT_KIND_COUNTER,  [PHASE_FLOW_OUT] = EVENT_KIND_ARROW_OUT,
		[PHASE_FLOW_IN] = EVENT_KIND_ARROW_IN, [PHASE_STRUCTURE] = EVENT_KIND_STRUCTURE,
	};

	if (event_is_step(e))
		return EVENT_KIND_ARROW_STEP;
	return event_is_async(e) ? EVENT_KIND_ASYNC : (enum event_kind)kinds[e->phase];
}

static inline const char *event_kind_name(enum event_kind kind)
{
#define ROW(kind, name) name,
	static const char *const names[] = { EVENT_KIND_ROWS(ROW) };
#undef ROW

	return names[kind];
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
