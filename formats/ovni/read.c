/*
 * The reader of one stream: the files beside it, header, framing and checks of events.  Most events take the
 * fast path (events.c): their codes were checked before, so only the clock is compared.
 * Memory: of a jumbo event longer than --max-record, only the head is retained.
 */
#include "ovni/ovni.h"

#include <stdlib.h>

static int ovni_probe(struct slice head, bool complete)
{
	if (head.n < 4 || memcmp(head.p, OVNI_MAGIC, 4) != 0)
		return 0;
	if (head.n < OVNI_HEADER_SIZE)
		return complete ? 32 : 0;
	const uint32_t version = load_u32(head.p + 4, false);
	/* more than a dump of HawkTracer, which events with clocks of a few microseconds can look like */
	return version == OVNI_VERSION || version == OVNI_VERSION_SWAPPED ? 80 : 32;
}

/* ---- the header, and the end ---- */

static enum record_status read_header(struct ovni_state *st, struct record *rec)
{
	struct reader *const r = st->r;
	const struct input *const in = r->in;
	const size_t n = (size_t)(in->end - in->p);
	struct quoted q;

	if (n < OVNI_HEADER_SIZE && !in->last)
		return RECORD_MORE;
	if (memcmp(in->p, OVNI_MAGIC, n < 4 ? n : 4) != 0) {
		ovni_report(r, OVNI_RULE_BAD_MAGIC, "the first bytes are %s, not \"ovni\"",
		            quoted(&q, slice_of(in->p, n < 4 ? n : 4)));
		return RECORD_BAD;
	}
	if (n < OVNI_HEADER_SIZE) {
		ovni_report_at(r, OVNI_RULE_CUT_HEADER, n < 4 ? 0 : 4, 0, "%zu of 8 bytes are present", n);
		return RECORD_BAD;
	}
	const uint32_t version = load_u32(in->p + 4, false);
	st->stream.big = version == OVNI_VERSION_SWAPPED;
	if (version != OVNI_VERSION && !st->stream.big) {
		ovni_report_at(r, OVNI_RULE_BAD_VERSION, 4, 0, "version %" PRIu32 ", expected 1", version);
		return RECORD_BAD;
	}
	if (st->stream.big)
		ovni_report_at(r, OVNI_RULE_BIG_ENDIAN, 4, 0,
		               "the version field is %" PRIu32 ": 1 in big endian", version);
	r->event_flags = st->stream.big ? EVENT_BIG : 0;
	const char *const order = r->trace->byte_order;                /* of earlier streams */
	if (order != NULL && order[0] != (st->stream.big ? 'b' : 'l')) /* mixed stays mixed */
		r->trace->byte_order = "mixed";
	else
		r->trace->byte_order = st->stream.big ? "big" : "little";
	rec->end = rec->p + OVNI_HEADER_SIZE;
	rec->ts = 0;
	rec->role = RECORD_IS_GAP;
	st->started = true;
	if (note_failure(&r->no_memory,
	                 (r->want & WANT_RAW) != 0 && (rec->cls = ovni_header_class(r)) == NULL))
		return RECORD_BAD;
	return RECORD_DONE;
}

/* Checks a stream that was read to its end: an open region, a missing OHe, no events at all. */
static void check_end(const struct ovni_state *st)
{
	struct reader *const r = st->r;
	const uint64_t here = input_offset(r->in, r->in->p), n = r->records;

	if (st->in_region)
		ovni_report_at(r, OVNI_RULE_REGION_UNMATCHED, st->region_offset, st->region_record,
		               "OU[ without OU] after it");
	if (n > 0 && !st->ended)
		ovni_report_at(r, OVNI_RULE_NO_THREAD_END, here, n, "%" PRIu64 " event%s and no OHe", n,
		               n == 1 ? "" : "s");
	if (n > 0)
		return;
	ovni_report_at(r, OVNI_RULE_NO_EVENTS, here, 0, "nothing follows the header");
	if (((const struct ovni_shared *)r->shared)->check_state)
		ovni_report(r, OVNI_RULE_THREAD_NOT_DEAD, "the thread has no events");
}

