/*
 * The reader of one stream: header, framing, clocks, and the loops that fill batches.  Most events take the
 * fast path: their codes were checked before (events.c), so only the clock is compared.
 * Memory: a jumbo event of more than OVNI_MAX_JUMBO is skipped, and its head kept.
 */
#include "ovni/ovni.h"

#include <stdlib.h>

#include "ovni/state/check.h"

#define CHECKED_AT_ONCE (4U << 20) /* bytes of records that one next() checks, about */
#define RUN_BYTES (256U << 10)     /* bytes of records handed on at once as runs (WANT_RUNS), about */

/* Bytes of one next() within which all its events start: a batch holds the input of its events, and jumbo
 * events are large. */
#define NEXT_BYTES (1U << 20)

/* Rare paths, kept out of the functions that see each event: inlined, their buffers and arguments cost every
 * event. */
#define COLD __attribute__((cold, noinline))

/* The result of one event. */
enum parse_status {
	PARSE_DONE,
	PARSE_MORE, /* the window ends inside the event; nothing was done */
	PARSE_BAD,
	PARSE_NO_MEMORY
};

static int ovni_probe(struct slice head, bool complete)
{
	if (head.n < 4 || memcmp(head.p, OVNI_MAGIC, 4) != 0)
		return 0;
	if (head.n < OVNI_HEADER_SIZE)
		return complete ? 32 : 0;
	const uint32_t version = load_u32(head.p + 4, false);
	return version == OVNI_VERSION || version == OVNI_VERSION_SWAPPED ? 64 : 32;
}

/* Returns whether each record becomes an event. */
static bool builds_events(const struct reader *r)
{
	return (r->want & WANT_TIMES) != 0 && !ovni_copies_runs(r);
}

/* ---- the header, and the end ---- */

/* Returns READ_MORE if events follow. */
static enum read_status read_header(struct ovni_state *st, struct batch *b)
{
	struct reader *const r = st->r;
	struct input *const in = r->in;
	const bool complete = input_need(in, OVNI_HEADER_SIZE);
	const size_t n = (size_t)(in->end - in->p);
	struct quoted q;

	if (n < 4 || memcmp(in->p, OVNI_MAGIC, 4) != 0) {
		finding_add(r->findings, &ovni_rules[OVNI_RULE_BAD_MAGIC], 0, 0,
		            "the first bytes are %s, not \"ovni\"",
		            quoted(&q, slice_of(in->p, n < 4 ? n : 4)));
		return READ_BAD;
	}
	if (!complete) {
		finding_add(r->findings, &ovni_rules[OVNI_RULE_CUT_HEADER], 4, 0,
		            "%zu of 8 bytes are present", n);
		return READ_BAD;
	}
	const uint32_t version = load_u32(in->p + 4, false);
	st->stream.big = version == OVNI_VERSION_SWAPPED;
	if (version != OVNI_VERSION && !st->stream.big) {
		finding_add(r->findings, &ovni_rules[OVNI_RULE_BAD_VERSION], 4, 0,
		            "version %" PRIu32 ", expected 1", version);
		return READ_BAD;
	}
	if (st->stream.big)
		finding_add(r->findings, &ovni_rules[OVNI_RULE_BIG_ENDIAN], 4, 0,
		            "the version field is %" PRIu32 ": 1 in big endian", version);
	const char *const order = r->trace->byte_order;                /* of earlier streams */
	if (order != NULL && order[0] != (st->stream.big ? 'b' : 'l')) /* mixed stays so */
		r->trace->byte_order = "mixed";
	else
		r->trace->byte_order = st->stream.big ? "big" : "little";
	if ((r->want & WANT_RAW) != 0 && !ovni_raw_add_header(st, b, slice_of(in->p, OVNI_HEADER_SIZE)))
		return READ_NO_MEMORY;
	in->p += OVNI_HEADER_SIZE;
	st->started = true;
	return READ_MORE;
}

/* Reports the clocks that were counted (section "Stream format": they do not go backwards but in regions that
 * are to be sorted). */
