#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "dial9/dial9.h"
#include "format/fields_json.h"

/* ---- write pool ---- */

/* The string pool of the output. */

#define ENTRY_COST 64U /* about what an entry costs a reader besides its text */

/* The id of a text of the pool that the present event may refer to, or D9W_NO_ID. */
static uint32_t d9w_pool_find(struct d9w_state *st, struct slice s)
{
	const uint32_t id = s.n <= D9W_MOST_POOLED ? tabletext_get(&st->pool, s) : TABLE_NONE;

	if (id == TABLE_NONE || s.n > D9W_MOST_REFERRED - st->referred)
		return D9W_NO_ID;
	st->referred += s.n;
	return id;
}

/* The same; a text that is not there is put into the pool if it has room.  Not between the head of an event
 * and its end. */
static uint32_t d9w_pool_put(struct d9w_state *st, struct slice s, struct chunk *chunk)
{
	const uint32_t known = d9w_pool_find(st, s);
	struct text *const t = &chunk->text;

	if (known != D9W_NO_ID || s.n > D9W_MOST_POOLED || s.n > D9W_MOST_REFERRED - st->referred ||
	    s.n + ENTRY_COST > D9W_MOST_POOL - st->pool_bytes)
		return known;
	const struct slice copy = arena_copy(&st->arena, s);
	if (copy.p == NULL || !tabletext_put(&st->pool, copy, st->npool)) {
		t->failed = true;
		return D9W_NO_ID;
	}
	st->pool_bytes += s.n + ENTRY_COST;
	st->referred += s.n;
	text_char(t, D9_TAG_STRINGS);
	d9w_number(t, 1, 4);
	d9w_number(t, st->npool, 4);
	d9w_text32(t, s);
	return st->npool++;
}

/* ---- write value ---- */

/* Values.  What dial9 has no type for is one of another type, with a word behind the name of the field. */

/* ---- how a value is written ---- */

/* By enum value_type; texts, lists and maps are looked at. */
static const struct d9w_cell plain_cells[] = {
	[VALUE_NONE] = { D9_U8 | D9_OPTIONAL, D9_MADE_PLAIN, 0 },
	[VALUE_BOOL] = { D9_BOOL, D9_MADE_PLAIN, 0 },
	[VALUE_U8] = { D9_U8, D9_MADE_PLAIN, 0 },
	[VALUE_U16] = { D9_U16, D9_MADE_PLAIN, 0 },
	[VALUE_U32] = { D9_U32, D9_MADE_PLAIN, 0 },
	[VALUE_U64] = { D9_VARINT, D9_MADE_PLAIN, 0 },
	[VALUE_I8] = { D9_I64, D9_MADE_I8, 0 },
	[VALUE_I16] = { D9_I64, D9_MADE_I16, 0 },
	[VALUE_I32] = { D9_I64, D9_MADE_I32, 0 },
	[VALUE_I64] = { D9_I64, D9_MADE_PLAIN, 0 },
	[VALUE_F32] = { D9_F64, D9_MADE_F32, 0 },
	[VALUE_F64] = { D9_F64, D9_MADE_PLAIN, 0 },
	[VALUE_ADDRESS] = { D9_VARINT, D9_MADE_ADDRESS, 0 },
	[VALUE_STRING] = { D9_STRING, D9_MADE_PLAIN, 0 },
	[VALUE_BYTES] = { D9_BYTES, D9_MADE_PLAIN, 0 },
	[VALUE_LIST] = { D9_LIST, D9_MADE_PLAIN, 0 },
	[VALUE_MAP] = { D9_MAP, D9_MADE_PLAIN, 0 },
	[VALUE_JSON] = { D9_STRING, D9_MADE_JSON, 0 },
};
static const struct d9w_cell as_json = { D9_STRING, D9_MADE_JSON, 0 };

static uint64_t elements(const struct value *v)
{
	return (uint64_t)v->count << (v->type == VALUE_MAP);
}

static uint64_t count_type(const struct value *v, enum value_type type)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < elements(v); i++)
		n += v->values[i].type == type;
	return n;
}

static bool is_map_of_texts(const struct value *v)
{
	for (uint64_t i = 0; i < elements(v); i++)
		if (v->values[i].type != VALUE_STRING || !d9w_is_utf8(value_text(&v->values[i])))
			return false;
	return true;
}

static struct d9w_cell text_cell(struct d9w_state *st, struct slice s, struct chunk *chunk)
{
	struct d9w_cell cell = plain_cells[VALUE_STRING];

