/*
 * The writer of events of any format.  Each shape of events (out/shape.h) has a schema, with names as in
 * dial9.h, and each track a record; facts and the wall time are at the end.  Events beyond the limits share
 * one schema for each kind, with all fields as one value.  The copier also uses the functions for numbers,
 * texts and time deltas.  Memory: 8 bytes a track besides schemas and the string pool.
 */
#include <stdlib.h>

#include "dial9/write/write.h"
#include "format/fields_json.h"
#include "model/event_traits.h"
#include "out/facts.h"
#include "out/shape.h"
#include "out/tracks.h"

/* ---- the state ---- */

#define MAX_EVENT (3U << 20) /* max bytes of texts, lists and maps of one event */

/* type_ids of the output; those from ID_FREE on are for events. */
enum type_id { ID_TRACK, ID_FACTS, ID_CLOCK, ID_FREE };

/* A schema of the output: events of one class and kind, with fields of the same names and types. */
struct layout {
	/* kind: enum event_kind | the wire type of the event's name << 8; types of members: wire |
	 * type << 8, of struct d9w_cell */
	struct shape shape;
	uint16_t id;
	bool bad_name, renamed; /* losses of its events */
	bool other;             /* shared by all classes: all fields as one value */
};

struct out_track {
	uint32_t number; /* from 1; 0: none yet */
	bool changed;    /* readers show its events with another name */
};

struct d9w_state {
	bool signed_time;
	uint64_t base; /* timestamp_base_ns of the output */
	struct d9w_values values;
	struct out_track *tracks; /* by index of the trace's track */
	uint32_t ntracks;
	uint32_t next_track;
	struct shapes shapes;              /* struct layout */
	struct layout others[EVENT_KINDS]; /* id 0: not described yet */
	uint32_t next_id;
	struct d9w_cell *cells; /* of the current event: its name, then its fields */
	uint32_t ncells;
};

/* ---- numbers, times, texts ---- */

#define MAX_DELTA 0xffffffU /* "timestamp_delta_ns is a 24-bit unsigned integer" */

void d9w_reset(uint64_t *base, uint64_t ts, struct chunk *chunk)
{
	text_char(&chunk->text, D9_TAG_RESET);
	text_uint(&chunk->text, ts, 8, false);
	*base = ts;
}

