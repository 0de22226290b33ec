/* The loop over the records of an input, for all readers (records_next() at the end is its entry): ends
 * batches, counts, adds raw events, joins records of copies.  A reader frames one record (reader_ops.record)
 * and adds its meaning (event) or its content (fields).
 *
 * Counting bytes bounds the buffers of a pipe that a batch retains, and the time until progress is reported.
 * Outputs depend on the ends of batches, as new tracks precede the events of a batch, so these ends do not
 * depend on how the input arrives. */
#include "run/read/source.h"

#include "base/compiler.h"
#include "format/format.h"
#include "model/event_traits.h"
#include "run/read/marks.h"

#define BATCH_BYTES (4U << 20)         /* of the records of a batch, plus one record ... */
#define BATCH_OF_RUNS_BYTES (1U << 20) /* ... of a copy in runs, as such batches wait for a thread */
#define RUN_BYTES (BATCH_OF_RUNS_BYTES / 4)

void records_more(struct input *in, size_t held)
{
	const size_t n = (size_t)(in->end - in->p);

	/* A quarter more, so that a long record on a pipe is not read again for each small piece. */
	in->p -= held;
	input_need(in, held + n + n / 4 + 1);
	in->p += held;
}

static inline bool is_wanted(unsigned want, bool raw, const struct record *rec)
{
	if (raw)
		return rec->role < RECORD_IS_GAP || rec->role == RECORD_IS_FILE ||
		       rec->role == RECORD_IS_MORE || rec->role == RECORD_IS_LONG ||
		       (rec->role == RECORD_IS_GAP && rec->end > rec->p);
	if (rec->role == RECORD_IS_EVENT || rec->role == RECORD_IS_MORE)
		return (want & WANT_TIMES) != 0;
	if (rec->role != RECORD_IS_STRUCTURE)
		return rec->role == RECORD_IS_MISSING;
	return (want & WANT_STRUCTURE) != 0 || ((want & WANT_TIMES) != 0 && class_needs_fields(rec->cls));
}

/* Adds the meaning of its record to a raw event, so that it can be selected. */
static inline void complete_event(struct reader *r, const struct reader_ops *ops, const struct record *rec,
                                  struct batch *b, struct event *e)
{
	const struct slice bytes = b->bytes != NULL ? b->bytes[b->n] : SLICE_NONE;

	ops->event(r, rec, b, e);
	e->nfields = 0;
	if (b->bytes != NULL)
		b->bytes[b->n] = bytes;
}

/* Whether a raw event has no fields. */
static inline bool is_bare(unsigned want, const struct event *e)
{
	return (want & WANT_BARE) != 0 && e->offset != 0 &&
	       ((want & WANT_WHOLE) == 0 || !e->cls->table_names);
}

/* Adds the event of a record, whose bytes are those from `from` on. */
static inline void add_event(struct reader *r, const struct reader_ops *ops, unsigned want, bool raw,
                             const struct record *rec, const char *from, struct batch *b)
{
	const bool is_event =
	    rec->role <= RECORD_IS_PART || (rec->role == RECORD_IS_MORE && (!raw || rec->track != NULL));
	const uint32_t at = b->n;
	struct event *const e = &b->events[at];

	*e = (struct event){ .ts = rec->ts,
		             .name = rec->cls->name,
		             .cls = rec->cls,
		             .track = is_event ? rec->track : NULL,
		             .dur = raw ? r->number : 0,
		             .offset = rec->offset - (uint64_t)(rec->p - from),
		             .phase = is_event ? PHASE_INSTANT : PHASE_STRUCTURE,
		             .flags = r->event_flags };
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(from, (size_t)(rec->end - from));
	if (raw && is_event && (want & WANT_WHOLE) != 0)
		complete_event(r, ops, rec, b, e);
	if (!raw)
		ops->event(r, rec, b, e);
	else if (rec->role == RECORD_IS_LONG)
		e->flags |= EVENT_LONG;
	else if (rec->role == RECORD_IS_FILE ||
	         ((want & WANT_FIELDS) != 0 && !(is_event && is_bare(want, e))))
		ops->fields(r, rec, b, e);
	b->n++;
	for (uint32_t i = at + 1; b->bytes != NULL && i < b->n; i++)
		b->bytes[i] = b->bytes[at];
}