static void report_clocks(const struct ovni_state *st)
{
	struct findings *const j = st->r->findings;
	const struct finding_tally *t = &st->unsorted;

	finding_add_times(j, &ovni_rules[OVNI_RULE_NEEDS_SORTING], t->offset, t->record, t->count,
	                  "clock %" PRIu64 " after %" PRIu64 " between OU[ and OU]", t->now, t->before);
	t = &st->large;
	finding_add_times(j, &ovni_rules[OVNI_RULE_CLOCK_LARGE], t->offset, t->record, t->count,
	                  "clock %" PRIu64, t->now);
	t = &st->below_zero;
	finding_add_times(j, &ovni_rules[OVNI_RULE_CLOCK_BELOW_ZERO], t->offset, t->record, t->count,
	                  "clock %" PRIu64 " with the offset %" PRId64 " of its host", t->now, st->offset);
}

/* Checks a stream that was read to its end: an open region, a missing OHe, no events at all. */
static void check_end(const struct ovni_state *st)
{
	struct reader *const r = st->r;
	const uint64_t here = input_offset(r->in, r->in->p), n = r->records;

	if (st->in_region)
		finding_add(r->findings, &ovni_rules[OVNI_RULE_REGION_UNMATCHED], st->region_offset,
		            st->region_record, "OU[ without OU] after it");
	if (n > 0 && !st->ended)
		finding_add(r->findings, &ovni_rules[OVNI_RULE_NO_THREAD_END], here, n,
		            "%" PRIu64 " event%s and no OHe", n, n == 1 ? "" : "s");
	if (n > 0)
		return;
	finding_add(r->findings, &ovni_rules[OVNI_RULE_NO_EVENTS], here, 0, "nothing follows the header");
	if (((const struct ovni_shared *)r->shared)->check_state)
		state_check_no_events(r);
}

static enum read_status finish_stream(struct ovni_state *st, enum read_status status)
{
	struct reader *const r = st->r;

	ovni_report_anomalies(st->anomalies, &((const struct ovni_shared *)r->shared)->codes, r);
	report_clocks(st);
	if (status == READ_BAD)
		r->unread = input_drain(r->in);
	else
		check_end(st);
	return status;
}

/* ---- checks of an event ---- */

COLD static void check_region(struct ovni_state *st, char value, uint64_t offset, uint64_t record)
{
	const struct rule *const rule = &ovni_rules[OVNI_RULE_REGION_UNMATCHED];

	if (value == '[') {
		if (st->in_region)
			finding_add(st->r->findings, rule, offset, record,
			            "OU[ inside the region that was opened at byte %" PRIu64,
			            st->region_offset);
		st->in_region = true;
		st->region_offset = offset;
		st->region_record = record;
	} else if (value == ']') {
		if (!st->in_region)
			finding_add(st->r->findings, rule, offset, record, "OU] without OU[ before it");
		st->in_region = false;
	}
}

static void check_clock(struct ovni_state *st, uint64_t clock, bool end_of_region, uint64_t offset,
                        uint64_t record)
{
	if (clock < st->last && st->in_region && !end_of_region)
		finding_tally_add(&st->unsorted, offset, record, clock, st->last);
	else if (clock < st->last)
		finding_add(st->r->findings, &ovni_rules[OVNI_RULE_CLOCK_BACKWARDS], offset, record,
		            "clock %" PRIu64 " after %" PRIu64, clock, st->last);
	if (clock > INT64_MAX)
		finding_tally_add(&st->large, offset, record, clock, 0);
	if (st->offset < 0 && clock < 0 - (uint64_t)st->offset)
		finding_tally_add(&st->below_zero, offset, record, clock, 0);
	st->last = clock;
}

static void check_event(struct ovni_state *st, const char *p, uint64_t offset, uint64_t record)
{
	const uint8_t flags = (uint8_t)p[0];
	const bool unordered = p[1] == 'O' && p[2] == 'U';

	if ((flags & OVNI_FLAGS_RESERVED) != 0)
		finding_add(st->r->findings, &ovni_rules[OVNI_RULE_RESERVED_FLAGS], offset, record,
		            "flags 0x%02x: the bits 0x%02x are reserved", flags, flags & OVNI_FLAGS_RESERVED);
	if ((flags & OVNI_FLAG_JUMBO) != 0 && (flags & 15) != OVNI_JUMBO_NIBBLE)
		finding_add(st->r->findings, &ovni_rules[OVNI_RULE_JUMBO_NIBBLE], offset, record,
		            "flags 0x%02x: payload size code %u, expected 3", flags, flags & 15);
	check_clock(st, load_u64(p + 4, st->stream.big), unordered && p[3] == ']', offset, record);
	if (unordered)
		check_region(st, p[3], offset, record);
	if (p[1] == 'O' && p[2] == 'H' && p[3] == 'e')
		st->ended = true;
}

