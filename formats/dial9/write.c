/*
 * The writer of events of any format: frames of the schemas that write_schema.c describes, records of tracks,
 * and at the end facts and the wall time.  Numbers, texts and time deltas are used by the copy too.
 * Memory: 8 bytes a track besides schemas and the string pool.
 */
#include <stdlib.h>

#include "base/utf8.h"
#include "dial9/write.h"
#include "format/fields_json.h"
#include "model/event_traits.h"
#include "out/facts.h"
#include "out/times.h"
#include "output/text_json.h"

/* ---- numbers, times, texts ---- */

/* Facts within the limits of the reader. */
#define MAX_FACTS 60U
#define MAX_FACT_BYTES (56U << 10)

#define MAX_DELTA 0xffffffU /* "timestamp_delta_ns is a 24-bit unsigned integer" */

void d9w_number(struct text *t, uint64_t v, unsigned size)
{
	char *const p = text_reserve(t, 8);

	if (p == NULL)
		return;
	for (unsigned i = 0; i < size; i++)
		p[i] = (char)(v >> (8 * i));
	t->n += size;
}

void d9w_reset(struct d9w_state *st, uint64_t ts, struct chunk *chunk)
{
	text_char(&chunk->text, D9_TAG_RESET);
	d9w_number(&chunk->text, ts, 8);
	st->base = ts;
}

uint32_t d9w_delta(struct d9w_state *st, uint64_t ts, struct chunk *chunk)
{
	if (ts < st->base || ts - st->base > MAX_DELTA)
		d9w_reset(st, ts, chunk);
	const uint32_t delta = (uint32_t)(ts - st->base);

	st->base = ts;
	return delta;
}

void d9w_varint(struct text *t, uint64_t v)
{
	char *const p = text_reserve(t, D9_VARINT_MAX);
	unsigned n = 0;

	if (p == NULL)
		return;
	for (; v >= 0x80; v >>= 7)
		p[n++] = (char)(v | 0x80);
	p[n++] = (char)v;
	t->n += n;
}

void d9w_text16(struct text *t, struct slice s)
{
	d9w_number(t, s.n, 2);
	text_slice(t, s);
}

void d9w_text32(struct text *t, struct slice s)
{
	d9w_number(t, s.n, 4);
	text_slice(t, s);
}

bool d9w_is_utf8(struct slice s)
{
	return (s.flags & SLICE_UTF8) != 0 || s.n == 0 || utf8_valid(s.p, s.n);
}

bool d9w_clean(struct text *t, struct slice s, uint32_t max)
{
	const size_t start = t->n;
	const bool cut = s.n > max;

	s.n = (uint32_t)utf8_cut(s.p, s.n, max);
	const bool changed = text_utf8(t, s) > 0;
	if (!t->failed)
		t->n = start + utf8_cut(t->p + start, t->n - start, max);
	return changed || cut;
}

/* ---- tracks ---- */

static void put_untimed(struct text *t, enum d9w_type_id id)
{
	text_char(t, D9_TAG_EVENT);
	d9w_number(t, id, 2);
}

static void put_optional(struct text *t, bool there, uint64_t v)
{
	text_char(t, there);
	if (there)
		d9w_varint(t, v);
}

static void put_track(struct d9w_state *st, const struct track *t, uint32_t number, uint32_t parent,
                      struct chunk *chunk)
{
	struct text *const out = &chunk->text;
	struct text *const name = &st->scratch;

	text_clear(name);
	st->tracks[t->index].changed = d9w_clean(name, t->name, D9W_MAX_EVENT);
	if (st->tracks[t->index].changed)
		d9w_lose(chunk, D9W_BAD_NAME, 0);
	st->tracks[t->index].changed |= t->parent != NULL && st->tracks[track_process(t)->index].changed;
	out->failed |= name->failed;
	if (out->failed)
		return;
	put_untimed(out, D9W_ID_TRACK);
	d9w_varint(out, number);
	put_optional(out, t->parent != NULL, parent);
	d9w_text32(out, t->lane > 0 ? SLICE_LIT("child") : track_kind_name(t)); /* dial9 has no lanes */
	put_optional(out, t->has_id, t->id);
	d9w_text32(out, slice_of(name->p, name->n));
}

