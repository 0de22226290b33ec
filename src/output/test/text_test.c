#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/scan.h"
#include "output/text_json.h"
#include "output/text_visible.h"
#include "test/support/splitmix.h"

static void check(struct text *t, const char *want)
{
	cr_assert_not(t->failed);
	cr_assert(slice_is(slice_of(t->p, t->n), want), "%.*s instead of %s", (int)t->n, t->p, want);
	text_clear(t);
}

Test(text, grows_and_keeps_what_it_has)
{
	struct text t = { 0 };
	char *want = malloc(1 << 20);
	uint64_t state = 3;
	size_t n = 0;

	while (n < (1 << 20) - 3000) {
		const size_t k = splitmix_next(&state) % (n % 7 == 0 ? 3000 : 50);
		memset(want + n, 'a' + (int)(n % 26), k);
		text_add(&t, want + n, k);
		n += k;
	}
	cr_assert_not(t.failed);
	cr_assert_eq(t.n, n);
	cr_assert_arr_eq(t.p, want, n);
	free(want);
	text_free(&t);
	cr_assert_null(t.p);
}

Test(text, put_copies_each_length_exactly)
{
	for (size_t n = 0; n <= 100; n++) {
		char *from = malloc(n + 1), *to = malloc(n + 1);
		for (size_t i = 0; i < n; i++)
			from[i] = (char)(i + 1);
		to[n] = '#';
		cr_assert_eq(text_put(to, from, n), to + n);
		cr_assert_eq(memcmp(to, from, n), 0);
		cr_assert_eq(to[n], '#');
		free(from);
		free(to);
	}
}

Test(text, all_makers)
{
	struct text t = { 0 };

	text_add(&t, NULL, 0);
	text_str(&t, "");
	text_slice(&t, (struct slice){ NULL, 0, 0 });
	check(&t, "");
	text_str(&t, "one ");
	text_slice(&t, SLICE_LIT("two "));
	text_char(&t, '3');
	text_u64(&t, UINT64_MAX);
	text_char(&t, ' ');
	text_i64(&t, INT64_MIN);
	text_char(&t, ' ');
	text_u128(&t, ~(uint128)0);
	text_printf(&t, " %s-%d", "x", 5);
	check(&t, "one two 318446744073709551615 -9223372036854775808 "
	          "340282366920938463463374607431768211455 x-5");
	text_printf(&t, "%300s|", "y");
	cr_assert_eq(t.n, 301);
	text_free(&t);
}

Test(text, failure_sticks_and_drops_the_rest)
{
	struct text t = { 0 };

	text_str(&t, "kept");
	cr_assert_null(text_reserve(&t, SIZE_MAX));
	cr_assert(t.failed);
	cr_assert_null(text_reserve(&t, 0));
	cr_assert_not(text_grow(&t, 1));
	text_char(&t, 'x');
	text_u64(&t, 5);
	text_printf(&t, "%d", 5);
	text_json_string(&t, SLICE_LIT("no"));
	text_json_string(&t, slice_str("\n"));
	text_json_f64(&t, 0.5);
	text_visible(&t, slice_str("no"), 0);
	cr_assert(t.failed);
	cr_assert(slice_is(slice_of(t.p, t.n), "kept"));
	text_free(&t);
}

Test(text, room_is_there)
{
	struct text t = { 0 };

	cr_assert_not_null(text_reserve(&t, 0));
	for (size_t n = 1; n < 5000; n += 37) {
		memset(text_reserve(&t, n), 'z', n);
		t.n += n;
	}
	text_free(&t);
}

/* The text that a JSON reader must get: the bytes, with U+FFFD for each maximal subpart. */
static size_t repaired(const char *p, size_t n, char *to, size_t *replaced)
{
	size_t made = 0;

	*replaced = 0;
	while (n > 0) {
		const size_t valid = utf8_valid_prefix(p, n);
		memcpy(to + made, p, valid);
		made += valid;
		p += valid;
		n -= valid;
		if (n == 0)
			break;
		memcpy(to + made, "\xef\xbf\xbd", 3);
		made += 3;
		*replaced += 1;
		const size_t bad = utf8_invalid_run(p, n);
		p += bad;
		n -= bad;
	}
	to[made] = '\0';
	return made;
}

