/* Values by path. */
#include <criterion/criterion.h>

#include "format/field_path.h"
#include "model/value.h"

static struct value list_of(uint8_t type, const struct value *values, uint32_t count)
{
	return (struct value){ .type = type, .count = count, .values = values };
}

#define JSON(s) value_json(slice_str(s))

static const struct value *find(const struct field *f, uint32_t n, const char *path, struct path_value *to)
{
	return field_value(f, n, slice_str(path), to);
}

#define EXPECT_TEXT(v, s)                                                                                    \
	do {                                                                                                 \
		const struct value *const got = (v);                                                         \
		cr_assert_not_null(got);                                                                     \
		cr_expect_eq(got->type, VALUE_STRING);                                                       \
		cr_expect(slice_is(value_text(got), s), "%.*s", (int)got->count, got->p);                    \
	} while (0)

Test(field_path, json)
{
	const struct field f[] = {
		{ SLICE_LIT("data"), JSON("{\"url\":\"a\\u00e9\\\"b\",\"n\":-7,\"big\":123456789012345678901,"
		                          "\"x\":[{\"y\":1.50},[true,null]],\"a.b\":{\"c\":\"long\"},"
		                          "\"a\":{\"b\":\"short\"},\"k\\\"q\":\"quoted\",\"\":{\"e\":1}}") },
		{ SLICE_LIT("list"), JSON("[\"zero\",\"one\"]") },
		{ SLICE_LIT("number"), JSON("1.5") },
	};
	struct path_value to;
	const struct value *v;

	EXPECT_TEXT(find(f, 3, "data.url", &to), "a\xc3\xa9\"b");
	EXPECT_TEXT(find(f, 3, "data.k\"q", &to), "quoted");
	EXPECT_TEXT(find(f, 3, "list.1", &to), "one");
	EXPECT_TEXT(find(f, 3, "data.a.b.c", &to), "long");
	v = find(f, 3, "data.n", &to);
	cr_expect(v != NULL && v->type == VALUE_I64 && v->i64 == -7);
	v = find(f, 3, "data.x.0.y", &to);
	cr_expect(v != NULL && v->type == VALUE_JSON && slice_is(value_text(v), "1.50"));
	v = find(f, 3, "data.big", &to);
	cr_expect(v != NULL && v->type == VALUE_JSON && v->count == 21);
	v = find(f, 3, "data.x.1", &to);
	cr_expect(v != NULL && v->type == VALUE_JSON && slice_is(value_text(v), "[true,null]"));
	v = find(f, 3, "data.x.1.0", &to);
	cr_expect(v != NULL && v->type == VALUE_BOOL && v->u64 == 1);
	v = find(f, 3, "data.x.1.1", &to);
	cr_expect(v != NULL && v->type == VALUE_NONE);
	v = find(f, 3, "data..e", &to);
	cr_expect(v != NULL && v->type == VALUE_U64 && v->u64 == 1);
	static const char *const absent[] = {
		"data.none",  "data.url.x", "data.x.2",    "data.x.y",
		"data.x.00y", "list.2",     "list.-1",     "list.18446744073709551616",
		"number.0",   "other.x",    "data.x.1.1.0"
	};
	for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
		cr_expect_null(find(f, 3, absent[i], &to), "%s", absent[i]);
}

Test(field_path, lists_maps_and_whole_names)
{
	const struct value inner[] = { value_u64(5), value_string(SLICE_LIT("five")),
		                       value_string(SLICE_LIT("key")), value_string(SLICE_LIT("of a map")) },
	                   outer[] = { list_of(VALUE_MAP, inner, 2), JSON("{\"k\":\"in JSON\"}") };
	const struct field f[] = {
		{ SLICE_LIT("l"), list_of(VALUE_LIST, outer, 2) },
		{ SLICE_LIT("l.0.key"), value_string(SLICE_LIT("a field")) },
		{ SLICE_LIT("text"), value_string(SLICE_LIT("{\"k\":1}")) },
	};
	struct path_value to;

	EXPECT_TEXT(find(f, 1, "l.0.key", &to), "of a map");
	EXPECT_TEXT(find(f, 3, "l.0.key", &to), "a field");
	EXPECT_TEXT(find(f, 3, "l.1.k", &to), "in JSON");
	cr_expect_null(find(f, 3, "l.0.5", &to));
	cr_expect_null(find(f, 3, "l.2", &to));
	cr_expect_null(find(f, 3, "text.k", &to));
	cr_expect_null(find(f, 3, "l.0.key.x", &to));
	cr_expect_eq(find(f, 3, "l.1", &to)->type, VALUE_JSON);
}

/* A text is unescaped up to a limit. */
Test(field_path, long_texts)
{
	char json[PATH_TEXT + 64];
	struct path_value to;

	for (uint32_t n = PATH_TEXT - 1; n <= PATH_TEXT + 1; n++) {
		char *p = json;
		memcpy(p, "{\"s\":\"\\n", 8);
		p += 8;
		memset(p, 'x', n - 2);
		p += n - 2;
		memcpy(p, "\"}", 2);
		const struct field f = { SLICE_LIT("f"), value_json(slice_of(json, (size_t)(p + 2 - json))) };
		const struct value *const v = find(&f, 1, "f.s", &to);
		cr_assert_not_null(v);
		cr_expect_eq(v->type, n <= PATH_TEXT ? VALUE_STRING : VALUE_JSON);
		cr_expect_eq(v->count, n <= PATH_TEXT ? n - 1 : n + 2);
	}
}