uint32_t d9w_delta(uint64_t *base, uint64_t ts, struct chunk *chunk)
{
	if (ts < *base || ts - *base > MAX_DELTA)
		d9w_reset(base, ts, chunk);
	const uint32_t delta = (uint32_t)(ts - *base);

	*base = ts;
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

static void put_text16(struct text *t, struct slice s)
{
	text_uint(t, s.n, 2, false);
	text_slice(t, s);
}

void d9w_text32(struct text *t, struct slice s)
{
	text_uint(t, s.n, 4, false);
	text_slice(t, s);
}

bool d9w_put_repaired(struct text *t, struct slice s, uint32_t max)
{
	const size_t start = t->n;
	const bool cut = s.n > max;

	s.n = (uint32_t)utf8_cut(s.p, s.n, max);
	const bool changed = text_utf8(t, s) > 0;
	if (!t->failed)
		t->n = start + utf8_cut(t->p + start, t->n - start, max);
	return changed || cut;
}

/* ---- schemas ---- */

/* Limits, so that memory does not grow with the trace and the output is within the D9_MAX_* of the reader. */
#define MAX_SCHEMAS 65000U
#define MAX_DESCRIBED (12U << 20) /* bytes that a reader is charged for all schemas */
#define MAX_FIELDS 60000U         /* of one event */
#define MAX_SCHEMA (3U << 20)     /* bytes of one schema */
#define MAX_CATEGORY 10000U       /* bytes before escaping, which may triple them */
#define MAX_CLASS 30000U
#define MAX_NAME 65000U /* max length of a field name without suffix */

static void put_field(struct text *t, const char *name, unsigned type)
{
	put_text16(t, slice_str(name));
	text_char(t, (char)type);
}

static void put_schema_head(struct text *t, uint32_t id, struct slice name, bool timed, uint32_t nfields)
{
	text_char(t, D9_TAG_SCHEMA);
	text_uint(t, id, 2, false);
	put_text16(t, name);
	text_char(t, (char)timed);
	text_uint(t, nfields, 2, false);
}

void d9w_clock_schema(struct text *t, uint32_t id)
{
	put_schema_head(t, id, SLICE_LIT("ClockSyncEvent"), true, 2);
	put_field(t, "realtime_ns", D9_VARINT);
	put_field(t, word_names[WORD_CLOCK].p, D9_BOOL);
}

/* Writes the start of an output: the header, and the schemas up to ID_FREE. */
static void put_prologue(struct chunk *chunk)
{
	struct text *const t = &chunk->text;

	text_add(t, D9_MAGIC, D9_MAGIC_SIZE);
	text_char(t, D9_VERSION);
	put_schema_head(t, ID_TRACK, SLICE_LIT(D9_MADE_TRACK), false, 5);
	put_field(t, "track", D9_VARINT);
	put_field(t, "parent", D9_VARINT | D9_OPTIONAL);
	put_field(t, "kind", D9_STRING);
	put_field(t, "id", D9_VARINT | D9_OPTIONAL);
	put_field(t, "name", D9_STRING);
	put_schema_head(t, ID_FACTS, SLICE_LIT("SegmentMetadataEvent"), false, 1);
	put_field(t, "entries", D9_STRING_MAP);
	d9w_clock_schema(t, ID_CLOCK);
}

/* ---- schemas: names ---- */

static void put_category(struct text *t, struct slice s)
{
	for (uint32_t i = 0; i < s.n; i++)
		if (s.p[i] == '%')
			text_str(t, "%25");
		else if (s.p[i] == ':')
			text_str(t, "%3a");
		else
			text_char(t, s.p[i]);
}

static enum event_kind kind_of_layout(const struct layout *l)
{
	return (enum event_kind)(l->shape.kind & 0xff);
}

static bool is_waiting(const struct layout *l)
{
	return !l->other && kind_of_layout(l) == EVENT_KIND_SPAN && l->shape.cls->plan != NULL &&
	       l->shape.cls->plan->waiting;
}

/* Returns the name of the schema, in scratch. */
static struct slice schema_name(struct d9w_state *st, struct layout *l)
{
	const struct slice category = l->other ? SLICE_LIT("tracetool") : l->shape.cls->category;
	const struct slice cls = l->other ? SLICE_LIT("other") : l->shape.cls->name;
	struct text *const t = &st->values.scratch;

	text_clear(t);
	l->bad_name |= d9w_put_repaired(t, category, MAX_CATEGORY);
	const struct slice clean = arena_copy(&st->values.arena, slice_of(t->p, t->n));
	t->failed |= clean.p == NULL;
	text_clear(t);
	text_printf(t, D9_MADE_PREFIX "%s:",
	            is_waiting(l) ? D9_MADE_WAITING : event_kind_row(kind_of_layout(l))->names[KIND_PART].p);
	if (clean.p != NULL)
		put_category(t, clean);
	text_char(t, ':');
	l->bad_name |= d9w_put_repaired(t, cls, MAX_CLASS);
	return slice_of(t->p, t->failed ? 0 : t->n);
}

/* Returns the name of a member without its suffix, in scratch: unique among the members before it. */
static struct slice member_name(struct d9w_state *st, struct layout *l, uint32_t i, struct tabletext *used)
{
	struct text *const t = &st->values.scratch;

	text_clear(t);
	l->bad_name |= d9w_put_repaired(t, l->shape.members[i].name, MAX_NAME);
	const struct slice plain = arena_copy(&st->values.arena, slice_of(t->p, t->failed ? 0 : t->n));
	const struct slice name = plain.p != NULL ? tabletext_unique(used, &st->values.arena, plain) : plain;
	t->failed |= name.p == NULL;
	l->renamed |= name.n != plain.n;
	return name;
}

static void put_member(struct d9w_state *st, struct layout *l, uint32_t i, struct tabletext *used,
                       struct chunk *chunk)
{
	const struct shape_member *const m = &l->shape.members[i];
	const unsigned type = m->type >> 8;
	const struct slice name = member_name(st, l, i, used);
	struct text *const t = &st->values.scratch;
	uint32_t n;

	if (t->failed || name.p == NULL)
		return;
	text_clear(t);
	text_slice(t, name);
	if (type != D9_MADE_PLAIN || d9_made_suffix_of(name, &n) != D9_MADE_NONE)
		text_printf(t, ":%s", d9_made_suffix(type));
	put_text16(&chunk->text, slice_of(t->p, t->n));
	text_char(&chunk->text, (char)(m->type & 0xff));
}

/* ---- schemas: frames ---- */

static uint32_t put_hidden(const struct layout *l, struct text *t)
{
	uint32_t n = 0;

	for (int i = 0; i < D9_MADE_FIELDS; i++) {
		const enum word word = d9_made_hidden[i];
		if (!d9_made_has(kind_of_layout(l), word))
			continue;
		n++;
		if (t != NULL)
			put_field(t, word_names[word].p, word == WORD_NAME ? l->shape.kind >> 8 : D9_VARINT);
	}
	return n;
}

/* Writes the schema of a layout whose names have at most MAX_SCHEMA bytes.  Sets the losses of its events. */
static void put_schema(struct d9w_state *st, struct layout *l, struct chunk *chunk)
{
	struct tabletext used = { .slots = NULL };

	put_schema_head(&chunk->text, l->id, schema_name(st, l), true,
	                put_hidden(l, NULL) + l->shape.nmembers);
	(void)put_hidden(l, &chunk->text);
	for (int i = 0; i < D9_MADE_FIELDS; i++)
		st->values.scratch.failed |= !tabletext_put(&used, word_names[d9_made_hidden[i]], 1);
	for (uint32_t i = 0; i < l->shape.nmembers && !st->values.scratch.failed; i++)
		put_member(st, l, i, &used, chunk);
	tabletext_free(&used);
	chunk->text.failed |= st->values.scratch.failed;
}

/* ---- schemas: that of an event ---- */

#define SCHEMA_COST 512U /* approximate bytes that a schema costs a reader besides its fields */
#define FIELD_COST 192U

static uint16_t type_of_cell(const struct d9w_cell *c)
{
	return (uint16_t)(c->wire | c->type << 8);
}

/* ctx: the cells of the event; the first is that of its name. */
static uint16_t shape_type_of(const void *ctx, const struct field *f, uint32_t i)
{
	return type_of_cell((const struct d9w_cell *)ctx + i + 1);
}

/* Whether events of this shape have their own schema.  If so, charges it against the limits. */
static bool reserve_schema(struct d9w_state *st, const struct event *e, const struct field *f)
{
	static const struct shapes_bounds max = { MAX_SCHEMAS, UINT32_MAX, MAX_DESCRIBED };
	uint64_t bytes = e->cls->name.n + 3 * (uint64_t)e->cls->category.n;

	for (uint32_t i = 0; i < e->nfields; i++)
		bytes += f[i].name.n;
	return !st->shapes.full && e->nfields <= MAX_FIELDS && 3 * bytes <= MAX_SCHEMA &&
	       shapes_reserve(&st->shapes, &max, 0,
	                      SCHEMA_COST + 6 * bytes + (uint64_t)e->nfields * FIELD_COST);
}

/* Returns the schema that events of this kind share beyond the limits. */
static const struct layout *shared_layout(struct d9w_state *st, enum event_kind kind, struct chunk *chunk)
{
	struct layout *const l = &st->others[kind];

	if (l->id != 0)
		return l;
	const struct d9w_cell all = d9w_all_cell(&st->values);
	struct shape_member *const m = arena_zalloc(&st->values.arena, 3, sizeof *m);
	if (note_failure(&chunk->text.failed, m == NULL))
		return l;
	m[0] = (struct shape_member){ .name = SLICE_LIT("class"), .type = D9_STRING };
	m[1] = (struct shape_member){ .name = SLICE_LIT("category"), .type = D9_STRING };
	m[2] = (struct shape_member){ .name = SLICE_LIT("fields"), .type = type_of_cell(&all) };
	*l = (struct layout){
		.shape = { .members = m, .nmembers = 3, .kind = (uint16_t)(kind | D9_STRING << 8) },
		.id = (uint16_t)st->next_id++,
		.other = true,
	};
	put_schema(st, l, chunk);
	return l;
}

/* Returns the layout of an event with the cells st->cells.  Writes its schema if it is new. */
static const struct layout *layout_of(struct d9w_state *st, const struct batch *b, const struct event *e,
                                      struct chunk *chunk)
{
	const struct field *const f = b->fields + e->first_field;
	const enum event_kind kind = event_kind(e);
	const struct shape_key key = { e, f, (uint16_t)(kind | (unsigned)st->cells[0].wire << 8),
		                       shape_type_of, st->cells };
	uint64_t hash;
	bool addable;
	struct shape *const known = shapes_find(&st->shapes, key, &hash, &addable);

	if (known != NULL)
		return (struct layout *)known;
	if (!addable || !reserve_schema(st, e, f))
		return shared_layout(st, kind, chunk);
	struct layout *const l = (struct layout *)shapes_add(&st->shapes, sizeof *l, key, hash);
	if (note_failure(&chunk->text.failed, l == NULL))
		return shared_layout(st, kind, chunk);
	l->id = (uint16_t)st->next_id++;
	put_schema(st, l, chunk);
	return l;
}

/* ---- tracks ---- */

static void put_untimed(struct text *t, uint32_t id)
{
	text_char(t, D9_TAG_EVENT);
	text_uint(t, id, 2, false);
}

static void put_optional(struct text *t, bool present, uint64_t v)
{
	text_char(t, present);
	if (present)
		d9w_varint(t, v);
}

static void put_track(struct d9w_state *st, const struct track *t, uint32_t number, uint32_t parent,
                      struct chunk *chunk)
{
	struct text *const out = &chunk->text;
	struct text *const name = &st->values.scratch;

	text_clear(name);
	st->tracks[t->index].changed = d9w_put_repaired(name, t->name, MAX_EVENT);
	if (st->tracks[t->index].changed)
		d9w_lose(chunk, D9W_BAD_NAME, LOSS_NOWHERE);
	st->tracks[t->index].changed |= t->parent != NULL && st->tracks[track_process(t)->index].changed;
	out->failed |= name->failed;
	if (out->failed)
		return;
	put_untimed(out, ID_TRACK);
	d9w_varint(out, number);
	put_optional(out, t->parent != NULL, parent);
	d9w_text32(out, t->lane > 0 ? SLICE_LIT("child") : track_kind_name(t)); /* dial9 has no lanes */
	put_optional(out, t->has_id, t->id);
	d9w_text32(out, slice_of(name->p, name->n));
}

/* Returns the number of a track.  Writes its record if it is new. */
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

/* Facts within the limits of the reader. */
#define MAX_FACTS 60U
#define MAX_FACT_BYTES (56U << 10)

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
		d9w_lose(m->chunk, D9W_FACTS, LOSS_NOWHERE);
		return;
	}
	m->n++;
	d9w_text32(t, name);
	d9w_text32(t, value);
}

