/* Classes, tracks and facts of a trace.  Classes of one name that differ in fields or plan are told apart by
 * a hash of these; tracks are created once and never freed before the trace. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/memory.h"
#include "base/cursor.h"
#include "base/numbers.h"
#include "base/scan.h"
#include "model/event.h"
#include "model/event_traits.h"
#include "model/plan.h"
#include "model/trace_engine.h"
#include "model/trace_origin.h"

/* ---- classes ---- */

/*
 * Classes of a trace.  A planned class never changes: writers keep data for each class, and threads that
 * render read it while the reader goes on.  Other fields or another meaning make another class of the same
 * name; `first` and `other` link those of one name.
 */

/* Adds a class; `first`: the first one of its name, or NULL. */
static struct class *add_class(struct trace *t, struct slice name, struct class *first)
{
	struct class *const c = arena_zalloc(&t->arena, 1, sizeof *c);

	if (c == NULL || !array_reserve(&t->classes, t->nclasses, &t->classes_cap, sizeof(struct class *)))
		return NULL;
	c->name = first != NULL ? first->name : arena_copy(&t->arena, name);
	if (c->name.p == NULL || (first == NULL && !tabletext_put(&t->class_names, c->name, t->nclasses)))
		return NULL;
	c->category = c->name;
	c->first = c;
	if (first != NULL) { /* the order of those after the first does not matter */
		c->first = first;
		c->other = first->other;
		first->other = c;
	}
	t->classes[t->nclasses++] = c;
	return c;
}

struct class *trace_name_class(struct trace *t, struct slice name)
{
	const uint32_t first = tabletext_get(&t->class_names, name);

	return first != TABLE_NONE ? t->classes[first] : add_class(t, name, NULL);
}

/* ---- comparing classes ---- */

/* Whether the plan makes the category from the name (class_parts_find()), which overrides others. */
static bool makes_category(const struct plan *m)
{
	return m != NULL && m->ncategories > 0;
}

static struct slice category_of(const struct class *like)
{
	const struct plan *const m = like->plan;

	if (makes_category(m))
		return like->name;
	return m != NULL && m->category.p != NULL ? m->category
	       : like->category.p != NULL         ? like->category
	                                          : like->name;
}

static struct slice unit_of(const struct class_field *f)
{
	return slice_str(f->unit != NULL ? f->unit : "");
}

static uint64_t hash_text(uint64_t h, struct slice s, uint64_t seed)
{
	return hash_u64(h ^ hash_bytes(s.p, s.n, seed), seed);
}

static uint64_t hash_of(const struct class *like, const struct class *first)
{
	const uint64_t seed = hash_seed();
	uint64_t h = hash_u64((uintptr_t)first | like->reader_applies, seed);

	h = hash_u64(h ^ (uintptr_t)like->plan, seed);
	h = hash_text(h ^ like->nfields, category_of(like), seed);
	for (uint32_t i = 0; i < like->nfields; i++) {
		const struct class_field *const f = &like->fields[i];
		h = hash_text(hash_text(h, f->name, seed), f->type, seed);
		h = hash_text(h ^ ((uint64_t)f->size << 8 | f->value), unit_of(f), seed);
	}
	return h;
}

static bool is_alike(const struct class *c, const struct class *like)
{
	if (c->plan != like->plan || c->reader_applies != like->reader_applies ||
	    c->nfields != like->nfields ||
	    (!makes_category(c->plan) && !slice_equal(c->category, category_of(like))))
		return false;
	for (uint32_t i = 0; i < c->nfields; i++) {
		const struct class_field *const a = &c->fields[i], *const b = &like->fields[i];
		if (a->value != b->value || a->size != b->size || !slice_equal(a->name, b->name) ||
		    !slice_equal(a->type, b->type) || !slice_equal(unit_of(a), unit_of(b)))
			return false;
	}
	return true;
}

/* ---- planning ---- */

