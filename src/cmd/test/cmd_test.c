/* One thread and many give the same bytes, findings and status. */
/* Text fits the width of the terminal, or COLUMNS, which holds in pipes, too. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cmd/test/cli_test_util.h"
#include "format/registry.h"
#include "output/text_visible.h"

/* The command line itself: help, version, and mistakes, each with one clear line. */

#define RUN(...) run_tool((const char *const[]){ __VA_ARGS__, NULL }, NULL, 0)

static void expect_help(struct ran r, const char *words)
{
	cr_expect_eq(r.status, 0);
	cr_expect_str_eq(r.err, "");
	cr_expect_not_null(strstr(r.out, words), "%s is not in: %s", words, r.out);
	for (const char *line = r.out; *line != '\0'; line += strcspn(line, "\n") + 1)
		cr_expect(strcspn(line, "\n") <= 130, "a long line: %.140s", line);
	ran_free(&r);
}

Test(cmd, help_of_each_command)
{
	for (const struct command *const *c = commands; *c != NULL; c++) {
		char usage[256];
		snprintf(usage, sizeof usage, "usage: tracetool %s %s\n", (*c)->name, (*c)->operands);
		expect_help(RUN((*c)->name, "--help"), usage);
		expect_help(RUN((*c)->name, "-h"), usage);
		expect_help(RUN((*c)->name, "nowhere", "--help"), usage);
		expect_help(RUN("--help"), (*c)->summary);
	}
	expect_help(RUN("stats", "--help"), "\n\nOf formats:\n      --label-map FILE");
	expect_help(RUN("convert", "--help"),
	            "\n      --fail-on-loss-of KIND,...\n                             exit 1 if ");
	expect_help(RUN("-h"), "usage: tracetool COMMAND");
	expect_help(RUN("help"), "usage: tracetool COMMAND");
}

Test(cmd, version_is_one_line)
{
	static const char *const ways[] = { "--version", "-V" };

	for (int i = 0; i < 2; i++) {
		struct ran r = RUN(ways[i]);
		cr_expect_eq(r.status, 0);
		cr_expect_str_eq(r.out, TOOL_NAME "\n");
		cr_expect_str_eq(r.err, "");
		ran_free(&r);
	}
}

/* ---- threads ---- */

/* Every Nth input: all of them take minutes under the sanitizers.  `make check-threads` uses more. */
#define EVERY "301"

Test(cmd_threads, give_the_same_output)
{
	static const char *const argv[] = { "sh", "-c",
		                            "exec sh scripts/threads.sh \"$TRACETOOL_BIN\" " EVERY, NULL };
	struct ran r = run_program(argv, NULL, 0);

	cr_expect_eq(r.status, 0, "%s%s", r.out, r.err);
	ran_free(&r);
}

/* ---- width ---- */

/* Output of a shell command, in which $0 is the tool. */
static struct ran run_shell(const char *command)
{
	return run_program((const char *const[]){ "sh", "-c", command, tool_path(), NULL }, NULL, 0);
}

/* Expects that no line is wider, and that some are nearly as wide. */
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
	static const char *const lines[] = {
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

	for (const char *const *c = lines; *c != NULL; c++)
		for (unsigned columns = 60; columns <= 80; columns += 20)
			expect_width(*c, columns);
}

Test(width, prose_takes_100_columns_at_most)
{
	expect_width("convert --help", 100);
}
