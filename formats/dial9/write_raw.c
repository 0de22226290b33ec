#include "dial9/write.h"

/*
 * Records of a dial9 trace as they are.  One trace behind another is a trace
 * too: its header begins a segment.  Of a damaged trace the reader gives what
 * is complete, so a frame may lack entries, and a time base may be missing.
 */

/* ---- what a record is ---- */

enum d9w_record
d9w_record_of(const struct batch *b, const struct event *e)
{
	const struct field *const f = b->fields + e->first_field;

	if (e->phase != PHASE_STRUCTURE)
		return D9W_EVENT;
	if (e->nfields == 0)
		return D9W_RUN;
	if (slice_is(f[0].name, "version"))
		return D9W_HEADER;
	if (slice_is(f[0].name, "timestamp_ns"))
		return D9W_RESET;
	if (slice_is(f[0].name, "type_id") && slice_is(f[1].name, "name"))
		return D9W_SCHEMA;
	return slice_is(f[0].name, "count") || slice_is(f[0].name, "type_id") ? D9W_HEAD : D9W_ENTRY;
}

/* Entries that the head of a pool or of annotations announces. */
static uint64_t
count_of(const struct batch *b, const struct event *e)
{
	const struct field *const f = b->fields + e->first_field;

	return slice_is(f[0].name, "count") ? f[0].value.u64 : f[1].value.u64;
}

/* The bytes of a head before its first entry. */
static uint32_t
head_size(struct slice bytes)
{
	uint32_t n = 1;

	if (bytes.p[0] != D9_TAG_ANNOTATIONS)
		return D9_POOL_HEAD;
	while ((bytes.p[n] & 0x80) != 0)
		n++;
	return n + 1 + 2;
}

static bool
is_timed(const struct batch *b, const struct event *e)
{
	return e->nfields > 1 && slice_is(b->fields[e->first_field + 1].name, "timestamp_delta_ns");
}

/* The time base before a record. */
static uint64_t
base_before(const struct batch *b, const struct event *e, enum d9w_record kind)
{
	const bool timed = kind == D9W_EVENT && is_timed(b, e);

	return timed ? e->ts - b->fields[e->first_field + 1].value.u64 : e->ts;
}

/* ---- version 0.3 ---- */

static bool
is_newer_type(const struct value *v)
{
	const uint64_t type = v->u64 & ~(uint64_t)D9_OPTIONAL;

	return type == D9_POOLED_STACK || type == D9_LIST || type == D9_MAP;
}

/* Counts what only 0.4 has. */
static void
check_version(const struct d9w_raw *raw, const struct batch *b, const struct event *e, struct slice bytes,
              enum d9w_record kind, struct chunk *chunk)
{
	const struct value *const fields = &b->fields[e->first_field + 3].value;
	bool newer = false;

	if (kind == D9W_HEADER)
		newer = raw->any;
	else if (kind == D9W_HEAD)
		newer = bytes.p[0] != D9_TAG_STRINGS;
	else if (kind == D9W_SCHEMA)
		for (uint32_t i = 0; i < fields->count; i++)
			newer |= is_newer_type(&fields->values[2 * i + 1]);
	if (newer)
		d9w_lose(chunk, D9W_NEWER, e->offset);
}

/* ---- damaged inputs ---- */

/* Entries that were too long for this program are replaced by one that is there: to say a thing twice changes
 * nothing. */
static void
fill(struct d9w_raw *raw, struct chunk *chunk)
{
	for (; raw->left > 0 && !chunk->text.failed; raw->left--)
		text_add(&chunk->text, raw->last.p, raw->last.n);
}

/* An entry whose frame begins with one that was too long. */
static void
put_head(const struct batch *b, const struct event *e, struct chunk *chunk)
{
	const bool strings = slice_is(b->fields[e->first_field + 1].name, "data");

	text_char(&chunk->text, strings ? D9_TAG_STRINGS : D9_TAG_STACKS);
	d9w_number(&chunk->text, 1, 4);
}

/* Follows the frame that entries are of. */
static void
follow(struct d9w_raw *raw, const struct batch *b, const struct event *e, enum d9w_record kind,
       struct chunk *chunk)
{
	if (kind == D9W_ENTRY && raw->left == 0)
		put_head(b, e, chunk);
	else if (kind == D9W_ENTRY)
		raw->left--;
	else
		fill(raw, chunk);
	if (kind == D9W_HEAD && count_of(b, e) > 0)
		raw->left = count_of(b, e) - 1;
}

/* The batch ends inside a frame: remembers an entry of it. */
static void
remember(struct d9w_raw *raw, enum d9w_record kind, struct slice bytes, struct chunk *chunk)
{
	const uint32_t head = kind == D9W_HEAD ? head_size(bytes) : 0;

	text_clear(&raw->last);
	text_add(&raw->last, bytes.p + head, bytes.n - head);
	chunk->text.failed |= raw->last.failed;
}

