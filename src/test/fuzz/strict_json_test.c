#include "test/fuzz/strict_json.h"

#include <criterion/criterion.h>
#include <cJSON.h>
#include <string.h>

static bool accepts(const char *s)
{
	size_t at;

	return strict_json_fault(s, strlen(s), &at) == NULL;
}

Test(strict_json, takes_what_the_rfc_allows)
{
	static const char *const rows[] = {
		"0",
		"-0",
		"12",
		"-1.50",
		"1e9",
		"1E+09",
		"0.0e-0",
		"true",
		" null\n",
		"\"\"",
		"[]",
		"{}",
		"[1 , 2]",
		"{\"a\":[{}],\"a\":\"\"}",
		"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"",
		"\"\\ud83d\\ude00\"",
		"\"\xf0\x9f\x98\x80\x7f\"",
		"\"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf\"",
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		cr_expect(accepts(rows[i]), "%s", rows[i]);
}

Test(strict_json, refuses_everything_else)
{
	static const char *const rows[] = {
		"",
		" ",
		"01",
		"+1",
		"1.",
		".5",
		"-",
		"1e",
		"1e+",
		"NaN",
		"Infinity",
		"tru",
		"nulll",
		"'a'",
		"\"",
		"\"a",
		"\"\t\"",
		"\"\\x\"",
		"\"\\u12\"",
		"\"\\ud83d\"",
		"\"\\ude00\\ud83d\"",
		"[1,]",
		"[,1]",
		"[1 2]",
		"[",
		"{",
		"{\"a\"}",
		"{\"a\":}",
		"{a:1}",
		"{\"a\":1,}",
		"1 2",
		"[]]",
		"\"\x80\"",
		"\"\xc0\x80\"",
		"\"\xed\xa0\x80\"",
		"\"\xf4\x90\x80\x80\"",
		"\"\xe2\x82\"",
		"\"\xf8\x88\x80\x80\x80\"",
		"\"a\"b",
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		cr_expect(!accepts(rows[i]), "%s", rows[i]);
	size_t at;
	cr_expect_not_null(strict_json_fault("1\0", 2, &at));
	cr_expect_eq(at, 1);
}

Test(strict_json, bounds_the_depth)
{
	char s[2 * STRICT_JSON_DEPTH + 3];

	for (size_t depth = STRICT_JSON_DEPTH; depth <= STRICT_JSON_DEPTH + 1; depth++) {
		memset(s, '[', depth);
		memset(s + depth, ']', depth);
		s[2 * depth] = '\0';
		cr_expect_eq(accepts(s), depth == STRICT_JSON_DEPTH);
	}
}

/* Every prefix of a text, and every change of a byte to a significant character: what cJSON rejects is
 * rejected here.  (cJSON accepts more than the RFC allows, so the reverse does not hold.) */
Test(strict_json, is_stricter_than_cjson)
{
	static const char text[] = "{\"a\": [1.5e3, -2, \"x\\n\\u00e9\"], \"b\": {\"c\": true, \"d\": null}}";
	static const char bytes[] = "{}[]\":,\\0-e.tn x";
	char s[sizeof text];

	for (size_t i = 0; i + 1 < sizeof text; i++)
		for (size_t k = 0; k + 1 < sizeof bytes; k++) {
			memcpy(s, text, sizeof text);
			s[i] = bytes[k];
			cJSON *const doc = cJSON_ParseWithOpts(s, NULL, true);
			cr_expect(doc != NULL || !accepts(s), "%s", s);
			cJSON_Delete(doc);
			s[i] = '\0';
			cr_expect(!accepts(s), "%s", s);
		}
}