/* Returns the number of a track, after writing its record if it is new. */
static uint32_t number_track(struct d9w_state *st, const struct track *t, struct chunk *chunk)
{
	uint32_t *const number = &st->tracks[t->index].number;

	if (*number == 0) {
		/* parents are at most TRACE_MAX_DEPTH */
		const uint32_t parent = t->parent != NULL ? number_track(st, t->parent, chunk) : 0;
		*number = ++st->next_track;
		put_track(st, t, *number - 1, parent, chunk);
	}
	return *number - 1;
}

/* ---- facts ---- */

struct fact_map {
	struct d9w_state *st;
	struct chunk *chunk;
	size_t at; /* of the number of facts */
	uint32_t n;
};

static void put_pair(struct fact_map *m, struct slice name, struct slice value)
{
	struct text *const t = &m->chunk->text;
	const uint64_t bytes = (uint64_t)t->n - m->at + name.n + value.n;

	if (m->n == MAX_FACTS || bytes > MAX_FACT_BYTES) {
		d9w_lose(m->chunk, D9W_FACTS, 0);
		return;
	}
	m->n++;
	d9w_text32(t, name);
	d9w_text32(t, value);
}

/* Facts of the trace that this program wrote once are left out: it writes them again. */
static void put_fact(struct fact_map *m, const struct fact *f)
{
	struct text *const t = &m->st->scratch;
	struct fields_json_lost lost = { .bad_text = 0 };
	const bool own = f->kind != FACT_TRACE;
	bool changed;

	if (!own && word_is_own(f->name))
		return;
	text_clear(t);
	text_str(t, own ? WORDS_PREFIX : "");
	changed = d9w_clean(t, f->name, MAX_FACT_BYTES);
	const size_t n = t->n;
	if (own)
		fact_put_text(t, f);
	else if (f->value.type == VALUE_STRING)
		changed |= d9w_clean(t, value_text(&f->value), MAX_FACT_BYTES);
	else
		fields_json_value(t, &f->value, &lost);
	if (t->failed)
		return;
	if (changed || fields_json_lost_any(&lost))
		d9w_lose(m->chunk, D9W_FACTS, 0);
	put_pair(m, slice_of(t->p, n), slice_of(t->p + n, t->n - n));
}

static void put_facts(struct d9w_state *st, const struct writer *w, struct chunk *chunk)
{
	struct facts facts = facts_of(w, FACTS_WORDS | FACTS_OF(FACT_REBASED_BY) | FACTS_OF(FACT_TRACE));
	struct text *const t = &chunk->text;
	struct fact_map m = { .st = st, .chunk = chunk };
	struct fact fact;

	put_untimed(t, D9W_ID_FACTS);
	m.at = t->n;
	d9w_number(t, 0, 4);
	while (!t->failed && facts_next(&facts, &fact))
		put_fact(&m, &fact);
	for (unsigned i = 0; i < 4 && !t->failed; i++)
		t->p[m.at + i] = (char)(m.n >> (8 * i));
	t->failed |= st->scratch.failed;
}

/* Adds the wall time of the last time of the output, or of 0. */
static void put_clock(struct d9w_state *st, const struct writer *w, struct chunk *chunk)
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

/* Adds the tracks without events, the facts of the trace, its wall time. */
static void put_end(struct d9w_state *st, const struct writer *w, struct chunk *chunk)
{
	for (uint32_t i = 0; i < w->trace->ntracks && i < st->ntracks && !chunk->text.failed; i++)
		if (!w->trace->tracks[i]->hidden)
			(void)number_track(st, w->trace->tracks[i], chunk);
	put_facts(st, w, chunk);
	put_clock(st, w, chunk);
}

/* ---- events ---- */

/* Determines how the name and the fields of an event are written; texts are added to the pool. */
static bool find_cells(struct d9w_state *st, const struct batch *b, const struct event *e,
                       struct chunk *chunk)
{
	const struct value name = value_string(e->name);

