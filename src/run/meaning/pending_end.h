#ifndef PIPELINE_PENDING_END_H
#define PIPELINE_PENDING_END_H

#include "model/batch_pool.h"
#include "run/meaning/retained.h"

/*
 * Ends of async spans that stand before their beginnings: a trace that is made
 * of the buffers of several threads tells the end of a task in one block and
 * its beginning in a later one.  They wait here until the beginning comes, or
 * the trace ends.  Memory is bounded: EARLY_MAX of them, and their fields count
 * as those of open spans; what is beyond becomes an instant at once.
 */
#define PENDING_END_MAX 32768U /* 80 bytes each */

struct pairing;
struct pending_end;

/* One end of a span. */
struct pairing_end_of {
	uint16_t pair; /* 0 at the END: whatever it is; of a state: its number */
	uint8_t flags; /* enum pairing_flags */
	bool lasting;  /* the name of the event outlives its batch */
	bool fields;   /* somebody wants the fields */
	uint64_t key;  /* 0 if there is none */
};

struct pending_ends {
	struct pending_end *ends;
	uint32_t n, cap;   /* places, free or not */
	uint32_t free;     /* place + 1 of the first free one */
	uint32_t *buckets; /* by hash: place + 1 */
	uint32_t at;       /* pending_end_finish: what is next */
	uint64_t met;      /* offset of the END that pending_end_meet() found last */
};

void pending_ends_free(struct pending_ends *a);

/* Keeps an END that nothing was open for.  true: it is retained, and the event is no longer needed.  Without
 * memory p->failed is set. */
bool pending_end_keep(struct pending_ends *a, struct pairing *p, struct batch *b, const struct event *e,
                      struct pairing_end_of how);

/* Whether the end of this BEGIN was met before; then e is the span. */
bool pending_end_meet(struct pending_ends *a, struct pairing *p, struct batch *b, struct event *e,
                      struct pairing_end_of how);

/* At the end of the trace: those whose beginning never came become instants.  true: there was no room for
 * all. */
bool pending_end_finish(struct pending_ends *a, struct pairing *p, struct batch *b);

#endif