/* Whether events may have a number in a field of this name. */
static bool has_number(const struct class *c, struct slice name)
{
	for (uint32_t i = 0; i < c->nfields; i++)
		if (c->fields[i].value < VALUE_STRING && slice_equal(c->fields[i].name, name))
			return true;
	return c->nfields == 0;
}

/* Whether a template for names has a table for a number of the events. */
static bool has_tables(const struct class *c)
{
	for (const struct plan *m = c->plan; m != NULL; m = m->otherwise)
		for (uint32_t i = 0; i < m->nnames; i++)
			for (uint32_t k = 0; k < m->names[i].nparts; k++) {
				const struct plan_ref *const ref = &m->names[i].parts[k].ref;
				if (ref->ntables > 0 && has_number(c, ref->field[0]))
					return true;
			}
	return false;
}

/* Plans a class like another one. */
static bool plan_class(struct trace *t, struct class *c, const struct class *like)
{
	struct class_field *f = NULL;

	if (like->nfields > 0) {
		f = arena_alloc(&t->arena, like->nfields * sizeof *f);
		if (f == NULL)
			return false;
		memcpy(f, like->fields, like->nfields * sizeof *f);
	}
	if (!array_reserve(&t->planned, t->nplanned, &t->planned_cap, sizeof *t->planned))
		return false;
	c->category = category_of(like);
	if (c->category.p == like->name.p)
		c->category = c->name;
	else if (like->plan == NULL || c->category.p != like->plan->category.p)
		c->category = arena_copy(&t->arena, c->category);
	if (c->category.p == NULL || (like->plan != NULL && !class_parts_find(c, like->plan, &t->arena)))
		return false;
	c->fields = f;
	c->nfields = like->nfields;
	c->plan = like->plan;
	c->reader_applies = like->reader_applies;
	c->table_names = has_tables(c);
	c->shows_stacks = t->wants_stacks && c->plan != NULL && c->plan->stack.p != NULL;
	c->planned = true;
	c->index = t->nplanned;
	t->planned[t->nplanned++] = c;
	return true;
}

struct class *trace_plan_class(struct trace *t, const struct class *like)
{
	struct class *const first = trace_name_class(t, like->name);
	uint32_t known;

	if (first == NULL)
		return NULL;
	if (first->planned && is_alike(first, like))
		return first;
	uint64_t h = hash_of(like, first);
	trace_change(t);
	while ((known = table64_get(&t->class_plans, h)) != TABLE_NONE) {
		struct class *const c = t->planned[known];
		if (c->first == first && is_alike(c, like))
			return c;
		h = hash_u64(h, hash_seed()); /* two hashes that are equal by chance */
	}
	struct class *const c = first->planned ? add_class(t, like->name, first) : first;
	if (c == NULL || !plan_class(t, c, like) || !table64_put(&t->class_plans, h, c->index))
		return NULL;
	return c;
}

struct class *trace_copy_class(struct trace *t, const struct class *like)
{
	trace_change(t);
	struct class *const first = trace_name_class(t, like->name);
	struct class *const c = first != NULL && first->planned ? add_class(t, like->name, first) : first;

	if (c == NULL || !plan_class(t, c,
	                             &(struct class){ .name = like->name,
	                                              .category = like->category,
	                                              .fields = like->fields,
	                                              .nfields = like->nfields,
	                                              .reader_applies = like->reader_applies }))
		return NULL;
	c->plan = like->plan;
	return c;
}

struct class *trace_add_class(struct trace *t, struct slice name)
{
	return trace_plan_class(t, &(struct class){ .name = name });
}

bool trace_plan_rest(struct trace *t)
{
	trace_change(t);
	for (uint32_t i = 0; i < t->nclasses && t->nplanned < t->nclasses; i++)
		if (!t->classes[i]->planned && trace_add_class(t, t->classes[i]->name) == NULL)
			return false;
	return true;
}

uint64_t trace_class_records(const struct class *first)
{
	uint64_t n = 0;

	for (const struct class *c = first; c != NULL; c = c->other)
		n += c->records;
	return n;
}

/* ---- tracks and facts ---- */

