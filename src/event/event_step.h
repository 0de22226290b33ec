#ifndef EVENT_STEP_H
#define EVENT_STEP_H

#include "event/event.h"

/* Whether an arrow arrives here and goes on. */
static inline bool
event_is_step(const struct event *e)
{
	return e->phase == PHASE_FLOW_IN && (e->flags & EVENT_STEP) != 0;
}

#endif