/* Omits facts that an earlier conversion by tracetool wrote: this one writes them again. */
static void put_fact(struct fact_map *m, const struct fact *f)
{
	struct text *const t = &m->st->values.scratch;
	struct fields_json_lost lost = { .bad_text = 0 };
	const bool own = f->kind != FACT_TRACE;
	bool changed;

	if (!own && word_is_own(f->name))
		return;
	text_clear(t);
	text_str(t, own ? WORDS_PREFIX : "");
	changed = d9w_put_repaired(t, f->name, MAX_FACT_BYTES);
	const size_t n = t->n;
	if (f->value.type == VALUE_STRING)
		changed |= d9w_put_repaired(t, value_text(&f->value), MAX_FACT_BYTES);
	else if (own)
		fact_put_text(t, f);
	else
		fields_json_value(t, &f->value, &lost);
	if (t->failed)
		return;
	if (changed || fields_json_lost_any(&lost))
		d9w_lose(m->chunk, D9W_FACTS, LOSS_NOWHERE);
	put_pair(m, slice_of(t->p, n), slice_of(t->p + n, t->n - n));
}

static void put_facts(struct d9w_state *st, const struct writer *w, struct chunk *chunk)
{
	struct facts facts = facts_of(w->run, FACTS_TEXTS | FACTS_OF(FACT_REBASED_BY) | FACTS_OF(FACT_TRACE));
	struct text *const t = &chunk->text;
	struct fact_map m = { .st = st, .chunk = chunk };
	struct fact fact;

	put_untimed(t, ID_FACTS);
	m.at = t->n;
	text_uint(t, 0, 4, false);
	while (!t->failed && facts_next(&facts, &fact))
		put_fact(&m, &fact);
	if (!t->failed)
		store_uint(t->p + m.at, m.n, 4, false);
	t->failed |= st->values.scratch.failed;
}

