#ifndef FORMAT_READER_MODES_H
#define FORMAT_READER_MODES_H

#include "base/memory.h"
#include "format/reader.h"

/* array_reserve() that sets r->no_memory on OOM. */
static inline bool reader_reserve(struct reader *r, void *list, uint32_t n, uint32_t *cap, size_t size)
{
	return !note_failure(&r->no_memory, !array_reserve(list, n, cap, size));
}

/* ---- findings that an input may have in each record ---- */

/* finding_add() whose message is made only if it is shown. */
#define READER_FIND(j, rule, offset, record, ...)                                                            \
	(finding_is_shown(j, rule) ? finding_add(j, rule, offset, record, __VA_ARGS__)                       \
	                           : finding_add(j, rule, offset, record, "not shown"))

/* ---- copies of records ---- */

/*
 * Further needs of a copier (format/copier.h), with WANT_RAW and WANT_BYTES.  Optional for readers.
 */
enum want_copy {
	WANT_RUNS = 128, /* optional for readers: see COPIER_RUNS; structure is never part of a run */
	/* For traces of several files, whose streams are not merged then.  Events of PHASE_STRUCTURE without
	 * bytes precede the records of an input: one for each other file of the trace next to it, with the
	 * fields `name` (a STRING) and `content` (BYTES; none: not read), and one for the input, with `name`
	 * only.  Names are paths relative to the folder of the trace (reader.folder).  `dur` of these events
	 * and of all records is the number of the input, from 0.  The reader returns records of the role
	 * RECORD_IS_FILE for them. */
	WANT_FILES = 256,
	/* Fields are read only of PHASE_STRUCTURE, of the event at offset 0 and, with WANT_WHOLE, of events
	 * whose class has `table_names`.  `run` adds such raw events, with their bytes, or returns false. */
	WANT_BARE = 1024,
	/* Raw events are selected as they are read: `event` is called for them, too, before `fields`; it
	 * reports nothing; `run` adds such events, with their bytes, or returns false.  See COPIER_WHOLE. */
	WANT_WHOLE = 16384,
	/* With WANT_WHOLE or COPIER_GAPS: reader_ops.run without a batch passes over plain events only, not
	 * over structure or records that the copier needs separately. */
	WANT_PLAIN = 32768,
};

enum {
	RECORD_IS_FILE = RECORD_IS_MISSING + 1, /* without bytes; not counted */
	RECORD_IS_LONG, /* bytes of a record that is not read: copied as they are; not counted */
};

/* ---- only times ---- */

/* If only the time range of a trace is wanted (reader.range), `run` may add times of events to it instead of
 * events to the batch, unless the engine has to find them by a plan: plan_keeps_times(). */
struct reader_range {
	uint64_t first, last; /* ns: the first time, and the last end; no event: first > last */
};

static inline void reader_range_add(struct reader_range *r, uint64_t from, uint64_t to)
{
	r->first = from < r->first ? from : r->first;
	r->last = to > r->last ? to : r->last;
}

/* Raw events are read for their least time, which is then subtracted from those in the records: if the format
 * adds clock offsets, an event has the earlier one of both times. */
enum want_least { WANT_LEAST = 65536 };

/* ---- parts of WANT_FIELDS ---- */

/* For statistics, which are faster without all fields. */
enum want_parts {
	/* At least the fields of plan_bytes, for spans whose class has such fields: for readers whose
	 * built-in vocabulary names some. */
	WANT_SIZES = 2048,
	WANT_NAMES = 16,    /* names that other records give to tracks */
	WANT_ARROWS = 8192, /* for the engine: arrows of the vocabulary, unless the job has no_arrows */
	/* At least the fields of events with call stacks: class_needs_fields() includes these. */
	WANT_STACKS = 262144,
};

/* For the engine: outputs that show an arrow without an end, at the instant that it leaves (EVENT_ARROW).  In
 * other outputs it is the loss arrows/no-end. */
enum want_departures { WANT_DEPARTURES = 131072 };

/* Whether fields of plan_bytes are wanted of events of the class. */
static inline bool reader_wants_sizes(const struct reader *r, const struct class *cls)
{
	return (r->want & WANT_SIZES) != 0 && cls->plan != NULL && cls->plan->nbytes > 0;
}

/* ---- records that are too long ---- */

/*
 * A record longer than reader.max_record is reported (limit/record) and passed over in pieces, so that it
 * needs no memory: the reader counts it, and returns RECORD_DONE with a RECORD_IS_LONG for each piece.
 */

