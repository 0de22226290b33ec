/*
 * Values of events.  A value whose type dial9 lacks is encoded as another type, with the original type as
 * suffix of its field name.  Texts are in the string pool while it has space.  The bytes of an event, and the
 * pooled bytes that it refers to, are limited as in readers.
 */
#include <stdlib.h>

#include "dial9/write/write.h"
#include "format/fields_json.h"

/* ---- the string pool ---- */

#define MAX_POOL (900U << 10)   /* bytes charged by a reader for the pool; above them it would look ahead */
#define MAX_POOLED 1024U        /* bytes of a text in the pool */
#define MAX_REFERRED (1U << 20) /* bytes of the texts that one event refers to */
#define ENTRY_COST 64U          /* approximate bytes charged by a reader for an entry besides its text */

/* Returns the id of a text, or D9W_NO_ID if it is not in the pool or the event may not refer to it. */
static uint32_t find_pooled(struct d9w_values *x, struct slice s)
{
	const uint32_t id = s.n <= MAX_POOLED ? tabletext_get(&x->pool, s) : TABLE_NONE;

	if (id == TABLE_NONE || s.n > MAX_REFERRED - x->referred)
		return D9W_NO_ID;
	x->referred += s.n;
	return id;
}

/* Like find_pooled(), but adds a new text if there is space.  Not to be called between the head of an event
 * and its end. */
static uint32_t add_pooled(struct d9w_values *x, struct slice s)
{
	const uint32_t known = find_pooled(x, s);
	struct text *const t = &x->chunk->text;

	if (known != D9W_NO_ID || s.n > MAX_POOLED || s.n > MAX_REFERRED - x->referred ||
	    s.n + ENTRY_COST > MAX_POOL - x->pool_bytes)
		return known;
	const struct slice copy = arena_copy(&x->arena, s);
	const uint32_t id = (uint32_t)x->pool.used;
	if (note_failure(&t->failed, copy.p == NULL || !tabletext_put(&x->pool, copy, id)))
		return D9W_NO_ID;
	x->pool_bytes += s.n + ENTRY_COST;
	x->referred += s.n;
	text_char(t, D9_TAG_STRINGS);
	text_uint(t, 1, 4, false);
	text_uint(t, id, 4, false);
	d9w_text32(t, s);
	return id;
}

/* ---- how a value is written ---- */

/* By enum value_type; the encoding of texts, lists and maps depends on the value. */
static const struct d9w_cell plain_cells[] = {
	[VALUE_NONE] = { D9_U8 | D9_OPTIONAL, D9_MADE_PLAIN, 0 },
	[VALUE_BOOL] = { D9_BOOL, D9_MADE_PLAIN, 0 },
	[VALUE_U8] = { D9_U8, D9_MADE_PLAIN, 0 },
	[VALUE_U16] = { D9_U16, D9_MADE_PLAIN, 0 },
	[VALUE_U32] = { D9_U32, D9_MADE_PLAIN, 0 },
	[VALUE_U64] = { D9_VARINT, D9_MADE_PLAIN, 0 },
	[VALUE_I8] = { D9_I64, VALUE_I8, 0 },
	[VALUE_I16] = { D9_I64, VALUE_I16, 0 },
	[VALUE_I32] = { D9_I64, VALUE_I32, 0 },
	[VALUE_I64] = { D9_I64, D9_MADE_PLAIN, 0 },
	[VALUE_F32] = { D9_F64, VALUE_F32, 0 },
	[VALUE_F64] = { D9_F64, D9_MADE_PLAIN, 0 },
	[VALUE_ADDRESS] = { D9_VARINT, VALUE_ADDRESS, 0 },
	[VALUE_STRING] = { D9_STRING, D9_MADE_PLAIN, 0 },
	[VALUE_BYTES] = { D9_BYTES, D9_MADE_PLAIN, 0 },
	[VALUE_LIST] = { D9_LIST, D9_MADE_PLAIN, 0 },
	[VALUE_MAP] = { D9_MAP, D9_MADE_PLAIN, 0 },
	[VALUE_JSON] = { D9_STRING, VALUE_JSON, 0 },
};
static const struct d9w_cell as_json = { D9_STRING, VALUE_JSON, 0 };

static uint64_t count_type(const struct value *v, enum value_type type)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < value_entries(v); i++)
		n += v->values[i].type == type;
	return n;
}