static void check_json_string(struct text *t, struct slice s)
{
	char want[1024];
	size_t replaced;
	const size_t n = repaired(s.p, s.n, want, &replaced);

	text_clear(t);
	cr_assert_eq(text_json_string(t, s), replaced);
	cr_assert(utf8_valid(t->p, t->n));
	for (size_t i = 0; i < t->n; i++)
		cr_assert_geq((unsigned char)t->p[i], 0x20);

	cJSON *json = cJSON_ParseWithLengthOpts(t->p, t->n, NULL, 0);
	cr_assert(cJSON_IsString(json), "%.*s", (int)t->n, t->p);
	cr_assert_eq(strlen(json->valuestring), n);
	cr_assert_eq(memcmp(json->valuestring, want, n), 0);
	cJSON_Delete(json);

	/* The same without quotes. */
	struct text chars = { 0 };
	cr_assert_eq(text_json_chars(&chars, s), replaced);
	cr_assert_eq(chars.n, t->n - 2);
	cr_assert(chars.n == 0 || memcmp(chars.p, t->p + 1, chars.n) == 0);
	text_free(&chars);
}

/* Without NUL, as cJSON ends strings there. */
Test(text, json_strings_at_random)
{
	struct text t = { 0 };
	uint64_t state = 17;

	for (int round = 0; round < 20000; round++) {
		const size_t n = splitmix_next(&state) % 80;
		const uint64_t rare = 1 + splitmix_next(&state) % 20;
		char *p = malloc(n + 1);
		for (size_t i = 0; i < n; i++) {
			const bool odd = splitmix_next(&state) % rare == 0;
			p[i] = (char)(odd ? splitmix_next(&state) : 'a' + splitmix_next(&state) % 26);
			if (p[i] == '\0')
				p[i] = (char)0xe2;
		}
		check_json_string(&t, slice_of(p, n));
		check_json_string(&t, textscan_slice(p, (uint32_t)n));
		free(p);
	}
	text_free(&t);
}

Test(text, json_each_byte_alone_and_between)
{
	struct text t = { 0 };

	for (unsigned c = 1; c < 256; c++) {
		char three[3] = { 'a', (char)c, 'b' };
		check_json_string(&t, slice_of(three + 1, 1));
		check_json_string(&t, slice_of(three, 3));
	}
	text_free(&t);
}

Test(text, json_strings_to_the_letter)
{
	struct text t = { 0 };

	text_json_string(&t, slice_of("\0\b\f\n\r\t\"\\\x1f\x7f/", 11));
	check(&t, "\"\\u0000\\b\\f\\n\\r\\t\\\"\\\\\\u001f\\u007f/\"");
	text_json_string(&t, slice_of(NULL, 0));
	check(&t, "\"\"");
	text_json_string(&t, (struct slice){ NULL, 0, SLICE_JSON });
	check(&t, "\"\"");
	text_json_string(&t, SLICE_LIT("plain"));
	check(&t, "\"plain\"");
	text_json_chars(&t, SLICE_LIT("plain"));
	check(&t, "plain");
	cr_assert_eq(text_json_string(&t, slice_str("\xe2\x82"
	                                            "a\xf0\x9f\x98\xff\xc3\xa9\x80")),
	             4);
	check(&t, "\"\xef\xbf\xbd"
	          "a\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\"");
	/* A lead byte whose character an escape cuts off. */
	cr_assert_eq(text_json_string(&t, slice_str("\xe2\x82\n\xac")), 2);
	check(&t, "\"\xef\xbf\xbd\\n\xef\xbf\xbd\"");
	text_free(&t);
}

Test(text, json_integers)
{
	struct text t = { 0 };
	const int64_t edge = (INT64_C(1) << 53) - 1;

	text_json_u64(&t, 0);
	check(&t, "0");
	text_json_u64(&t, (uint64_t)edge);
	check(&t, "9007199254740991");
	text_json_u64(&t, (uint64_t)edge + 1);
	check(&t, "\"9007199254740992\"");
	text_json_u64(&t, UINT64_MAX);
	check(&t, "\"18446744073709551615\"");
	text_json_i64(&t, edge);
	check(&t, "9007199254740991");
	text_json_i64(&t, -edge);
	check(&t, "-9007199254740991");
	text_json_i64(&t, edge + 1);
	check(&t, "\"9007199254740992\"");
	text_json_i64(&t, -edge - 1);
	check(&t, "\"-9007199254740992\"");
	text_json_i64(&t, INT64_MIN);
	check(&t, "\"-9223372036854775808\"");
	text_free(&t);
}