	if (!d9w_is_utf8(s))
		return (struct d9w_cell){ D9_BYTES, D9_MADE_TEXT, 0 };
	cell.id = d9w_pool_put(st, s, chunk);
	if (cell.id != D9W_NO_ID)
		cell.wire = D9_POOLED_STRING;
	return cell;
}

static struct d9w_cell list_cell(struct d9w_state *st, const struct value *v, struct chunk *chunk)
{
	const uint64_t addresses = v->type == VALUE_LIST ? count_type(v, VALUE_ADDRESS) : 0;
	struct d9w_cell cell = plain_cells[v->type];

	if (v->type == VALUE_MAP && is_map_of_texts(v))
		return (struct d9w_cell){ D9_STRING_MAP, D9_MADE_PLAIN, 0 };
	if (addresses > 0 && addresses == v->count)
		return (struct d9w_cell){ D9_STACK, D9_MADE_PLAIN, 0 };
	if (st->as_0_3)
		return as_json;
	if (addresses > 0 && count_type(v, VALUE_U64) == 0)
		cell.word = D9_MADE_STACK;
	for (uint64_t i = 0; i < elements(v) && !chunk->text.failed; i++)
		if (v->values[i].type == VALUE_STRING && d9w_is_utf8(value_text(&v->values[i])))
			(void)d9w_pool_put(st, value_text(&v->values[i]), chunk);
	return cell;
}

struct d9w_cell d9w_cell_of(struct d9w_state *st, const struct value *v, struct chunk *chunk)
{
	if (v->type == VALUE_STRING)
		return text_cell(st, value_text(v), chunk);
	if (v->type == VALUE_LIST || v->type == VALUE_MAP)
		return list_cell(st, v, chunk);
	if (v->type == VALUE_JSON && !d9w_is_utf8(value_text(v)))
		return (struct d9w_cell){ D9_BYTES, D9_MADE_TEXT, 0 };
	return plain_cells[v->type];
}

/* ---- writing one ---- */

static bool spend(struct d9w_state *st, uint64_t bytes)
{
	const bool fits = bytes <= st->left;

	st->left -= fits ? (uint32_t)bytes : st->left;
	return fits;
}

/* As much of it as fits. */
static void put_text(struct d9w_state *st, struct slice s, struct chunk *chunk, uint64_t offset)
{
	if (s.n > st->left) {
		s.n = (uint32_t)utf8_cut(s.p, s.n, st->left);
		d9w_lose(chunk, D9W_TEXT_CUT, offset);
	}
	st->left -= s.n;
	d9w_text32(&chunk->text, s);
}

static void put_json(struct d9w_state *st, const struct value *v, struct chunk *chunk, uint64_t offset)
{
	struct fields_json_lost lost = { .bad_text = 0 };

	text_clear(&st->scratch);
	fields_json_value(&st->scratch, v, &lost);
	chunk->text.failed |= st->scratch.failed;
	if (st->scratch.failed)
		return;
	put_text(st, slice_of(st->scratch.p, st->scratch.n), chunk, offset);
	d9w_lose(chunk, D9W_VALUE_AS_TEXT, offset);
}

static void put_addresses(struct d9w_state *st, const struct value *v, struct chunk *chunk, uint64_t offset)
{
	const uint32_t n = v->count <= st->left / 8 ? v->count : st->left / 8;

	if (n < v->count)
		d9w_lose(chunk, D9W_TEXT_CUT, offset);
	d9w_number(&chunk->text, n, 4);
	for (uint32_t i = 0; i < n; i++)
		d9w_number(&chunk->text, v->values[i].u64, 8);
	st->left -= 8 * n;
}

/* The count of entries that were written, behind which they stand. */
static void set_count(struct text *t, size_t at, uint32_t n)
{
	for (unsigned i = 0; i < 4 && !t->failed; i++)
		t->p[at + i] = (char)(n >> (8 * i));
}

static void put_map_of_texts(struct d9w_state *st, const struct value *v, struct chunk *chunk,
                             uint64_t offset)
{
	const size_t at = chunk->text.n;
	uint32_t i = 0;

	d9w_number(&chunk->text, 0, 4);
	for (; i < v->count && spend(st, 8); i++) {
		put_text(st, value_text(&v->values[2 * (size_t)i]), chunk, offset);
		put_text(st, value_text(&v->values[2 * (size_t)i + 1]), chunk, offset);
	}
	if (i < v->count)
		d9w_lose(chunk, D9W_TEXT_CUT, offset);
	set_count(&chunk->text, at, i);
}

