/*
 * Reads one value, by the rules of the section "Types" of the manual page.  Recursion is bounded by
 * NDJSON_MAX_VALUES.  Values of a list are collected on a stack and copied once when the list ends.
 */
#include "ndjson/ndjson.h"

#include <stdlib.h>

#include "base/numbers.h"
#include "out/types.h"

/* ---- text ---- */

struct slice ndjson_string_of(const struct ndjson_target *to, const struct json_token *t)
{
	const struct slice raw = json_token_text(t);

	if (t->kind == JSON_ESCAPED)
		return json_unescape(to->arena, raw);
	struct slice s = textscan_slice(raw.p, raw.n);
	return to->copy ? arena_copy(to->arena, s) : s;
}

/* Returns -1 if c is no digit 0-9 or a-f. */
static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

struct slice ndjson_unescape_bytes(struct arena *a, struct slice s, bool *bad)
{
	char *const start = arena_alloc(a, s.n), *to = start;

	for (uint32_t i = 0; start != NULL && i < s.n;) {
		if (s.p[i] != '\\') {
			*to++ = s.p[i++];
		} else if (i + 1 < s.n && s.p[i + 1] == '\\') {
			*to++ = '\\';
			i += 2;
		} else {
			const bool whole = s.n - i >= 4 && s.p[i + 1] == 'x';
			const int high = whole ? hex_digit(s.p[i + 2]) : -1;
			const int low = whole ? hex_digit(s.p[i + 3]) : -1;
			*bad = high < 0 || low < 0;
			if (*bad)
				return (struct slice){ NULL, 0, 0 };
			*to++ = (char)(high << 4 | low);
			i += 4;
		}
	}
	return start != NULL ? textscan_slice(start, (uint32_t)(to - start)) : (struct slice){ NULL, 0, 0 };
}

/* Reads "0x" and 1 to 16 digits. */
static bool parse_hex(struct slice s, uint64_t *v)
{
	*v = 0;
	if (s.n < 3 || s.n > 18 || s.p[0] != '0' || s.p[1] != 'x')
		return false;
	for (uint32_t i = 2; i < s.n; i++) {
		const int d = hex_digit(s.p[i]);
		if (d < 0)
			return false;
		*v = *v << 4 | (unsigned)d;
	}
	return true;
}

/* Reads the bits of a double that is infinite or NaN. */
static bool parse_not_finite(struct slice s, uint64_t *bits)
{
	if (slice_is(s, "NaN"))
		*bits = UINT64_C(0x7ff8000000000000);
	else if (slice_is(s, "Infinity"))
		*bits = UINT64_C(0x7ff0000000000000);
	else if (slice_is(s, "-Infinity"))
		*bits = UINT64_C(0xfff0000000000000);
	else if (s.n > 4 && memcmp(s.p, "NaN:", 4) == 0)
		return parse_hex(slice_of(s.p + 4, s.n - 4), bits);
	else
		return false;
	return true;
}

/* Reads a JSON number [p, e) if its digits and the power of ten are exact as doubles (Clinger's fast path):
 * their quotient is the nearest double.  Returns false for any other number. */
