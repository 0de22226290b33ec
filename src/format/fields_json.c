/* Values of fields as JSON.  Recursive, to 100 nested lists; deeper ones are null. */
#include "format/fields_json.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/scan.h"
#include "base/table.h"
#include "model/value.h"

#define MAX_DEPTH 100 /* readers bound nesting well below this */

/* ---- maps ---- */

#define FEW 16 /* keys that are compared pairwise; more go through a table */

static bool few_keys_differ(const struct value *map)
{
	for (uint32_t i = 1; i < map->count; i++)
		for (uint32_t k = 0; k < i; k++)
			if (slice_equal(value_key(map, i), value_key(map, k)))
				return false;
	return true;
}

static bool all_are_utf8(const struct value *map)
{
	for (uint32_t i = 0; i < map->count; i++)
		if (!slice_is_utf8(value_key(map, i)))
			return false;
	return true;
}

/* Keys that are not UTF-8 can become equal when they are repaired. */
static bool repaired_keys_differ(const struct value *map)
{
	struct tabletext seen = { .slots = NULL };
	struct arena a = { 0 };
	bool differ = true;

	for (uint32_t i = 0; i < map->count && differ; i++) {
		const struct slice key = text_repaired(&a, value_key(map, i));
		differ =
		    key.p != NULL && tabletext_get(&seen, key) == TABLE_NONE && tabletext_put(&seen, key, 1);
	}
	tabletext_free(&seen);
	arena_free(&a);
	return differ;
}

bool value_is_object(const struct value *map)
{
	return value_keys_are_text(map) &&
	       (map->count <= FEW && all_are_utf8(map) ? few_keys_differ(map) : repaired_keys_differ(map));
}

/* ---- values ---- */

static void put_string(struct text *t, struct slice s, struct fields_json_lost *lost)
{
	lost->bad_text += text_json_string(t, s) > 0;
}

static void put_value(struct text *t, const struct value *v, struct fields_json_lost *lost, unsigned depth,
                      bool as_is);

static void put_map(struct text *t, const struct value *v, struct fields_json_lost *lost, unsigned depth,
                    bool as_is)
{
	const bool object = value_is_object(v);

	text_char(t, object ? '{' : '[');
	for (uint32_t i = 0; i < v->count; i++) {
		const struct value *const key = &v->values[2 * (size_t)i];
		text_str(t, i > 0 ? (object ? "," : ",[") : (object ? "" : "["));
		put_value(t, key, lost, depth + 1, as_is);
		text_char(t, object ? ':' : ',');
		put_value(t, key + 1, lost, depth + 1, as_is);
		if (!object)
			text_char(t, ']');
	}
	text_char(t, object ? '}' : ']');
}

static void put_list(struct text *t, const struct value *v, struct fields_json_lost *lost, unsigned depth,
                     bool as_is)
{
	text_char(t, '[');
	for (uint32_t i = 0; i < v->count; i++) {
		if (i > 0)
			text_char(t, ',');
		put_value(t, &v->values[i], lost, depth + 1, as_is);
	}
	text_char(t, ']');
}

static void put_value(struct text *t, const struct value *v, struct fields_json_lost *lost, unsigned depth,
                      bool as_is)
{
	switch ((enum value_type)v->type) {
	case VALUE_NONE:
		text_str(t, "null");
		break;
	case VALUE_BOOL:
		text_str(t, v->u64 != 0 ? "true" : "false");
		break;
	case VALUE_U8:
	case VALUE_U16:
	case VALUE_U32:
	case VALUE_U64:
		(as_is ? text_u64 : text_json_u64)(t, v->u64);
		break;
	case VALUE_I8:
	case VALUE_I16:
	case VALUE_I32:
	case VALUE_I64:
		(as_is ? text_i64 : text_json_i64)(t, v->i64);
		break;
	case VALUE_F32:
		lost->not_a_number += !text_json_f32(t, (float)v->f64);
		break;
	case VALUE_F64:
		lost->not_a_number += !text_json_f64(t, v->f64);
		break;
	case VALUE_ADDRESS:
		text_json_address(t, v->u64);
		break;
	case VALUE_STRING:
		put_string(t, value_text(v), lost);
		break;
	case VALUE_BYTES:
		text_str(t, "\"0x");
		text_hex(t, v->p, v->count);
		text_char(t, '"');
		break;
	case VALUE_JSON:
		(as_is ? text_add : text_json_text)(t, v->p, v->count);
		break;
	case VALUE_LIST:
	case VALUE_MAP:
		if (depth >= MAX_DEPTH) {
			text_str(t, "null");
			lost->too_deep++;
		} else if (v->type == VALUE_LIST) {
			put_list(t, v, lost, depth, as_is);
		} else {
			put_map(t, v, lost, depth, as_is);
		}
		break;
	}
}

