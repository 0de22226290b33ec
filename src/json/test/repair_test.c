/* Repairs of single objects: their results, which are strict JSON for any bytes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "json/repair.h"
#include "test/support/splitmix.h"
#include "test/support/strength.h"

/* A record starts with {"ph". */
static bool starts(void *ctx, const char *from, const char *p, const char *e, bool *more)
{
	(void)ctx;
	(void)more;
	return (p == from || p[-1] != ':') && e - p >= 6 && memcmp(p, "{\"ph\":", 6) == 0;
}

static bool is_key(struct slice key)
{
	return slice_is(key, "ph") || slice_is(key, "ts") || slice_is(key, "name");
}

static const struct json_records records = { .starts = starts, .is_key = is_key };

static const struct {
	const char *in, *out;
} rows[] = {
	{ "{\"name\":\"a \"b\" c\",\"ts\":1}", "{\"name\":\"a \\\"b\\\" c\",\"ts\":1}" },
	{ "{\"name\":\"{\"device\": \"cpu\"}(12)\",\"ts\":1}",
	  "{\"name\":\"{\\\"device\\\": \\\"cpu\\\"}(12)\",\"ts\":1}" },
	{ "{\"name\":\"f(\"a\",\"b\")\",\"ts\":1}", "{\"name\":\"f(\\\"a\\\",\\\"b\\\")\",\"ts\":1}" },
	{ "{\"d\":\"C:\\dir\\\",\"ts\":1}", "{\"d\":\"C:\\\\dir\\\\\",\"ts\":1}" },
	{ "{\"d\":\"\\u12\\\"\"}", "{\"d\":\"\\\\u12\\\"\"}" },
	{ "{\"d\":\"\xff\"}", "{\"d\":\"\xef\xbf\xbd\"}" },
	{ "{\"d\":\"\xed\xa0\xbd\xed\xb8\x80\"}", "{\"d\":\"\xf0\x9f\x98\x80\"}" },
	{ "{\"d\":\"\\ud83d x\"}", "{\"d\":\"\xef\xbf\xbd x\"}" },
	{ "{\"d\":\"\x01\t\"}", "{\"d\":\"\\u0001\\t\"}" },
	{ "{\"a\":nan,\"b\":-Infinity,\"c\":1.#INF}",
	  "{\"a\":\"NaN\",\"b\":\"-Infinity\",\"c\":\"Infinity\"}" },
	{ "{\"a\":True,\"b\":None,\"c\":N/A,\"d\":'x'}",
	  "{\"a\":true,\"b\":null,\"c\":\"N/A\",\"d\":\"x\"}" },
	{ "{\"a\":01,\"b\":+1,\"c\":.5,\"d\":3.,\"e\":0x1f,\"f\":-.5e1}",
	  "{\"a\":1,\"b\":1,\"c\":0.5,\"d\":3,\"e\":31,\"f\":-0.5e1}" },
	{ "{\"a\":3,5,\"b\":[3,5]}", "{\"a\":3.5,\"b\":[3,5]}" },
	{ "{\"a\":1 \"b\":[1 2]}", "{\"a\":1,\"b\":[\"1 2\"]}" },
	{ "{,\"a\":1,,\"b\":2,}", "{\"a\":1,\"b\":2}" },
	{ "{ts\":1,name:\"x\",'ph':2}", "{\"ts\":1,\"name\":\"x\",\"ph\":2}" },
	{ "{\"a\":,\"b\":}", "{\"a\":null,\"b\":null}" },
	{ "{\"a\":[1,{\"b\":2]}", "{\"a\":[1,{\"b\":2}]}" },
	{ "{\"a\":1,{\"ph\":2},\"b\":3}", "{\"a\":1,\"b\":3}" },
	{ "{\"a\":1,{\"ph\":2}", "{\"a\":1}" },
	{ "{\"a\":1 /* c */,\"b\":2}", "{\"a\":1,\"b\":2}" },
};

Test(json_repair, objects)
{
	struct json_repair x = { .records = &records, .complete = true };
	size_t at;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		json_repair(&x, rows[i].in, rows[i].in + strlen(rows[i].in));
		cr_expect(x.text.n == strlen(rows[i].out) && memcmp(x.text.p, rows[i].out, x.text.n) == 0,
		          "%s: %.*s", rows[i].in, (int)x.text.n, x.text.p);
		cr_expect_null(json_document_fault(x.text.p, x.text.n, JSON_MAX_DEPTH, &at), "%s",
		               rows[i].in);
		cr_expect(x.nfaults > 0 || !x.closed, "%s", rows[i].in);
	}
	text_free(&x.text);
}

/* Whatever the bytes, the text is strict JSON. */
Test(json_repair, any_bytes)
{
	static const char *const words[] = { "{",   "}",         "[",          "]",   ",", ":",  "\"",
		                             "\\",  "\"ph\":",   "{\"ph\":1}", "1",   "-", ".5", "nan",
		                             "\n",  " ",         "\xff",       "a",   "'", "/*", "//",
		                             "\\u", "\"name\":", "0x",         "\x01" };
	struct json_repair x = { .records = &records, .complete = true };
	const unsigned long n = strength(3000, 30000, 1000000);
	char in[200];
	size_t at;

	for (unsigned long i = 0; i < n; i++) {
		uint64_t seed = i;
		in[0] = '{';
		in[1] = '\0';
		for (uint64_t k = splitmix_next(&seed) % 24; k > 0; k--)
			strcat(in, words[splitmix_next(&seed) % (sizeof words / sizeof words[0])]);
		x.eager = i % 3 == 0;
		const char *const end = json_repair(&x, in, in + strlen(in));
		cr_assert(end > in && end <= in + strlen(in), "%s", in);
		cr_assert_null(json_document_fault(x.text.p, x.text.n, JSON_MAX_DEPTH, &at), "%s: %.*s", in,
		               (int)x.text.n, x.text.p);
	}
	text_free(&x.text);
}

/* A record in another one ends it at once if it is damaged itself: no later bytes are asked for. */
Test(json_repair, damaged_inner_records_need_no_more_bytes)
{
	static const char in[] =
	    "{\"ph\":1,\"a\":[{\"ph\":2,\"b\":[}},{\"ph\":3,\"ts\":4},{\"ph\":5,\"ts\":6}";
	struct json_repair x = { .records = &records };

	const char *const end = json_repair(&x, in, in + strlen(in));
	cr_expect(!x.more && !x.closed);
	cr_expect_eq(end - in, 13, "%td", end - in);
	text_free(&x.text);
}

/* A backslash that begins no escape is a flaw, which lenient reading retains. */
Test(json_repair, spare_escapes)
{
	static const char in[] =
	    "{\"\\u0070h\" : \"\\u0058\",\"a\":[1,\"\\x\\\\u0041\\u003c\\ud83d\\\"\\u0041\"]}",
	                  out[] = "{\"ph\" : \"X\",\"a\":[1,\"\\x\\\\u0041\\u003c\\ud83d\\\"A\"]}";
	struct json_repair x = { .records = NULL };

	json_repair_escapes(&x, in, in + sizeof in - 1);
	cr_assert_eq(x.text.n, sizeof out - 1);
	cr_expect_eq(memcmp(x.text.p, out, sizeof out - 1), 0, "%.*s", (int)x.text.n, x.text.p);
	cr_expect_eq(json_repair_origin(&x, x.text.p + 8), strstr(in, "\"\\u0058"));
	cr_expect_eq(json_repair_origin(&x, x.text.p + (strstr(out, "1,") - out)), strstr(in, "1,"));
	text_free(&x.text);
}