/* Reads the record at the start of the window; b NULL: without an event.  `want` is that of the reader. */
INLINE enum record_status read_record(struct reader *r, const struct reader_ops *ops, unsigned want, bool raw,
                                      struct record *rec, struct batch *b)
{
	struct input *const in = r->in;

	rec->p = in->p;
	rec->offset = input_offset(in, in->p);
	rec->ordinal = r->records + 1;
	const enum record_status status = ops->record(r, rec);
	if (status != RECORD_DONE)
		return status;
	if (b != NULL && is_wanted(want, raw, rec))
		add_event(r, ops, want, raw, rec, raw ? in->p : rec->p, b);
	in->p = rec->end;
	if (rec->role == RECORD_IS_MORE) {
		r->trace->events++;
		r->trace->further++;
	}
	if (rec->role >= RECORD_IS_GAP)
		return RECORD_DONE;
	r->records = rec->ordinal;
	rec->cls->records++;
	if (rec->role == RECORD_IS_EVENT || (raw && rec->role == RECORD_IS_PART))
		r->trace->events++;
	return RECORD_DONE;
}

enum record_status records_check(struct reader *r, struct record *rec)
{
	return read_record(r, r->format->reader, WANT_FINDINGS, false, rec, NULL);
}

static const char *position_after(const struct input *in, size_t n)
{
	return (size_t)(in->end - in->p) < n ? in->end : in->p + n;
}

/* Adds an event for the n records in [from, to). */
static void add_run(struct reader *r, const char *from, const char *to, uint64_t n, struct batch *b)
{
	/* Any class: if the copier reads it, the reader has planned one for this. */
	const struct class *const cls = r->trace->classes[0];

	if (to == from)
		return;
	b->events[b->n] = (struct event){ .ts = n, /* number of records, for copiers */
		                          .name = cls->name,
		                          .dur = r->number,
		                          .cls = cls,
		                          .offset = input_offset(r->in, from),
		                          .phase = PHASE_STRUCTURE };
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(from, (size_t)(to - from));
	b->n++;
}

/* Adds adjacent records as one event, which ends where the window may move, or before a record that needs an
 * event of its own: structure, which copiers may need, or record.alone.  That record is read, too. */
static enum record_status read_run(struct reader *r, unsigned want, struct batch *b)
{
	const struct reader_ops *const ops = r->format->reader;
	struct input *const in = r->in;
	const char *const from = in->p, *to;
	const uint64_t before = r->records;
	enum record_status status = RECORD_DONE;
	struct record rec = { .alone = false };
	bool alone = false;
	uint64_t n;

	do {
		if (ops->run != NULL && r->records > 0)
			(void)ops->run(r, position_after(in, RUN_BYTES), NULL);
		n = r->records - before;
		to = in->p;
		if (to == in->end && to > from)
			break;
		status = read_record(r, ops, WANT_RAW, true, &rec, NULL);
		alone = status == RECORD_DONE &&
		        (rec.alone || rec.role == RECORD_IS_STRUCTURE || rec.end == rec.p);
		if (status == RECORD_DONE && !alone) {
			n = r->records - before;
			to = in->p;
		}
	} while (status == RECORD_DONE && !alone && to < in->end && to - from < RUN_BYTES && !r->no_memory);
	add_run(r, from, to, n, b);
	if (alone && is_wanted(want, true, &rec))
		add_event(r, ops, want, true, &rec, to, b);
	return status;
}

/* Adds plain events that are all selected, or all left out, as one event.
 * Returns false if there are none. */
static bool read_stretch(struct reader *r, struct record_marks *marks, uint32_t input, struct batch *b)
{
	struct input *const in = r->in;
	const char *const from = in->p;
	const uint64_t before = r->records, offset = input_offset(in, from);
	const uint64_t n = record_marks_stretch(marks, input, offset) - offset;

	(void)r->format->reader->run(r, position_after(in, n < RUN_BYTES ? (size_t)n : RUN_BYTES), NULL);
	add_run(r, from, in->p, r->records - before, b);
	if (in->p > from)
		b->events[b->n - 1].phase = PHASE_INSTANT; /* to be left out, unless it is marked */
	return in->p > from;
}

#define STEP_BYTES 4096U /* largest step; events of a step that are not selected are read in vain */

/* Passes over plain events that are left out, then adds plain events of about *step bytes: more each time
 * while they are selected, else one.  Returns false if there are none. */