/* Counts and checks a complete event, and adds it to the batch. */
static enum parse_status add_event(struct ovni_state *st, struct batch *b, const struct ovni_record *e)
{
	struct reader *const r = st->r;
	struct ovni_codes *const codes = &((struct ovni_shared *)r->shared)->codes;
	const uint32_t head = load_u32(e->bytes.p, false);
	const bool fast = ovni_is_fast(codes, head), wanted = builds_events(r);

	r->records++;
	r->trace->events++;
	check_event(st, e->bytes.p, e->offset, r->records);
	if (fast && !wanted)
		return PARSE_DONE;
	const struct ovni_code *const c = ovni_code_find(codes, r, head, e->offset);
	if (c == NULL || (!fast && !ovni_check_payload(&st->anomalies, codes, r, c, e, st->stream.big)))
		return PARSE_NO_MEMORY;
	return !wanted || ovni_event_add(st, b, e, c->cls) ? PARSE_DONE : PARSE_NO_MEMORY;
}

/* ---- framing of an event ---- */

COLD static enum parse_status report_cut(struct ovni_state *st, uint64_t offset, const char *field,
                                         uint64_t present, uint64_t expected)
{
	finding_add(st->r->findings, &ovni_rules[OVNI_RULE_CUT_EVENT], offset, st->r->records + 1,
	            "%s: %" PRIu64 " of the event's %" PRIu64 " bytes are present", field, present, expected);
	return PARSE_BAD;
}

/* Skips the data of a jumbo event that is too large to be retained; the event counts once all of it was
 * present. */
COLD static enum parse_status skip_jumbo(struct ovni_state *st, struct batch *b)
{
	struct reader *const r = st->r;
	struct input *const in = r->in;
	const uint32_t size = load_u32(st->jumbo + OVNI_EVENT_SIZE, st->stream.big);
	const size_t rest = (size_t)(in->end - in->p);

	if (rest < st->skip) {
		st->skip -= rest;
		in->p = in->end;
		if (!in->last)
			return PARSE_MORE;
		return report_cut(st, st->skip_offset, "jumbo data", OVNI_JUMBO_HEAD + size - st->skip,
		                  (uint64_t)OVNI_JUMBO_HEAD + size);
	}
	in->p += st->skip;
	st->skip = 0;
	finding_add(r->findings, &ovni_rules[OVNI_RULE_LIMIT], st->skip_offset, r->records + 1,
	            "the data of a jumbo event has %" PRIu32 " bytes, more than %u: it was dropped", size,
	            OVNI_MAX_JUMBO);
	const struct slice head = arena_copy(&b->scratch, slice_of(st->jumbo, OVNI_JUMBO_HEAD));
	if (head.p == NULL)
		return PARSE_NO_MEMORY;
	return add_event(st, b, &(struct ovni_record){ .bytes = head, .offset = st->skip_offset });
}

static enum parse_status read_jumbo(struct ovni_state *st, struct batch *b, uint64_t offset)
{
	struct input *const in = st->r->in;
	const size_t rest = (size_t)(in->end - in->p);

	if (rest < OVNI_JUMBO_HEAD)
		return in->last ? report_cut(st, offset, "jumbo size", rest, OVNI_JUMBO_HEAD) : PARSE_MORE;
	const uint32_t size = load_u32(in->p + OVNI_EVENT_SIZE, st->stream.big);
	if (size > OVNI_MAX_JUMBO) {
		memcpy(st->jumbo, in->p, OVNI_JUMBO_HEAD);
		st->skip = size;
		st->skip_offset = offset;
		in->p += OVNI_JUMBO_HEAD;
		return skip_jumbo(st, b);
	}
	if (size > rest - OVNI_JUMBO_HEAD)
		return in->last ? report_cut(st, offset, "jumbo data", rest, (uint64_t)OVNI_JUMBO_HEAD + size)
		                : PARSE_MORE;
	if (size > OVNI_WRITER_JUMBO)
		finding_add(st->r->findings, &ovni_rules[OVNI_RULE_JUMBO_SIZE], offset, st->r->records + 1,
		            "%" PRIu32 " bytes of data, libovni writes at most %u", size, OVNI_WRITER_JUMBO);
	const struct ovni_record e = { .bytes = slice_of(in->p, OVNI_JUMBO_HEAD + size),
		                       .payload = slice_of(in->p + OVNI_JUMBO_HEAD, size),
		                       .offset = offset };
	const enum parse_status status = add_event(st, b, &e);
	if (status == PARSE_DONE)
		in->p += e.bytes.n;
	return status;
}