static void check_json_number(struct text *t, double want, bool single)
{
	cJSON *json = cJSON_ParseWithLengthOpts(t->p, t->n, NULL, 0);

	cr_assert(cJSON_IsNumber(json), "%.*s", (int)t->n, t->p);
	if (single)
		cr_assert_eq((float)json->valuedouble, (float)want);
	else
		cr_assert_eq(json->valuedouble, want);
	cJSON_Delete(json);
	text_clear(t);
}

Test(text, json_floating_point)
{
	struct text t = { 0 };
	uint64_t state = 23;

	for (int i = 0; i < 20000; i++) {
		const uint64_t bits = splitmix_next(&state);
		const uint32_t half = (uint32_t)bits;
		double d;
		float f;
		memcpy(&d, &bits, sizeof d);
		memcpy(&f, &half, sizeof f);
		if (!isfinite(d) || !isfinite(f))
			continue;
		cr_assert(text_json_f64(&t, d));
		check_json_number(&t, d, false);
		cr_assert(text_json_f32(&t, f));
		check_json_number(&t, (double)f, true);
	}
	cr_assert_not(text_json_f64(&t, (double)NAN));
	cr_assert_not(text_json_f64(&t, (double)INFINITY));
	cr_assert_not(text_json_f64(&t, (double)-INFINITY));
	check(&t, "\"NaN\"\"Infinity\"\"-Infinity\"");
	cr_assert_not(text_json_f32(&t, NAN));
	cr_assert_not(text_json_f32(&t, INFINITY));
	cr_assert_not(text_json_f32(&t, -INFINITY));
	check(&t, "\"NaN\"\"Infinity\"\"-Infinity\"");
	text_json_f64(&t, -0.0);
	check(&t, "-0.0");
	text_free(&t);
}

Test(text, visible)
{
	static const struct {
		const char *in;
		size_t max;
		const char *out;
	} rows[] = {
		{ "", 0, "" },
		{ "plain text", 0, "plain text" },
		{ "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", 0,
		  "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80" },
		{ "a\\b", 0, "a\\\\b" },
		{ "\x1b[31m\n\t\x7f", 0, "\\x1b[31m\\x0a\\x09\\x7f" },
		{ "\xc2\x9b"
		  "x\xc2\xa0",
		  0, "\\u{009b}x\xc2\xa0" },
		{ "\xe2\x80\xae"
		  "abc\xe2\x81\xa6\xd8\x9c\xe2\x80\x8f",
		  0, "\\u{202e}abc\\u{2066}\\u{061c}\\u{200f}" },
		{ "\xef\xbb\xbf\xf3\xa0\x81\x81", 0, "\\u{feff}\\u{e0041}" },
		{ "\xff\xe2\x82z\xed\xa0\x80", 0, "\\xff\\xe2\\x82z\\xed\\xa0\\x80" },
		{ "abcdef", 6, "abcdef" },
		{ "abcdef", 7, "abcdef" },
		{ "abcdef", 5, "abcde..." },
		{ "ab\xe2\x82\xac"
		  "c",
		  2, "ab..." },
		{ "ab\xe2\x82\xac"
		  "c",
		  3, "ab..." },
		{ "ab\xe2\x82\xac"
		  "c",
		  4, "ab..." },
		{ "ab\xe2\x82\xac"
		  "c",
		  5, "ab\xe2\x82\xac..." },
		{ "\xe2\x82\xac", 1, "..." },
		{ "\xff\xff", 1, "\\xff..." },
	};
	struct text t = { 0 };

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		text_visible(&t, slice_str(rows[i].in), rows[i].max);
		check(&t, rows[i].out);
	}
	text_visible(&t, slice_of("a\0b", 3), 0);
	check(&t, "a\\x00b");
	text_free(&t);
}

/* Any bytes: the result is UTF-8 and has nothing that a terminal obeys. */
Test(text, visible_is_harmless)
{
	struct text t = { 0 };
	uint64_t state = 29;

	for (int round = 0; round < 5000; round++) {
		char p[40];
		for (size_t i = 0; i < sizeof p; i++)
			p[i] = (char)(splitmix_next(&state) >> 20);
		const size_t max = splitmix_next(&state) % 50;
		text_visible(&t, slice_of(p, sizeof p), max);
		cr_assert(utf8_valid(t.p, t.n));
		for (size_t i = 0; i < t.n; i++)
			cr_assert((unsigned char)t.p[i] >= 0x20 && t.p[i] != 0x7f);
		text_clear(&t);
	}
	text_free(&t);
}

