#include "base/decimal.h"
#include "csv/state.h"
#include "model/event_traits.h"

const struct loss csv_losses[CSV_LOSSES + 1] = {
#define LOSS(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },
#include "csv/losses.def"
#undef LOSS
};

const struct loss tsv_losses[TSV_LOSSES + 1] = {
#define LOSS(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },
#include "csv/tsv_losses.def"
#undef LOSS
};

static const char *const columns[] = { "kind", "ts_ns",  "dur_ns", "name", "category", "process", "pid",
	                               "thread", "tid", "track",  "lane", "id",       "args",    "offset" };

/* ---- losses ---- */

static void
lose(const struct csv_state *st, struct chunk *c, enum csv_loss of_csv, enum tsv_loss of_tsv, uint64_t offset,
     uint32_t count)
{
	if (count > 0)
		ledger_add(&c->ledger, st->tabs ? &tsv_losses[of_tsv] : &csv_losses[of_csv], offset, count);
}

/* Of texts that are cells; tsv holds all of them. */
static void
lose_texts(struct chunk *c, uint32_t bad_text, uint32_t hidden, uint64_t offset)
{
	if (bad_text > 0)
		ledger_add(&c->ledger, &csv_losses[CSV_LOSS_BAD_TEXT], offset, bad_text);
	if (hidden > 0)
		ledger_add(&c->ledger, &csv_losses[CSV_LOSS_HIDDEN], offset, hidden);
}

static void
lose_args(const struct csv_state *st, struct chunk *c, const struct fields_json_lost *lost, uint64_t offset)
{
	lose(st, c, CSV_LOSS_BAD_TEXT, TSV_LOSS_BAD_TEXT, offset, lost->bad_text);
	lose(st, c, CSV_LOSS_NOT_A_NUMBER, TSV_LOSS_NOT_A_NUMBER, offset, lost->not_a_number);
	lose(st, c, CSV_LOSS_TOO_DEEP, TSV_LOSS_TOO_DEEP, offset, lost->too_deep);
}

/* ---- rows ---- */

struct kind {
	char text[16];
	uint32_t n;
};

#define KIND(word) { word, sizeof(word) - 1 }

static const struct kind kinds[] = {
	[PHASE_SPAN] = KIND("span"),         [PHASE_BEGIN] = KIND("begin"),
	[PHASE_END] = KIND("end"),           [PHASE_INSTANT] = KIND("instant"),
	[PHASE_COUNTER] = KIND("counter"),   [PHASE_FLOW_OUT] = KIND("flow_out"),
	[PHASE_FLOW_IN] = KIND("flow_in"),   [PHASE_STRUCTURE] = KIND("structure"),
};

static const struct kind async = KIND("async"), step = KIND("flow_step");

static const struct kind *
kind_of(const struct event *e)
{
	if (event_is_step(e))
		return &step;
	return event_is_async(e) ? &async : &kinds[e->phase];
}

#define ROW_ROOM (sizeof(struct kind) + 4 * DECIMAL_U64_MAX + 8) /* without texts and args */

static void
render_row(const struct csv_state *st, const struct batch *b, const struct event *e, struct chunk *c)
{
	const struct kind *const kind = kind_of(e);
	const struct csv_cells *const cls = csv_cells_of(e->cls->declared);
	const struct csv_cells *const place = csv_cells_of(e->track->declared);
	struct fields_json_lost lost = { .bad_text = 0 };
	const char separator = csv_separator(st->tabs);
	struct text *const t = &c->text;
	char *p = text_room(t, ROW_ROOM);

	if (p == NULL)
		return;
	memcpy(p, kind->text, sizeof kind->text);
	p += kind->n;
	*p++ = separator;
	p = st->signed_time ? decimal_i64(p, (int64_t)e->ts) : decimal_u64(p, e->ts);
	*p++ = separator;
	if (event_has_duration(e))
		p = decimal_u64(p, e->dur);
	*p++ = separator;
	t->n = (size_t)(p - t->p);
	const unsigned harm = csv_cell(t, st->tabs, e->name);
	if ((p = text_room(t, (size_t)cls->n + place->n + ROW_ROOM)) == NULL)
		return;
	p = text_put(p, cls->p, cls->n);
	p = text_put(p, place->p, place->n);
	if (event_is_flow(e))
		p = decimal_u64(p, e->dur);
	*p++ = separator;
	t->n = (size_t)(p - t->p);
	csv_args(t, st->tabs, b->fields + e->first_field, e->nfields, &lost);
	if ((p = text_room(t, ROW_ROOM)) == NULL)
		return;
	*p++ = separator;
	p = decimal_u64(p, e->offset);
	if (!st->tabs)
		*p++ = '\r';
	*p++ = '\n';
	t->n = (size_t)(p - t->p);
	if (harm != 0)
		lose_texts(c, (harm & CSV_BAD_TEXT) != 0, (harm & CSV_HIDDEN) != 0, e->offset);
	if (fields_json_lost_any(&lost))
		lose_args(st, c, &lost, e->offset);
}

/* ---- the writer ---- */

static void
csv_render(const void *state, const struct batch *b, struct chunk *chunk)
{
	for (uint32_t i = 0; i < b->ntracks; i++) {
		const struct csv_cells *const k = csv_cells_of(b->tracks[i]->declared);
		lose_texts(chunk, k->bad_text, k->hidden, 0);
	}
	for (uint32_t i = 0; i < b->nclasses; i++) {
		const struct csv_cells *const k = csv_cells_of(b->classes[i]->declared);
		lose_texts(chunk, k->bad_text, k->hidden, 0);
	}
	for (uint32_t i = 0; i < b->n; i++)
		if (b->events[i].phase != PHASE_STRUCTURE)
			render_row(state, b, &b->events[i], chunk);
}

static bool
begin(struct writer *w, struct chunk *chunk, bool tabs)
{
	struct csv_state *const st = w->state;

	st->signed_time = w->signed_time;
	st->tabs = tabs;
	for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
		if (i > 0)
			text_char(&chunk->text, csv_separator(tabs));
		text_str(&chunk->text, columns[i]);
	}
	text_str(&chunk->text, tabs ? "\n" : "\r\n");
	return true;
}

static bool
csv_open(struct writer *w, struct chunk *chunk)
{
	return begin(w, chunk, false);
}

static bool
tsv_open(struct writer *w, struct chunk *chunk)
{
	return begin(w, chunk, true);
}

static bool
csv_close(struct writer *w, struct chunk *chunk)
{
	(void)w;
	(void)chunk; /* nothing stands behind the last row */
	return true;
}

static void
csv_free(void *state)
{
	struct csv_state *const st = state;

	arena_free(&st->arena);
}

#define OPS(begins)                                                                                          \
	{                                                                                                    \
		.state_size = sizeof(struct csv_state), .want = WANT_FIELDS,                                 \
		.modes = WRITER_TEXT | WRITER_INTERPRETED, .nested = true,                                   \
		.open = begins, .declare = csv_declare,                                                      \
		.render = csv_render, .close = csv_close, .free = csv_free,                                  \
	}

const struct writer_ops csv_writer_ops = OPS(csv_open);
const struct writer_ops tsv_writer_ops = OPS(tsv_open);
