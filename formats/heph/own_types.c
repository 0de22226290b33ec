#include "heph/own.h"
#include "heph/own_state.h"

#include "json/json_token.h"

/* Types of values in words: "u8,,[bool]".  A value that does not fit its word stays as it is. */

/* The type of a word; VALUE_LIST: none. */
static uint8_t
type_of(struct slice word)
{
	for (uint8_t type = 0; type <= VALUE_JSON; type++)
		if (slice_equal(word, heph_own_types[type]))
			return type;
	return VALUE_LIST;
}

static bool
is_json(const struct value *v)
{
	struct json x = { .complete = true, .depth = JSON_MAX_DEPTH / 2 };
	enum json_kind kind;

	return v->count > 0 && json_value(&x, v->p, v->p + v->count, &kind) == v->p + v->count;
}

static int
digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Bytes of hexadecimal digits. */
static bool
to_bytes(struct value *v, struct batch *b)
{
	char *const to = arena_alloc(&b->scratch, v->count / 2);

	if (to == NULL || v->count % 2 != 0)
		return false;
	for (uint32_t i = 0; i < v->count; i += 2) {
		const int high = digit(v->p[i]), low = digit(v->p[i + 1]);
		if (high < 0 || low < 0)
			return false;
		to[i / 2] = (char)(high << 4 | low);
	}
	*v = (struct value){ .type = VALUE_BYTES, .count = v->count / 2, .p = to };
	return true;
}

static bool
fits_text(const struct value *v, uint8_t type)
{
	return type == VALUE_NONE ? slice_is(value_text(v), "null") : type == VALUE_JSON && is_json(v);
}

static bool
fits_number(const struct value *v, uint8_t type)
{
	static const uint8_t bits[] = {
		[VALUE_BOOL] = 1, [VALUE_U8] = 8,   [VALUE_U16] = 16, [VALUE_U32] = 32,
		[VALUE_I8] = 8,   [VALUE_I16] = 16, [VALUE_I32] = 32
	};

	if (type == VALUE_ADDRESS)
		return v->type == VALUE_U64;
	if (type == VALUE_F32)
		return v->type == VALUE_F64 && (v->f64 != v->f64 || (double)(float)v->f64 == v->f64);
	if (type >= VALUE_I8 && type <= VALUE_I32)
		return v->type == VALUE_I64 && v->i64 >> (bits[type] - 1) == v->i64 >> 63;
	return type >= VALUE_BOOL && type <= VALUE_U32 && v->type == VALUE_U64 && v->u64 >> bits[type] == 0;
}

static bool
apply(struct value *v, uint8_t type, struct batch *b)
{
	if (v->type != VALUE_STRING && !fits_number(v, type))
		return false;
	if (v->type == VALUE_STRING && type == VALUE_BYTES)
		return to_bytes(v, b);
	if (v->type == VALUE_STRING && !fits_text(v, type))
		return false;
	v->type = type;
	v->flags = 0;
	return true;
}

/* A list all of whose values fit. */
static void
apply_to_list(struct value *v, uint8_t type, struct batch *b)
{
	struct value *const values = arena_alloc(&b->scratch, v->count * sizeof *values);

	if (v->type != VALUE_LIST || values == NULL || (type == VALUE_NONE && v->count > 0))
		return;
	for (uint32_t i = 0; i < v->count; i++) {
		values[i] = v->values[i];
		if (!apply(&values[i], type, b))
			return;
	}
	v->element = type;
	v->values = values;
}

void
heph_own_types_apply(struct slice words, struct field *f, uint32_t n, struct batch *b)
{
	if (words.n == 0)
		return;
	const char *p = words.p, *const end = words.p + words.n;
	for (uint32_t i = 0; i < n && p < end; i++) {
		const char *const comma = memchr(p, ',', (size_t)(end - p)), *const stop =
		                                                                 comma != NULL ? comma : end;
		const bool list = stop - p > 2 && *p == '[' && stop[-1] == ']';
		const uint8_t type = type_of(slice_of(p + list, (size_t)(stop - p) - 2 * (size_t)list));
		if (list && type != VALUE_LIST)
			apply_to_list(&f[i].value, type, b);
		else if (type != VALUE_LIST)
			apply(&f[i].value, type, b);
		p = stop + 1;
	}
}
