#ifndef STATS_TABLES_ARROWS_H
#define STATS_TABLES_ARROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/event.h"

/*
 * Starts of arrows whose end is not read yet, by id.  Of several starts with one id the latest is taken
 * first.  At most OPEN_ARROWS_MAX; further starts are not remembered.  Zero-initialise to start.
 */
#define OPEN_ARROWS_MAX 65536

struct open_arrow {
	uint64_t id, ts;
	const struct track *track;
	uint32_t what; /* of the user */
	uint32_t next; /* index + 1 in its bucket or in the list of free ones; 0: none */
};

struct open_arrows {
	struct open_arrow *starts; /* OPEN_ARROWS_MAX; NULL before the first */
	uint32_t *buckets; /* likewise; index + 1 of the first start with an id of this hash; 0: none */
	uint32_t nstarts, free_start;
	uint64_t seed;
	uint64_t open;   /* starts without an end so far */
	uint64_t missed; /* starts that are not remembered */
};

/* e: a PHASE_FLOW_OUT, or a PHASE_FLOW_IN that is a step.  Returns false on OOM. */
bool open_arrows_start(struct open_arrows *a, const struct event *e, uint32_t what);

/* Removes the start of the arrow that ends here.  Returns false if there is none. */
bool open_arrows_end(struct open_arrows *a, const struct event *e, struct open_arrow *start);

/* From its start to this end; 0 if it leads backwards in time. */
static inline uint64_t open_arrow_delay(const struct open_arrow *start, const struct event *e)
{
	return e->ts > start->ts ? e->ts - start->ts : 0;
}

void open_arrows_free(struct open_arrows *a);

/*
 * Pairs the starts and ends of arrows, added in order of time.  At equal times, an end may precede its start.
 * Zero-initialise to start.
 */
struct arrow_pairing {
	struct open_arrows starts; /* at the end, those without an end ... */
	struct open_arrows early;  /* ... and ends without a start */
};

enum arrow_end {
	ARROW_ARRIVES, /* `e` is the end, `other` its start */
	ARROW_LEAVES,  /* `e` is the start, `other` its end, which was read before */
	ARROW_ALONE,   /* `other` is an end that has no start; not of `e` */
};

/* Returns false on OOM. */
typedef bool arrow_sink(void *ctx, const struct event *e, uint32_t what, const struct open_arrow *other,
                        enum arrow_end end);

/* e: event_is_flow(); what: its number, which `other` has later.  Returns false if the sink did, or on OOM.
 */
bool arrow_pairing_add(struct arrow_pairing *a, const struct event *e, uint32_t what, arrow_sink *sink,
                       void *ctx);

void arrow_pairing_free(struct arrow_pairing *a);

#endif
