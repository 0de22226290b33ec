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

/* In which parts (enum event_part) the events differ, times and tracks aside.  Memory is out if
 * c->scratch.failed. */
unsigned events_differences(const struct alike *x, struct canon *c);

#endif