void d9w_clock(uint64_t *base, uint32_t id, const struct run_facts *run, struct chunk *chunk)
{
	const int128 at_0 = run->trace->epoch_ns + run->rebased_by;

	if (!run->trace->epoch_known)
		return;
	if (at_0 < 0 || at_0 > UINT64_MAX) {
		d9w_lose(chunk, D9W_EPOCH, LOSS_NOWHERE);
		return;
	}
	if (*base > UINT64_MAX - at_0)
		d9w_reset(base, 0, chunk);
	put_untimed(&chunk->text, id);
	text_uint(&chunk->text, 0, 3, false);
	d9w_varint(&chunk->text, (uint64_t)at_0 + *base);
	text_char(&chunk->text, 1);
}

/* ---- events ---- */

/* Determines how the name and the fields of an event are written; texts are added to the pool. */
static bool find_cells(struct d9w_state *st, const struct batch *b, const struct event *e,
                       struct chunk *chunk)
{
	const struct value name = value_string(e->name);

	st->values.chunk = chunk;
	st->values.offset = e->offset;
	st->values.left = MAX_EVENT;
	st->values.referred = 0;
	if (note_failure(&chunk->text.failed,
	                 !array_reach(&st->cells, &st->ncells, e->nfields, sizeof *st->cells)))
		return false;
	st->cells[0] = d9w_cell_of(&st->values, &name);
	for (uint32_t i = 0; i < e->nfields; i++)
		st->cells[i + 1] = d9w_cell_of(&st->values, &b->fields[e->first_field + i].value);
	return !chunk->text.failed;
}

