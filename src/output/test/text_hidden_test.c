/* What steers a terminal is escaped in JSON too, wherever it comes from. */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "base/utf8.h"
#include "cmd/test/cli_test_util.h"
#include "output/text_json.h"
#include "output/text_visible.h"

/* DEL, a C1 control, both separators, an override, an isolate, a mark, a tag. */
#define HIDDEN "a\x7f\xc2\x9b\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f\xf3\xa0\x80\x81z"
#define ESCAPED "a\\u007f\\u009b\\u2028\\u2029\\u202e\\u2066\\u200f\\udb40\\udc01z"

static bool has_hidden(const char *p, size_t n)
{
	size_t size;

	return utf8_find_hidden(p, p + n, &size) != p + n;
}

Test(trust, hidden_characters_in_json_strings)
{
	struct text t = { .p = NULL };

	text_json_string(&t, slice_str(HIDDEN));
	text_char(&t, '\0');
	cr_expect_str_eq(t.p, "\"" ESCAPED "\"");
	text_clear(&t);
	text_json_text(&t, "{\"" HIDDEN "\":1}", sizeof "{\"" HIDDEN "\":1}");
	cr_expect_str_eq(t.p, "{\"" ESCAPED "\":1}");
	text_clear(&t);
	const struct slice flagged = textscan_slice(HIDDEN, sizeof HIDDEN - 1);
	cr_expect_eq(flagged.flags, SLICE_UTF8);
	text_json_string(&t, flagged);
	cr_expect_not(has_hidden(t.p, t.n));
	/* and what is shown stays as it is: accents, joiners, other scripts */
	text_clear(&t);
	text_json_string(
	    &t, slice_str("\xc2\xb5s \xe2\x80\x8d \xd8\xa7 \xe2\x82\xac \xef\xbc\xa1 \xf0\x9f\x98\x80"));
	text_char(&t, '\0');
	cr_expect_str_eq(t.p,
	                 "\"\xc2\xb5s \xe2\x80\x8d \xd8\xa7 \xe2\x82\xac \xef\xbc\xa1 \xf0\x9f\x98\x80\"");
	text_free(&t);
}

/* Each character, alone: JSON holds it raw only if it is not hidden. */
Test(trust, each_hidden_character)
{
	struct text t = { .p = NULL };

	for (uint32_t c = 0x80; c < 0x10ffff; c += c < 0x3000 ? 1 : 97) {
		char s[5] = { 0 };
		if (c >= 0xd800 && c < 0xe000)
			continue;
		const size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
		for (size_t i = n - 1, rest = c; i > 0; i--, rest >>= 6)
			s[i] = (char)(0x80 | (rest & 0x3f));
		s[0] = (char)((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | c >> 6 * (n - 1));
		cr_assert(utf8_valid(s, n) && utf8_point(s, n) == c, "%x", (unsigned)c);
		cr_assert_eq(has_hidden(s, n), utf8_is_hidden(c), "%x", (unsigned)c);
		cr_assert_eq((textscan_slice(s, (uint32_t)n).flags & SLICE_JSON) == 0, utf8_is_hidden(c),
		             "%x", (unsigned)c);
		text_clear(&t);
		text_json_string(&t, slice_of(s, n));
		cr_assert_eq(t.n == n + 2, !utf8_is_hidden(c), "%x", (unsigned)c);
	}
	text_free(&t);
}

#define EVENT(name)                                                                                          \
	"[\n{\"id\":\"1\",\"name\":\"" name "\",\"cat\":\"c\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,"       \
	"\"ph\":\"X\",\"args\":{\"k" name "\":\"v" name "\",\"o\":{\"p" name "\":[\"q" name "\"]}}}\n"

/* Names, keys and values of a trace, and its path, in all that is written as JSON or for people. */
Test(trust, hidden_characters_of_a_trace)
{
	static const char trace[] =
	    EVENT("plain" HIDDEN) "{\"id\":\"2\",\"name\":\"x\x7fy\",\"cat\":\"c\","
	                          "\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"ph\":\"X\","
	                          "\"args\":{\"a\x7f\":\"\x7f\"}}\n";
	static const char *const ways[][5] = {
		{ "convert", "--to", "chrome", NULL, "-" },
		{ "convert", "--to", "ndjson", NULL, "-" },
		{ "convert", "--to=ndjson", "--raw", NULL, "-" },
		{ "convert", "--to", "speedscope", NULL, "-" },
		{ "convert", "--to", "folded", NULL, "-" },
		{ "convert", "--to", "csv", NULL, "-" },
		{ "convert", "--to", "tsv", NULL, "-" },
		{ "validate", "--format", "sarif", NULL, NULL },
		{ "validate", "--format", "junit", NULL, NULL },
		{ "validate", "--format", "github", NULL, NULL },
		{ "validate", "--format", "gitlab", NULL, NULL },
		{ "validate", "--format", "markdown", NULL, NULL },
		{ "validate", "--format", "gcc", NULL, NULL },
		{ "stats", "--format", "json", NULL, NULL },
		{ "validate", "--format", "json", NULL, NULL },
		{ "info", "--format", "json", NULL, NULL },
		{ "cat", "--format", "json", NULL, NULL },
		{ "cat", "--hex", NULL, NULL, NULL },
		{ "cat", NULL, NULL, NULL, NULL },
		{ "stats", NULL, NULL, NULL, NULL },
		{ "validate", NULL, NULL, NULL, NULL },
		{ "info", NULL, NULL, NULL, NULL },
	};
	char *const dir = make_folder(), path[1024];

	snprintf(path, sizeof path, "%s/" HIDDEN ".pfw", dir);
	cr_assert(write_whole(path, trace, sizeof trace - 1));
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		const char *args[7] = { NULL };
		size_t n = 0;
		for (size_t k = 0; k < 5; k++)
			if (ways[i][k] != NULL)
				args[n++] = ways[i][k];
		if (ways[i][4] != NULL)
			args[n - 1] = path, args[n++] = "-";
		else
			args[n++] = path;
		struct ran r = run_tool(args, NULL, 0);
		cr_expect_not(has_hidden(r.out, r.out_n), "%s %s: %s", ways[i][0], ways[i][1], r.out);
		cr_expect_not(has_hidden(r.err, r.err_n), "%s %s: %s", ways[i][0], ways[i][1], r.err);
		if (strstr(args[1], "json") != NULL || (args[2] != NULL && strstr(args[2], "json") != NULL))
			cr_expect(r.out_n > 0 || r.status == 3, "%s: nothing", ways[i][0]);
		ran_free(&r);
	}
	remove_folder(dir);
}
