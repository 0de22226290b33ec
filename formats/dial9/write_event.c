#include "dial9/write.h"
#include "model/event_traits.h"

/* Events as frames of the schema that their layout is. */

enum d9_made_kind
d9w_kind_of(const struct event *e)
{
	static const uint8_t kinds[] = {
		[PHASE_SPAN] = D9_MADE_SPAN,        [PHASE_BEGIN] = D9_MADE_BEGIN,
		[PHASE_END] = D9_MADE_END,          [PHASE_INSTANT] = D9_MADE_INSTANT,
		[PHASE_COUNTER] = D9_MADE_COUNTER,  [PHASE_FLOW_OUT] = D9_MADE_ARROW_OUT,
		[PHASE_FLOW_IN] = D9_MADE_ARROW_IN,
	};

	if (event_is_step(e))
		return D9_MADE_ARROW_STEP;
	return event_is_async(e) ? D9_MADE_ASYNC
	                                                               : (enum d9_made_kind)kinds[e->phase];
}

/* How its name and its fields are written. */
static bool
find_cells(struct d9w_state *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	const struct value name = value_string(e->name);

	st->left = D9W_MOST_EVENT;
	st->referred = 0;
	if (!array_reach(&st->cells, &st->ncells, e->nfields, sizeof *st->cells)) {
		chunk->text.failed = true;
		return false;
	}
	st->cells[0] = d9w_cell_of(st, &name, chunk);
	for (uint32_t i = 0; i < e->nfields; i++)
		st->cells[i + 1] = d9w_cell_of(st, &b->fields[e->first_field + i].value, chunk);
	return !chunk->text.failed;
}

static uint64_t
start_of(const struct d9w_state *st, const struct event *e, struct chunk *chunk)
{
	if (!st->signed_time || e->ts <= INT64_MAX)
		return e->ts;
	d9w_lose(chunk, D9W_NEGATIVE_TIME, e->offset);
	return 0;
}

static void
put_head(struct d9w_state *st, const struct event *e, const struct d9w_layout *l, uint32_t track,
         struct chunk *chunk)
{
	const uint64_t start = start_of(st, e, chunk);
	const uint32_t delta = d9w_delta(st, start, chunk);
	struct text *const t = &chunk->text;
	uint64_t dur = e->dur;

	text_char(t, D9_TAG_EVENT);
	d9w_number(t, l->id, 2);
	d9w_number(t, delta, 3);
	d9w_varint(t, track);
	if (e->phase == PHASE_SPAN && dur > UINT64_MAX - start) {
		d9w_lose(chunk, D9W_LATE_END, e->offset);
		dur = UINT64_MAX - start;
	}
	if (e->phase == PHASE_SPAN || event_is_flow(e))
		d9w_varint(t, dur);
}

/* A text of an event without a schema of its own. */
static void
put_clean(struct d9w_state *st, struct slice s, struct chunk *chunk, uint64_t offset)
{
	const struct d9w_cell cell = { D9_STRING, D9_MADE_PLAIN, 0 };
	struct value v;

	text_clear(&st->scratch);
	if (d9w_clean(&st->scratch, s, st->left))
		d9w_lose(chunk, D9W_BAD_NAME, offset);
	chunk->text.failed |= st->scratch.failed;
	if (st->scratch.failed)
		return;
	v = value_string(slice_of(st->scratch.p, st->scratch.n));
	d9w_value(st, cell, &v, chunk, offset);
}

static void
put_other(struct d9w_state *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	put_clean(st, e->name, chunk, e->offset);
	put_clean(st, e->cls->name, chunk, e->offset);
	put_clean(st, e->cls->category, chunk, e->offset);
	d9w_all(st, b->fields + e->first_field, e->nfields, chunk, e->offset);
	d9w_lose(chunk, D9W_FIELDS_IN_ONE, e->offset);
}

void
d9w_event(struct d9w_state *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	const struct value name = value_string(e->name);

	if (!find_cells(st, b, e, chunk))
		return;
	const struct d9w_layout *const l = d9w_layout_of(st, b, e, chunk);
	const uint32_t track = d9w_track(st, e->track, chunk);

	put_head(st, e, l, track, chunk);
	if (st->tracks[e->track->index].changed)
		d9w_lose(chunk, D9W_TRACK_CHANGED, e->offset);
	if (l->bad_name)
		d9w_lose(chunk, D9W_BAD_NAME, e->offset);
	if (l->renamed)
		d9w_lose(chunk, D9W_RENAMED, e->offset);
	if (l->other) {
		put_other(st, b, e, chunk);
		return;
	}
	d9w_value(st, st->cells[0], &name, chunk, e->offset);
	for (uint32_t i = 0; i < e->nfields; i++)
		d9w_value(st, st->cells[i + 1], &b->fields[e->first_field + i].value, chunk, e->offset);
}