static void put_event_head(struct d9w_state *st, const struct event *e, const struct layout *l,
                           uint32_t track, struct chunk *chunk)
{
	const struct out_times times = out_times_of(e, st->signed_time);
	const uint32_t delta = d9w_delta(&st->base, times.start, chunk);
	struct text *const t = &chunk->text;

	if (times.negative)
		d9w_lose(chunk, D9W_NEGATIVE_TIME, e->offset);
	text_char(t, D9_TAG_EVENT);
	text_uint(t, l->id, 2, false);
	text_uint(t, delta, 3, false);
	d9w_varint(t, track);
	if (times.late)
		d9w_lose(chunk, D9W_LATE_END, e->offset);
	if (e->phase == PHASE_SPAN || event_is_flow(e))
		d9w_varint(t, e->phase == PHASE_SPAN ? times.dur : e->dur);
}

/* Adds a text of an event without a schema of its own. */
static void put_repaired(struct d9w_values *x, struct slice s)
{
	const struct d9w_cell cell = { D9_STRING, D9_MADE_PLAIN, 0 };
	struct value v;

	text_clear(&x->scratch);
	if (d9w_put_repaired(&x->scratch, s, x->left))
		d9w_lose(x->chunk, D9W_BAD_NAME, x->offset);
	if (note_failure(&x->chunk->text.failed, x->scratch.failed))
		return;
	v = value_string(slice_of(x->scratch.p, x->scratch.n));
	d9w_value(x, cell, &v);
}

