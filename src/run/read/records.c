/* The loop over the records of an input, for all readers: bounds of a batch, counters, raw events, runs of
 * records in copies.  A reader frames one record (reader_ops.record), and says what it means (event) or what
 * it has (fields).
 *
 * Counting bytes bounds the buffers of a pipe that a batch retains, and the time until progress is reported.
 * The end of a batch shows in outputs, which have new tracks before its events, so it does not depend on how
 * the input arrives. */
#include "run/read/records.h"

#include "format/format.h"

#define NEXT_BYTES (4U << 20)      /* of records per batch, plus one record ... */
#define RUNS_BYTES (1U << 20)      /* ... in runs, as such batches wait for a thread */
#define RUN_BYTES (RUNS_BYTES / 4) /* of the records of a copy that become one event */
#define NEXT_FIELDS 65536U         /* per batch, plus those of one record */

#define INLINE static inline __attribute__((always_inline))

void records_more(struct input *in, size_t held)
{
	const size_t n = (size_t)(in->end - in->p);

	/* A quarter more, so that a long record on a pipe is not read again for each small piece. */
	in->p -= held;
	input_need(in, held + n + n / 4 + 1);
	in->p += held;
}

/* Whether somebody wants the event of a record. */
static inline bool is_wanted(unsigned want, bool raw, const struct record *rec)
{
	if (raw)
		return rec->role != RECORD_IS_GAP || rec->end > rec->p;
	if (rec->role == RECORD_IS_EVENT)
		return (want & WANT_TIMES) != 0;
	return rec->role == RECORD_IS_STRUCTURE &&
	       ((want & WANT_STRUCTURE) != 0 || ((want & WANT_TIMES) != 0 && class_needs_fields(rec->cls)));
}

/* Adds the event of a record.  A raw one has all bytes from the start of the window on. */
static inline void add_event(struct reader *r, const struct reader_ops *ops, unsigned want, bool raw,
                             const struct record *rec, struct batch *b)
{
	const bool is_event = rec->role <= RECORD_IS_PART;
	const char *const from = raw ? r->in->p : rec->p;
	struct event *const e = &b->events[b->n];

	*e = (struct event){ .ts = rec->ts,
		             .name = rec->cls->name,
		             .cls = rec->cls,
		             .track = is_event ? rec->track : NULL,
		             .dur = raw ? r->number : 0,
		             .offset = rec->offset - (uint64_t)(rec->p - from),
		             .phase = is_event ? PHASE_INSTANT : PHASE_STRUCTURE,
		             .flags = r->event_flags };
	if (!raw)
		ops->event(r, rec, b, e);
	else if (!is_event || e->offset == 0 || (want & WANT_BARE) == 0)
		ops->fields(r, rec, b, e);
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(from, (size_t)(rec->end - from));
	b->n++;
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
		add_event(r, ops, want, raw, rec, b);
	in->p = rec->end;
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

/* Reads records up to where the window may move, and adds them as one event. */
static enum record_status read_run(struct reader *r, struct batch *b)
{
	const struct class *const cls = r->trace->classes[0]; /* any will do */
	const struct reader_ops *const ops = r->format->reader;
	struct input *const in = r->in;
	const char *const from = in->p;
	const uint64_t offset = input_offset(in, from), before = r->records;
	enum record_status status = RECORD_DONE;
	struct record rec;

	do {
		if (ops->run != NULL && r->records > 0)
			(void)ops->run(r, position_after(in, RUN_BYTES), NULL);
		if (in->p < in->end || in->p == from)
			status = read_record(r, ops, WANT_RAW, true, &rec, NULL);
	} while (status == RECORD_DONE && in->p < in->end && in->p - from < RUN_BYTES && !r->no_memory);
	if (in->p == from)
		return status;
	b->events[b->n] = (struct event){ .ts = r->records - before,
		                          .name = cls->name,
		                          .dur = r->number,
		                          .cls = cls,
		                          .offset = offset,
		                          .phase = PHASE_STRUCTURE };
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(from, (size_t)(in->p - from));
	b->n++;
	return status;
}

static enum read_status finish(struct reader *r, enum read_status status)
{
	if (r->no_memory)
		return READ_NO_MEMORY;
	if (r->format->reader->end != NULL)
		r->format->reader->end(r);
	if (status == READ_BAD)
		r->unread = input_drain(r->in);
	return r->no_memory ? READ_NO_MEMORY : status;
}

/* Inlined twice, with a constant `raw`: that saves 1 to 3 % of the instructions where little else is done. */
INLINE enum read_status fill(struct reader *r, struct batch *b, bool raw)
{
	const struct reader_ops *const ops = r->format->reader;
	struct input *const in = r->in;
	const unsigned want = r->want;
	const uint64_t start = input_offset(in, in->p);
	const bool runs = raw && (want & WANT_RUNS) != 0;
	struct batch *const to = want == WANT_FINDINGS ? NULL : b;
	bool fast = !raw && ops->run != NULL;
	struct record rec;

	while (b->n < b->cap && b->nfields < NEXT_FIELDS && !r->no_memory &&
	       input_offset(in, in->p) - start < (runs ? RUNS_BYTES : NEXT_BYTES)) {
		if (fast && r->records > 0) {
			fast = ops->run(r, position_after(in, NEXT_BYTES), to);
			if (b->n == b->cap)
				break;
		}
		const enum record_status status = runs && input_offset(in, in->p) > 0
		                                      ? read_run(r, b)
		                                      : read_record(r, ops, want, raw, &rec, to);
		if (status == RECORD_END)
			return finish(r, READ_END);
		if (status == RECORD_BAD)
			return finish(r, READ_BAD);
		if (status == RECORD_MORE)
			records_more(in, 0);
	}
	return r->no_memory ? READ_NO_MEMORY : READ_MORE;
}

enum read_status records_next(struct reader *r, struct batch *b)
{
	return (r->want & WANT_RAW) != 0 ? fill(r, b, true) : fill(r, b, false);
}