/* ---- lists and maps ---- */

static void put_values(struct d9w_state *st, const struct value *v, bool stack, unsigned depth,
                       struct chunk *chunk, uint64_t offset);

/* How an element is written, and what that loses. */
static struct d9w_cell element_cell(struct d9w_state *st, const struct value *v, bool stack, unsigned depth,
                                    struct chunk *chunk, uint64_t offset)
{
	struct d9w_cell cell = plain_cells[v->type];
	const bool list = v->type == VALUE_LIST || v->type == VALUE_MAP;

	if (v->type == VALUE_NONE || v->type == VALUE_JSON || (list && depth >= D9_MAX_NESTING))
		return as_json;
	if (v->type == VALUE_STRING) {
		cell = d9w_is_utf8(value_text(v)) ? cell : (struct d9w_cell){ D9_BYTES, D9_MADE_TEXT, 0 };
		cell.id = cell.wire == D9_STRING ? d9w_pool_find(st, value_text(v)) : D9W_NO_ID;
		if (cell.id != D9W_NO_ID)
			cell.wire = D9_POOLED_STRING;
	}
	if (cell.word != D9_MADE_PLAIN && !(stack && cell.word == D9_MADE_ADDRESS))
		d9w_lose(chunk, D9W_ELEMENT_TYPE, offset);
	return cell;
}

static void put_element(struct d9w_state *st, const struct value *v, bool stack, unsigned depth,
                        struct chunk *chunk, uint64_t offset)
{
	const struct d9w_cell cell = element_cell(st, v, stack, depth, chunk, offset);
	struct slice json = value_text(v);

	text_char(&chunk->text, (char)cell.wire);
	if (v->type == VALUE_JSON) {
		text_clear(&st->scratch); /* it may not be UTF-8 */
		(void)d9w_clean(&st->scratch, json, st->left);
		put_text(st, slice_of(st->scratch.p, st->scratch.n), chunk, offset);
		d9w_lose(chunk, D9W_VALUE_AS_TEXT, offset);
	} else if (cell.word == D9_MADE_JSON) {
		put_json(st, v, chunk, offset);
	} else if (v->type == VALUE_LIST || v->type == VALUE_MAP) {
		put_values(st, v, false, depth, chunk, offset);
	} else {
		d9w_value(st, cell, v, chunk, offset);
	}
}

static void put_values(struct d9w_state *st, const struct value *v, bool stack, unsigned depth,
                       struct chunk *chunk, uint64_t offset)
{
	const uint32_t each = v->type == VALUE_MAP ? 2 : 1;
	const size_t at = chunk->text.n;
	uint32_t i = 0;

	d9w_number(&chunk->text, 0, 4);
	for (; i < v->count && !chunk->text.failed && spend(st, 16 * each); i++)
		for (uint32_t k = 0; k < each; k++)
			put_element(st, &v->values[(size_t)i * each + k], stack, depth + 1, chunk, offset);
	if (i < v->count)
		d9w_lose(chunk, D9W_TEXT_CUT, offset);
	set_count(&chunk->text, at, i);
}

/* ---- any ---- */

void d9w_value(struct d9w_state *st, struct d9w_cell cell, const struct value *v, struct chunk *chunk,
               uint64_t offset)
{
	struct text *const t = &chunk->text;

	switch (cell.wire) {
	case D9_BOOL:
		text_char(t, v->u64 != 0);
		break;
	case D9_U8:
	case D9_U16:
	case D9_U32:
		d9w_number(t, v->u64, cell.wire == D9_U8 ? 1 : cell.wire == D9_U16 ? 2 : 4);
		break;
	case D9_VARINT:
		d9w_varint(t, v->u64);
		break;
	case D9_I64:
	case D9_F64:
		d9w_number(t, v->u64, 8);
		break;
	case D9_POOLED_STRING:
		d9w_number(t, cell.id, 4);
		break;
	case D9_STACK:
		put_addresses(st, v, chunk, offset);
		break;
	case D9_STRING_MAP:
		put_map_of_texts(st, v, chunk, offset);
		break;
	case D9_LIST:
	case D9_MAP:
		put_values(st, v, cell.word == D9_MADE_STACK, 0, chunk, offset);
		break;
	case D9_U8 | D9_OPTIONAL: /* there is none */
		text_char(t, 0);
		break;
	default: /* String, Bytes */
		if (v->type == VALUE_LIST || v->type == VALUE_MAP)
			put_json(st, v, chunk, offset);
		else
			put_text(st, value_text(v), chunk, offset);
		break;
	}
}

