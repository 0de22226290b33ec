/* Text that terminals and CI services would execute is escaped, whatever its source; and text that fits a
 * width. */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "cmd/test/cli_test_util.h"
#include "output/text_json.h"
#include "output/text_visible.h"

/* ---- width ---- */

static void expect(struct text *t, const char *want)
{
	text_char(t, 0);
	cr_expect_str_eq(t->p, want);
	text_clear(t);
}

Test(text_fit, width_is_of_characters_and_whole_escapes)
{
	cr_expect_eq(text_width(slice_str("")), 0);
	cr_expect_eq(text_width(slice_str("na\xc3\xafve")), 5);
	/* wide: U+65E5 U+672C, U+AC00, U+1F389; a mark: U+0301; narrow: U+2588, U+20AC */
	cr_expect_eq(text_width(slice_str("\xe6\x97\xa5\xe6\x9c\xac")), 4);
	cr_expect_eq(text_width(slice_str("\xea\xb0\x80 \xf0\x9f\x8e\x89")), 5);
	cr_expect_eq(text_width(slice_str("e\xcc\x81")), 1);
	cr_expect_eq(text_width(slice_str("\xe2\x96\x88\xe2\x82\xac")), 2);
	cr_expect_eq(text_width(slice_str("a\\x1b\\\\\\u{202e}")), 1 + 4 + 2 + 8);
}

Test(text_fit, isolated)
{
	struct text t = { .p = NULL };

	text_isolated(&t, slice_str("na\xc3\xafve \xe6\x97\xa5"));
	expect(&t, "na\xc3\xafve \xe6\x97\xa5");
	text_isolated(&t, slice_str("a \xd7\x90"));
	expect(&t, "\xe2\x81\xa8"
	           "a \xd7\x90\xe2\x81\xa9");
	text_isolated(&t, slice_str("\xf0\x90\xa4\x80"));
	expect(&t, "\xe2\x81\xa8\xf0\x90\xa4\x80\xe2\x81\xa9");
	text_isolated(&t, slice_str(""));
	text_free(&t);
}

/* Locations keep their end, other names both ends. */
Test(text_fit, shortened)
{
	static const struct {
		const char *text;
		size_t width;
		const char *want;
	} rows[] = {
		{ "short", 5, "short" },
		{ "src/rt/tokio.rs:115:9", 17, "...tokio.rs:115:9" },
		{ "metrics::routes::query", 16, "...routes::query" },
		{ "main.rs:231:14", 12, "...rs:231:14" },
		{ "processing an assigned task", 15, "proc...ned task" },
		{ "abc", 2, "..." },
		{ "\xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5\xe6\x9c\xac", 7, "...\xe6\x9c\xac" },
		{ "\\x1b\\x1b\\x1b\\x1b/", 10, "...\\x1b/" },
		{ "\xc3\xa4\xc3\xb6\xc3\xbc/\xc3\xa4\xc3\xb6\xc3\xbc", 6, "...\xc3\xa4\xc3\xb6\xc3\xbc" },
	};
	struct text t = { .p = NULL };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		text_shorten(&t, slice_str(rows[i].text), rows[i].width);
		cr_expect(rows[i].width < 3 || text_width(slice_of(t.p, t.n)) <= rows[i].width);
		expect(&t, rows[i].want);
	}
	text_free(&t);
}

Test(text_fit, broken_at_blanks)
{
	struct text t = { .p = NULL }, lines = { .p = NULL };

	text_wrap(&t, slice_str("one two three four five six seven"), 5, 3, 25);
	expect(&t, "one two three four\n   five six seven");
	text_wrap(&t, slice_str("one two three four five six seven"), 5, 3, 0);
	expect(&t, "one two three four five six seven");
	text_wrap(&t, slice_str("a_word_that_is_longer_than_a_line"), 0, 2, 22);
	expect(&t, "a_word_that_is_longer_\n  than_a_line");
	text_str(&lines, "one two three four five six\n\nseven\n");
	text_wrap_lines(&t, &lines, 4, 24);
	expect(&t, "one two three four five\n    six\n\nseven\n");
	text_free(&lines);
	text_free(&t);
}

