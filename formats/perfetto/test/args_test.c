/* Arguments: exact types and digits, and values that the importer would lose. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "perfetto/test/rig_test.h"

static struct value json(const char *s)
{
	return (struct value){ .type = VALUE_JSON, .count = (uint32_t)strlen(s), .p = s };
}

static struct value text(const char *s)
{
	return value_string(slice_str(s));
}

/* Expects how a field of these values is read. */
static void expect_args(const char *what, struct value v, const char *loss, uint64_t times)
{
	char expected[4096];
	struct rig r;

	perf_rig_begin(&r);
	for (int i = 0; i < 3; i++) { /* a new text, a repeated text, and cached keys */
		perf_rig_event(&r, PHASE_SPAN, "span", r.thread, 10 + (uint64_t)i, 1);
		perf_rig_field(&r, SLICE_LIT("k"), v);
	}
	perf_rig_end(&r);
	snprintf(expected, sizeof expected, "k=%s", what);
	cr_assert_eq(r.model.nslices, 3);
	for (int i = 0; i < 3; i++)
		cr_expect_str_eq(r.model.slices[i].args, expected);
	cr_expect_eq(r.total.n, loss != NULL, "%s: %u kinds of loss", what, r.total.n);
	if (loss != NULL)
		cr_expect_eq(perf_rig_lost(&r, loss), 3 * times, "%s: %s", what, loss);
	perf_rig_free(&r);
}

#define NUMBER(t, member, x) ((struct value){ .type = (t), .member = (x) })

Test(perfetto_args, numbers_are_exact)
{
	expect_args("u0", NUMBER(VALUE_U8, u64, 0), NULL, 0);
	expect_args("u18446744073709551615", NUMBER(VALUE_U64, u64, UINT64_MAX), NULL, 0);
	expect_args("i-9223372036854775808", NUMBER(VALUE_I64, i64, INT64_MIN), NULL, 0);
	expect_args("i-1", NUMBER(VALUE_I8, i64, -1), NULL, 0);
	expect_args("0xffff800000000001", NUMBER(VALUE_ADDRESS, u64, 0xffff800000000001), NULL, 0);
	expect_args("true", NUMBER(VALUE_BOOL, u64, 2), NULL, 0);
	expect_args("d-0", NUMBER(VALUE_F64, f64, -0.0), NULL, 0);
	expect_args("d0.10000000000000001", NUMBER(VALUE_F64, f64, 0.1), NULL, 0);
	expect_args("dinf", NUMBER(VALUE_F32, f64, INFINITY), NULL, 0);
	expect_args("sNaN", NUMBER(VALUE_F64, f64, NAN), "perfetto/not-a-number", 1);
	expect_args("snull", (struct value){ .type = VALUE_NONE }, "perfetto/empty", 1);
}

Test(perfetto_args, texts)
{
	static char long_text[3000];

	expect_args("s", text(""), NULL, 0);
	expect_args("sab", text("ab"), NULL, 0);
	expect_args("sa text that comes again", text("a text that comes again"), NULL, 0);
	memset(long_text, 'x', sizeof long_text - 1);
	char expected[sizeof long_text + 1];
	snprintf(expected, sizeof expected, "s%s", long_text);
	expect_args(expected, text(long_text), NULL, 0);
	expect_args("s\xef\xbf\xbd", text("\xff"), "perfetto/bad-text", 1);
	expect_args("scaf\xef\xbf\xbd cr\xc3\xa8me", text("caf\xe9 cr\xc3\xa8me"), "perfetto/bad-text", 1);
	expect_args("sone\\0two", value_string(slice_of("one\0two", 7)), "perfetto/nul", 1);
	expect_args("s0x00ff", (struct value){ .type = VALUE_BYTES, .count = 2, .p = "\0\xff" }, NULL, 0);
}

