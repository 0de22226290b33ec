#include "dftracer/write.h"

/* Records that are copied, but for their time. */

/* The new time, in the unit of the record. */
static uint64_t
new_time(struct dfw_state *st, const struct event *e, struct chunk *chunk)
{
	const uint64_t unit = dfw_look_unit(&st->look);

	if (st->signed_time && e->ts > INT64_MAX) {
		dfw_lose(chunk, DFW_NEGATIVE_TIME, e->offset);
		return 0;
	}
	if (e->ts % unit != 0)
		dfw_lose(chunk, DFW_TIME_ROUNDED, e->offset);
	return e->ts / unit;
}

void
dfw_move(struct dfw_state *st, const struct event *e, struct slice bytes, struct chunk *chunk)
{
	struct text *const t = &chunk->text;
	const struct dft_record *const rec = &st->look.rec;
	const bool seen = dfw_look_at(&st->look, bytes);

	chunk->text.failed |= !st->look.ready;
	if (seen && st->look.kind == DFW_TIME_METRIC)
		chunk->text.failed |= !dfw_look_metric(&st->look);
	if (!seen || e->phase == PHASE_STRUCTURE || dft_top_kind(rec, DFT_TS) == JSON_ABSENT) {
		text_slice(t, bytes);
		return;
	}
	const struct dft_token ts = rec->top[DFT_TS];
	text_add(t, bytes.p, ts.at);
	text_u64(t, new_time(st, e, chunk));
	text_add(t, bytes.p + ts.at + ts.n, bytes.n - ts.at - ts.n);
}
