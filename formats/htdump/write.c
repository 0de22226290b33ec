#include <inttypes.h>
#include <stdlib.h>

#include "htdump/write.h"

const struct loss htw_losses[HTW_LOSSES + 1] = {
#define LOSS(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },
#include "htdump/losses.def"
#undef LOSS
};

static bool
htw_open(struct writer *w, struct chunk *chunk)
{
	struct htw_state *const st = w->state;

	st->is_raw = w->raw;
	st->selected = w->selected;
	st->rebased = w->rebased;
	st->signed_time = w->signed_time;
	if (!w->raw)
		htw_prologue(st, chunk);
	return true;
}

/* Room in the arrays for what is new. */
static bool
htw_declare(struct writer *w, const struct batch *b)
{
	struct htw_state *const st = w->state;
	bool ok = true;

	for (uint32_t i = 0; ok && !w->raw && i < b->ntracks; i++)
		ok = array_reach(&st->tracks, &st->ntracks, b->tracks[i]->index, sizeof *st->tracks);
	for (uint32_t i = 0; ok && !w->raw && i < b->nclasses; i++)
		ok = array_reach(&st->classes, &st->nclasses, b->classes[i]->index, sizeof *st->classes);
	return ok;
}

static void
htw_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct htw_state *const st = state;

	if (st->is_raw) {
		htw_raw(st, b, chunk);
		return;
	}
	for (uint32_t i = 0; i < b->n && !chunk->text.failed; i++)
		if (b->events[i].phase != PHASE_STRUCTURE)
			htw_event(st, b, &b->events[i], chunk);
}

/* ---- facts of the whole trace ---- */

static void
put_fact(struct htw_state *st, struct chunk *chunk, struct slice name, struct slice value)
{
	struct htw_record r = htw_begin(st, chunk, HTW_ID_FACT, 0);

	htw_text(&r, name);
	htw_text(&r, value);
}

static void
put_word(struct htw_state *st, struct chunk *chunk, const char *name, const char *value)
{
	if (value != NULL && *value != '\0')
		put_fact(st, chunk, slice_str(name), slice_str(value));
}

static void
put_number(struct htw_state *st, struct chunk *chunk, const char *name, uint64_t value)
{
	text_clear(&st->scratch);
	text_u64(&st->scratch, value);
	put_fact(st, chunk, slice_str(name), slice_of(st->scratch.p, st->scratch.n));
}

/* What the trace says of itself, and what was lost, behind a word of ours. */
static void
put_named(struct htw_state *st, struct chunk *chunk, const char *word, struct slice name,
          const struct value *v)
{
	struct text *const t = &st->scratch;

	text_clear(t);
	text_str(t, word);
	text_slice(t, name);
	const size_t n = t->n;
	if (v->type == VALUE_STRING)
		text_slice(t, value_text(v));
	else
		htw_value_text(t, v);
	chunk->text.failed |= t->failed;
	if (!t->failed)
		put_fact(st, chunk, slice_of(t->p, n), slice_of(t->p + n, t->n - n));
}

static void
put_facts(struct htw_state *st, const struct writer *w, struct chunk *chunk)
{
	const struct trace *const trace = w->trace;

	put_word(st, chunk, "tool", w->tool);
	put_word(st, chunk, "format", trace->format);
	put_word(st, chunk, "dialect", trace->dialect);
	put_word(st, chunk, "byte_order", trace->byte_order);
	put_word(st, chunk, "clock", trace->clock);
	if (trace->epoch_known)
		put_number(st, chunk, "epoch_ns", trace->epoch_ns);
	if (w->rebased)
		put_number(st, chunk, "rebased_by_ns", w->rebased_by);
	for (uint32_t i = 0; i < trace->nmeta; i++)
		put_named(st, chunk, "trace.", trace->meta[i].name, &trace->meta[i].value);
	for (size_t i = 0; i < w->total->n; i++) {
		const struct value count = value_u64(w->total->rows[i].count);
		put_named(st, chunk, "losses.", slice_str(w->total->rows[i].loss->id), &count);
	}
	chunk->text.failed |= st->scratch.failed;
}

static bool
htw_close(struct writer *w, struct chunk *chunk)
{
	struct htw_state *const st = w->state;

	if (w->raw)
		return true;
	htw_remaining_tracks(st, w->trace, chunk);
	put_facts(st, w, chunk);
	return true;
}

static void
htw_free(void *state)
{
	struct htw_state *const st = state;

	arena_free(&st->arena);
	free(st->classes);
	free(st->tracks);
	free(st->layouts);
	table64_free(&st->signatures);
	table64_free(&st->numbers);
	text_free(&st->scratch);
	htw_select_free(&st->select);
}

const struct writer_ops htw_ops = {
	.state_size = sizeof(struct htw_state),
	.want = WANT_FIELDS | WANT_BYTES,
	.modes = WRITER_RAW_SAME | WRITER_RAW_SELECT | WRITER_RAW_BARE | WRITER_RAW_RUNS | WRITER_INTERPRETED,
	.open = htw_open,
	.survey = htw_survey,
	.declare = htw_declare,
	.write = htw_write,
	.close = htw_close,
	.free = htw_free,
};
