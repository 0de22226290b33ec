#ifndef EVENT_TRAITS_H
#define EVENT_TRAITS_H

#include "model/class.h"
#include "model/event.h"

/* What some readers say of events, and what writers ask to count what their format cannot hold. */

enum event_traits {
	EVENT_STEP = 16,     /* a flag of a FLOW_IN: its arrow goes on from here */
	EVENT_REFERRED = 32, /* of raw events: others refer to it; a selection has it if one of them does */
};

/* Whether it is a span that overlaps others of its track at will. */
static inline bool event_is_async(const struct event *e)
{
	return e->phase == PHASE_SPAN && (e->flags & EVENT_ASYNC) != 0;
}

/* Whether an arrow leaves or arrives here: dur is the number that its ends share. */
static inline bool event_is_flow(const struct event *e)
{
	return e->phase == PHASE_FLOW_OUT || e->phase == PHASE_FLOW_IN;
}

/* Whether dur is a duration in nanoseconds: of spans, and of others that were given one. */
static inline bool event_has_duration(const struct event *e)
{
	return e->phase == PHASE_SPAN || (!event_is_flow(e) && e->dur != 0 && (e->flags & EVENT_ARROW) == 0);
}

/* Whether an arrow arrives here and goes on. */
static inline bool event_is_step(const struct event *e)
{
	return e->phase == PHASE_FLOW_IN && (e->flags & EVENT_STEP) != 0;
}

/* Its category; empty where it is "no category", which outputs that must name one write. */
static inline struct slice event_category(const struct event *e)
{
	const struct slice c = e->cls->category;

	return slice_is(c, "no category") ? slice_of(NULL, 0) : c;
}

/* Whether it has a category that its name does not say. */
static inline bool event_has_category(const struct event *e)
{
	const struct slice c = event_category(e);

	return c.n > 0 && !slice_equal(c, e->name);
}

#endif
