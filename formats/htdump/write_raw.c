#include "htdump/write.h"

/*
 * Records of a .htdump as they are.  One file behind another is a .htdump too
 * if both have the same layout and the second says its byte order; what it
 * describes counts from there on.
 */

static bool
is_wire(const struct batch *b, const struct event *e)
{
	return slice_is(b->fields[e->first_field].name, "klass_id");
}

/* The first record of an input: whether it can stand behind what was written. */
static void
begin_input(struct htw_raw *raw, const struct batch *b, const struct event *e, struct slice bytes,
            struct chunk *chunk)
{
	static const char little[HT_ENDIANNESS_SIZE];
	const bool wire = is_wire(b, e);

	raw->skipping = raw->any && wire != raw->wire;
	if (!raw->any)
		raw->wire = wire;
	else if (!raw->skipping && load_u32(bytes.p + (wire ? 0 : 16), false) != HT_CLASS_ENDIANNESS)
		text_add(&chunk->text, little, sizeof little); /* it was read as little endian */
}

/* Moves the time of the record that was added last. */
static void
move_time(struct htw_raw *raw, const struct batch *b, const struct event *e, uint32_t size,
          struct chunk *chunk)
{
	const uint64_t was = b->fields[e->first_field + raw->wire].value.u64;
	char *const at = chunk->text.p + chunk->text.n - size + (raw->wire ? 4 : 0);
	const bool negative = e->ts > was;

	if (chunk->text.failed)
		return;
	if (load_u64(at, raw->big) != was)
		raw->big = !raw->big; /* an EndiannessInfoEvent came */
	htw_store(at, negative ? 0 : e->ts, 8);
	if (raw->big)
		htw_store(at, __builtin_bswap64(negative ? 0 : e->ts), 8);
	if (negative && e->phase != PHASE_STRUCTURE)
		ledger_add(&chunk->ledger, &htw_losses[HTW_NEGATIVE_TIME], e->offset, 1);
}

static void
note_byte_order(struct htw_raw *raw, const struct batch *b, const struct event *e)
{
	const struct field *const f = b->fields + e->first_field;

	if (e->nfields == 4 && f[raw->wire ? 0 : 2].value.u64 == HT_CLASS_ENDIANNESS)
		raw->big = f[3].value.u64 == 1;
}

void
htw_survey(void *state, const struct batch *b)
{
	struct htw_state *const st = state;

	for (uint32_t i = 0; i < b->n; i++)
		htw_select_look(&st->select, b, &b->events[i]);
}

/* Whether a record is to be written, and can stand in the output. */
static bool
takes(struct htw_state *st, const struct event *e, struct chunk *chunk)
{
	if (st->selected && !htw_select_takes(&st->select, e))
		return false;
	if (st->raw.skipping) /* a run of records has no fields, and their number as its time */
		ledger_add(&chunk->ledger, &htw_losses[HTW_OTHER_LAYOUT], e->offset,
		           e->nfields == 0 ? e->ts : 1);
	return !st->raw.skipping;
}

void
htw_raw(struct htw_state *st, const struct batch *b, struct chunk *chunk)
{
	struct htw_raw *const raw = &st->raw;
	struct slice run = { NULL, 0, 0 }; /* records that lie side by side */

	if (st->selected)
		htw_select_end(&st->select);
	chunk->text.failed |= st->select.failed;
	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		const struct slice bytes = b->bytes[i];
		const bool adjoins = run.n > 0 && run.p + run.n == bytes.p && bytes.n <= UINT32_MAX - run.n;
		if (!adjoins || e->offset == 0) {
			chunk_borrow(chunk, run);
			run = slice_of(bytes.p, 0);
		}
		if (e->offset == 0)
			begin_input(raw, b, e, bytes, chunk);
		if (!takes(st, e, chunk))
			continue;
		raw->any = true;
		run.n += bytes.n;
		if (!st->rebased)
			continue;
		text_slice(&chunk->text, run);
		run.n = 0;
		move_time(raw, b, e, bytes.n, chunk);
		note_byte_order(raw, b, e);
	}
	chunk_borrow(chunk, run);
}