Test(perfetto_args, lists_and_maps)
{
	const struct value two[] = { value_u64(1), text("x") };
	const struct value list = { .type = VALUE_LIST, .count = 2, .values = two };
	const struct value pairs[] = { text("a"), value_u64(1), text("b"), list };
	const struct value odd[] = { value_u64(5), text("five") };
	const struct value same[] = { text("a.b"),  value_u64(1), text("a_b"),
		                      value_u64(2), text(""),     value_u64(3) };
	const struct value none = { .type = VALUE_MAP };
	const struct value holed[] = { value_u64(1), none, value_u64(2) };

	expect_args("[u1,sx]", list, NULL, 0);
	expect_args("{a=u1,b=[u1,sx]}", (struct value){ .type = VALUE_MAP, .count = 2, .values = pairs },
	            NULL, 0);
	expect_args("[[u5,sfive]]", (struct value){ .type = VALUE_MAP, .count = 1, .values = odd }, NULL, 0);
	expect_args("{a.b=u1,a_b (2)=u2,(empty)=u3}",
	            (struct value){ .type = VALUE_MAP, .count = 3, .values = same }, "perfetto/key-changed",
	            2);
	expect_args("s[]", (struct value){ .type = VALUE_LIST }, "perfetto/empty", 1);
	expect_args("s{}", none, "perfetto/empty", 1);
	expect_args("[u1,s{},u2]", (struct value){ .type = VALUE_LIST, .count = 3, .values = holed },
	            "perfetto/empty", 1);
}

Test(perfetto_args, nested_too_deeply)
{
	struct value v[131];
	struct rig r;

	v[0] = value_u64(1);
	for (int i = 1; i <= 130; i++)
		v[i] = (struct value){ .type = VALUE_LIST, .count = 1, .values = &v[i - 1] };
	perf_rig_begin(&r);
	perf_rig_event(&r, PHASE_SPAN, "deep", r.thread, 1, 1);
	perf_rig_field(&r, SLICE_LIT("k"), v[130]);
	perf_rig_event(&r, PHASE_SPAN, "fine", r.thread, 3, 1);
	perf_rig_field(&r, SLICE_LIT("k"), v[100]);
	perf_rig_end(&r);
	cr_expect_eq(perf_rig_lost(&r, "perfetto/too-deep"), 1);
	cr_expect_not_null(strstr(model_slice_named(&r.model, "deep")->args, "s..."));
	cr_expect_not_null(strstr(model_slice_named(&r.model, "fine")->args, "[u1]"));
	perf_rig_free(&r);
}

Test(perfetto_args, json)
{
	expect_args("{a=u1,b=[true,d1.5,sx,i-7],c={d=se\"}}",
	            json("{\"a\":1,\"b\":[true,1.5,\"x\",-7],\"c\":{\"d\":\"e\\\"\"}}"), NULL, 0);
	expect_args("u18446744073709551615", json("18446744073709551615"), NULL, 0);
	expect_args("i-9223372036854775808", json(" -9223372036854775808 "), NULL, 0);
	expect_args("d-0", json("-0"), NULL, 0);
	expect_args("d-0.10000000000000001", json("-0.1"), NULL, 0);
	expect_args("d-0", json("-0.0"), NULL, 0);
	expect_args("d123456.78901199999", json("123456.789012"), NULL, 0);
	expect_args("d0.30000000000000004", json("0.30000000000000004"), NULL, 0);
	expect_args("d1500", json("1.5e3"), NULL, 0);
	expect_args("s18446744073709551616", json("18446744073709551616"), "perfetto/long-number", 1);
	expect_args("s1e999", json("1e999"), "perfetto/long-number", 1);
	expect_args("{a=s[],b=snull,c=s{}}", json("{\"a\":[],\"b\":null,\"c\":{}}"), "perfetto/empty", 3);
	expect_args("{a=u1,a (2)=u2}", json("{\"a\":1,\"a\":2}"), "perfetto/key-changed", 1);
	expect_args("sx\\0", json("\"x\\u0000\""), "perfetto/nul", 1);
}