void trace_change(struct trace *t)
{
	gate_pass(t->arena.gate);
}

void trace_init(struct trace *t)
{
	*t = (struct trace){ .format = "", .dialect = "", .clock = "unknown" };
}

void trace_free(struct trace *t)
{
	arena_free(&t->arena);
	free(t->classes);
	free(t->planned);
	free(t->tracks);
	free(t->meta);
	tabletext_free(&t->class_names);
	table64_free(&t->class_plans);
	tabletext_free(&t->child_tracks);
	texts_free(&t->texts);
	definitions_free(&t->definitions);
	*t = (struct trace){ .format = "" };
}

static struct track *add_track(struct trace *t, struct slice name)
{
	struct track *k = arena_zalloc(&t->arena, 1, sizeof *k);
	if (k == NULL || !array_reserve(&t->tracks, t->ntracks, &t->tracks_cap, sizeof(struct track *)))
		return NULL;
	k->name = arena_copy(&t->arena, name);
	if (k->name.p == NULL)
		return NULL;
	k->index = t->ntracks;
	t->tracks[t->ntracks++] = k;
	return k;
}

/* Puts a track below another one.  Limits the depth: files can nest tracks without end, and searches visit
 * all ancestors. */
static void put_below(struct track *k, const struct track *above)
{
	while (above->depth >= TRACE_MAX_DEPTH)
		above = above->parent;
	track_put_below(k, above);
}

bool trace_name_clock(struct trace *t, struct slice name)
{
	if (name.n == 0 || name.n > 60 || textscan_plain_end(name.p, name.p + name.n) != name.p + name.n)
		return false;
	trace_change(t);
	const struct slice copy = arena_copy(&t->arena, name);
	if (copy.p != NULL)
		t->clock = copy.p;
	return copy.p != NULL;
}

bool trace_set_host(struct trace *t, struct track *process, struct slice host)
{
	if (host.n == 0)
		return true;
	const struct slice copy = arena_copy(&t->arena, host);
	if (copy.p == NULL)
		return false;
	process->host = textscan_slice(copy.p, copy.n);
	process->host.flags |= SLICE_STAYS;
	return true;
}

struct track *trace_add_process(struct trace *t, struct slice name)
{
	struct track *k = add_track(t, name);
	if (k != NULL)
		k->kind = TRACK_PROCESS;
	return k;
}

struct track *trace_add_thread(struct trace *t, const struct track *process, uint64_t id, struct slice name)
{
	struct track *k = add_track(t, name);
	if (k == NULL)
		return NULL;
	k->kind = TRACK_THREAD;
	k->has_id = true;
	k->id = id;
	if (process != NULL)
		put_below(k, process);
	return k;
}

const struct field *trace_meta(const struct trace *t, struct slice name)
{
	return field_find(t->meta, t->nmeta, name);
}

bool trace_add_meta(struct trace *t, struct slice name, struct value value)
{
	trace_change(t);
	if (!array_reserve(&t->meta, t->nmeta, &t->meta_cap, sizeof *t->meta))
		return false;
	name = arena_copy(&t->arena, name);
	if (value.type == VALUE_STRING) {
		const uint8_t outer = value.outer;
		value = value_string(arena_copy(&t->arena, value_text(&value)));
		value.outer = outer;
	}
	if (name.p == NULL || (value.type == VALUE_STRING && value.p == NULL))
		return false;
	t->meta[t->nmeta++] = (struct field){ name, value };
	return true;
}

struct slice trace_text(struct trace *t, struct slice s)
{
	return texts_intern(&t->texts, s);
}

#define NAMES 256U /* a power of two */

struct trace_name {
	uint64_t head, tail; /* the first and the last bytes */
	struct slice text;   /* p NULL: none */
};

