#ifndef FLOW_EARLY_H
#define FLOW_EARLY_H

#include "flow/pairing.h"

/*
 * Ends of async spans that stand before their beginnings: a trace that is made
 * of the buffers of several threads tells the end of a task in one block and
 * its beginning in a later one.  They wait here until the beginning comes, or
 * the trace ends.  Memory is bounded: EARLY_MAX of them, and their fields count
 * as those of open spans; what is beyond becomes an instant at once.
 */
#define EARLY_MAX 32768U /* 80 bytes each */

struct early_end;

struct early {
	struct early_end *ends;
	uint32_t n, cap; /* places, free or not */
	uint32_t free;   /* place + 1 of the first free one */
	uint32_t *buckets; /* by hash: place + 1 */
	uint32_t at;       /* early_finish: what is next */
};

void early_free(struct early *a);

/* Keeps an END that nothing was open for.  *kept: it is, and the event is no longer needed.  false: no memory. */
bool early_keep(struct early *a, struct pairing *p, const struct batch *b, const struct event *e, struct pairing_end_of how, bool *kept);

/* Whether the end of this BEGIN was met before; then e is the span.  false: no memory. */
bool early_meet(struct early *a, struct pairing *p, struct batch *b, struct event *e, struct pairing_end_of how, bool *met);

/* At the end of the trace: those whose beginning never came become instants.  *more: there was no room for all.  false: no memory. */
bool early_finish(struct early *a, struct pairing *p, struct batch *b, bool *more);

#endif
