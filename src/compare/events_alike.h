#ifndef COMPARE_EVENTS_ALIKE_H
#define COMPARE_EVENTS_ALIKE_H

#include "compare/event_identity.h"

/* Two events and what is compared of them. */
struct alike {
	const struct batch *batch[2];
	const struct event *event[2];
	const struct event_fields *fields[2];
	unsigned ignore; /* enum event_part */
};

/* Whether the events, times and tracks aside, are so alike that their identities are the same; false: that is
 * to be found out. */
bool events_alike(const struct alike *x);

#endif