/* ---- all fields in one ---- */

/* All fields of an event, as one value. */
static struct d9w_cell d9w_all_cell(const struct d9w_state *st)
{
	return st->as_0_3 ? as_json : plain_cells[VALUE_MAP];
}

void d9w_all(struct d9w_state *st, const struct field *f, uint32_t n, struct chunk *chunk, uint64_t offset)
{
	struct value *const pairs = malloc(((size_t)n + 1) * 2 * sizeof *pairs);

	if (pairs == NULL) {
		chunk->text.failed = true;
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		pairs[2 * (size_t)i] = value_string(f[i].name);
		pairs[2 * (size_t)i + 1] = f[i].value;
	}
	const struct value map = { .type = VALUE_MAP, .count = n, .values = pairs };
	d9w_value(st, d9w_all_cell(st), &map, chunk, offset);
	free(pairs);
}

/* ---- write schema ---- */

/* Schema frames: see dial9_made.h. */

#define MOST_CATEGORY 10000U /* bytes; escaped they are three times as many */
#define MOST_CLASS 30000U
#define MOST_NAME 65000U /* of a field, before what is put behind it */

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
	put_field(t, "tracetool.clock", D9_BOOL);
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

static enum d9_made_kind kind_of(const struct d9w_layout *l)
{
	return (enum d9_made_kind)(l->shape.kind & 0xff);
}

/* The name of the schema, in scratch. */
static struct slice schema_name(struct d9w_state *st, struct d9w_layout *l)
{
	const struct slice category = l->other ? SLICE_LIT("tracetool") : l->shape.cls->category;
	const struct slice cls = l->other ? SLICE_LIT("other") : l->shape.cls->name;
	struct text *const t = &st->scratch;

	text_clear(t);
	l->bad_name |= d9w_clean(t, category, MOST_CATEGORY);
	const struct slice clean = arena_copy(&st->arena, slice_of(t->p, t->n));
	if (clean.p == NULL)
		t->failed = true;
	text_clear(t);
	text_printf(t, D9_MADE_PREFIX "%s:", d9_made_kinds[kind_of(l)]);
	if (clean.p != NULL)
		put_category(t, clean);
	text_char(t, ':');
	l->bad_name |= d9w_clean(t, cls, MOST_CLASS);
	return slice_of(t->p, t->failed ? 0 : t->n);
}

/* The name of a member without its word, in scratch: unique among those before it. */
static struct slice member_name(struct d9w_state *st, struct d9w_layout *l, uint32_t i,
                                struct tabletext *taken)
{
	struct text *const t = &st->scratch;

	text_clear(t);
	l->bad_name |= d9w_clean(t, l->shape.members[i].name, MOST_NAME);
	const struct slice plain = arena_copy(&st->arena, slice_of(t->p, t->failed ? 0 : t->n));
	struct slice name = plain;
	uint32_t nth = plain.p != NULL ? tabletext_get(taken, plain) : TABLE_NONE;
	for (bool is_taken = nth != TABLE_NONE; is_taken && name.p != NULL;) {
		name = arena_printf(&st->arena, "%.*s (%u)", (int)plain.n, plain.p, ++nth);
		is_taken = name.p != NULL && tabletext_get(taken, name) != TABLE_NONE;
		l->renamed = true;
	}
	if (plain.p == NULL || name.p == NULL || !tabletext_put(taken, plain, nth != TABLE_NONE ? nth : 1) ||
	    (name.p != plain.p && !tabletext_put(taken, name, 1)))
		t->failed = true;
	return name;
}

static void put_member(struct d9w_state *st, struct d9w_layout *l, uint32_t i, struct tabletext *taken,
                       struct chunk *chunk)
{
	const struct shape_member *const m = &l->shape.members[i];
	const unsigned word = m->type >> 8;
	const struct slice name = member_name(st, l, i, taken);
	struct text *const t = &st->scratch;
	uint32_t n;

	if (t->failed || name.p == NULL)
		return;
	text_clear(t);
	text_slice(t, name);
	if (word != D9_MADE_PLAIN || d9_made_word_of(name, &n) != D9_MADE_WORDS)
		text_printf(t, ":%s", d9_made_words[word]);
	d9w_text16(&chunk->text, slice_of(t->p, t->n));
	text_char(&chunk->text, (char)(m->type & 0xff));
}