static enum parse_status read_event(struct ovni_state *st, struct batch *b)
{
	struct input *const in = st->r->in;
	const size_t rest = (size_t)(in->end - in->p);
	const uint64_t offset = input_offset(in, in->p);

	if (st->skip > 0)
		return skip_jumbo(st, b);
	if (rest < OVNI_EVENT_SIZE)
		return in->last ? report_cut(st, offset, "event header", rest, OVNI_EVENT_SIZE) : PARSE_MORE;
	if ((in->p[0] & OVNI_FLAG_JUMBO) != 0)
		return read_jumbo(st, b, offset);
	const uint32_t nibble = (uint8_t)in->p[0] & 15;
	const uint32_t payload = nibble + (nibble != 0);
	if (rest < OVNI_EVENT_SIZE + payload)
		return in->last ? report_cut(st, offset, "payload", rest, OVNI_EVENT_SIZE + payload)
		                : PARSE_MORE;
	const struct ovni_record e = { .bytes = slice_of(in->p, OVNI_EVENT_SIZE + payload),
		                       .payload =
		                           slice_of(payload > 0 ? in->p + OVNI_EVENT_SIZE : NULL, payload),
		                       .offset = offset };
	const enum parse_status status = add_event(st, b, &e);
	if (status == PARSE_DONE)
		in->p += e.bytes.n;
	return status;
}

/* ---- the fast path of checks ---- */

/*
 * Walks over events whose codes were checked and whose clocks do not go backwards.  Clocks are compared as
 * signed numbers, so that the first of 2^63 or more ends the loop too.  One check serves the longest event,
 * so the last few events of a window are left to read_event().
 */
static inline const char *walk_fast(const struct ovni_codes *codes, const char *p, const char *end,
                                    uint64_t *last, uint64_t *count, bool big)
{
	int64_t before = (int64_t)*last;
	uint64_t n = 0;

	while (end - p >= OVNI_EVENT_SIZE + 16) {
		const uint32_t head = load_u32(p, false);
		const int64_t clock = (int64_t)load_u64(p + 4, big);
		if (!ovni_is_fast(codes, head) || clock < before || clock < 0)
			break;
		before = clock;
		n++;
		p += OVNI_EVENT_SIZE + (head & 15) + ((head & 15) != 0);
	}
	*last = (uint64_t)before;
	*count += n;
	return p;
}

/* Checks about `max` bytes of events without building any.  Returns whether that is enough for one next(). */
static bool check_fast(struct ovni_state *st, size_t max)
{
	const struct ovni_codes *const codes = &((const struct ovni_shared *)st->r->shared)->codes;
	struct input *const in = st->r->in;
	uint64_t n = 0;

	if (!ovni_can_be_fast(st))
		return false;
	const bool more = (size_t)(in->end - in->p) > max;
	const char *const start = in->p, *const end = more ? start + max : in->end;
	in->p = st->stream.big ? walk_fast(codes, in->p, end, &st->last, &n, true)
	                       : walk_fast(codes, in->p, end, &st->last, &n, false);
	st->r->records += n;
	st->r->trace->events += n;
	st->checked += (size_t)(in->p - start);
	return st->checked >= max / 2;
}

/* ---- the loops ---- */

/* Checks records of the window, about RUN_BYTES of them. */
static enum parse_status check_run(struct ovni_state *st, struct batch *b)
{
	struct input *const in = st->r->in;
	const char *const from = in->p;
	enum parse_status status = PARSE_DONE;

	st->checked = 0;
	while (status == PARSE_DONE && in->p < in->end && (size_t)(in->p - from) < RUN_BYTES) {
		const char *const before = in->p;
		(void)check_fast(st, RUN_BYTES);
		if (in->p == before)
			status = read_event(st, b);
	}
	return status;
}

/* Checks records, and hands them on as runs.  A run ends where the window may move. */
static enum read_status next_runs(struct ovni_state *st, struct batch *b)
{
	struct input *const in = st->r->in;

