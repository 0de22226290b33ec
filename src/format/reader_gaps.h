#ifndef FORMAT_READER_GAPS_H
#define FORMAT_READER_GAPS_H

#include "format/reader.h"

/*
 * For formats that number their records: gaps in the numbers, as spans on tracks of their own.  Only writers
 * of formats that are not read want them: they are no events of the trace, and are in none of its counts.
 */
enum want_gaps { WANT_GAPS = 512 };

static inline bool
reader_wants_gaps(const struct reader *r)
{
	return (r->want & (WANT_GAPS | WANT_TIMES | WANT_RAW)) == (WANT_GAPS | WANT_TIMES);
}

struct reader_gap {
	const struct track *track; /* see reader_gap_track() */
	uint64_t from, to;         /* ns: the last record before it, the first one after; in either order */
	uint64_t missing;          /* how many records */
	uint64_t offset;           /* of the first record after it */
};

/* The track for gaps of what is on `track`: a child of it, or itself where there are too many tracks.  It is
 * to be remembered.  NULL: no memory. */
const struct track *reader_gap_track(struct reader *r, const struct track *track);

/* Adds the span, for which the batch has room.  false: no memory. */
bool reader_gap_put(struct reader *r, struct batch *b, const struct reader_gap *g);

#endif