static inline unsigned slot_of_name(struct trace_name k)
{
	return (unsigned)((k.head + k.tail * 3 + k.text.n) * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

/* Adds a name to the cache.  Most traces use few names, so a cached name is not scanned again. */
static NOINLINE struct slice add_name(struct trace *t, struct slice s, struct trace_name name)
{
	if (s.flags == 0)
		s = textscan_slice(s.p, s.n);
	if (t->names == NULL)
		t->names = arena_zalloc(&t->arena, NAMES, sizeof *t->names);
	if (t->names == NULL || texts_full(&t->texts))
		return s;
	name.text = trace_text(t, s);
	if ((name.text.flags & SLICE_STAYS) != 0)
		t->names[slot_of_name(name)] = name;
	return name.text;
}

struct slice trace_event_name(struct trace *t, struct slice s)
{
	struct trace_name name = { .text = s };

	if (s.n < 4)
		return trace_text(t, s.flags == 0 ? textscan_slice(s.p, s.n) : s);
	if (s.n >= 8) {
		name.head = load_u64(s.p, false);
		name.tail = load_u64(s.p + s.n - 8, false);
	} else {
		name.head = load_u32(s.p, false);
		name.tail = load_u32(s.p + s.n - 4, false);
	}
	if (t->names == NULL)
		return add_name(t, s, name);
	const struct trace_name *const known = &t->names[slot_of_name(name)];
	if (known->head == name.head && known->tail == name.tail && known->text.n == s.n &&
	    (s.n <= 16 || memcmp(known->text.p, s.p, s.n) == 0))
		return known->text;
	return add_name(t, s, name);
}

const struct track *trace_child_track(struct trace *t, const struct track *track, struct slice what)
{
	char digits[DECIMAL_U64_MAX];
	const struct slice key =
	    ARENA_JOIN(&t->arena, decimal_slice(digits, track->index), SLICE_LIT(": "), what);
	if (key.p == NULL)
		return NULL;
	const uint32_t known = tabletext_get(&t->child_tracks, key);
	if (known != TABLE_NONE)
		return t->tracks[known];
	struct slice name = ARENA_JOIN(&t->arena, track->name, SLICE_LIT(": "), what);
	if (name.p == NULL)
		return NULL;
	struct track *const k = add_track(t, name);
	if (k == NULL || !tabletext_put(&t->child_tracks, key, k->index))
		return NULL;
	k->kind = TRACK_THREAD;
	k->is_child = true;
	put_below(k, track);
	return k;
}

/* ---- vocabularies ---- */

const struct plan *trace_find_plan(const struct trace *t, struct slice name, trace_has_field *has,
                                   const void *ctx)
{
	const struct vocabulary *const v = t->vocabulary;

	return v != NULL ? v->ops->find(v, name, has, ctx) : NULL;
}

struct slice trace_track_name(struct trace *t, bool process, const char *noun, uint64_t id)
{
	const struct vocabulary *const v = t->vocabulary;
	const struct plan_template *const m = v != NULL ? v->ops->track_name(v, process, id) : NULL;
	struct slice name = { "", 0, SLICE_UTF8 | SLICE_JSON };

	if (m == NULL) {
		name = arena_printf(&t->arena, "%s %" PRIu64, noun, id);
		name.flags = SLICE_UTF8 | SLICE_JSON;
		return name;
	}
	for (uint32_t i = 0; i < m->nparts && name.p != NULL; i++) {
		const struct plan_part *const part = &m->parts[i];
		char digits[DECIMAL_U64_MAX];
		name = ARENA_JOIN(&t->arena, name, part->text,
		                  part->ref.nfields == 0 ? SLICE_NONE : decimal_slice(digits, id));
	}
	return name;
}

void trace_define(struct trace *t, const char *table, const struct track *process, uint64_t key1,
                  uint64_t key2, struct value value)
{
	const struct vocabulary *const v = t->vocabulary;
	const uint8_t number = v != NULL ? v->ops->table(v, slice_str(table)) : PLAN_NO_TABLE;
	const uint32_t scope = process != NULL ? process->index : DEFINITIONS_WHOLE_TRACE;

	trace_change(t);
	if (number != PLAN_NO_TABLE)
		definitions_put(&t->definitions, number, scope, key1, key2, value);
}