static void ovni_end(struct reader *r)
{
	const struct ovni_state *const st = r->state;
	struct findings *const j = r->findings;

	ovni_report_anomalies(st->anomalies, ovni_codes_of(r), r);
	/* "Stream format": clocks go backwards only in regions to be sorted. */
	finding_add_tally(j, &ovni_rules[OVNI_RULE_NEEDS_SORTING], &st->unsorted,
	                  "clock %" PRIu64 " after %" PRIu64 " between OU[ and OU]", st->unsorted.now,
	                  st->unsorted.before);
	finding_add_tally(j, &ovni_rules[OVNI_RULE_CLOCK_LARGE], &st->large, "clock %" PRIu64, st->large.now);
	finding_add_tally(j, &ovni_rules[OVNI_RULE_CLOCK_BELOW_ZERO], &st->below_zero,
	                  "clock %" PRIu64 " with the offset %" PRId64 " of its host", st->below_zero.now,
	                  st->offset);
	if (st->complete)
		check_end(st);
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

COLD static void check_clock(struct ovni_state *st, uint64_t clock, bool end_of_region,
                             const struct record *rec)
{
	const uint64_t offset = rec->offset, record = rec->ordinal;

	if (clock < st->last && st->in_region && !end_of_region)
		finding_tally_add(&st->unsorted, offset, record, clock, st->last);
	else if (clock < st->last)
		ovni_report_at(st->r, OVNI_RULE_CLOCK_BACKWARDS, offset, record,
		               "clock %" PRIu64 " after %" PRIu64, clock, st->last);
	if (clock > INT64_MAX)
		finding_tally_add(&st->large, offset, record, clock, 0);
	if (st->offset < 0 && clock < 0 - (uint64_t)st->offset)
		finding_tally_add(&st->below_zero, offset, record, clock, 0);
	st->last = clock;
}

static void check_event(struct ovni_state *st, const char *p, uint64_t clock, const struct record *rec)
{
	const uint8_t flags = (uint8_t)p[0];
	const bool unordered = p[1] == 'O' && p[2] == 'U';
	const uint64_t offset = rec->offset, record = rec->ordinal;

	if ((flags & OVNI_FLAGS_RESERVED) != 0)
		ovni_report_at(st->r, OVNI_RULE_RESERVED_FLAGS, offset, record,
		               "flags 0x%02x: the bits 0x%02x are reserved", flags,
		               flags & OVNI_FLAGS_RESERVED);
	if ((flags & OVNI_FLAG_JUMBO) != 0 && (flags & 15) != OVNI_JUMBO_NIBBLE)
		ovni_report_at(st->r, OVNI_RULE_JUMBO_NIBBLE, offset, record,
		               "flags 0x%02x: payload size code %u, expected 3", flags, flags & 15);
	check_clock(st, clock, unordered && p[3] == ']', rec);
	if (unordered)
		check_region(st, p[3], offset, record);
	if (p[1] == 'O' && p[2] == 'H' && p[3] == 'e')
		st->ended = true;
}

/* Moves a clock to the time line of the trace, within the range of times. */
static uint64_t add_offset(uint64_t clock, int64_t offset)
{
	const uint64_t by = offset < 0 ? 0 - (uint64_t)offset : (uint64_t)offset;

	if (offset < 0)
		return clock < by ? 0 : clock - by;
	return clock > UINT64_MAX - by ? UINT64_MAX : clock + by;
}

static inline void set_event(const struct ovni_state *st, struct record *rec, uint64_t clock)
{
	rec->ts = (st->r->want & WANT_RAW) != 0 ? clock : add_offset(clock, st->offset);
	rec->track = st->stream.track;
	rec->role = RECORD_IS_EVENT;
}

/* Whether the event is 12 zero bytes: no producer has the model NUL, but a file whose data was not written
 * before the machine stopped has its length, with zeros at its end or in blocks. */
bool ovni_is_zero(const char *event)
{
	return load_u32(event, false) == 0 && load_u64(event + 4, false) == 0;
}

/* Checks the event whose head is at `head` and payload at rec->p, and finds its class. */
COLD static enum record_status check_code(struct ovni_state *st, struct record *rec, const char *head)
{
	struct reader *const r = st->r;
	struct ovni_codes *const codes = ovni_codes_of(r);
	const uint64_t clock = load_u64(head + 4, st->stream.big);

	if (ovni_is_zero(head)) {
		ovni_report_at(r, OVNI_RULE_ZERO_BYTES, rec->offset, rec->ordinal,
		               "zero bytes where an event should start");
		return RECORD_BAD;
	}
	check_event(st, head, clock, rec);
	set_event(st, rec, clock);
	const struct ovni_code *const c = ovni_code_find(codes, r, load_u32(head, false), rec);
	if (note_failure(&r->no_memory, c == NULL || !ovni_check_payload(st, c, rec)))
		return RECORD_BAD;
	rec->cls = c->cls;
	return RECORD_DONE;
}

/* ---- framing of an event ---- */

COLD static enum record_status report_cut(struct ovni_state *st, const struct record *rec, const char *field,
                                          uint64_t present, uint64_t expected)
{
	if (!st->r->in->last)
		return RECORD_MORE;
	ovni_report_at(st->r, OVNI_RULE_CUT_EVENT, rec->offset, rec->ordinal,
	               "%s: %" PRIu64 " of the event's %" PRIu64 " bytes are present", field, present,
	               expected);
	return RECORD_BAD;
}

/* Skips a jumbo event that is too long; an event without bytes replaces it, for its code and clock. */
COLD static enum record_status pass_jumbo(struct ovni_state *st, struct record *rec)
{
	struct reader *const r = st->r;
	const uint64_t size =
	    (uint64_t)OVNI_JUMBO_HEAD + load_u32(st->jumbo + OVNI_EVENT_SIZE, st->stream.big);

	if (st->skip > 0) {
		const enum record_status status = reader_pass(r, rec, &st->skip);
		rec->offset = status == RECORD_END ? st->skip_offset : rec->offset;
		return status == RECORD_END ? report_cut(st, rec, "jumbo data", size - st->skip, size)
		                            : status;
	}
	st->is_long = false;
	rec->end = rec->p;
	rec->offset = st->skip_offset;
	reader_report_long(r, r->findings, rec->offset, rec->ordinal, "a jumbo event", size);
	return check_code(st, rec, st->jumbo);
}

COLD static enum record_status read_jumbo(struct ovni_state *st, struct record *rec, size_t rest)
{
	if (rest < OVNI_JUMBO_HEAD)
		return report_cut(st, rec, "jumbo size", rest, OVNI_JUMBO_HEAD);
	const uint32_t size = load_u32(rec->p + OVNI_EVENT_SIZE, st->stream.big);
	/* a size beyond the end of the stream is found without buffering the bytes up to there */
	if ((uint64_t)OVNI_JUMBO_HEAD + size > st->r->max_record && rest >= st->r->max_record) {
		memcpy(st->jumbo, rec->p, OVNI_JUMBO_HEAD);
		st->is_long = true;
		st->skip = (uint64_t)OVNI_JUMBO_HEAD + size;
		st->skip_offset = rec->offset;
		return pass_jumbo(st, rec);
	}
	if (size > rest - OVNI_JUMBO_HEAD)
		return report_cut(st, rec, "jumbo data", rest, (uint64_t)OVNI_JUMBO_HEAD + size);
	if (size > OVNI_WRITER_JUMBO)
		ovni_report_at(st->r, OVNI_RULE_JUMBO_SIZE, rec->offset, rec->ordinal,
		               "%" PRIu32 " bytes of data, libovni writes at most %u", size,
		               OVNI_WRITER_JUMBO);
	rec->end = rec->p + OVNI_JUMBO_HEAD + size;
	return check_code(st, rec, rec->p);
}

/* Reads all items but complete events: files, the header, skipped data, the end. */
COLD static enum record_status read_other(struct ovni_state *st, struct record *rec)
{
	const size_t rest = (size_t)(st->r->in->end - rec->p);

	if (!st->started)
		return ovni_files_next(st, rec) ? RECORD_DONE : read_header(st, rec);
	if (st->is_long)
		return pass_jumbo(st, rec);
	if (rest > 0 || !st->r->in->last)
		return report_cut(st, rec, "event header", rest, OVNI_EVENT_SIZE);
	st->complete = true;
	return RECORD_END;
}

static enum record_status ovni_record(struct reader *r, struct record *rec)
{
	struct ovni_state *const st = r->state;
	const size_t rest = (size_t)(r->in->end - rec->p);

	if (!st->started || st->is_long || rest < OVNI_EVENT_SIZE)
		return read_other(st, rec);
	const uint32_t head = load_u32(rec->p, false), n = OVNI_EVENT_SIZE + ovni_payload_size(head);
	if ((head & OVNI_FLAG_JUMBO) != 0)
		return read_jumbo(st, rec, rest);
	if (rest < n)
		return report_cut(st, rec, "payload", rest, n);
	rec->end = rec->p + n;
	rec->cls = ovni_fast_class(ovni_codes_of(r), head);
	if (rec->cls == NULL)
		return check_code(st, rec, rec->p);
	const uint64_t clock = load_u64(rec->p + 4, st->stream.big);
	if (clock < st->last || clock > INT64_MAX || st->offset < 0)
		check_clock(st, clock, false, rec);
	st->last = clock;
	set_event(st, rec, clock);
	return RECORD_DONE;
}

/* ---- the reader ---- */

static bool ovni_open(struct reader *r)
{
	struct ovni_state *const st = r->state;
	struct ovni_shared *const sh = r->shared;
	struct ovni_metadata m = {
		.r = r,
		.system = &sh->system,
		.stream = &st->stream,
		.check_versions = sh->check_state,
	};

	st->r = r;
	st->stream.number = sh->nstreams++;
	st->stream.process = TABLE_NONE;
	r->trace->clock = "monotonic";
	if (sh->system.no_memory)
		return false;
	if ((r->want & WANT_FILES) != 0 && (r->want & WANT_RAW) != 0) {
		m.files = &st->files;
		sh->system.no_memory |= !ovni_files_open(st);
	}
	ovni_metadata_read(&m);
	st->offset = ovni_offsets_find(&sh->offsets, m.thread.loom);
	if ((r->want & WANT_LEAST) != 0 && st->offset > 0)
		st->offset = 0;
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
	.record = ovni_record,
	.event = ovni_event,
	.fields = ovni_fields,
	.run = ovni_run,
	.end = ovni_end,
	.close = ovni_close,
};