/* ---- events ---- */

void
d9w_raw_follow(struct d9w_state *st, const struct batch *b, const struct event *e, enum d9w_record kind)
{
	const struct field *const f = b->fields + e->first_field;
	uint64_t *const was = &st->raw.was;

	if (kind == D9W_HEADER)
		*was = 0;
	else if (kind == D9W_RESET)
		*was = f[0].value.u64;
	else if (kind == D9W_EVENT && is_timed(b, e))
		*was = f[1].value.u64 > UINT64_MAX - *was ? UINT64_MAX : *was + f[1].value.u64;
}

uint64_t
d9w_raw_time(const struct d9w_state *st, const struct event *e, enum d9w_record kind, struct chunk *chunk)
{
	if (!st->rebased || e->ts <= st->raw.was)
		return e->ts;
	/* where the least time is known, only what is no event in time is earlier: symbols at time 0 */
	if (st->signed_time && kind == D9W_EVENT)
		d9w_lose(chunk, D9W_NEGATIVE_TIME, e->offset);
	return 0;
}

void
d9w_raw_event(struct d9w_state *st, bool timed, uint64_t ts, struct slice bytes, struct chunk *chunk)
{
	if (!timed) {
		if (ts != st->base)
			d9w_reset(st, ts, chunk);
		text_slice(&chunk->text, bytes);
		return;
	}
	const uint32_t delta = d9w_delta(st, ts, chunk);
	text_add(&chunk->text, bytes.p, D9_EVENT_HEAD);
	d9w_number(&chunk->text, delta, 3);
	text_add(&chunk->text, bytes.p + D9_TIMED_EVENT_HEAD, bytes.n - D9_TIMED_EVENT_HEAD);
}

/* A record with its time moved by --rebase. */
static void
put_moved(struct d9w_state *st, const struct batch *b, const struct event *e, struct slice bytes,
          enum d9w_record kind, struct chunk *chunk)
{
	d9w_raw_follow(st, b, e, kind);
	switch (kind) {
	case D9W_EVENT:
		d9w_raw_event(st, is_timed(b, e), d9w_raw_time(st, e, kind, chunk), bytes, chunk);
		break;
	case D9W_RESET:
		d9w_reset(st, d9w_raw_time(st, e, kind, chunk), chunk);
		break;
	case D9W_HEADER:
		st->base = 0;
		text_slice(&chunk->text, bytes);
		break;
	default:
		text_slice(&chunk->text, bytes);
		break;
	}
}

/* ---- all records ---- */

static void
begin_input(struct d9w_raw *raw)
{
	raw->skipping |= raw->left > 0;
	raw->next = 0;
}

/* Whether the record lies behind the one before, and nothing has to be written between them. */
static bool
goes_on(const struct d9w_raw *raw, const struct event *e, enum d9w_record kind, struct slice run,
        struct slice bytes)
{
	return run.n > 0 && run.p + run.n == bytes.p && bytes.n <= UINT32_MAX - run.n &&
	       raw->next == e->offset && (kind == D9W_ENTRY) == (raw->left > 0);
}

static bool
is_left_out(struct d9w_state *st, const struct event *e, struct chunk *chunk)
{
	if (e->offset == 0)
		begin_input(&st->raw);
	if (st->raw.skipping)
		d9w_lose(chunk, D9W_AFTER_CUT, e->offset);
	return st->raw.skipping;
}

void
d9w_raw(struct d9w_state *st, const struct batch *b, struct chunk *chunk)
{
	struct d9w_raw *const raw = &st->raw;
	struct slice run = { NULL, 0, 0 }; /* records that lie side by side */
	enum d9w_record kind = D9W_EVENT;

	for (uint32_t i = 0; i < b->n && !is_left_out(st, &b->events[i], chunk); i++) {
		const struct event *const e = &b->events[i];
		const struct slice bytes = b->bytes[i];
		kind = d9w_record_of(b, e);
		if (!goes_on(raw, e, kind, run, bytes)) {
			chunk_borrow(chunk, run);
			run = slice_of(bytes.p, 0);
		}
		if (st->as_0_3)
			check_version(raw, b, e, bytes, kind, chunk);
		follow(raw, b, e, kind, chunk);
		if (raw->next != e->offset && kind != D9W_ENTRY && !st->rebased)
			d9w_reset(st, base_before(b, e, kind), chunk); /* a dropped event moved it */
		raw->any = true;
		raw->next = e->offset + bytes.n;
		if (st->rebased)
			put_moved(st, b, e, bytes, kind, chunk);
		else
			run.n += bytes.n;
	}
	chunk_borrow(chunk, run);
	if (raw->left > 0 && b->n > 0 && !raw->skipping)
		remember(raw, kind, b->bytes[b->n - 1], chunk);
}