/* ---- fields before the arguments ---- */

static bool is_there(enum d9_made_kind kind, int hidden)
{
	const bool span = kind == D9_MADE_SPAN || kind == D9_MADE_ASYNC;
	const bool arrow = d9_made_is_arrow(kind);

	return hidden == 1 ? span : hidden == 2 ? arrow : true;
}

static uint32_t put_hidden(const struct d9w_layout *l, struct text *t)
{
	uint32_t n = 0;

	for (int i = 0; i < D9_MADE_FIELDS; i++) {
		if (!is_there(kind_of(l), i))
			continue;
		n++;
		if (t != NULL)
			put_field(t, d9_made_hidden[i],
			          i == D9_MADE_FIELDS - 1 ? l->shape.kind >> 8 : D9_VARINT);
	}
	return n;
}

/* Writes the schema of a layout whose names do not need more than D9W_MOST_SCHEMA; sets what events lose. */
static void d9w_describe(struct d9w_state *st, struct d9w_layout *l, struct chunk *chunk)
{
	struct tabletext taken = { .slots = NULL };

	put_head(&chunk->text, l->id, schema_name(st, l), true, put_hidden(l, NULL) + l->shape.nmembers);
	(void)put_hidden(l, &chunk->text);
	for (int i = 0; i < D9_MADE_FIELDS; i++)
		if (!tabletext_put(&taken, slice_str(d9_made_hidden[i]), 1))
			st->scratch.failed = true;
	for (uint32_t i = 0; i < l->shape.nmembers && !st->scratch.failed; i++)
		put_member(st, l, i, &taken, chunk);
	tabletext_free(&taken);
	chunk->text.failed |= st->scratch.failed;
}

/* ---- write layout ---- */

/* The schema of the output that an event belongs to. */

#define SCHEMA_COST 512U /* about what a schema costs a reader besides its fields */
#define FIELD_COST 192U

static uint16_t type_of_cell(const struct d9w_cell *c)
{
	return (uint16_t)(c->wire | c->word << 8);
}

/* ctx: the cells of the event, that of its name first. */
static uint16_t shape_type_of(const void *ctx, const struct field *f, uint32_t i)
{
	(void)f;
	return type_of_cell((const struct d9w_cell *)ctx + i + 1);
}

static bool reserve(struct d9w_state *st, const struct event *e, const struct field *f)
{
	static const struct shapes_bounds max = { D9W_MOST_SCHEMAS, UINT32_MAX, D9W_MOST_DESCRIBED };
	uint64_t bytes = e->cls->name.n + 3 * (uint64_t)e->cls->category.n;

	for (uint32_t i = 0; i < e->nfields; i++)
		bytes += f[i].name.n;
	return !st->shapes.full && e->nfields <= D9W_MOST_FIELDS && 3 * bytes <= D9W_MOST_SCHEMA &&
	       shapes_reserve(&st->shapes, &max, 0,
	                      SCHEMA_COST + 6 * bytes + (uint64_t)e->nfields * FIELD_COST);
}

/* The schema for events of any class. */
static const struct d9w_layout *other(struct d9w_state *st, enum d9_made_kind kind, struct chunk *chunk)
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
	d9w_describe(st, l, chunk);
	return l;
}

const struct d9w_layout *d9w_layout_of(struct d9w_state *st, const struct batch *b, const struct event *e,
                                       struct chunk *chunk)
{
	const struct field *const f = b->fields + e->first_field;
	const enum d9_made_kind kind = d9w_kind_of(e);
	const struct shape_key key = { e, f, (uint16_t)(kind | st->cells[0].wire << 8), shape_type_of,
		                       st->cells };
	uint64_t hash;
	bool addable;
	struct shape *const known = shapes_find(&st->shapes, key, &hash, &addable);

	if (known != NULL)
		return (struct d9w_layout *)known;
	if (!addable || !reserve(st, e, f))
		return other(st, kind, chunk);
	struct d9w_layout *const l = (struct d9w_layout *)shapes_add(&st->shapes, sizeof *l, key, hash);
	if (l == NULL) {
		chunk->text.failed = true;
		return other(st, kind, chunk);
	}
	l->id = (uint16_t)st->next_id++;
	d9w_describe(st, l, chunk);
	return l;
}
