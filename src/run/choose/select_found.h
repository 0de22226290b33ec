#ifndef PIPELINE_SELECT_FOUND_H
#define PIPELINE_SELECT_FOUND_H

#include "model/batch.h"

/*
 * What a selection found in a trace: how many events, and which of its conditions no event met by itself,
 * with what they could have meant.  A condition that something met costs nothing any more.
 *
 * Bounded: of the texts that a condition is compared with, FOUND_LOOKS are looked at, of FOUND_TEXT bytes
 * at most.
 */
#define FOUND_TEXT 63U
#define FOUND_SHOWN 3U
#define FOUND_LOOKS 65536U
#define FOUND_RECENT 512U

struct select;

/* Of a condition that nothing met. */
struct select_near {
	char best[FOUND_TEXT + 1]; /* the text nearest to it; "": none is near */
	size_t distance;           /* of that */
	char first[FOUND_SHOWN][FOUND_TEXT + 1]; /* texts that there are, the first few */
	unsigned n;                              /* of them; FOUND_SHOWN + 1: there are more */
	uint32_t looks;
	bool has_key; /* WHERE: there is such a field, the texts are its values; else names of fields */
	uint64_t recent[FOUND_RECENT]; /* hashes of texts that were looked at */
};

struct select_found {
	uint64_t events;      /* that were looked at */
	uint64_t left_out;    /* of them, not selected */
	uint64_t clipped;     /* selected spans that cross an end of the time window */
	uint64_t first, last; /* ns, if there are events: their first and last time */
	bool complete;        /* the trace was read to its end */
	uint64_t unmet;       /* bit i: no event met conditions[i] */
	struct select_near *near[64]; /* of those; NULL: nothing was noted */
};

/* NULL: no memory. */
struct select_found *select_found_new(const struct select *s);
void select_found_free(struct select_found *f); /* may be NULL */

/* The i-th event of a batch, whether it is selected or not, while f->unmet is not 0. */
void select_found_see(struct select_found *f, const struct select *s, const struct batch *b, uint32_t i);

/* Adds what was found in another trace with a selection of the same conditions. */
void select_found_add(struct select_found *f, const struct select_found *other);

#endif
