/*
 * Copies of dial9 traces: all records, or those that are selected (select.c).
 *
 * Adjacent records are copied as one run of bytes.  Traces can be joined end to end, because a header begins
 * a segment.  From a damaged trace the reader gives only complete records: a frame may lack entries, and a
 * time base may be missing.
 */
#include "dial9/write/copy.h"

/* ---- records ---- */

enum d9w_record d9w_record_of(const struct batch *b, const struct event *e)
{
	const struct field *const f = b->fields + e->first_field;

	if (e->phase != PHASE_STRUCTURE)
		return D9W_EVENT_RECORD;
	if (e->nfields == 0)
		return D9W_RUN_RECORD;
	if (slice_is(f[0].name, "version"))
		return D9W_HEADER_RECORD;
	if (slice_is(f[0].name, "timestamp_ns"))
		return D9W_RESET_RECORD;
	if (slice_is(f[0].name, "type_id") && slice_is(f[1].name, "name"))
		return D9W_SCHEMA_RECORD;
	return slice_is(f[0].name, "count") || slice_is(f[0].name, "type_id") ? D9W_HEAD_RECORD
	                                                                      : D9W_ENTRY_RECORD;
}

/* Returns the number of entries that the head of a pool or of annotations states. */
static uint64_t count_of(const struct batch *b, const struct event *e)
{
	const struct field *const f = b->fields + e->first_field;

	return slice_is(f[0].name, "count") ? f[0].value.u64 : f[1].value.u64;
}

/* Returns the bytes of the head of a pool or of annotations before its first entry. */
static uint32_t head_size(struct slice bytes)
{
	uint32_t n = 1;

	if (bytes.p[0] != D9_TAG_ANNOTATIONS)
		return D9_POOL_HEAD;
	while ((bytes.p[n] & 0x80) != 0)
		n++;
	return n + 1 + 2;
}

static bool is_timed(const struct batch *b, const struct event *e)
{
	return e->nfields > 1 && slice_is(b->fields[e->first_field + 1].name, "timestamp_delta_ns");
}

void d9w_follow_time(struct d9w_copy *copy, const struct batch *b, const struct event *e,
                     enum d9w_record kind)
{
	const struct field *const f = b->fields + e->first_field;
	uint64_t *const base = &copy->input_base;

	if (kind == D9W_HEADER_RECORD)
		*base = 0;
	else if (kind == D9W_RESET_RECORD)
		*base = f[0].value.u64;
	else if (kind == D9W_EVENT_RECORD && is_timed(b, e))
		*base = f[1].value.u64 > UINT64_MAX - *base ? UINT64_MAX : *base + f[1].value.u64;
}

uint64_t d9w_output_time(const struct d9w_copy *copy, const struct event *e, enum d9w_record kind)
{
	if (!copy->copier->run->rebased || e->ts <= copy->input_base)
		return e->ts;
	/* If the first time is known, only symbols are earlier: they are structure at time 0. */
	if (copy->copier->run->signed_time && kind == D9W_EVENT_RECORD)
		d9w_lose(copy->copier->chunk, D9W_NEGATIVE_TIME, e->offset);
	return 0;
}

void d9w_copy_event(struct d9w_copy *copy, bool timed, uint64_t ts, struct slice bytes)
{
	struct text *const t = copier_text(copy->copier);
	if (!timed) {
		if (ts != copy->base)
			d9w_reset(&copy->base, ts, copy->copier->chunk);
		text_slice(t, bytes);
		return;
	}
	const uint32_t delta = d9w_delta(&copy->base, ts, copy->copier->chunk);
	text_add(t, bytes.p, D9_EVENT_HEAD);
	text_uint(t, delta, 3, false);
	text_add(t, bytes.p + D9_TIMED_EVENT_HEAD, bytes.n - D9_TIMED_EVENT_HEAD);
}

/* ---- copies of all records ---- */

/* Counts a loss if the record has features that the dialect of the output lacks. */
static void count_newer(const struct d9w_copy *copy, const struct batch *b, const struct event *e,
                        struct slice bytes, enum d9w_record kind)
{
	bool newer = false;

	if (kind == D9W_HEADER_RECORD) {
		newer = copy->any;
	} else if (kind == D9W_HEAD_RECORD) {
		newer =
		    bytes.p[0] == D9_TAG_ANNOTATIONS || (bytes.p[0] == D9_TAG_STACKS && copy->to < D9_0_3_6);
	} else if (kind == D9W_SCHEMA_RECORD) {
		const struct value *const fields = &b->fields[e->first_field + 3].value;
		for (uint32_t i = 0; i < fields->count; i++) {
			const struct d9_type_info *const type =
			    d9_type((uint8_t)fields->values[2 * i + 1].u64);
			newer |= type->newer != NULL && type->since > copy->to;
		}
	}
	if (newer)
		d9w_lose(copy->copier->chunk, D9W_NEWER, e->offset);
}

/* Replaces missing entries, which were too long for the reader, by copies of the last one: a repeated
 * definition changes nothing. */
static void fill_frame(struct d9w_copy *copy)
{
	struct text *const t = &copy->copier->chunk->text;

	for (; copy->left > 0 && !t->failed; copy->left--)
		text_add(t, copy->last.p, copy->last.n);
}

