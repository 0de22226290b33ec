#include "output/text_visible.h"

#include <criterion/criterion.h>

static void expect(struct text *t, const char *want)
{
	text_char(t, 0);
	cr_expect_str_eq(t->p, want);
	text_clear(t);
}

Test(text_fit, width_is_characters_and_whole_escapes)
{
	cr_expect_eq(text_width(slice_str("")), 0);
	cr_expect_eq(text_width(slice_str("na\xc3\xafve")), 5);
	cr_expect_eq(text_width(slice_str("a\\x1b\\\\\\u{202e}")), 1 + 4 + 2 + 8);
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