/* Keys of many fields, repeated, empty, or not a text. */
Test(perfetto_args, keys)
{
	struct rig r;

	perf_rig_begin(&r);
	for (int i = 0; i < 3; i++) {
		perf_rig_event(&r, PHASE_SPAN, "span", r.thread, 10 + (uint64_t)i, 1);
		perf_rig_field(&r, SLICE_LIT("a"), value_u64(1));
		perf_rig_field(&r, SLICE_LIT("a"), value_u64(2));
		perf_rig_field(&r, SLICE_LIT("a (2)"), value_u64(3));
		perf_rig_field(&r, SLICE_LIT(""), value_u64(4));
		perf_rig_field(&r, slice_of("n\0l", 3), value_u64(5));
	}
	perf_rig_end(&r);
	for (int i = 0; i < 3; i++)
		cr_expect_str_eq(r.model.slices[i].args, "a=u1 a (2)=u2 a (2) (2)=u3 (empty)=u4 n\\0l=u5");
	cr_expect_eq(perf_rig_lost(&r, "perfetto/key-changed"), 9);
	cr_expect_eq(perf_rig_lost(&r, "perfetto/nul"), 3);
	perf_rig_free(&r);
}

Test(perfetto_args, many_keys_of_one_name)
{
	enum { N = 20000 };
	char last[32];
	struct rig r;

	perf_rig_begin(&r);
	perf_rig_event(&r, PHASE_SPAN, "span", r.thread, 10, 1);
	for (uint64_t i = 0; i < N; i++)
		perf_rig_field(&r, SLICE_LIT("a"), value_u64(i));
	perf_rig_end(&r);
	snprintf(last, sizeof last, " a (%d)=u%d", N, N - 1);
	cr_expect_not_null(strstr(r.model.slices[0].args, last));
	cr_expect_eq(perf_rig_lost(&r, "perfetto/key-changed"), N - 1);
	perf_rig_free(&r);
}

Test(perfetto_args, more_texts_than_tables_hold)
{
	static char names[300000][12];
	struct rig r;

	perf_rig_begin(&r);
	for (uint32_t i = 0; i < 300000; i++) {
		snprintf(names[i], sizeof names[i], "name %u", i);
		perf_rig_event(&r, PHASE_SPAN, names[i], r.thread, i, 1);
	}
	perf_rig_event(&r, PHASE_SPAN, names[299999], r.thread, 300000, 1);
	perf_rig_end(&r);
	cr_assert_eq(r.model.nslices, 300001);
	for (uint32_t i = 0; i < 300000; i++)
		if (!slice_is(r.model.slices[i].name, names[i]))
			cr_assert_fail("name %u is another", i);
	cr_expect(slice_is(r.model.slices[300000].name, names[299999]));
	cr_expect_eq(r.total.n, 0);
	perf_rig_free(&r);
}

Test(perfetto_args, a_text_of_40_megabytes)
{
	const uint32_t n = 40U << 20;
	char *const big = malloc(n);
	struct rig r;

	cr_assert_not_null(big);
	memset(big, 'y', n);
	perf_rig_begin(&r);
	perf_rig_event(&r, PHASE_SPAN, "span", r.thread, 10, 1);
	perf_rig_field(&r, SLICE_LIT("big"), value_string(slice_of(big, n)));
	perf_rig_field(&r, SLICE_LIT("after"), value_u64(1));
	perf_rig_end(&r);
	cr_expect_eq(strlen(r.model.slices[0].args), 5 + n + 9);
	cr_expect_eq(r.total.n, 0);
	perf_rig_free(&r);
	free(big);
}

Test(perfetto_args, longer_texts_are_cut)
{
	const uint32_t max = 63U << 20;
	char *const name = malloc(max + 3);
	struct rig r;

	cr_assert_not_null(name);
	memset(name, 'y', max - 1);
	memcpy(name + max - 1, "\xc3\xa9", 3); /* a character across the limit */
	perf_rig_begin(&r);
	perf_rig_event(&r, PHASE_SPAN, name, r.thread, 10, 1);
	perf_rig_end(&r);
	cr_expect_eq(r.model.slices[0].name.n, max - 1);
	cr_expect_eq(perf_rig_lost(&r, "perfetto/text-cut"), 1);
	cr_expect_eq(r.total.n, 1);
	perf_rig_free(&r);
	free(name);
}