	st->left = D9W_MAX_EVENT;
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

static void put_head(struct d9w_state *st, const struct event *e, const struct d9w_layout *l, uint32_t track,
                     struct chunk *chunk)
{
	const struct out_times times = out_times_of(e, st->signed_time);
	const uint32_t delta = d9w_delta(st, times.start, chunk);
	struct text *const t = &chunk->text;

	if (times.negative)
		d9w_lose(chunk, D9W_NEGATIVE_TIME, e->offset);
	text_char(t, D9_TAG_EVENT);
	d9w_number(t, l->id, 2);
	d9w_number(t, delta, 3);
	d9w_varint(t, track);
	if (times.late)
		d9w_lose(chunk, D9W_LATE_END, e->offset);
	if (e->phase == PHASE_SPAN || event_is_flow(e))
		d9w_varint(t, e->phase == PHASE_SPAN ? times.dur : e->dur);
}

/* Adds a text of an event without a schema of its own. */
static void put_clean(struct d9w_state *st, struct slice s, struct chunk *chunk, uint64_t offset)
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

static void put_shared_fields(struct d9w_state *st, const struct batch *b, const struct event *e,
                              struct chunk *chunk)
{
	put_clean(st, e->name, chunk, e->offset);
	put_clean(st, e->cls->name, chunk, e->offset);
	put_clean(st, e->cls->category, chunk, e->offset);
	d9w_all(st, b->fields + e->first_field, e->nfields, chunk, e->offset);
	d9w_lose(chunk, D9W_FIELDS_IN_ONE, e->offset);
}

static void put_event(struct d9w_state *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	const struct value name = value_string(e->name);

	if (!find_cells(st, b, e, chunk))
		return;
	const struct d9w_layout *const l = d9w_layout_of(st, b, e, chunk);
	const uint32_t track = number_track(st, e->track, chunk);

	put_head(st, e, l, track, chunk);
	if (st->tracks[e->track->index].changed)
		d9w_lose(chunk, D9W_TRACK_CHANGED, e->offset);
	if (l->bad_name)
		d9w_lose(chunk, D9W_BAD_NAME, e->offset);
	if (l->renamed)
		d9w_lose(chunk, D9W_RENAMED, e->offset);
	if (l->other) {
		put_shared_fields(st, b, e, chunk);
		return;
	}
	d9w_value(st, st->cells[0], &name, chunk, e->offset);
	for (uint32_t i = 0; i < e->nfields; i++)
		d9w_value(st, st->cells[i + 1], &b->fields[e->first_field + i].value, chunk, e->offset);
}

/* ---- the writer ---- */

const struct loss d9w_losses[D9W_LOSSES + 1] = {
#define LOSS(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },
#include "dial9/losses.def"
#undef LOSS
};

static bool d9w_open(struct writer *w, struct chunk *chunk)
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

/* Extends the arrays by new tracks and classes. */
static bool d9w_declare(struct writer *w, const struct batch *b)
{
	struct d9w_state *const st = w->state;

	return w->raw || (tracks_reach(&st->tracks, &st->ntracks, sizeof *st->tracks, b) &&
	                  shapes_declare(&st->shapes, b));
}

static void d9w_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct d9w_state *const st = state;

	if (st->is_raw && st->selected) {
		d9w_select(st, b, chunk);
		return;
	}
	if (st->is_raw) {
		d9w_copy(st, b, chunk);
		return;
	}
	for (uint32_t i = 0; i < b->n && !chunk->text.failed; i++)
		if (b->events[i].phase != PHASE_STRUCTURE)
			put_event(st, b, &b->events[i], chunk);
}

static bool d9w_close(struct writer *w, struct chunk *chunk)
{
	if (!w->raw)
		put_end(w->state, w, chunk);
	else if (w->selected)
		d9w_select_end(w->state, chunk);
	return true;
}

static void d9w_free(void *state)
{
	struct d9w_state *const st = state;

	text_free(&st->copy.last);
	d9w_select_free(&st->select);
	arena_free(&st->arena);
	free(st->tracks);
	shapes_free(&st->shapes);
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
