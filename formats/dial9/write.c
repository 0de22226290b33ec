#include <stdlib.h>

#include "dial9/write.h"

#include "dial9/dialect.h"

const struct loss d9w_losses[D9W_LOSSES + 1] = {
#define LOSS(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },
#include "dial9/losses.def"
#undef LOSS
};

static bool
d9w_open(struct writer *w, struct chunk *chunk)
{
	struct d9w_state *const st = w->state;

	const char *const version = option_find(w->options, "to-dialect");

	st->as_0_3 = version != NULL && strcmp(version, d9_dialects[D9_0_3]) == 0;
	st->is_raw = w->raw;
	st->selected = w->selected;
	st->rebased = w->rebased;
	st->signed_time = w->signed_time;
	st->next_id = D9W_ID_FREE;
	if (!w->raw)
		d9w_prologue(chunk);
	return true;
}

/* Room in the arrays for what is new. */
static bool
d9w_declare(struct writer *w, const struct batch *b)
{
	struct d9w_state *const st = w->state;
	bool ok = true;

	for (uint32_t i = 0; ok && !w->raw && i < b->ntracks; i++)
		ok = array_reach(&st->tracks, &st->ntracks, b->tracks[i]->index, sizeof *st->tracks);
	for (uint32_t i = 0; ok && !w->raw && i < b->nclasses; i++)
		ok = array_reach(&st->classes, &st->nclasses, b->classes[i]->index, sizeof *st->classes);
	return ok;
}

static void
d9w_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct d9w_state *const st = state;

	if (st->is_raw && st->selected) {
		d9w_select(st, b, chunk);
		return;
	}
	if (st->is_raw) {
		d9w_raw(st, b, chunk);
		return;
	}
	for (uint32_t i = 0; i < b->n && !chunk->text.failed; i++)
		if (b->events[i].phase != PHASE_STRUCTURE)
			d9w_event(st, b, &b->events[i], chunk);
}

static bool
d9w_close(struct writer *w, struct chunk *chunk)
{
	if (!w->raw)
		d9w_remaining(w->state, w, chunk);
	else if (w->selected)
		d9w_select_end(w->state, chunk);
	return true;
}

static void
d9w_free(void *state)
{
	struct d9w_state *const st = state;

	text_free(&st->raw.last);
	d9w_select_free(&st->select);
	arena_free(&st->arena);
	free(st->classes);
	free(st->tracks);
	free(st->layouts);
	table64_free(&st->signatures);
	tabletext_free(&st->pool);
	free(st->cells);
	text_free(&st->scratch);
}

const struct writer_ops d9w_ops = {
	.state_size = sizeof(struct d9w_state),
	.want = WANT_FIELDS | WANT_BYTES,
	.modes = WRITER_RAW_SAME | WRITER_RAW_SELECT | WRITER_RAW_BARE | WRITER_RAW_RUNS | WRITER_INTERPRETED,
	.open = d9w_open,
	.declare = d9w_declare,
	.write = d9w_write,
	.close = d9w_close,
	.free = d9w_free,
};