#define READER_USUAL_RECORD (UINT64_C(64) << 20) /* reader.max_record unless asked otherwise */
#define READER_MIN_RECORD UINT64_C(64)           /* heads of records fit */
/* A slice has 32 bits for its length, and in a copy a record may be joined with 1 MiB of others. */
#define READER_MAX_RECORD (UINT64_C(4000) << 20)
#define READER_PIECE ((size_t)1 << 20) /* bytes; pieces must not depend on how the input arrives */

/* Reports the record; size: in bytes, 0 if it is only known to be above the limit.  findings: those of the
 * reader, or of the one it looks ahead for. */
void reader_report_long(const struct reader *r, struct findings *findings, uint64_t offset, uint64_t ordinal,
                        const char *what, uint64_t size);

/* Makes `rec` the piece from rec->p to `end`, which is not empty.  Sets r->no_memory on OOM. */
enum record_status reader_pass_to(struct reader *r, struct record *rec, const char *end);

/* Makes `rec` the next piece of the `*left` bytes that remain of a long record; RECORD_MORE: the window must
 * grow first; RECORD_END: the input ends before them. */
enum record_status reader_pass(struct reader *r, struct record *rec, uint64_t *left);

/* Memory in bytes that records occupy for the lifetime of the trace or a segment.  Long records are counted
 * separately, so that each limit holds for short ones, and a record of reader.max_record bytes fits. */
struct reader_charges {
	uint64_t used, used_long;
};

#define READER_LONG_CHARGE (UINT64_C(1) << 20) /* bytes; longer records count as long */

/* Returns false if the limit is reached. */
bool reader_charge(struct reader_charges *c, uint64_t n, uint64_t limit, uint64_t long_limit);

/* ---- raw records without members ---- */

/* Bytes between records, and records that cannot be read: their only field, a text.  For class.fields. */
extern const struct class_field reader_bytes_field;

/* Makes the text [p, end) this field of the event. */
void reader_bytes_fields(struct batch *b, struct event *e, const char *p, const char *end);

/* ---- several events of a record ---- */

/*
 * For a record with several events: the reader returns a record of this role for each further event, without
 * bytes (end == p), with the offset of the record that contains the event, or of one of its bytes.  Likewise,
 * at the end of the input, for events that had to wait; their record was a RECORD_IS_PART.  As a raw record,
 * it is a record inside another one.
 */
enum { RECORD_IS_MORE = RECORD_IS_LONG + 1 }; /* without bytes; not counted, but its event is */

/* ---- async spans ---- */

/* A reader may return both ends of an async span: a BEGIN and an END with EVENT_ASYNC, whose dur is the id of
 * the span. */

/* ---- gaps ---- */

/*
 * For formats that number their records: gaps in the numbers, as spans on tracks of their own.  Only writers
 * of formats without a reader want them: gaps are not events of the trace, and not counted.
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

/* The track for gaps of `track`: a child of it, or `track` if there are too many tracks.  The caller stores
 * the result. */
const struct track *reader_gap_track(struct reader *r, const struct track *track);

/* Turns the event of a RECORD_IS_MISSING into the span of the gap.  Returns false on OOM. */
bool reader_gap_event(struct reader *r, struct batch *b, const struct reader_gap *g, struct event *e);

/* ---- dialects ---- */

/* The consumer needs the dialect before the events: a reader that finds it in the records should look ahead,
 * and set trace.dialect_known. */
enum want_dialect { WANT_DIALECT = 4096 };

/* Whether the input is the whole trace, as far as the reader knows. */
static inline bool reader_is_alone(const struct reader *r)
{
	return r->folder == 0 && r->archive == NULL;
}

/* ---- look ahead ---- */

/* Returns the first n bytes of the window, which grows for them; all if the input has fewer. */
static inline struct slice reader_peek(struct input *in, size_t n)
{
	(void)input_need(in, n);
	return slice_of(in->p, (size_t)(in->end - in->p) < n ? (size_t)(in->end - in->p) : n);
}

static inline bool reader_wants_names(const struct reader *r)
{
	return (r->want & (WANT_FIELDS | WANT_NAMES)) != 0;
}

enum look_ahead {
	LOOK_AHEAD_DONE,
	LOOK_AHEAD_ONE_PASS, /* the input can be read only once */
	LOOK_AHEAD_FAILED, /* no memory or thread, or a read error: set r->no_memory; the engine reports it */
};

/*
 * For names that are defined after their use: reads the input of r once more, from start to end, with a
 * second reader.  For the second reader, ahead_of is r->state, which it fills in, want is WANT_FINDINGS,
 * findings is NULL, and trace and shared memory are separate.  It should skip records that it does not need,
 * and return RECORD_END when it has all names.
 */
enum look_ahead reader_look_ahead(struct reader *r);

#endif