static bool is_unsigned(const struct value *v)
{
	return v->type >= VALUE_U8 && v->type <= VALUE_U64;
}

#define MAX_EXACT ((UINT64_C(1) << 53) - 1) /* larger integers are written as text */

void fields_json_value(struct text *t, const struct value *v, struct fields_json_lost *lost)
{
	put_value(t, v, lost, 0, false);
}

uint32_t fields_json_as_is(struct text *t, const struct value *v)
{
	struct fields_json_lost lost = { 0 };

	put_value(t, v, &lost, 0, true);
	return lost.bad_text;
}

char *fields_json_scalar(char *to, const struct value *v)
{
	if (v->type == VALUE_BOOL)
		return v->u64 != 0 ? text_put(to, "true", 4) : text_put(to, "false", 5);
	if (is_unsigned(v))
		return decimal_u64(to, v->u64);
	if (v->type >= VALUE_I8 && v->type <= VALUE_I64)
		return decimal_i64(to, v->i64);
	if (v->type == VALUE_ADDRESS)
		return decimal_hex(to, v->u64);
	if (v->type != VALUE_F32 && v->type != VALUE_F64)
		return to;
	if (!isfinite(v->f64))
		return to + snprintf(to, DECIMAL_F64_MAX, "%g", v->f64);
	return v->type == VALUE_F32 ? decimal_f32(to, (float)v->f64) : decimal_f64(to, v->f64);
}

/* Fast path for most fields, plain names with unsigned numbers or plain texts: `t` is not updated between
 * them. */
void fields_json(struct text *t, const struct field *fields, size_t n, struct fields_json_lost *lost)
{
	char *p = text_reserve(t, 0);

	for (size_t i = 0; i < n && p != NULL; i++) {
		const struct field *const f = &fields[i];
		const struct value *const v = &f->value;
		const bool text = v->type == VALUE_STRING && (v->flags & SLICE_JSON) != 0;
		const size_t space = (size_t)f->name.n + 6 + (text ? v->count : DECIMAL_U64_MAX);
		t->n = (size_t)(p - t->p);
		if ((f->name.flags & SLICE_JSON) == 0) {
			text_str(t, i > 0 ? "," : "");
			put_string(t, f->name, lost);
			text_char(t, ':');
			put_value(t, v, lost, 0, false);
			p = text_reserve(t, 0);
			continue;
		}
		if ((p = text_reserve(t, space)) == NULL)
			return;
		*p = ',';
		p += i > 0;
		*p++ = '"';
		p = text_put(p, f->name.p, f->name.n);
		*p++ = '"';
		*p++ = ':';
		if (text) {
			*p++ = '"';
			p = text_put(p, v->p, v->count);
			*p++ = '"';
		} else if (is_unsigned(v) && v->u64 <= MAX_EXACT) {
			p = decimal_u64(p, v->u64);
		} else {
			t->n = (size_t)(p - t->p);
			put_value(t, v, lost, 0, false);
			p = text_reserve(t, 0);
		}
	}
	if (p != NULL)
		t->n = (size_t)(p - t->p);
}
