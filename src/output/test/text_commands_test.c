#include <criterion/criterion.h>

#include "output/text_visible.h"

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

/* Text that comes in pieces. */
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
