#include <stdlib.h>

#include "paraver/state.h"

static bool
paraver_open_output(struct writer *w, struct chunk *chunk)
{
	struct paraver_state *const st = w->state;

	(void)chunk;
	st->store.beside = st->arrows.beside = w->beside;
	return true;
}

static bool
paraver_declare(struct writer *w, const struct batch *b)
{
	struct paraver_state *const st = w->state;
	bool ok = true;

	for (uint32_t i = 0; ok && i < b->nclasses; i++)
		ok = array_reach(&st->categories, &st->ncategories, b->classes[i]->index,
		                 sizeof *st->categories);
	for (uint32_t i = 0; ok && i < b->ntracks; i++)
		ok = paraver_declare_track(st, b->tracks[i]);
	return ok;
}

static void
paraver_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct paraver_state *const st = state;

	for (uint32_t i = 0; i < b->n && !st->names.failed && !st->store.failed; i++)
		if (b->events[i].phase != PHASE_STRUCTURE)
			paraver_event(st, b, &b->events[i], chunk);
	paraver_store_settle(&st->store);
	(void)paraver_is_well(st, chunk);
}

static void
paraver_free(void *state)
{
	struct paraver_state *const st = state;

	paraver_names_free(&st->names);
	paraver_rows_free(&st->rows);
	paraver_spans_free(&st->spans);
	paraver_arrows_free(&st->arrows);
	paraver_store_free(&st->store);
	free(st->tracks);
	free(st->categories);
	arena_free(&st->arena);
	text_free(&st->scratch);
}

const struct writer_ops paraver_writer_ops = {
	.state_size = sizeof(struct paraver_state),
	.want = WANT_FIELDS,
	.modes = WRITER_INTERPRETED,
	.order = ORDER_TIME,
	.shape = WRITER_FOLDER,
	.nested = true,
	.open = paraver_open_output,
	.declare = paraver_declare,
	.write = paraver_write,
	.close = paraver_close,
	.free = paraver_free,
};