/* Updates the state of the frame to which entries belong. */
static void follow_frame(struct d9w_copy *copy, const struct batch *b, const struct event *e,
                         enum d9w_record kind)
{
	if (kind == D9W_ENTRY_RECORD && copy->left == 0) { /* its first entry was too long */
		const bool strings = slice_is(b->fields[e->first_field + 1].name, "data");
		struct text *const t = &copy->copier->chunk->text;
		text_char(t, strings ? D9_TAG_STRINGS : D9_TAG_STACKS);
		text_uint(t, 1, 4, false);
	} else if (kind == D9W_ENTRY_RECORD) {
		copy->left--;
	} else {
		fill_frame(copy);
	}
	if (kind == D9W_HEAD_RECORD && count_of(b, e) > 0)
		copy->left = count_of(b, e) - 1;
}

/* Writes a record with its time moved by --rebase. */
static void write_moved(struct d9w_copy *copy, const struct batch *b, const struct event *e,
                        struct slice bytes, enum d9w_record kind)
{
	struct chunk *const chunk = copy->copier->chunk;

	d9w_follow_time(copy, b, e, kind);
	if (kind == D9W_HEADER_RECORD)
		copy->base = 0;
	if (kind == D9W_EVENT_RECORD)
		d9w_copy_event(copy, is_timed(b, e), d9w_output_time(copy, e, kind), bytes);
	else if (kind == D9W_RESET_RECORD)
		d9w_reset(&copy->base, d9w_output_time(copy, e, kind), chunk);
	else
		text_slice(&chunk->text, bytes);
}

static void copy_unselected(struct copier *c, const struct batch *b, const struct event *e,
                            struct slice bytes)
{
	struct d9w_copy *const copy = c->state;
	const enum d9w_record kind = d9w_record_of(b, e);

	if (copy->skipping) {
		ledger_add(&c->chunk->ledger, &d9w_losses[D9W_AFTER_CUT], e->offset,
		           kind == D9W_RUN_RECORD ? e->ts : 1);
		return;
	}
	if (copy->to < D9_0_4)
		count_newer(copy, b, e, bytes, kind);
	if ((kind == D9W_ENTRY_RECORD) != (copy->left > 0))
		(void)copier_text(c);
	follow_frame(copy, b, e, kind);
	if (copy->next != e->offset && kind != D9W_ENTRY_RECORD && !copy->copier->run->rebased) {
		(void)copier_text(c); /* a dropped event moved the time base */
		const bool timed = kind == D9W_EVENT_RECORD && is_timed(b, e);
		d9w_reset(&copy->base, timed ? e->ts - b->fields[e->first_field + 1].value.u64 : e->ts,
		          c->chunk);
	}
	copy->any = true;
	copy->next = e->offset + bytes.n;
	if (copy->copier->run->rebased)
		write_moved(copy, b, e, bytes, kind);
	else
		copier_keep(c, bytes);
	if (copy->left > 0) { /* the next batch continues the frame */
		const uint32_t head = kind == D9W_HEAD_RECORD ? head_size(bytes) : 0;
		text_clear(&copy->last);
		text_add(&copy->last, bytes.p + head, bytes.n - head);
		c->chunk->text.failed |= copy->last.failed;
	}
}

static bool copy_passed(struct copier *c, const struct event *e, struct slice bytes)
{
	struct d9w_copy *const copy = c->state;

	if (copy->skipping)
		return false;
	copy->any = true;
	copy->next = e->offset + bytes.n;
	copy->left = e->ts; /* entries left in its frame */
	text_clear(&copy->last);
	return true;
}

/* ---- the copier ---- */

static bool copy_open(struct copier *c)
{
	struct d9w_copy *const copy = c->state;

	copy->copier = c;
	copy->to = d9w_dialect(c->options);
	copy->selection = c->selected ? d9w_selection_new() : NULL;
	return !c->selected || copy->selection != NULL;
}

static void copy_input(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	struct d9w_copy *const copy = c->state;

	copy->skipping |= copy->left > 0;
	copy->next = 0;
}

static void copy_record(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	if (c->selected)
		d9w_select_record(c->state, b, e, bytes);
	else
		copy_unselected(c, b, e, bytes);
}

/* Times of events are differences, so --rebase needs all of them. */
static bool copy_skips(const struct copier *c, const struct event *e, struct slice bytes)
{
	return !c->run->rebased;
}

static void copy_end(struct copier *c)
{
	if (c->selected)
		d9w_select_end(c->state);
}

static void copy_free(void *state)
{
	struct d9w_copy *const copy = state;

	text_free(&copy->last);
	d9w_selection_free(copy->selection);
}

const struct copier_ops d9w_copier_ops = {
	.state_size = sizeof(struct d9w_copy),
	.modes = COPIER_SELECTS | COPIER_RUNS | COPIER_BARE | COPIER_GAPS,
	.restates = "ClockSyncEvent",
	.open = copy_open,
	.input = copy_input,
	.record = copy_record,
	.passed = copy_passed,
	.skips = copy_skips,
	.end = copy_end,
	.free = copy_free,
};