Test(text, visible_ends)
{
	static const struct {
		const char *in;
		size_t max;
		const char *out;
	} rows[] = {
		{ "/home/me/src/main.rs:12", 23, "/home/me/src/main.rs:12" },
		{ "/home/me/src/main.rs:12", 0, "/home/me/src/main.rs:12" },
		{ "/home/me/src/main.rs:12", 15, "/home...main.rs:12" },
		{ "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 7,
		  "\xc3\xa4...\xc3\xa4\xc3\xa4" }, /* no part of a character */
		{ "abc\x80\x80\x80\x80\x80\x80", 6, "ab..." },
		{ "\n12345678", 3, "\\x0a...78" },
	};
	struct text t = { 0 };

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		text_visible_ends(&t, slice_str(rows[i].in), rows[i].max);
		check(&t, rows[i].out);
	}
	text_free(&t);
}

/* ---- times and sizes ---- */

static void expect_text(struct text *t, const char *want)
{
	text_char(t, 0);
	cr_expect_str_eq(t->p, want);
	text_clear(t);
}

Test(text_units, iso8601)
{
	struct text t = { .p = NULL };

	text_iso8601(&t, 0);
	expect_text(&t, "1970-01-01T00:00:00.000000000Z");
	text_iso8601(&t, UINT64_C(1709210096000000001));
	expect_text(&t, "2024-02-29T12:34:56.000000001Z");
	text_iso8601(&t, UINT64_MAX);
	expect_text(&t, "2554-07-21T23:34:33.709551615Z");
	text_free(&t);
}

Test(text_units, kib)
{
	struct text t = { .p = NULL };

	text_kib(&t, 1023);
	expect_text(&t, "");
	text_kib(&t, 1024);
	expect_text(&t, " (1.0 KiB)");
	text_kib(&t, 36683);
	expect_text(&t, " (35.8 KiB)");
	text_kib(&t, 80002017);
	expect_text(&t, " (76.3 MiB)");
	text_kib(&t, 1048575);
	expect_text(&t, " (1.0 MiB)");
	text_kib(&t, UINT64_MAX);
	expect_text(&t, " (16777216.0 TiB)");
	text_free(&t);
}

/* In tables: with one number of digits a percentile never seems larger than the maximum. */
Test(text_units, times_in_tables)
{
	static const struct {
		uint64_t ns;
		const char *want;
	} rows[] = {
		{ 0, "0 ns" },         { 99, "99 ns" },         { 999, "999 ns" },
		{ 1000, "1.00 us" },   { 3632, "3.63 us" },     { 9995, "10.0 us" },
		{ 58110, "58.1 us" },  { 378900, "379 us" },    { 999499, "999 us" },
		{ 999500, "1.00 ms" }, { 123456789, "123 ms" }, { UINT64_C(12345678901234), "12346 s" }
	};

	struct text t = { .p = NULL };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		text_time_short(&t, rows[i].ns);
		expect_text(&t, rows[i].want);
	}
	text_free(&t);
}

Test(text_units, times)
{
	static const struct {
		uint128 ns;
		const char *want;
	} rows[] = { { 0, "0 ns" },
		     { 999, "999 ns" },
		     { 1000, "1.000 us" },
		     { 9999, "9.999 us" },
		     { 12344, "12.34 us" },
		     { 999949, "999.9 us" },
		     { 999950, "1.000 ms" },
		     { 999949999, "999.9 ms" },
		     { 999950000, "1.000 s" },
		     { UINT64_C(12345678901234), "12346 s" },
		     { (uint128)UINT64_MAX * 1000000000, "18446744073709551615 s" } };
	struct text t = { 0 };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		text_time(&t, rows[i].ns);
		expect_text(&t, rows[i].want);
	}
	text_free(&t);
}

Test(text_units, moments)
{
	struct text t = { .p = NULL };

	text_wall(&t, UINT64_C(1779308082928415749));
	expect_text(&t, "2026-05-20 20:14:42.928 UTC");
	text_since(&t, 0);
	expect_text(&t, "+0.000 s");
	text_since(&t, 241000000);
	expect_text(&t, "+0.241 s");
	text_since(&t, UINT64_C(4100000001000));
	expect_text(&t, "+4100.000001 s");
	text_since(&t, UINT64_C(1000000001));
	expect_text(&t, "+1.000000001 s");
	text_since(&t, 999999);
	expect_text(&t, "+0.000999999 s");
	text_since(&t, 7);
	expect_text(&t, "+0.000000007 s");
	text_free(&t);
}
