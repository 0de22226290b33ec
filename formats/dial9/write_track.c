#include "dial9/write.h"
#include "format/fields_json.h"

/* Records of the whole trace: its tracks, what it says of itself, its wall time. */

#define OWN "tracetool."

static void
put_untimed(struct text *t, enum d9w_type_id id)
{
	text_char(t, D9_TAG_EVENT);
	d9w_number(t, id, 2);
}

static void
put_optional(struct text *t, bool there, uint64_t v)
{
	text_char(t, there);
	if (there)
		d9w_varint(t, v);
}

/* ---- tracks ---- */

static struct slice
kind_word(const struct track *t)
{
	return t->kind == TRACK_PROCESS     ? SLICE_LIT("process")
	       : t->is_child || t->lane > 0 ? SLICE_LIT("child")
	                                    : SLICE_LIT("thread");
}

/* The number of a track that is there, or of a new one, which is to be described then. */
static uint32_t
number_of(struct d9w_state *st, const struct track *t, bool *is_new)
{
	uint32_t *const number = &st->tracks[t->index].number;

	*is_new = *number == 0;
	if (*is_new)
		*number = ++st->next_track;
	return *number - 1;
}

static void
describe(struct d9w_state *st, const struct track *t, uint32_t number, uint32_t parent, struct chunk *chunk)
{
	struct text *const out = &chunk->text;
	struct text *const name = &st->scratch;

	text_clear(name);
	st->tracks[t->index].changed = d9w_clean(name, t->name, D9W_MOST_EVENT);
	if (st->tracks[t->index].changed)
		d9w_lose(chunk, D9W_BAD_NAME, 0);
	st->tracks[t->index].changed |= t->parent != NULL && st->tracks[track_process(t)->index].changed;
	out->failed |= name->failed;
	if (out->failed)
		return;
	put_untimed(out, D9W_ID_TRACK);
	d9w_varint(out, number);
	put_optional(out, t->parent != NULL, parent);
	d9w_text32(out, kind_word(t));
	put_optional(out, t->has_id, t->id);
	d9w_text32(out, slice_of(name->p, name->n));
}

uint32_t
d9w_track(struct d9w_state *st, const struct track *t, struct chunk *chunk)
{
	const uint32_t known = st->tracks[t->index].number;
	bool is_new;

	if (known != 0)
		return known - 1;
	/* parents are few: lane or child, thread, process */
	const uint32_t parent = t->parent != NULL ? d9w_track(st, t->parent, chunk) : 0;
	const uint32_t number = number_of(st, t, &is_new);
	if (is_new)
		describe(st, t, number, parent, chunk);
	return number;
}

/* ---- facts ---- */

struct facts {
	struct d9w_state *st;
	struct chunk *chunk;
	size_t at; /* of their count */
	uint32_t n;
};

/* What the trace says of itself, or this program. */
static void
put_fact(struct facts *f, struct slice name, struct slice value)
{
	struct text *const t = &f->chunk->text;
	const uint64_t bytes = (uint64_t)t->n - f->at + name.n + value.n;

	if (f->n == D9W_MOST_FACTS || bytes > D9W_MOST_FACT_BYTES) {
		d9w_lose(f->chunk, D9W_FACTS, 0);
		return;
	}
	f->n++;
	d9w_text32(t, name);
	d9w_text32(t, value);
}

static void
put_word(struct facts *f, const char *name, const char *value)
{
	if (value != NULL && *value != '\0')
		put_fact(f, slice_str(name), slice_str(value));
}

static void
put_number(struct facts *f, const char *name, uint64_t value)
{
	struct text *const t = &f->st->scratch;

	text_clear(t);
	text_u64(t, value);
	put_fact(f, slice_str(name), slice_of(t->p, t->failed ? 0 : t->n));
}

/* A fact of the trace; those that this program wrote some time are made anew. */
static void
put_meta(struct facts *f, const struct field *meta)
{
	struct text *const t = &f->st->scratch;
	struct fields_json_lost lost = { .bad_text = 0 };
	bool changed;

	if (meta->name.n >= sizeof OWN - 1 && memcmp(meta->name.p, OWN, sizeof OWN - 1) == 0)
		return;
	text_clear(t);
	changed = d9w_clean(t, meta->name, D9W_MOST_FACT_BYTES);
	const size_t n = t->n;
	if (meta->value.type == VALUE_STRING)
		changed |= d9w_clean(t, value_text(&meta->value), D9W_MOST_FACT_BYTES);
	else
		fields_json_value(t, &meta->value, &lost);
	if (t->failed)
		return;
	if (changed || fields_json_lost_any(&lost))
		d9w_lose(f->chunk, D9W_FACTS, 0);
	put_fact(f, slice_of(t->p, n), slice_of(t->p + n, t->n - n));
}

static void
put_facts(struct d9w_state *st, const struct writer *w, struct chunk *chunk)
{
	const struct trace *const trace = w->trace;
	struct text *const t = &chunk->text;
	struct facts f = { .st = st, .chunk = chunk };

	put_untimed(t, D9W_ID_FACTS);
	f.at = t->n;
	d9w_number(t, 0, 4);
	put_word(&f, OWN "tool", w->tool);
	put_word(&f, OWN "format", trace->format);
	put_word(&f, OWN "dialect", trace->dialect);
	put_word(&f, OWN "byte_order", trace->byte_order);
	put_word(&f, OWN "clock", trace->clock);
	if (w->rebased)
		put_number(&f, OWN "rebased_by_ns", w->rebased_by);
	for (uint32_t i = 0; i < trace->nmeta && !t->failed; i++)
		put_meta(&f, &trace->meta[i]);
	for (unsigned i = 0; i < 4 && !t->failed; i++)
		t->p[f.at + i] = (char)(f.n >> (8 * i));
	t->failed |= st->scratch.failed;
}

/* The wall time: of the last time of the output, or of 0. */
static void
put_clock(struct d9w_state *st, const struct writer *w, struct chunk *chunk)
{
	const uint64_t at_0 = w->trace->epoch_ns, by = w->rebased ? w->rebased_by : 0;

	if (!w->trace->epoch_known || by > UINT64_MAX - at_0)
		return;
	if (st->base > UINT64_MAX - at_0 - by)
		d9w_reset(st, 0, chunk);
	put_untimed(&chunk->text, D9W_ID_CLOCK);
	d9w_number(&chunk->text, 0, 3);
	d9w_varint(&chunk->text, at_0 + by + st->base);
	text_char(&chunk->text, 1);
}

void
d9w_remaining(struct d9w_state *st, const struct writer *w, struct chunk *chunk)
{
	for (uint32_t i = 0; i < w->trace->ntracks && i < st->ntracks && !chunk->text.failed; i++)
		if (!w->trace->tracks[i]->hidden)
			(void)d9w_track(st, w->trace->tracks[i], chunk);
	put_facts(st, w, chunk);
	put_clock(st, w, chunk);
}
