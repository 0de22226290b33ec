/*
 * Schemas of the output (see dial9.h for the names that tracetool gives them): one for each shape of events,
 * see out/shape.h.  Events beyond the limits share one schema for each kind, with all fields as one value.
 */
#include <stdio.h>

#include "base/utf8.h"
#include "dial9/write.h"

/* Limits keep the memory independent of the length of the trace, and the output within the D9_MAX_* of the
 * reader. */
#define MAX_SCHEMAS 65000U
#define MAX_DESCRIBED (12U << 20) /* bytes that a reader is charged for all schemas */
#define MAX_FIELDS 60000U         /* of one event */
#define MAX_SCHEMA (3U << 20)     /* bytes of one schema */
#define MAX_CATEGORY 10000U       /* bytes; escaped they are three times as many */
#define MAX_CLASS 30000U
#define MAX_NAME 65000U /* max length of a field name without suffix */

static void put_field(struct text *t, const char *name, unsigned type)
{
	d9w_text16(t, slice_str(name));
	text_char(t, (char)type);
}

static void put_head(struct text *t, uint32_t id, struct slice name, bool timed, uint32_t nfields)
{
	text_char(t, D9_TAG_SCHEMA);
	d9w_number(t, id, 2);
	d9w_text16(t, name);
	text_char(t, (char)timed);
	d9w_number(t, nfields, 2);
}

void d9w_prologue(struct chunk *chunk)
{
	struct text *const t = &chunk->text;

	text_add(t, D9_MAGIC, D9_MAGIC_SIZE);
	text_char(t, D9_VERSION);
	put_head(t, D9W_ID_TRACK, SLICE_LIT(D9_MADE_TRACK), false, 5);
	put_field(t, "track", D9_VARINT);
	put_field(t, "parent", D9_VARINT | D9_OPTIONAL);
	put_field(t, "kind", D9_STRING);
	put_field(t, "id", D9_VARINT | D9_OPTIONAL);
	put_field(t, "name", D9_STRING);
	put_head(t, D9W_ID_FACTS, SLICE_LIT("SegmentMetadataEvent"), false, 1);
	put_field(t, "entries", D9_STRING_MAP);
	put_head(t, D9W_ID_CLOCK, SLICE_LIT("ClockSyncEvent"), true, 2);
	put_field(t, "realtime_ns", D9_VARINT);
	put_field(t, word_names[WORD_CLOCK].p, D9_BOOL);
}

/* ---- names ---- */

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

static enum event_kind kind_of(const struct d9w_layout *l)
{
	return (enum event_kind)(l->shape.kind & 0xff);
}

/* Returns the name of the schema, in scratch. */
static struct slice schema_name(struct d9w_state *st, struct d9w_layout *l)
{
	const struct slice category = l->other ? SLICE_LIT("tracetool") : l->shape.cls->category;
	const struct slice cls = l->other ? SLICE_LIT("other") : l->shape.cls->name;
	struct text *const t = &st->scratch;

	text_clear(t);
	l->bad_name |= d9w_clean(t, category, MAX_CATEGORY);
	const struct slice clean = arena_copy(&st->arena, slice_of(t->p, t->n));
	if (clean.p == NULL)
		t->failed = true;
	text_clear(t);
	text_printf(t, D9_MADE_PREFIX "%s:", event_kind_row(kind_of(l))->names[KIND_PART].p);
	if (clean.p != NULL)
		put_category(t, clean);
	text_char(t, ':');
	l->bad_name |= d9w_clean(t, cls, MAX_CLASS);
	return slice_of(t->p, t->failed ? 0 : t->n);
}

/* Returns the name of a member without its suffix, in scratch: unique among the members before it. */
static struct slice member_name(struct d9w_state *st, struct d9w_layout *l, uint32_t i,
                                struct tabletext *taken)
{
	struct text *const t = &st->scratch;

	text_clear(t);
	l->bad_name |= d9w_clean(t, l->shape.members[i].name, MAX_NAME);
	const struct slice plain = arena_copy(&st->arena, slice_of(t->p, t->failed ? 0 : t->n));
	const struct slice name = plain.p != NULL ? tabletext_unique(taken, &st->arena, plain) : plain;
	t->failed |= name.p == NULL;
	l->renamed |= name.n != plain.n;
	return name;
}

static void put_member(struct d9w_state *st, struct d9w_layout *l, uint32_t i, struct tabletext *taken,
                       struct chunk *chunk)
{
	const struct shape_member *const m = &l->shape.members[i];
	const unsigned type = m->type >> 8;
	const struct slice name = member_name(st, l, i, taken);
	struct text *const t = &st->scratch;
	uint32_t n;

