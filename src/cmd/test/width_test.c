/* Text fits the width of the terminal, or COLUMNS, which holds in pipes, too. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "cmd/test/cli_test_util.h"
#include "output/text_visible.h"

#define RUN(...) run_tool((const char *const[]){ __VA_ARGS__, NULL }, NULL, 0)

/* Output of a shell command, in which $0 is the tool. */
static struct ran run_shell(const char *command)
{
	return run_program((const char *const[]){ "sh", "-c", command, tool_path(), NULL }, NULL, 0);
}

/* No line of it is wider; some are nearly as wide. */
static void expect_width(const char *arguments, unsigned columns)
{
	char command[600];
	size_t widest = 0;

	snprintf(command, sizeof command, "COLUMNS=%u \"$0\" %s", columns, arguments);
	struct ran r = run_shell(command);
	cr_assert(r.out_n > 0, "%s: %s", command, r.err);
	for (const char *p = r.out; *p != '\0'; p += strcspn(p, "\n") + 1) {
		const size_t n = strcspn(p, "\n"), width = text_width(slice_of(p, n));
		cr_expect(width <= columns, "%s: %zu columns: %.*s", command, width, (int)n, p);
		widest = width > widest ? width : widest;
	}
	cr_expect(widest + 20 > columns, "%s: room is left: %zu columns", command, widest);
	ran_free(&r);
}

Test(width, all_lines_fit)
{
	static const char *const commands[] = {
		"stats testdata/dial9/service.bin",
		"stats testdata/dftracer/checkpoint.pfw",
		"info testdata/dial9/service.bin",
		"diff testdata/dial9/service.bin testdata/dftracer/checkpoint.pfw",
		"formats",
		"formats --matrix",
		"formats --matrix dial9 csv",
		"formats dftracer",
		"rules dial9",
		"explain",
		"explain dial9/not-in-document",
		"--help",
		"convert --help",
		"stats --help",
		"validate --help",
		NULL,
	};

	for (const char *const *c = commands; *c != NULL; c++)
		for (unsigned columns = 60; columns <= 80; columns += 20)
			expect_width(*c, columns);
}

/* What is left out of a table, the least useful first, and what stays. */
Test(width, columns_of_stats)
{
	static const struct {
		const char *width, *heads;
	} rows[] = {
		{ "60", "count    total     self      max\n" },
		{ "80", "category      count    total     self      p99      max\n" },
		{ "100", "count    total     self     mean      p90      p99      max\n" },
		{ "full", "count    total     self     mean      p50      p90      p99      max\n" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ran r = RUN("stats", "--width", rows[i].width, "testdata/dial9/service.bin");
		cr_expect_not_null(strstr(r.out, rows[i].heads), "%s: %s", rows[i].width, r.out);
		ran_free(&r);
	}
}

/* Help does not fill a wide screen; data does. */
Test(width, prose_takes_100_columns_at_most)
{
	expect_width("convert --help", 100);
	struct ran narrow = run_shell("COLUMNS=100 \"$0\" convert --help");
	struct ran wide = run_shell("COLUMNS=200 \"$0\" convert --help");
	cr_expect_str_eq(narrow.out, wide.out);
	ran_free(&narrow);
	ran_free(&wide);
}

/* Without COLUMNS, what goes to pipes and files is whole, for programs that look for words in it. */
Test(width, pipes_have_none_of_their_own)
{
	struct ran r = run_shell("unset COLUMNS; \"$0\" stats testdata/dial9/service.bin");
	cr_expect_not_null(strstr(r.out, "  p50  "), "%s", r.out);
	ran_free(&r);
	r = run_shell("COLUMNS=60 \"$0\" stats --width full testdata/dial9/service.bin");
	cr_expect_not_null(strstr(r.out, "  p50  "), "--width goes before COLUMNS: %s", r.out);
	ran_free(&r);
}