static bool read_selected(struct reader *r, struct record_marks *marks, uint32_t input, size_t max,
                          size_t *step, struct batch *b)
{
	const struct reader_ops *const ops = r->format->reader;
	struct input *const in = r->in;
	const char *const from = in->p;
	const uint64_t offset = input_offset(in, from),
	               gap = record_marks_next(marks, input, offset) - offset;

	if (gap > 0) {
		(void)ops->run(r, position_after(in, gap < max ? (size_t)gap : max), NULL);
		*step = 1;
		return in->p > from;
	}
	(void)ops->run(r, position_after(in, *step < max ? *step : max), b);
	*step = *step < STEP_BYTES ? *step * 2 : STEP_BYTES;
	return in->p > from;
}

static enum read_status finish(struct reader *r, enum read_status status)
{
	if (r->no_memory)
		return READ_NO_MEMORY;
	if (r->format->reader->end != NULL)
		r->format->reader->end(r);
	if (status == READ_BAD)
		r->unread += input_drain(r->in);
	return r->no_memory ? READ_NO_MEMORY : status;
}

/* Bytes that bound a batch: those of records, and those outside of records that events refer to. */
static inline uint64_t batch_bytes(const struct reader *r)
{
	return input_offset(r->in, r->in->p) + r->referred;
}

/* Whether events, fields or bytes of the batch have reached their limit.  extra: events that a record may add
 * besides its own; a run of records adds one. */
static inline bool is_full(const struct reader *r, const struct batch *b, uint64_t stop, uint32_t extra)
{
	return b->n + (b->n > 0 ? extra : 0) >= b->cap || b->nfields >= READER_BATCH_FIELDS || r->no_memory ||
	       batch_bytes(r) >= stop;
}

/* Inlined twice, with a constant `raw`: that saves 1 to 3 % of the instructions where little else is done. */
INLINE enum read_status fill(struct reader *r, struct batch *b, bool raw, struct record_marks *marks,
                             uint32_t input)
{
	const struct reader_ops *const ops = r->format->reader;
	struct input *const in = r->in;
	const unsigned want = r->want;
	const bool runs = raw && (want & WANT_RUNS) != 0;
	const uint64_t stop = batch_bytes(r) + (runs ? BATCH_OF_RUNS_BYTES : BATCH_BYTES);
	struct batch *const to = want == WANT_FINDINGS ? NULL : b;
	const uint32_t extra = raw ? runs : ops->extra;
	bool fast = (!raw || (want & (WANT_WHOLE | WANT_BARE)) != 0) && ops->run != NULL;
	const bool stretches = marks != NULL && marks->has_stretches;
	size_t step = 1;
	struct record rec;

	while (!is_full(r, b, stop, extra)) {
		if (raw && stretches && r->records > 0 && read_stretch(r, marks, input, b))
			continue;
		if (raw && marks != NULL && !stretches && r->records > 0 &&
		    read_selected(r, marks, input, (size_t)(stop - batch_bytes(r)), &step, b))
			continue;
		if (fast && r->records > 0) {
			fast = ops->run(r, position_after(in, (size_t)(stop - batch_bytes(r))), to);
			if (b->n == b->cap)
				break;
		}
		/* the reader may have cleared WANT_RUNS */
		const bool run = runs && (r->want & WANT_RUNS) != 0 && input_offset(in, in->p) > 0;
		const enum record_status status =
		    run ? read_run(r, want, b) : read_record(r, ops, want, raw, &rec, to);
		if (status == RECORD_END)
			return finish(r, READ_END);
		if (status == RECORD_BAD)
			return finish(r, READ_BAD);
		if (status == RECORD_BREAK && b->n > 0)
			break;
		if (status == RECORD_MORE)
			records_more(in, 0);
	}
	return r->no_memory ? READ_NO_MEMORY : READ_MORE;
}

enum read_status records_next(struct reader *r, struct batch *b, struct record_marks *marks, uint32_t input)
{
	const bool marked = (r->want & WANT_PLAIN) != 0 && marks != NULL && marks->state == MARKS_MADE &&
	                    (marks->has_stretches || (r->format->copier->modes & COPIER_GAPS) != 0);

	return (r->want & WANT_RAW) != 0 ? fill(r, b, true, marked ? marks : NULL, input)
	                                 : fill(r, b, false, NULL, 0);
}