	if (t->failed || name.p == NULL)
		return;
	text_clear(t);
	text_slice(t, name);
	if (type != D9_MADE_PLAIN || d9_made_suffix_of(name, &n) != D9_MADE_NONE)
		text_printf(t, ":%s", d9_made_suffix(type));
	d9w_text16(&chunk->text, slice_of(t->p, t->n));
	text_char(&chunk->text, (char)(m->type & 0xff));
}

/* ---- schemas ---- */

static uint32_t put_hidden(const struct d9w_layout *l, struct text *t)
{
	uint32_t n = 0;

	for (int i = 0; i < D9_MADE_FIELDS; i++) {
		const enum word word = d9_made_hidden[i];
		if (!d9_made_has(kind_of(l), word))
			continue;
		n++;
		if (t != NULL)
			put_field(t, word_names[word].p, word == WORD_NAME ? l->shape.kind >> 8 : D9_VARINT);
	}
	return n;
}

/* Writes the schema of a layout whose names have at most MAX_SCHEMA bytes; sets what its events lose. */
static void put_schema(struct d9w_state *st, struct d9w_layout *l, struct chunk *chunk)
{
	struct tabletext taken = { .slots = NULL };

	put_head(&chunk->text, l->id, schema_name(st, l), true, put_hidden(l, NULL) + l->shape.nmembers);
	(void)put_hidden(l, &chunk->text);
	for (int i = 0; i < D9_MADE_FIELDS; i++)
		if (!tabletext_put(&taken, word_names[d9_made_hidden[i]], 1))
			st->scratch.failed = true;
	for (uint32_t i = 0; i < l->shape.nmembers && !st->scratch.failed; i++)
		put_member(st, l, i, &taken, chunk);
	tabletext_free(&taken);
	chunk->text.failed |= st->scratch.failed;
}

/* ---- the schema of an event ---- */

#define SCHEMA_COST 512U /* bytes that a schema costs a reader besides its fields, about */
#define FIELD_COST 192U

static uint16_t type_of_cell(const struct d9w_cell *c)
{
	return (uint16_t)(c->wire | c->type << 8);
}

/* ctx: the cells of the event, that of its name first. */
static uint16_t shape_type_of(const void *ctx, const struct field *f, uint32_t i)
{
	(void)f;
	return type_of_cell((const struct d9w_cell *)ctx + i + 1);
}

/* Whether the events of this shape get a schema of their own, which is accounted for. */
static bool reserve(struct d9w_state *st, const struct event *e, const struct field *f)
{
	static const struct shapes_bounds max = { MAX_SCHEMAS, UINT32_MAX, MAX_DESCRIBED };
	uint64_t bytes = e->cls->name.n + 3 * (uint64_t)e->cls->category.n;

	for (uint32_t i = 0; i < e->nfields; i++)
		bytes += f[i].name.n;
	return !st->shapes.full && e->nfields <= MAX_FIELDS && 3 * bytes <= MAX_SCHEMA &&
	       shapes_reserve(&st->shapes, &max, 0,
	                      SCHEMA_COST + 6 * bytes + (uint64_t)e->nfields * FIELD_COST);
}

/* Returns the schema for events of any class. */
static const struct d9w_layout *shared_layout(struct d9w_state *st, enum event_kind kind, struct chunk *chunk)
{
	struct d9w_layout *const l = &st->others[kind];

	if (l->id != 0)
		return l;
	const struct d9w_cell all = d9w_all_cell(st);
	struct shape_member *const m = arena_zalloc(&st->arena, 3, sizeof *m);
	if (m == NULL) {
		chunk->text.failed = true;
		return l;
	}
	m[0] = (struct shape_member){ SLICE_LIT("class"), D9_STRING };
	m[1] = (struct shape_member){ SLICE_LIT("category"), D9_STRING };
	m[2] = (struct shape_member){ SLICE_LIT("fields"), type_of_cell(&all) };
	*l = (struct d9w_layout){
		.shape = { .members = m, .nmembers = 3, .kind = (uint16_t)(kind | D9_STRING << 8) },
		.id = (uint16_t)st->next_id++,
		.other = true,
	};
	put_schema(st, l, chunk);
	return l;
}

const struct d9w_layout *d9w_layout_of(struct d9w_state *st, const struct batch *b, const struct event *e,
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
		return (struct d9w_layout *)known;
	if (!addable || !reserve(st, e, f))
		return shared_layout(st, kind, chunk);
	struct d9w_layout *const l = (struct d9w_layout *)shapes_add(&st->shapes, sizeof *l, key, hash);
	if (l == NULL) {
		chunk->text.failed = true;
		return shared_layout(st, kind, chunk);
	}
	l->id = (uint16_t)st->next_id++;
	put_schema(st, l, chunk);
	return l;
}
