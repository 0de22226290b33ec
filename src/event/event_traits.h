#ifndef EVENT_TRAITS_H
#define EVENT_TRAITS_H

#include "event/class.h"
#include "event/event.h"

/* What writers ask of an event to count what their format cannot hold. */

/* Whether an arrow arrives here and goes on. */
static inline bool
event_is_step(const struct event *e)
{
	return e->phase == PHASE_FLOW_IN && (e->flags & EVENT_STEP) != 0;
}

/* Whether it has a category that its name does not say. */
static inline bool
event_has_category(const struct event *e)
{
	const struct slice c = e->cls->category;

	return c.n > 0 && !slice_is(c, "no category") && !slice_equal(c, e->name);
}

#endif