static bool parse_short_f64(const char *p, const char *e, double *to)
{
	static const double powers[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
		                         1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
		                         1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
	const bool minus = *p == '-';
	uint64_t digits = 0;
	unsigned decimals = 0;
	bool has_point = false;

	for (p += minus; p < e; p++) {
		if (*p == '.') {
			has_point = true;
			continue;
		}
		if (*p < '0' || *p > '9' || digits >= UINT64_C(900719925474099))
			return false;
		digits = digits * 10 + (uint64_t)(*p - '0');
		decimals += has_point;
	}
	if (decimals >= sizeof powers / sizeof powers[0])
		return false;
	*to = (double)digits / powers[decimals];
	*to = minus ? -*to : *to;
	return true;
}

/* ---- types and faults ---- */

struct reading {
	struct ndjson_reading *st;
	const struct ndjson_target *to;
	struct ndjson_fault *fault;
};

unsigned ndjson_type_of_name(struct slice type_name)
{
	const unsigned type = value_type_named(type_name);

	return type < VALUE_TYPES ? type : VALUE_NONE;
}

static struct value fail(struct reading *g, const char *at, const char *why)
{
	if (g->fault->why == NULL)
		*g->fault = (struct ndjson_fault){ .at = at, .why = why };
	return (struct value){ .type = VALUE_NONE };
}

static struct value no_memory(struct reading *g, const char *at)
{
	g->st->no_memory = true;
	return fail(g, at, "no memory");
}

/* ---- numbers ---- */

static struct value out_of_range(struct reading *g, const struct json_token *t)
{
	fail(g, t->p, "a number that does not fit its width");
	g->fault->range = true;
	return (struct value){ .type = VALUE_NONE };
}

static struct value read_integer(struct reading *g, const struct json_token *t, unsigned type)
{
	static const uint8_t bits[] = {
		[VALUE_U8] = 8, [VALUE_U16] = 16, [VALUE_U32] = 32, [VALUE_U64] = 64,
		[VALUE_I8] = 8, [VALUE_I16] = 16, [VALUE_I32] = 32, [VALUE_I64] = 64
	};
	const bool minus = t->kind == JSON_INT, is_signed = type >= VALUE_I8;
	const size_t n = (size_t)(t->end - t->p) - minus;
	struct value v = { .type = (uint8_t)type };
	uint64_t magnitude;

	if (t->kind != JSON_UINT && t->kind != JSON_INT)
		return fail(g, t->p, "no integer");
	if (n > DECIMAL_U64_MAX || !json_digits_any(t->p + minus, (uint32_t)n, &magnitude))
		return out_of_range(g, t);
	const uint64_t max =
	    is_signed ? (UINT64_C(1) << (bits[type] - 1)) - !minus : UINT64_MAX >> (64 - bits[type]);
	if (magnitude > (minus && !is_signed ? 0 : max))
		return out_of_range(g, t);
	v.u64 = minus ? 0 - magnitude : magnitude;
	return v;
}

static double parse_float(struct reading *g, const struct json_token *t, bool f32)
{
	const size_t n = (size_t)(t->end - t->p);
	char buffer[64];
	double v;

	if (!f32 && parse_short_f64(t->p, t->end, &v))
		return v;
	char *const copy = n < sizeof buffer ? buffer : arena_alloc(&g->st->scratch, n + 1);
	if (copy == NULL) {
		no_memory(g, t->p);
		return 0;
	}
	memcpy(copy, t->p, n);
	copy[n] = '\0';
	return f32 ? (double)strtof(copy, NULL) : strtod(copy, NULL);
}

static struct value read_float(struct reading *g, const struct json_token *t, unsigned type)
{
	struct value v = { .type = (uint8_t)type };
	uint64_t bits;

	if (t->kind >= JSON_UINT && t->kind <= JSON_NUMBER) {
		v.f64 = parse_float(g, t, type == VALUE_F32);
		return v;
	}
	if (t->kind != JSON_STRING || !parse_not_finite(json_token_text(t), &bits))
		return fail(g, t->p, "no floating-point number");
	memcpy(&v.f64, &bits, sizeof bits);
	return v;
}

/* ---- texts, bytes and JSON ---- */

static struct value read_bytes(struct reading *g, const struct json_token *t)
{
	const struct slice s = json_token_text(t);
	char *const to = arena_alloc(g->to->arena, s.n / 2);

	if (to == NULL)
		return no_memory(g, t->p);
	if (s.n % 2 != 0)
		return fail(g, t->p, "half a byte");
	for (uint32_t i = 0; i < s.n; i += 2) {
		const int high = hex_digit(s.p[i]), low = hex_digit(s.p[i + 1]);
		if (high < 0 || low < 0)
			return fail(g, t->p, "bytes are two hexadecimal digits each");
		to[i / 2] = (char)(high << 4 | low);
	}
	return (struct value){ .type = VALUE_BYTES, .count = s.n / 2, .p = to };
}

static struct value read_json(struct reading *g, const char *at, struct slice s)
{
	if (g->to->copy)
		s = arena_copy(g->to->arena, s);
	return s.p != NULL ? (struct value){ .type = VALUE_JSON, .count = s.n, .p = s.p } : no_memory(g, at);
}

static struct value read_json_text(struct reading *g, const struct json_token *t)
{
	const struct slice s = ndjson_string_of(g->to, t);
	size_t at;

	if (s.p == NULL)
		return no_memory(g, t->p);
	if (json_document_fault(s.p, s.n, JSON_MAX_DEPTH, &at) != NULL)
		return fail(g, t->p, "no JSON in the text");
	return (struct value){ .type = VALUE_JSON, .count = s.n, .p = s.p };
}

static struct value read_string(struct reading *g, const struct json_token *t, bool escaped)
{
	struct slice s = ndjson_string_of(g->to, t);
	bool bad = false;

	if (s.p != NULL && escaped)
		s = ndjson_unescape_bytes(g->to->arena, s, &bad);
	if (bad)
		return fail(g, t->p, "a text that is not in the escaped form");
	return s.p != NULL ? value_string(s) : no_memory(g, t->p);
}

static struct value read_text(struct reading *g, const struct json_token *t, unsigned type)
{
	struct value v = { .type = (uint8_t)type };

	if (!json_is_string(t->kind))
		return fail(g, t->p, "no text");
	if (type == VALUE_STRING)
		return read_string(g, t, false);
	if (type == VALUE_BYTES)
		return read_bytes(g, t);
	return parse_hex(json_token_text(t), &v.u64) ? v : fail(g, t->p, "no address");
}

/* ---- lists and maps ---- */

static struct value read_any(struct reading *g, const struct json_token *t, unsigned expected,
                             unsigned depth);

static struct value read_named_type(struct reading *g, const struct json_token *t, struct slice type_name,
                                    unsigned depth);

static bool push_value(struct reading *g, const char *at, struct value v)
{
	struct ndjson_reading *const st = g->st;

	if (!array_reserve(&st->stack, st->nstack, &st->stack_cap, sizeof *st->stack)) {
		no_memory(g, at);
		return false;
	}
	st->stack[st->nstack++] = v;
	return g->fault->why == NULL;
}

/* Removes the values from `base` on and stores them in v. */
static struct value pop_values(struct reading *g, const char *at, uint32_t base, struct value v)
{
	struct ndjson_reading *const st = g->st;
	const uint32_t n = st->nstack - base;

	st->nstack = base;
	if (g->fault->why != NULL)
		return (struct value){ .type = VALUE_NONE };
	struct value *const to = arena_alloc(g->to->arena, n * sizeof *to);
	if (to == NULL)
		return no_memory(g, at);
	if (n > 0)
		memcpy(to, st->stack + base, n * sizeof *to);
	v.count = v.type == VALUE_MAP ? n / 2 : n;
	v.values = to;
	return v;
}

static struct value read_list(struct reading *g, const struct json_token *t, unsigned expected,
                              unsigned depth)
{
	struct json x = { .complete = true, .depth = JSON_MAX_DEPTH };
	const uint32_t base = g->st->nstack;

	if (t->kind != JSON_ARRAY)
		return fail(g, t->p, "no list");
	struct json_walk w = json_walk(&x, t->p, t->end);
	while (json_walk_next(&w))
		if (!push_value(g, w.value.p, read_any(g, &w.value, expected, depth + 1)))
			break;
	return pop_values(g, t->p, base, (struct value){ .type = VALUE_LIST });
}

/* Reads a list of a key and a value. */
static bool read_pair(struct reading *g, const struct json_token *t, unsigned depth)
{
	struct json x = { .complete = true, .depth = JSON_MAX_DEPTH };
	unsigned n = 0;

	if (t->kind != JSON_ARRAY) {
		fail(g, t->p, "no list of a key and a value");
		return false;
	}
	struct json_walk w = json_walk(&x, t->p, t->end);
	for (; json_walk_next(&w); n++)
		if (!push_value(g, w.value.p, read_any(g, &w.value, VALUE_NONE, depth + 1)))
			return false;
	if (n != 2)
		fail(g, t->p, "no list of a key and a value");
	return n == 2;
}

static struct value read_pairs(struct reading *g, const struct json_token *t, unsigned depth)
{
	struct json x = { .complete = true, .depth = JSON_MAX_DEPTH };
	const uint32_t base = g->st->nstack;

	if (t->kind != JSON_ARRAY)
		return fail(g, t->p, "no list of pairs");
	struct json_walk w = json_walk(&x, t->p, t->end);
	while (json_walk_next(&w))
		if (!read_pair(g, &w.value, depth))
			break;
	return pop_values(g, t->p, base, (struct value){ .type = VALUE_MAP });
}

/* Reads a map, or the value of an object with one member whose name is $ and a type. */
static struct value read_object(struct reading *g, const struct json_token *t, unsigned depth)
{
	struct json x = { .complete = true, .depth = JSON_MAX_DEPTH };
	struct json_walk w = json_walk(&x, t->p, t->end);
	const uint32_t base = g->st->nstack;

	for (bool first = true; json_walk_next(&w); first = false) {
		const struct slice name = json_token_text(&w.key);
		if (first && name.n > 0 && *name.p == '$' && *json_skip_blanks(w.p, t->end) == '}')
			return read_named_type(g, &w.value, slice_of(name.p + 1, name.n - 1), depth);
		if (!push_value(g, w.key.p, read_string(g, &w.key, false)) ||
		    !push_value(g, w.value.p, read_any(g, &w.value, VALUE_NONE, depth + 1)))
			break;
	}
	return pop_values(g, t->p, base, (struct value){ .type = VALUE_MAP });
}

/* ---- any value ---- */

static struct value read_type(struct reading *g, const struct json_token *t, unsigned type)
{
	if (type <= VALUE_I64)
		return read_integer(g, t, type);
	return type <= VALUE_F64 ? read_float(g, t, type) : read_text(g, t, type);
}

/* Returns true if a value of this JSON kind has this type where it is expected. */
static bool fits_type(enum json_kind kind, unsigned type)
{
	if (type < VALUE_U8)
		return false;
	if (type <= VALUE_I64)
		return kind == JSON_UINT || kind == JSON_INT;
	if (type <= VALUE_F64)
		return (kind >= JSON_UINT && kind <= JSON_NUMBER) || json_is_string(kind);
	return type <= VALUE_BYTES && json_is_string(kind);
}

static struct value read_any(struct reading *g, const struct json_token *t, unsigned expected, unsigned depth)
{
	if (depth > NDJSON_MAX_VALUES)
		return fail(g, t->p, "values nested too deep");
	if (fits_type(t->kind, expected))
		return read_type(g, t, expected);
	switch (t->kind) {
	case JSON_UINT:
		return read_integer(g, t, VALUE_U64);
	case JSON_INT:
		return read_integer(g, t, VALUE_I64);
	case JSON_NUMBER:
		return read_float(g, t, VALUE_F64);
	case JSON_STRING:
	case JSON_ESCAPED:
		return read_string(g, t, false);
	case JSON_TRUE:
	case JSON_FALSE:
		return (struct value){ .type = VALUE_BOOL, .u64 = t->kind == JSON_TRUE };
	case JSON_NULL:
		return (struct value){ .type = VALUE_NONE };
	case JSON_OBJECT:
		return read_object(g, t, depth);
	case JSON_ARRAY:
		return read_list(g, t, VALUE_NONE, depth);
	default:
		return fail(g, t->p, "no value");
	}
}

/* Reads a list of values of one type, which the source format declares or (`same`) does not. */
static struct value read_typed_list(struct reading *g, const struct json_token *t, unsigned type, bool same,
                                    unsigned depth)
{
	struct value v = read_list(g, t, type, depth);

	for (uint32_t i = 0; i < v.count && !same && g->fault->why == NULL; i++)
		if (v.values[i].type != type)
			return fail(g, t->p, "a list with a value of another type than it says");
	v.element = (uint8_t)(same ? VALUE_NONE : type);
	return v;
}

static struct value read_named_type(struct reading *g, const struct json_token *t, struct slice type_name,
                                    unsigned depth)
{
	const bool list = type_name.n > 2 && type_name.p[0] == '[' && type_name.p[type_name.n - 1] == ']';
	const bool same = list && type_name.p[type_name.n - 2] == '?';
	const unsigned type =
	    ndjson_type_of_name(list ? slice_of(type_name.p + 1, type_name.n - 2 - same) : type_name);

	if (slice_is(type_name, "escaped") || slice_is(type_name, "json-text"))
		return !json_is_string(t->kind) ? fail(g, t->p, "no text")
		       : *type_name.p == 'e'    ? read_string(g, t, true)
		                                : read_json_text(g, t);
	if (type == VALUE_NONE)
		return fail(g, type_name.p, "an unknown type");
	if (list)
		return read_typed_list(g, t, type, same, depth);
	if (type == VALUE_JSON)
		return read_json(g, t->p, slice_of(t->p, (size_t)(t->end - t->p)));
	if (type == VALUE_MAP)
		return read_pairs(g, t, depth);
	if (type >= VALUE_U8 && type <= VALUE_BYTES)
		return read_type(g, t, type);
	return fail(g, type_name.p, "a type that is never said");
}

struct value ndjson_read_value(struct ndjson_reading *st, const struct ndjson_target *to,
                               const struct json_token *t, unsigned expected, struct ndjson_fault *fault)
{
	struct reading g = { st, to, fault };

	return read_any(&g, t, expected, 0);
}

struct value ndjson_read_typed(struct ndjson_reading *st, const struct ndjson_target *to,
                               const struct json_token *t, struct slice type_name, struct ndjson_fault *fault)
{
	struct reading g = { st, to, fault };

	return read_named_type(&g, t, type_name, 0);
}
