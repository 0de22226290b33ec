#ifndef FORMAT_READER_MODES_H
#define FORMAT_READER_MODES_H

#include "format/reader.h"

/* ---- copies of records ---- */

/*
 * Further needs of a copier (format/copier.h), with WANT_RAW and WANT_BYTES.  Optional for readers.
 */
enum want_copy {
	WANT_RUNS = 128, /* optional for readers: see COPIER_RUNS; structure is never part of a run */
	/* For traces of several files, whose streams are not merged then.  The records of an input are
	 * preceded by events of PHASE_STRUCTURE without bytes: one for each other file of the trace next to
	 * it, with the fields `name` (a STRING) and `content` (BYTES; none: not read), and one for the input,
	 * with `name` only.  Names are paths relative to the folder of the trace (reader.folder).  `dur` of
	 * these events and of all records is the number of the input, from 0.  The reader returns records of
	 * the role RECORD_IS_FILE for them. */
	WANT_FILES = 256,
	/* Fields are read only of PHASE_STRUCTURE and of the event at offset 0. */
	WANT_BARE = 1024,
};

enum { RECORD_IS_FILE = RECORD_IS_MISSING + 1 }; /* without bytes; not counted */

/* ---- records that are too large ---- */

/*
 * A reader drops a record that is too large to hold in pieces: it moves in->p, counts the record, and returns
 * RECORD_DONE with a RECORD_IS_GAP without bytes.  It clears WANT_RUNS in reader.want if later records must
 * then be copied one by one.
 */

/* ---- several events of a record ---- */

/*
 * A record that is several events: the reader returns one of this role for each further event, without bytes
 * (end == p), with the offset of the record they are of, or of one of its bytes.  The same holds for events
 * of earlier records that had to wait, at the end of the input: such a record was a RECORD_IS_PART.  As a raw
 * record it is one inside another record.
 */
enum { RECORD_IS_MORE = RECORD_IS_FILE + 1 }; /* without bytes; not counted, but its event is */

/* ---- async spans ---- */

/* A reader may give both ends of an async span: BEGIN and END with EVENT_ASYNC, and dur is its id, equal at
 * both. */

/* ---- gaps ---- */

/*
 * For formats that number their records: gaps in the numbers, as spans on tracks of their own.  Only writers
 * of formats without a reader want them: they are no events of the trace, and not counted.
 */
enum want_gaps { WANT_GAPS = 512 };

static inline bool reader_wants_gaps(const struct reader *r)
{
	return (r->want & (WANT_GAPS | WANT_TIMES | WANT_RAW)) == (WANT_GAPS | WANT_TIMES);
}

struct reader_gap {
	const struct track *track; /* see reader_gap_track() */
	uint64_t from, to;         /* ns: the records before and after it, in either order */
	uint64_t missing;          /* records */
	uint64_t offset;           /* of the first record after it */
};

/* The track for gaps of `track`: a child of it, or itself if there are too many tracks.  The caller stores
 * it. */
const struct track *reader_gap_track(struct reader *r, const struct track *track);

/* Makes the event of RECORD_IS_MISSING the span.  Returns false on OOM. */
bool reader_gap_event(struct reader *r, struct batch *b, const struct reader_gap *g, struct event *e);

/* ---- look ahead ---- */

enum look_ahead {
	LOOK_AHEAD_DONE,
	LOOK_AHEAD_ONE_PASS, /* the input can be read only once */
	LOOK_AHEAD_FAILED, /* no memory or thread, or a read error: set r->no_memory; the engine reports it */
};

/*
 * For names that are defined after their use: reads the input of r once more, from start to end, with a
 * second reader. Its ahead_of is r->state, which it fills in; want is WANT_FINDINGS, findings is NULL, trace
 * and shared memory are its own.  It should skip records that it does not need, and return RECORD_END
 * (older readers: READ_END) when it has what it looks for.
 */
enum look_ahead reader_look_ahead(struct reader *r);

#endif