static bool is_map_of_texts(const struct value *v)
{
	for (uint64_t i = 0; i < value_entries(v); i++)
		if (v->values[i].type != VALUE_STRING || !slice_is_utf8(value_text(&v->values[i])))
			return false;
	return true;
}

static struct d9w_cell text_cell(struct d9w_values *x, struct slice s)
{
	struct d9w_cell cell = plain_cells[VALUE_STRING];

	if (!slice_is_utf8(s))
		return (struct d9w_cell){ D9_BYTES, D9_MADE_TEXT, 0 };
	cell.id = add_pooled(x, s);
	if (cell.id != D9W_NO_ID)
		cell.wire = D9_POOLED_STRING;
	return cell;
}

static struct d9w_cell list_cell(struct d9w_values *x, const struct value *v)
{
	const uint64_t addresses = v->type == VALUE_LIST ? count_type(v, VALUE_ADDRESS) : 0;
	struct d9w_cell cell = plain_cells[v->type];

	if (v->type == VALUE_MAP && is_map_of_texts(v))
		return (struct d9w_cell){ D9_STRING_MAP, D9_MADE_PLAIN, 0 };
	if (addresses > 0 && addresses == v->count)
		return (struct d9w_cell){ D9_STACK, D9_MADE_PLAIN, 0 };
	if (x->as_0_3)
		return as_json;
	if (addresses > 0 && count_type(v, VALUE_U64) == 0)
		cell.type = D9_MADE_STACK;
	for (uint64_t i = 0; i < value_entries(v) && !x->chunk->text.failed; i++)
		if (v->values[i].type == VALUE_STRING && slice_is_utf8(value_text(&v->values[i])))
			(void)add_pooled(x, value_text(&v->values[i]));
	return cell;
}

struct d9w_cell d9w_cell_of(struct d9w_values *x, const struct value *v)
{
	if (v->type == VALUE_STRING)
		return text_cell(x, value_text(v));
	if (value_is_list(v))
		return list_cell(x, v);
	if (v->type == VALUE_JSON && !slice_is_utf8(value_text(v)))
		return (struct d9w_cell){ D9_BYTES, D9_MADE_TEXT, 0 };
	return plain_cells[v->type];
}

/* ---- texts and JSON ---- */

static void lose(struct d9w_values *x, enum d9w_loss kind)
{
	d9w_lose(x->chunk, kind, x->offset);
}

static bool spend(struct d9w_values *x, uint64_t bytes)
{
	const bool fits = bytes <= x->left;

	x->left -= fits ? (uint32_t)bytes : x->left;
	return fits;
}

/* Adds as much of the text as fits. */
static void put_text(struct d9w_values *x, struct slice s)
{
	if (s.n > x->left) {
		s.n = (uint32_t)utf8_cut(s.p, s.n, x->left);
		lose(x, D9W_TEXT_CUT);
	}
	x->left -= s.n;
	d9w_text32(&x->chunk->text, s);
}

static void put_json(struct d9w_values *x, const struct value *v)
{
	struct fields_json_lost lost = { .bad_text = 0 };

	text_clear(&x->scratch);
	fields_json_value(&x->scratch, v, &lost);
	if (note_failure(&x->chunk->text.failed, x->scratch.failed))
		return;
	put_text(x, slice_of(x->scratch.p, x->scratch.n));
	lose(x, D9W_VALUE_AS_TEXT);
	if (lost.bad_text > 0)
		ledger_add(&x->chunk->ledger, &d9w_losses[D9W_BAD_TEXT], x->offset, lost.bad_text);
}

static void put_addresses(struct d9w_values *x, const struct value *v)
{
	const uint32_t n = v->count <= x->left / 8 ? v->count : x->left / 8;

	if (n < v->count)
		lose(x, D9W_TEXT_CUT);
	text_uint(&x->chunk->text, n, 4, false);
	for (uint32_t i = 0; i < n; i++)
		text_uint(&x->chunk->text, v->values[i].u64, 8, false);
	x->left -= 8 * n;
}

/* ---- lists and maps ---- */

static void put_values(struct d9w_values *x, const struct value *v, bool tagged, bool stack, unsigned depth);

/* Returns how an element is written, and counts its losses. */
static struct d9w_cell element_cell(struct d9w_values *x, const struct value *v, bool stack, unsigned depth)
{
	struct d9w_cell cell = plain_cells[v->type];

