#ifndef FORMAT_READER_MODES_H
#define FORMAT_READER_MODES_H

#include "format/reader.h"

/* ---- reader copy ---- */

/*
 * For formats that have a writer which copies raw records (WRITER_RAW_SAME): what more such a writer may want
 * of its reader, together with WANT_RAW and WANT_BYTES.  A reader that does not know it is read as usual.
 */
enum want_copy {
	/* Of traces of several files, whose streams are not merged then.  Before the records of an input come
	 * events of PHASE_STRUCTURE without bytes: each file beside it that belongs to the trace, with the
	 * fields `name` (a STRING) and `content` (BYTES; none: it was not read), and the input itself, with
	 * `name` alone.  Names are the ways from the folder of the trace: see reader.folder.  `dur` of these
	 * events and of all records is a number of the input, from 0: by it they are told apart. */
	WANT_FILES = 256,
	/* Fields of events, which are not PHASE_STRUCTURE, are not looked at, except of one at offset 0. */
	WANT_BARE = 1024,
};

/* ---- reader gaps ---- */

/*
 * For formats that number their records: gaps in the numbers, as spans on tracks of their own.  Only writers
 * of formats that are not read want them: they are no events of the trace, and are in none of its counts.
 */
enum want_gaps { WANT_GAPS = 512 };

static inline bool reader_wants_gaps(const struct reader *r)
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

/* ---- look ahead ---- */

struct reader;

enum look_ahead {
	LOOK_AHEAD_DONE,
	LOOK_AHEAD_ONE_PASS, /* the input can be read only once */
	LOOK_AHEAD_FAILED,   /* memory, a thread, reading: return READ_NO_MEMORY, the engine reports which */
};

/*
 * For names that are defined after their use: reads the input of r once more,
 * from its start to its end, through a second reader.  That one has ahead_of
 * set to r->state, which it fills in, want WANT_FINDINGS, findings NULL, and a
 * trace and shared memory of its own.  It should pass over all records that it
 * does not need, and return READ_END when it has what it looks for.
 */
enum look_ahead reader_look_ahead(struct reader *r);

#endif
