#include "csv/state.h"

/* What all events of a track or class say alike is put together once. */

static void
put_name(struct text *t, bool tabs, struct slice name, struct csv_cells *cells)
{
	const unsigned harm = csv_cell(t, tabs, name);

	cells->bad_text += (harm & CSV_BAD_TEXT) != 0;
	cells->hidden += (harm & CSV_HIDDEN) != 0;
}

/* A name and a number, as far as there are. */
static void
put_track(struct text *t, bool tabs, const struct track *k, struct csv_cells *cells)
{
	if (k != NULL)
		put_name(t, tabs, k->name, cells);
	text_char(t, csv_separator(tabs));
	if (k != NULL && k->has_id)
		text_u64(t, k->id);
	text_char(t, csv_separator(tabs));
}

/* process, pid, thread, tid, track, lane */
static void
put_place(struct text *t, bool tabs, const struct track *k, struct csv_cells *cells)
{
	const struct track *const base = k->lane > 0 ? k->parent : k;
	const struct track *thread = base;

	while (thread != NULL && (thread->is_child || thread->parent == NULL))
		thread = thread->parent;
	put_track(t, tabs, track_process(k), cells);
	put_track(t, tabs, thread, cells);
	if (base->is_child)
		put_name(t, tabs, base->name, cells);
	text_char(t, csv_separator(tabs));
	text_u64(t, k->lane);
	text_char(t, csv_separator(tabs));
}

/* NULL: no memory. */
static const struct csv_cells *
keep(struct csv_state *st, const struct text *t, struct csv_cells *cells)
{
	struct csv_cells *const to = t->failed ? NULL : arena_alloc(&st->arena, sizeof *to);
	const struct slice text = slice_of(t->p, t->n), none = { .p = NULL };
	const struct slice copy = to != NULL ? arena_copy(&st->arena, text) : none;

	if (copy.p == NULL)
		return NULL;
	cells->p = copy.p;
	cells->n = copy.n;
	*to = *cells;
	return to;
}

static bool
declare_track(struct csv_state *st, struct track *k)
{
	struct csv_cells cells = { .p = NULL };
	struct text t = { .p = NULL };

	put_place(&t, st->tabs, k, &cells);
	k->declared = keep(st, &t, &cells);
	text_free(&t);
	return k->declared != NULL;
}

static bool
declare_class(struct csv_state *st, struct class *c)
{
	struct csv_cells cells = { .p = NULL };
	struct text t = { .p = NULL };

	text_char(&t, csv_separator(st->tabs));
	put_name(&t, st->tabs, c->category, &cells);
	text_char(&t, csv_separator(st->tabs));
	c->declared = keep(st, &t, &cells);
	text_free(&t);
	return c->declared != NULL;
}

bool
csv_declare(struct writer *w, const struct batch *b)
{
	for (uint32_t i = 0; i < b->ntracks; i++)
		if (!declare_track(w->state, b->tracks[i]))
			return false;
	for (uint32_t i = 0; i < b->nclasses; i++)
		if (!declare_class(w->state, b->classes[i]))
			return false;
	return true;
}