/* ---- commands of CI services ---- */

static const struct {
	const char *in, *out;
	unsigned flags;
} rows[] = {
	{ "", "", 0 },
	{ "plain # text ## more\n", "plain # text ## more\n", 0 },
	{ "a ##[error]x ##vso[task.prependpath]y ##teamcity[z",
	  "a #\\u0023[error]x #\\u0023vso[task.prependpath]y #\\u0023teamcity[z", 0 },
	{ "###[x", "##\\u0023[x", 0 },
	{ "##VSO[x", "#\\u0023VSO[x", 0 },
	{ "## [x] ##", "## [x] ##", 0 },
	{ "::error::x\n  ::error::y\nstd::vector a::b\n",
	  ":\\x3aerror::x\n  :\\x3aerror::y\nstd::vector a::b\n", 0 },
	{ "\t\xc2\xa0\xe2\x80\x83\xe3\x80\x80::x::", "\t\xc2\xa0\xe2\x80\x83\xe3\x80\x80:\\x3ax::", 0 },
	{ "::x", "::x", TEXT_MID_LINE },
	{ "x\n::x", "x\n:\\x3ax", TEXT_MID_LINE },
	{ "::x ##[y", "::x #\\u0023[y", TEXT_OWN_COMMANDS },
	{ "--- a\n+++ b\n~~~ c\n^^^ d\n--- \n", "\\x2d-- a\n\\x2b++ b\n\\x7e~~ c\n\\x5e^^ d\n\\x2d-- \n", 0 },
	{ "---a\n ---  b\n-- -", "---a\n ---  b\n-- -", 0 },
	{ "::##[x\n\n##y\n::", ":\\x3a#\\u0023[x\n\n#\\u0023y\n:\\x3a", 0 },
};

Test(text_commands, none_is_left)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct text t = { .p = NULL };
		const size_t n = strlen(rows[i].in);
		text_add_guarded(&t, rows[i].in, n, rows[i].flags);
		cr_expect_eq(text_has_commands(rows[i].in, n, rows[i].flags),
		             strcmp(rows[i].in, rows[i].out) != 0, "%s", rows[i].in);
		text_char(&t, '\0');
		cr_expect_str_eq(t.p, rows[i].out);
		cr_expect_not(text_has_commands(t.p, t.n - 1, rows[i].flags), "%s", t.p);
		text_free(&t);
	}
}

/* Text in pieces. */
Test(text_commands, state_of_a_line)
{
	cr_expect_eq(text_line_state("", 0, 0), 0);
	cr_expect_eq(text_line_state("", 0, TEXT_MID_LINE), TEXT_MID_LINE);
	cr_expect_eq(text_line_state("a", 1, 0), TEXT_MID_LINE);
	cr_expect_eq(text_line_state(" \t", 2, 0), 0);
	cr_expect_eq(text_line_state(" ", 1, TEXT_MID_LINE), TEXT_MID_LINE);
	cr_expect_eq(text_line_state("a\n", 2, TEXT_MID_LINE), 0);
	cr_expect_eq(text_line_state("a\n b", 4, 0), TEXT_MID_LINE);
}

/* ---- hidden characters ---- */

/* Characters that steer a terminal are escaped in JSON too. */

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
	/* visible text stays as it is: accents, joiners, other scripts */
	text_clear(&t);
	text_json_string(
	    &t, slice_str("\xc2\xb5s \xe2\x80\x8d \xd8\xa7 \xe2\x82\xac \xef\xbc\xa1 \xf0\x9f\x98\x80"));
	text_char(&t, '\0');
	cr_expect_str_eq(t.p,
	                 "\"\xc2\xb5s \xe2\x80\x8d \xd8\xa7 \xe2\x82\xac \xef\xbc\xa1 \xf0\x9f\x98\x80\"");
	text_free(&t);
}

/* Each character alone is raw in JSON only if it is not hidden. */
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

/* Names, keys and values of a trace, and its path, in JSON and in text. */
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
