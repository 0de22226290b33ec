#include "format/fields_json.h"

#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "model/value.h"

/* What a reader of JSON sees. */
static cJSON *read_back(const struct field *fields, size_t n, struct fields_json_lost *lost)
{
	struct text t = { 0 };

	*lost = (struct fields_json_lost){ 0 };
	text_char(&t, '{');
	fields_json(&t, fields, n, lost);
	text_char(&t, '}');
	cr_assert_not(t.failed);
	cJSON *const json = cJSON_ParseWithLength(t.p, t.n);
	cr_assert_not_null(json, "%.*s", (int)t.n, t.p);
	text_free(&t);
	return json;
}

static const char *text_at(const cJSON *json, const char *name)
{
	const char *const s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));

	return s != NULL ? s : "(no text)";
}

Test(fields_json, every_type)
{
	const struct value pair[2] = { value_string(SLICE_LIT("k")), { .type = VALUE_U8, .u64 = 7 } };
	const struct value odd[2] = { { .type = VALUE_U8, .u64 = 1 }, { .type = VALUE_U8, .u64 = 2 } };
	const struct field fields[] = {
		{ SLICE_LIT("small"), { .type = VALUE_U64, .u64 = 9007199254740991 } },
		{ SLICE_LIT("large"), { .type = VALUE_U64, .u64 = UINT64_MAX } },
		{ SLICE_LIT("negative"), { .type = VALUE_I64, .i64 = INT64_MIN } },
		{ SLICE_LIT("nan"), { .type = VALUE_F64, .f64 = (double)NAN } },
		{ SLICE_LIT("address"), { .type = VALUE_ADDRESS, .u64 = 0xbeef } },
		{ SLICE_LIT("bytes"), { .type = VALUE_BYTES, .count = 3, .p = "\x01\xff\x20" } },
		{ slice_of("text \"quoted\"", 13), value_string(slice_of("bad \xff", 5)) },
		{ SLICE_LIT("map"), { .type = VALUE_MAP, .count = 1, .values = pair } },
		{ SLICE_LIT("pairs"), { .type = VALUE_MAP, .count = 1, .values = odd } },
		{ SLICE_LIT("none"), { .type = VALUE_NONE } },
	};
	struct fields_json_lost lost;
	cJSON *const json = read_back(fields, sizeof fields / sizeof *fields, &lost);

	cr_assert_eq(cJSON_GetNumberValue(cJSON_GetObjectItem(json, "small")), 9007199254740991.0);
	cr_assert_str_eq(text_at(json, "large"), "18446744073709551615");
	cr_assert_str_eq(text_at(json, "negative"), "-9223372036854775808");
	cr_assert_str_eq(text_at(json, "nan"), "NaN");
	cr_assert_str_eq(text_at(json, "address"), "0xbeef");
	cr_assert_str_eq(text_at(json, "bytes"), "0x01ff20");
	cr_assert_str_eq(text_at(json, "text \"quoted\""), "bad \xef\xbf\xbd");
	cr_assert_eq(cJSON_GetNumberValue(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "map"), "k")), 7.0);
	cr_assert_eq(cJSON_GetArraySize(cJSON_GetArrayItem(cJSON_GetObjectItem(json, "pairs"), 0)), 2);
	cr_assert(cJSON_IsNull(cJSON_GetObjectItem(json, "none")));
	cr_assert_eq(lost.not_a_number, 1);
	cr_assert_eq(lost.bad_text, 1);
	cr_assert_eq(lost.too_deep, 0);
	cJSON_Delete(json);
}

Test(fields_json, map_with_a_repeated_key_is_a_list_of_pairs)
{
	enum { MANY = 40 };
	struct value pairs[2 * (size_t)MANY];
	char names[MANY][4];

	for (int i = 0; i < MANY; i++) {
		const int n = snprintf(names[i], sizeof names[i], "%d", i);
		pairs[2 * i] = value_string(slice_of(names[i], (size_t)n));
		pairs[2 * i + 1] = value_u64((uint64_t)i);
	}
	for (uint32_t count = 3; count <= MANY; count += MANY - 3) {
		const struct field f = { SLICE_LIT("m"),
			                 { .type = VALUE_MAP, .count = count, .values = pairs } };
		const struct value last = pairs[2 * (count - 1)];
		struct fields_json_lost lost;
		cJSON *json = read_back(&f, 1, &lost);
		cr_assert(cJSON_IsObject(json->child));
		cJSON_Delete(json);

		pairs[2 * (count - 1)] = pairs[0];
		json = read_back(&f, 1, &lost);
		cr_assert(cJSON_IsArray(json->child));
		cr_assert_eq(cJSON_GetArraySize(json->child), (int)count);
		cJSON_Delete(json);
		pairs[2 * (count - 1)] = last;
	}
}

Test(fields_json, depth_is_bounded)
{
	struct value v[200];
	struct fields_json_lost lost;

	v[199] = (struct value){ .type = VALUE_U8, .u64 = 1 };
	for (int i = 198; i >= 0; i--)
		v[i] = (struct value){ .type = VALUE_LIST, .count = 1, .values = &v[i + 1] };
	const struct field f = { SLICE_LIT("deep"), v[0] };
	cJSON_Delete(read_back(&f, 1, &lost));
	cr_assert_eq(lost.too_deep, 1);
}

Test(fields_json, keys_that_repair_makes_equal_are_pairs)
{
	const struct value v = { .type = VALUE_U8, .u64 = 7 };
	const struct value equal[4] = { value_string(slice_of("\xff", 1)), v,
		                        value_string(slice_of("\xef\xbf\xbd", 3)), v };
	const struct value other[4] = { value_string(slice_of("\xff", 1)), v,
		                        value_string(slice_of("\xff\xfe", 2)), v };

	cr_expect_not(value_is_object(&(struct value){ .type = VALUE_MAP, .count = 2, .values = equal }));
	cr_expect(value_is_object(&(struct value){ .type = VALUE_MAP, .count = 1, .values = equal }));
	cr_expect(value_is_object(&(struct value){ .type = VALUE_MAP, .count = 2, .values = other }));
}
