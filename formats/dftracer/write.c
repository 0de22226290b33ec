#include "dftracer/write.h"

#include <stdlib.h>

const struct loss dfw_losses[DFW_LOSSES + 1] = {
#define LOSS(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },
#include "dftracer/losses.def"
#undef LOSS
};

const char *const dfw_dialect_words[] = { "d1", "d3", "d5", NULL };

static enum dfw_dialect
dialect_of(const struct option_value *options)
{
	const char *const word = option_find(options, DFW_DIALECT_OPTION);

	for (int i = DFW_D1; word != NULL && i <= DFW_D5; i++)
		if (strcmp(word, dfw_dialect_words[i]) == 0)
			return (enum dfw_dialect)i;
	return DFW_D5;
}

static bool
dfw_open(struct writer *w, struct chunk *chunk)
{
	struct dfw_state *const st = w->state;

	st->is_raw = w->raw;
	st->selected = w->selected;
	st->rebased = w->rebased;
	st->signed_time = w->signed_time;
	st->own = strcmp(w->trace->format, "dftracer") == 0;
	st->dialect = dialect_of(w->options);
	if (!w->raw && st->dialect != DFW_D5)
		text_str(&chunk->text, "[\n");
	return true;
}

/* Room in the array for what is new. */
static bool
dfw_declare(struct writer *w, const struct batch *b)
{
	struct dfw_state *const st = w->state;
	bool ok = true;

	for (uint32_t i = 0; ok && !w->raw && i < b->ntracks; i++)
		ok = array_reach(&st->tracks, &st->ntracks, b->tracks[i]->index, sizeof *st->tracks);
	return ok;
}

static void
dfw_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct dfw_state *const st = state;

	if (st->is_raw) {
		dfw_raw(st, b, chunk);
		return;
	}
	for (uint32_t i = 0; i < b->n && !chunk->text.failed; i++)
		if (b->events[i].phase != PHASE_STRUCTURE)
			dfw_event(st, b, &b->events[i], chunk);
}

/* ---- facts of the whole trace ---- */

/* What st->scratch holds is the value, JSON. */
static void
put_fact(struct dfw_state *st, struct chunk *chunk, struct slice name)
{
	struct text *const t = &st->scratch;

	chunk->text.failed |= t->failed;
	if (chunk->text.failed || slice_is(name, "time_metric"))
		return;
	dfw_metadata(st, chunk, (struct dfw_who){ st->first, st->first->pid }, "CM", name,
	             slice_of(t->p, t->n));
}

static void
put_word(struct dfw_state *st, struct chunk *chunk, const char *name, const char *value)
{
	text_clear(&st->scratch);
	if (value == NULL || *value == '\0')
		return;
	text_json_string(&st->scratch, slice_str(value));
	put_fact(st, chunk, slice_str(name));
}

static void
put_number(struct dfw_state *st, struct chunk *chunk, const char *name, uint64_t value)
{
	char digits[24];

	snprintf(digits, sizeof digits, "%" PRIu64, value);
	put_word(st, chunk, name, digits);
}

/* Values of custom metadata are texts. */
static void
put_meta(struct dfw_state *st, struct chunk *chunk, struct slice name, const struct value *v)
{
	struct text *const t = &st->scratch;
	struct chunk made = { .text = { .p = NULL } };

	text_clear(t);
	if (v->type == VALUE_STRING) {
		text_json_string(t, value_text(v));
	} else {
		dfw_value(&made, v, 0);
		text_json_string(t, slice_of(made.text.p, made.text.n));
		ledger_merge(&chunk->ledger, &made.ledger);
		chunk->text.failed |= made.text.failed;
	}
	if (t->n <= DFW_MOST_RECORD / 2)
		put_fact(st, chunk, name);
	else
		dfw_lose(chunk, DFW_TOO_LONG, 0);
	text_free(&made.text);
	ledger_free(&made.ledger);
}

/* Facts that readers of this format took from custom metadata, and from start and end, which are events. */
static void
put_own_meta(struct dfw_state *st, struct chunk *chunk, const struct field *f)
{
	static const char custom[] = "CM.";
	const uint32_t n = sizeof custom - 1;

	if (f->name.n > n && memcmp(f->name.p, custom, n) == 0)
		put_meta(st, chunk, slice_of(f->name.p + n, f->name.n - n), &f->value);
}

static void
put_facts(struct dfw_state *st, const struct writer *w, struct chunk *chunk)
{
	const struct trace *const trace = w->trace;
	char name[128];

	for (uint32_t i = 0; i < trace->nmeta; i++)
		if (st->own)
			put_own_meta(st, chunk, &trace->meta[i]);
		else
			put_meta(st, chunk, trace->meta[i].name, &trace->meta[i].value);
	put_word(st, chunk, "tool", w->tool);
	put_word(st, chunk, "format", trace->format);
	put_word(st, chunk, "dialect", trace->dialect);
	put_word(st, chunk, "clock", trace->clock);
	if (trace->epoch_known)
		put_number(st, chunk, "epoch_ns", trace->epoch_ns);
	if (w->rebased)
		put_number(st, chunk, "rebased_by_ns", w->rebased_by);
	for (size_t i = 0; i < w->total->n; i++) {
		snprintf(name, sizeof name, "losses.%s", w->total->rows[i].loss->id);
		put_number(st, chunk, name, w->total->rows[i].count);
	}
}

static bool
dfw_close(struct writer *w, struct chunk *chunk)
{
	struct dfw_state *const st = w->state;
	struct dfw_process nobody = { .next_id = 1 };

	if (w->raw) {
		dfw_raw_close(&st->raw, chunk);
		return true;
	}
	if (st->first == NULL)
		st->first = &nobody;
	if (st->dialect == DFW_D1 && w->trace->nmeta > 0)
		ledger_add(&chunk->ledger, &dfw_losses[DFW_NO_METADATA], 0, w->trace->nmeta);
	if (st->dialect != DFW_D1)
		put_facts(st, w, chunk);
	st->first = NULL;
	if (st->dialect == DFW_D3)
		text_char(&chunk->text, ']');
	return true;
}

static void
dfw_free(void *state)
{
	struct dfw_state *const st = state;

	arena_free(&st->arena);
	free(st->tracks);
	table64_free(&st->pids);
	tabletext_free(&st->hosts);
	table64_free(&st->tids);
	for (int i = 0; i < DFW_HASH_KINDS; i++) {
		tabletext_free(&st->hashed[i]);
		table64_free(&st->hashes_used[i]);
	}
	free(st->hashes);
	text_free(&st->scratch);
	text_free(&st->raw.end);
	dfw_look_free(&st->look);
	dfw_select_free(&st->select);
}

const struct writer_ops dfw_ops = {
	.state_size = sizeof(struct dfw_state),
	.want = WANT_FIELDS | WANT_BYTES,
	.modes = WRITER_TEXT | WRITER_RAW_SAME | WRITER_RAW_BYTES | WRITER_RAW_RUNS | WRITER_RAW_SELECT |
	         WRITER_INTERPRETED,
	.open = dfw_open,
	.declare = dfw_declare,
	.write = dfw_write,
	.survey = dfw_survey,
	.close = dfw_close,
	.free = dfw_free,
};
