/* Types of values, by the section "Types" of the manual page. */
#include <errno.h>
#include <stdlib.h>

#include "ndjson/test/oracle.h"

struct reading {
	struct arena *a;
	const char *fault;
};

static void *get(struct arena *a, size_t count, size_t size)
{
	void *const p = arena_zalloc(a, count, size);

	if (p == NULL)
		abort();
	return p;
}

static void fail(struct reading *r, const char *fault)
{
	if (r->fault == NULL)
		r->fault = fault;
}

/* Returns the name as a constant string; NULL: unknown. */
static const char *constant(struct slice word)
{
	static const char *const words[] = { "none", "bool", "u8",   "u16",   "u32",     "u64",      "i8",
		                             "i16",  "i32",  "i64",  "f32",   "f64",     "address",  "string",
		                             "list", "map",  "json", "bytes", "escaped", "json-text" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (slice_is(word, words[i]))
			return words[i];
	return NULL;
}

static bool is(const char *type, const char *word)
{
	return type != NULL && strcmp(type, word) == 0;
}

static bool is_integer_type(const char *t)
{
	return t != NULL && (t[0] == 'u' || t[0] == 'i') && t[1] >= '1' && t[1] <= '8';
}

static bool is_float_type(const char *t)
{
	return t != NULL && t[0] == 'f';
}

static bool is_integer(const struct oracle_json *j)
{
	return j->form == ORACLE_NUMBER && memchr(j->raw.p, '.', j->raw.n) == NULL &&
	       memchr(j->raw.p, 'e', j->raw.n) == NULL;
}

/* Whether a value in this form has this type where it is expected. */
static bool fits(const struct oracle_json *j, const char *type)
{
	if (is_integer_type(type))
		return is_integer(j);
	if (is_float_type(type))
		return j->form == ORACLE_NUMBER || j->form == ORACLE_TEXT;
	return (is(type, "address") || is(type, "string") || is(type, "bytes")) && j->form == ORACLE_TEXT;
}

/* ---- numbers and bytes ---- */

static uint64_t bits_of(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	return bits;
}

static void read_integer(struct reading *r, const struct oracle_json *j, struct oracle_value *v)
{
	const unsigned width = (unsigned)strtoul(v->type + 1, NULL, 10);
	char *end;

	if (!is_integer(j)) {
		fail(r, "no integer where one must be");
		return;
	}
	errno = 0;
	if (v->type[0] == 'u')
		v->bits = strtoull(j->raw.p, &end, 10);
	else
		v->bits = (uint64_t)strtoll(j->raw.p, &end, 10);
	if (errno != 0 || end != j->raw.p + j->raw.n || (v->type[0] == 'u' && j->raw.p[0] == '-'))
		fail(r, "an integer that does not fit 64 bits");
	if (width == 64)
		return;
	const int64_t half = INT64_C(1) << (width - 1), whole = (int64_t)v->bits;
	if (v->type[0] == 'u' ? v->bits >> width != 0 : whole < -half || whole >= half)
		fail(r, "an integer that does not fit its width");
}

static void read_float(struct reading *r, const struct oracle_json *j, struct oracle_value *v)
{
	char *end;

	if (j->form == ORACLE_NUMBER) {
		v->bits =
		    bits_of(is(v->type, "f32") ? (double)strtof(j->raw.p, &end) : strtod(j->raw.p, &end));
		if (end != j->raw.p + j->raw.n)
			fail(r, "a number with something behind it");
	} else if (slice_is(j->text, "NaN")) {
		v->bits = UINT64_C(0x7ff8000000000000);
	} else if (j->text.n == 22 && memcmp(j->text.p, "NaN:0x", 6) == 0) {
		v->bits = strtoull(j->text.p + 6, NULL, 16);
	} else if (slice_is(j->text, "Infinity")) {
		v->bits = UINT64_C(0x7ff0000000000000);
	} else if (slice_is(j->text, "-Infinity")) {
		v->bits = UINT64_C(0xfff0000000000000);
	} else {
		fail(r, "no floating-point number");
	}
}

static unsigned digit(struct reading *r, char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	fail(r, "no hexadecimal digit");
	return 0;
}

static void read_bytes(struct reading *r, const struct oracle_json *j, struct oracle_value *v)
{
	char *const to = get(r->a, j->text.n / 2 + 1, 1);

	if (j->text.n % 2 != 0)
		fail(r, "half a byte");
	for (uint32_t i = 0; i + 1 < j->text.n; i += 2)
		to[i / 2] = (char)(digit(r, j->text.p[i]) << 4 | digit(r, j->text.p[i + 1]));
	v->text = slice_of(to, j->text.n / 2);
}

/* ---- values ---- */

static struct oracle_value read_value(struct reading *r, const struct oracle_json *j, const char *expected);
static struct oracle_value read_as(struct reading *r, const struct oracle_json *j, struct slice kind);

static void read_list(struct reading *r, const struct oracle_json *j, const char *expected,
                      struct oracle_value *v)
{
	v->type = "list";
	v->n = j->n;
	v->values = get(r->a, j->n, sizeof *v->values);
	if (j->form != ORACLE_ARRAY) {
		fail(r, "no list where one must be");
		return;
	}
	for (uint32_t i = 0; i < j->n; i++)
		v->values[i] = read_value(r, &j->items[i], expected);
}

static void read_pairs(struct reading *r, const struct oracle_json *j, struct oracle_value *v)
{
	v->type = "map";
	v->n = j->n;
	v->values = get(r->a, 2 * (size_t)j->n, sizeof *v->values);
	for (uint32_t i = 0; i < j->n; i++) {
		const struct oracle_json *const pair = &j->items[i];
		if (j->form != ORACLE_ARRAY || pair->form != ORACLE_ARRAY || pair->n != 2) {
			fail(r, "no pair where one must be");
			return;
		}
		v->values[2 * (size_t)i] = read_value(r, &pair->items[0], NULL);
		v->values[2 * (size_t)i + 1] = read_value(r, &pair->items[1], NULL);
	}
}

/* Readers of JSON keep at most one of equal names. */
static void expect_distinct(struct reading *r, const struct oracle_json *object)
{
	for (uint32_t i = 0; i < object->n; i++)
		for (uint32_t k = 0; k < i; k++)
			if (slice_equal(object->names[i], object->names[k]))
				fail(r, "an object with two members of one name");
}

/* An object with one member whose name is $ and a type has a value of this type. */
static struct oracle_value read_object(struct reading *r, const struct oracle_json *j)
{
	struct oracle_value v = { .type = "map", .n = j->n };

	if (j->n == 1 && j->names[0].n > 0 && j->names[0].p[0] == '$')
		return read_as(r, &j->items[0], slice_of(j->names[0].p + 1, j->names[0].n - 1));
	v.values = get(r->a, 2 * (size_t)j->n, sizeof *v.values);
	expect_distinct(r, j);
	for (uint32_t i = 0; i < j->n; i++) {
		v.values[2 * (size_t)i] = (struct oracle_value){ .type = "string", .text = j->names[i] };
		v.values[2 * (size_t)i + 1] = read_value(r, &j->items[i], NULL);
	}
	return v;
}

/* Reads a value of a type that is written with it, or is expected and fits. */
static struct oracle_value read_type(struct reading *r, const struct oracle_json *j, const char *type)
{
	struct oracle_value v = { .type = type, .text = j->text };

	if (is_integer_type(type))
		read_integer(r, j, &v);
	else if (is_float_type(type))
		read_float(r, j, &v);
	else if (is(type, "json"))
		v.text = j->raw;
	else if (is(type, "map"))
		read_pairs(r, j, &v);
	else if (j->form != ORACLE_TEXT)
		fail(r, "no text where some must be");
	else if (is(type, "address"))
		v.bits = strtoull(j->text.p, NULL, 16);
	else if (is(type, "bytes"))
		read_bytes(r, j, &v);
	else if (is(type, "json-text"))
		v.type = "json";
	else if (is(type, "escaped"))
		v = (struct oracle_value){ .type = "string", .text = oracle_unescape(r->a, j->text) };
	else if (!is(type, "string"))
		fail(r, "a type that cannot be said");
	return v;
}

static struct oracle_value read_as(struct reading *r, const struct oracle_json *j, struct slice kind)
{
	const bool list = kind.n > 2 && kind.p[0] == '[' && kind.p[kind.n - 1] == ']';
	const bool same = list && kind.p[kind.n - 2] == '?';
	const char *const type = constant(list ? slice_of(kind.p + 1, kind.n - 2 - same) : kind);
	struct oracle_value v = { .type = "none" };

	if (type == NULL)
		fail(r, "an unknown type");
	else if (list)
		read_list(r, j, type, &v);
	else
		v = read_type(r, j, type);
	v.element = list && !same ? type : NULL;
	return v;
}

static struct oracle_value read_value(struct reading *r, const struct oracle_json *j, const char *expected)
{
	struct oracle_value v = { .type = "none" };

	if (expected != NULL && fits(j, expected))
		return read_type(r, j, expected);
	switch (j->form) {
	case ORACLE_NULL:
		return v;
	case ORACLE_BOOL:
		return (struct oracle_value){ .type = "bool", .bits = j->truth };
	case ORACLE_NUMBER:
		return read_type(r, j, !is_integer(j) ? "f64" : j->raw.p[0] == '-' ? "i64" : "u64");
	case ORACLE_TEXT:
		return read_type(r, j, "string");
	case ORACLE_ARRAY:
		read_list(r, j, NULL, &v);
		return v;
	case ORACLE_OBJECT:
		break;
	}
	return read_object(r, j);
}

/* ---- fields ---- */

/* Returns the type that the class declares for the first field of this name. */
static const char *declared(struct reading *r, const struct oracle_json *cls, struct slice name)
{
	const struct oracle_json *const fields = cls != NULL ? oracle_member(cls, "fields") : NULL;

	for (uint32_t i = 0; fields != NULL && i < fields->n; i++) {
		const struct oracle_json *const value = oracle_member(&fields->items[i], "value");
		if (slice_equal(oracle_text(r->a, &fields->items[i], "name"), name))
			return value != NULL ? constant(value->text) : NULL;
	}
	return NULL;
}

static const struct oracle_json *said_type(const struct oracle_json *types, struct slice name)
{
	for (uint32_t i = 0; types != NULL && i < types->n; i++)
		if (slice_equal(types->names[i], name))
			return &types->items[i];
	return NULL;
}

static struct oracle_field *read_members(struct reading *r, const struct oracle_json *line,
                                         const struct oracle_json *cls)
{
	const struct oracle_json *const fields = oracle_member(line, "args");
	const struct oracle_json *const types = oracle_member(line, "types");
	struct oracle_field *const to = get(r->a, fields->n, sizeof *to);
	uint32_t said = 0;

	expect_distinct(r, fields);
	for (uint32_t i = 0; i < fields->n; i++) {
		const struct oracle_json *const type = said_type(types, fields->names[i]);
		to[i].name = fields->names[i];
		said += type != NULL;
		to[i].value = type != NULL
		                  ? read_as(r, &fields->items[i], type->text)
		                  : read_value(r, &fields->items[i], declared(r, cls, fields->names[i]));
	}
	if (types != NULL && said != types->n)
		fail(r, "a type of a field that is not there");
	return to;
}

static struct oracle_field *read_list_of_pairs(struct reading *r, const struct oracle_json *pairs)
{
	struct oracle_field *const to = get(r->a, pairs->n, sizeof *to);
	struct oracle_value map = { .type = NULL };

	read_pairs(r, pairs, &map);
	for (uint32_t i = 0; i < pairs->n && r->fault == NULL; i++) {
		if (!is(map.values[2 * (size_t)i].type, "string"))
			fail(r, "a name that is no text");
		to[i].name = map.values[2 * (size_t)i].text;
		to[i].value = map.values[2 * (size_t)i + 1];
	}
	return to;
}

const char *oracle_fields(struct arena *a, const struct oracle_json *line, const struct oracle_json *cls,
                          struct oracle_field **fields, uint32_t *n)
{
	const struct oracle_json *const object = oracle_member(line, "args"), *const pairs = oracle_member(
	                                                                          line, "pairs");
	struct reading r = { a, NULL };

	*n = object != NULL ? object->n : pairs != NULL ? pairs->n : 0;
	*fields = object != NULL  ? read_members(&r, line, cls)
	          : pairs != NULL ? read_list_of_pairs(&r, pairs)
	                          : NULL;
	if ((object != NULL && (pairs != NULL || object->n == 0)) || (pairs != NULL && pairs->n == 0))
		fail(&r, "fields that are not there");
	return r.fault;
}