	for (uint64_t bytes = 0; bytes < RUN_BYTES && b->n < b->cap;) {
		const char *const from = in->p;
		const uint64_t offset = input_offset(in, from);
		const enum parse_status status = check_run(st, b);
		const size_t n = (size_t)(in->p - from);
		bytes += n;
		if (n > 0 && !ovni_copy_run(st->r, b, slice_of(from, n), offset, st->stream.number))
			return READ_NO_MEMORY;
		if (status == PARSE_NO_MEMORY)
			return READ_NO_MEMORY;
		if (status == PARSE_BAD)
			return finish_stream(st, READ_BAD);
		if (status == PARSE_DONE && in->p < in->end)
			continue;
		if ((!in->last && input_more(in)) || in->p < in->end)
			continue;
		if (st->skip == 0)
			return finish_stream(st, READ_END);
		(void)read_event(st, b); /* reports the missing data */
		return finish_stream(st, READ_BAD);
	}
	return READ_MORE;
}

/* Hands on the files that are wanted, and reads the header.  Returns READ_MORE if events follow; the batch
 * may be full then. */
static enum read_status begin_stream(struct ovni_state *st, struct batch *b)
{
	struct reader *const r = st->r;
	struct ovni_shared *const sh = r->shared;

	if (ovni_copies_files(r) && !st->files.done) {
		if (sh->offsets.read && !sh->offsets_copied &&
		    !ovni_copy_file(r, b, SLICE_LIT(OVNI_OFFSETS_FILE),
		                    slice_of(sh->offsets.copy.p, sh->offsets.copy.n), st->stream.number))
			return READ_NO_MEMORY;
		sh->offsets_copied = true;
		if (!ovni_files_put(&st->files, r, b, st->stream.number))
			return READ_NO_MEMORY;
	}
	if (st->started || b->n == b->cap)
		return READ_MORE;
	const enum read_status header = read_header(st, b);
	if (header == READ_BAD)
		r->unread = input_drain(r->in);
	return header;
}

static enum read_status ovni_next(struct reader *r, struct batch *b)
{
	struct ovni_state *const st = r->state;
	struct input *const in = r->in;

	if (((const struct ovni_shared *)r->shared)->system.no_memory)
		return READ_NO_MEMORY;
	const enum read_status begun = begin_stream(st, b);
	if (begun != READ_MORE || b->n == b->cap)
		return begun;
	if (ovni_copies_runs(r))
		return next_runs(st, b);
	const bool wanted = builds_events(r);
	const uint64_t start = input_offset(in, in->p);
	st->checked = 0;
	/* An event gives at most one entry, so counting events keeps the batch in bounds. */
	for (uint32_t rest = b->cap - b->n; rest > 0 && input_offset(in, in->p) - start < NEXT_BYTES;) {
		if (!wanted && check_fast(st, CHECKED_AT_ONCE))
			return READ_MORE;
		if (wanted && (rest -= ovni_events_add_fast(st, b, rest)) == 0)
			break;
		if (in->p == in->end && (in->last || !input_more(in)) && st->skip == 0)
			return finish_stream(st, READ_END);
		switch (read_event(st, b)) {
		case PARSE_DONE:
			rest--;
			break;
		case PARSE_MORE:
			input_more(in);
			break;
		case PARSE_BAD:
			return finish_stream(st, READ_BAD);
		case PARSE_NO_MEMORY:
			return READ_NO_MEMORY;
		}
	}
	return READ_MORE;
}

static bool ovni_open(struct reader *r)
{
	struct ovni_state *const st = r->state;
	struct ovni_shared *const sh = r->shared;
	struct ovni_metadata m = {
		.r = r,
		.system = &sh->system,
		.stream = &st->stream,
		.check_versions = sh->check_state,
		.files = ovni_copies_files(r) ? &st->files : NULL,
	};

	st->r = r;
	st->stream.number = sh->nstreams++;
	st->stream.process = TABLE_NONE;
	r->trace->clock = "monotonic";
	if (sh->system.no_memory)
		return false;
	ovni_metadata_read(&m);
	st->offset = ovni_offsets_find(&sh->offsets, m.thread.loom);
	return !sh->system.no_memory;
}

static void ovni_close(struct reader *r)
{
	struct ovni_state *const st = r->state;

	free(st->anomalies);
	ovni_files_free(&st->files);
}

const struct reader_ops ovni_reader_ops = {
	.state_size = sizeof(struct ovni_state),
	.probe = ovni_probe,
	.open = ovni_open,
	.next = ovni_next,
	.close = ovni_close,
};