	if (v->type == VALUE_NONE || v->type == VALUE_JSON || (value_is_list(v) && depth >= D9_MAX_NESTING))
		return as_json;
	if (v->type == VALUE_STRING) {
		cell = slice_is_utf8(value_text(v)) ? cell : (struct d9w_cell){ D9_BYTES, D9_MADE_TEXT, 0 };
		cell.id = cell.wire == D9_STRING ? find_pooled(x, value_text(v)) : D9W_NO_ID;
		if (cell.id != D9W_NO_ID)
			cell.wire = D9_POOLED_STRING;
	}
	if (cell.type != D9_MADE_PLAIN && !(stack && cell.type == VALUE_ADDRESS))
		lose(x, D9W_ELEMENT_TYPE);
	return cell;
}

static void put_element(struct d9w_values *x, const struct value *v, bool stack, unsigned depth)
{
	const struct d9w_cell cell = element_cell(x, v, stack, depth);
	struct slice json = value_text(v);

	text_char(&x->chunk->text, (char)cell.wire);
	if (v->type == VALUE_JSON) {
		text_clear(&x->scratch); /* it may not be UTF-8 */
		(void)d9w_put_repaired(&x->scratch, json, x->left);
		put_text(x, slice_of(x->scratch.p, x->scratch.n));
		lose(x, D9W_VALUE_AS_TEXT);
	} else if (cell.type == VALUE_JSON) {
		put_json(x, v);
	} else if (value_is_list(v)) {
		put_values(x, v, true, false, depth);
	} else {
		d9w_value(x, cell, v);
	}
}

/* Writes a list or a map: of texts only, or if `tagged` of values with their types. */
static void put_values(struct d9w_values *x, const struct value *v, bool tagged, bool stack, unsigned depth)
{
	const uint32_t each = v->type == VALUE_MAP ? 2 : 1;
	const size_t at = x->chunk->text.n;
	uint32_t i = 0;

	text_uint(&x->chunk->text, 0, 4, false);
	for (; i < v->count && !x->chunk->text.failed && spend(x, tagged ? 16 * each : 8); i++)
		for (uint32_t k = 0; k < each; k++) {
			const struct value *const value = &v->values[(size_t)i * each + k];
			if (tagged)
				put_element(x, value, stack, depth + 1);
			else
				put_text(x, value_text(value));
		}
	if (i < v->count)
		lose(x, D9W_TEXT_CUT);
	if (!x->chunk->text.failed)
		store_uint(x->chunk->text.p + at, i, 4, false); /* the number of entries precedes them */
}

/* ---- any value ---- */

void d9w_value(struct d9w_values *x, struct d9w_cell cell, const struct value *v)
{
	struct text *const t = &x->chunk->text;

	switch (cell.wire) {
	case D9_BOOL:
		text_char(t, v->u64 != 0);
		break;
	case D9_U8:
	case D9_U16:
	case D9_U32:
		text_uint(t, v->u64, cell.wire == D9_U8 ? 1 : cell.wire == D9_U16 ? 2 : 4, false);
		break;
	case D9_VARINT:
		d9w_varint(t, v->u64);
		break;
	case D9_I64:
	case D9_F64:
		text_uint(t, v->u64, 8, false);
		break;
	case D9_POOLED_STRING:
		text_uint(t, cell.id, 4, false);
		break;
	case D9_STACK:
		put_addresses(x, v);
		break;
	case D9_STRING_MAP:
	case D9_LIST:
	case D9_MAP:
		put_values(x, v, cell.wire != D9_STRING_MAP, cell.type == D9_MADE_STACK, 0);
		break;
	case D9_U8 | D9_OPTIONAL: /* there is none */
		text_char(t, 0);
		break;
	default: /* String, Bytes */
		if (value_is_list(v))
			put_json(x, v);
		else
			put_text(x, value_text(v));
		break;
	}
}

struct d9w_cell d9w_all_cell(const struct d9w_values *x)
{
	return x->as_0_3 ? as_json : plain_cells[VALUE_MAP];
}

void d9w_all(struct d9w_values *x, const struct field *f, uint32_t n)
{
	struct value *const pairs = malloc(((size_t)n + 1) * 2 * sizeof *pairs);

	if (note_failure(&x->chunk->text.failed, pairs == NULL))
		return;
	for (uint32_t i = 0; i < n; i++) {
		pairs[2 * (size_t)i] = value_string(f[i].name);
		pairs[2 * (size_t)i + 1] = f[i].value;
	}
	const struct value map = { .type = VALUE_MAP, .count = n, .values = pairs };
	d9w_value(x, d9w_all_cell(x), &map);
	free(pairs);
}
