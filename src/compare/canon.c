#include "compare/canon.h"
#include "model/value_map.h"

#include <math.h>
#include <stdlib.h>

#include "base/decimal.h"
#include "compare/canon_json.h"

#define MAX_EXACT ((UINT64_C(1) << 53) - 1)

struct wide_hash
canon_none(void)
{
	return wide_hash_start(CANON_NONE);
}

struct wide_hash
canon_float(double v)
{
	const double magnitude = fabs(v);
	struct wide_hash h = wide_hash_start(CANON_FLOAT);
	uint64_t bits = 0;

	if (magnitude < 0x1p64 && magnitude == floor(magnitude))
		return canon_integer(v < 0, (uint64_t)magnitude);
	if (!isnan(v))
		memcpy(&bits, &v, sizeof bits);
	wide_hash_add(&h, bits);
	return h;
}

/* The text that JSON has for it says which double that is. */
static struct wide_hash
narrow_float(double v)
{
	char text[DECIMAL_F64_MAX + 1];

	if (!isfinite(v) || (v == floor(v) && fabs(v) < 0x1p20)) /* whose text has all digits */
		return canon_float(v);
	*decimal_f32(text, (float)v) = '\0';
	return canon_float(strtod(text, NULL));
}

static bool
hex_number(struct slice s, uint64_t *v)
{
	*v = 0;
	if (s.n < 3 || s.n > 18 || s.p[0] != '0' || s.p[1] != 'x' || (s.p[2] == '0' && s.n > 3))
		return false;
	for (uint32_t i = 2; i < s.n; i++) {
		const char d = s.p[i];
		if (!((d >= '0' && d <= '9') || (d >= 'a' && d <= 'f')))
			return false;
		*v = *v << 4 | (uint64_t)(d <= '9' ? d - '0' : d - 'a' + 10);
	}
	return true;
}

/* Digits of an integer that a double may not hold, as writers of JSON put it. */
static bool
long_number(struct slice s, bool *negative, uint64_t *v)
{
	*negative = s.n > 0 && s.p[0] == '-';
	if (*negative)
		s = slice_of(s.p + 1, s.n - 1);
	return s.n >= 16 && s.n <= 20 && s.p[0] != '0' && json_digits_any(s.p, s.n, v) && *v > MAX_EXACT &&
	       (!*negative || *v <= UINT64_C(1) << 63);
}

struct wide_hash
canon_text(struct slice s)
{
	struct wide_hash h = wide_hash_start(CANON_TEXT);
	bool negative = false;
	uint64_t v;

	if (s.n > 0 && (s.p[0] == '-' || (s.p[0] >= '0' && s.p[0] <= '9')) &&
	    (hex_number(s, &v) || long_number(s, &negative, &v)))
		return canon_integer(negative, v);
	wide_hash_add_text(&h, s);
	return h;
}

/* As the text "0x" and its digits; a long one in pieces. */
static struct wide_hash
bytes(const struct value *v)
{
	static const char digits[] = "0123456789abcdef";
	struct wide_hash h = wide_hash_start(CANON_TEXT);
	char piece[64] = "0x";
	uint32_t n = 2;

	wide_hash_add(&h, 2 + 2 * (uint64_t)v->count);
	for (uint32_t i = 0; i < v->count; i++) {
		piece[n++] = digits[(unsigned char)v->p[i] >> 4];
		piece[n++] = digits[v->p[i] & 15];
		if (n == sizeof piece) {
			wide_hash_add_piece(&h, piece, n);
			n = 0;
		}
	}
	if (v->count <= 8)
		return canon_text(slice_of(piece, n));
	wide_hash_add_piece(&h, piece, n);
	return h;
}

static struct wide_hash value(struct canon *c, const struct value *v, unsigned depth);

struct wide_hash
canon_list(uint64_t count, struct wide_hash run)
{
	struct wide_hash h = wide_hash_start(CANON_LIST);

	wide_hash_add(&h, count);
	wide_hash_add_hash(&h, run);
	return h;
}

static struct wide_hash
list(struct canon *c, const struct value *values, uint32_t count, unsigned depth)
{
	struct wide_hash run = { 0, 0 };

	for (uint32_t i = 0; i < count; i++)
		wide_hash_add_hash(&run, value(c, &values[i], depth + 1));
	return canon_list(count, run);
}

struct wide_hash
canon_object(uint64_t count, struct wide_hash sum)
{
	struct wide_hash h = wide_hash_start(CANON_OBJECT);

	wide_hash_add(&h, count);
	wide_hash_add_hash(&h, sum);
	return h;
}

struct wide_hash
canon_member(struct slice name, struct wide_hash of_value)
{
	struct wide_hash h = wide_hash_start(CANON_MEMBER);

	wide_hash_add_text(&h, name);
	wide_hash_add_hash(&h, of_value);
	return wide_hash_end(h);
}

static struct wide_hash
map(struct canon *c, const struct value *v, unsigned depth)
{
	const bool object = value_keys_are_text(v);
	struct wide_hash sum = { 0, 0 }, run = { 0, 0 };

	for (uint32_t i = 0; i < v->count; i++) {
		const struct value *const key = &v->values[2 * (size_t)i];
		if (object)
			wide_hash_sum(&sum, canon_member(value_text(key), value(c, key + 1, depth + 1)));
		else
			wide_hash_add_hash(&run, list(c, key, 2, depth + 1));
	}
	return object ? canon_object(v->count, sum) : canon_list(v->count, run);
}

static struct wide_hash
value(struct canon *c, const struct value *v, unsigned depth)
{
	switch ((enum value_type)v->type) {
	case VALUE_BOOL:
		return canon_integer(false, v->u64 != 0);
	case VALUE_U8:
	case VALUE_U16:
	case VALUE_U32:
	case VALUE_U64:
	case VALUE_ADDRESS:
		return canon_integer(false, v->u64);
	case VALUE_I8:
	case VALUE_I16:
	case VALUE_I32:
	case VALUE_I64:
		return canon_integer(v->i64 < 0, v->i64 < 0 ? 0 - (uint64_t)v->i64 : (uint64_t)v->i64);
	case VALUE_F32:
		return narrow_float(v->f64);
	case VALUE_F64:
		return canon_float(v->f64);
	case VALUE_STRING:
		return canon_text(value_text(v));
	case VALUE_BYTES:
		return bytes(v);
	case VALUE_JSON:
		return canon_json(c, value_text(v), depth);
	case VALUE_LIST:
		return depth < CANON_DEPTH ? list(c, v->values, v->count, depth) : canon_none();
	case VALUE_MAP:
		return depth < CANON_DEPTH ? map(c, v, depth) : canon_none();
	case VALUE_NONE:
		break;
	}
	return canon_none();
}

struct wide_hash
canon_value(struct canon *c, const struct value *v)
{
	arena_reset(&c->scratch);
	return value(c, v, 0);
}

void
canon_free(struct canon *c)
{
	arena_free(&c->scratch);
}