static void put_shared_fields(struct d9w_state *st, const struct batch *b, const struct event *e,
                              struct chunk *chunk)
{
	put_repaired(&st->values, e->name);
	put_repaired(&st->values, e->cls->name);
	put_repaired(&st->values, e->cls->category);
	d9w_all(&st->values, b->fields + e->first_field, e->nfields);
	d9w_lose(chunk, D9W_FIELDS_IN_ONE, e->offset);
}

static void put_event(struct d9w_state *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	const struct value name = value_string(e->name);

	if (!find_cells(st, b, e, chunk))
		return;
	const struct layout *const l = layout_of(st, b, e, chunk);
	const uint32_t track = number_track(st, e->track, chunk);

	put_event_head(st, e, l, track, chunk);
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
	d9w_value(&st->values, st->cells[0], &name);
	for (uint32_t i = 0; i < e->nfields; i++)
		d9w_value(&st->values, st->cells[i + 1], &b->fields[e->first_field + i].value);
}

/* ---- the writer ---- */

const struct loss d9w_losses[D9W_LOSSES + 1] = {
#define LOSS LOSS_ROW
#include "dial9/write/losses.def"
#undef LOSS
};

enum d9_dialect d9w_dialect(const struct option_value *options)
{
	return d9_dialect_of(option_find(options, "to-dialect"));
}

static bool d9w_open(struct writer *w, struct chunk *chunk)
{
	struct d9w_state *const st = w->state;

	st->values.as_0_3 = d9w_dialect(w->options) < D9_0_4;
	st->signed_time = w->run->signed_time;
	st->next_id = ID_FREE;
	put_prologue(chunk);
	return true;
}

/* Extends the arrays by new tracks and classes. */
static bool d9w_declare(struct writer *w, const struct batch *b, struct chunk *chunk)
{
	struct d9w_state *const st = w->state;

	return tracks_reach(&st->tracks, &st->ntracks, sizeof *st->tracks, b) &&
	       shapes_declare(&st->shapes, b);
}

static void d9w_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct d9w_state *const st = state;

	for (uint32_t i = 0; i < b->n && !chunk->text.failed; i++)
		put_event(st, b, &b->events[i], chunk);
}

static bool d9w_close(struct writer *w, struct chunk *chunk)
{
	struct d9w_state *const st = w->state;

	/* tracks without events */
	for (uint32_t i = 0; i < w->run->trace->ntracks && i < st->ntracks && !chunk->text.failed; i++)
		if (!w->run->trace->tracks[i]->hidden)
			(void)number_track(st, w->run->trace->tracks[i], chunk);
	facts_lose(w, (struct facts_losses){ .hosts = &d9w_losses[D9W_HOSTS] }, chunk);
	put_facts(st, w, chunk);
	d9w_clock(&st->base, ID_CLOCK, w->run, chunk);
	return true;
}

static void d9w_free(void *state)
{
	struct d9w_state *const st = state;

	arena_free(&st->values.arena);
	free(st->tracks);
	shapes_free(&st->shapes);
	tabletext_free(&st->values.pool);
	free(st->cells);
	text_free(&st->values.scratch);
}

const struct writer_ops d9w_ops = {
	.state_size = sizeof(struct d9w_state),
	.want = WANT_FIELDS,
	.open = d9w_open,
	.declare = d9w_declare,
	.write = d9w_write,
	.close = d9w_close,
	.free = d9w_free,
};
