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
#define SAMPLE "testdata/htdump/good/wire-little.htdump"

static size_t count_lines(const char *s)
{
	size_t n = 0;

	for (; *s != '\0'; s++)
		n += *s == '\n';
	return n;
}

/* Status 3, nothing on stdout, one line on stderr that holds these words, and the row of --help about the
 * option at most. */
static void expect_mistake(struct ran r, const char *words)
{
	cr_expect_eq(r.status, STATUS_USAGE, "%s: status %d: %s", words, r.status, r.err);
	cr_expect_str_eq(r.out, "", "%s: %s", words, r.out);
	const char *const more = strchr(r.err, '\n');
	cr_expect(count_lines(r.err) == 1 ||
	              (count_lines(r.err) == 2 && strspn(more + 1, " ") >= 2 && strstr(more, "--") != NULL),
	          "%s: %s", words, r.err);
	cr_expect_eq(strncmp(r.err, "tracetool: ", 11), 0, "%s", r.err);
	cr_expect_not_null(strstr(r.err, words), "%s is not in: %s", words, r.err);
	ran_free(&r);
}

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

Test(cmd, version_says_what_it_is_made_of)
{
	static const char *const words[] = { "\nlibrary: cJSON ",   "\nlibrary: ISA-L ",
		                             "\nlibrary: libyaml ", "\nlibrary: zstd ",
		                             "\ncompression: gzip", "\ncpu: " };
	struct ran r = RUN("--version", "--verbose"), listed = RUN("formats");
	char name[64];

	cr_expect_eq(r.status, 0);
	cr_expect_str_eq(r.err, "");
	cr_expect_eq(strncmp(r.out, TOOL_NAME "\n", sizeof TOOL_NAME), 0, "%s", r.out);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		cr_expect_not_null(strstr(r.out, words[i]), "%s is not in: %s", words[i], r.out);
	cr_expect_not_null(strstr(r.out, " plain\n"), "the scanner that any machine has: %s", r.out);
	memcpy(name, "\nformat: ", 9);
	for (const char *p = listed.out; (p = strchr(p, '\n')) != NULL; p++) {
		if (sscanf(p, "\n%50[a-z0-9_]", name + 9) != 1)
			break;
		cr_expect_not_null(strstr(r.out, name), "%s is not in: %s", name, r.out);
	}
	ran_free(&r);
	ran_free(&listed);
	expect_mistake(RUN("--version", "--verb"), "--version takes nothing but --verbose, not --verb");
	expect_mistake(RUN("-V", "--verbose", "\x1b"), "-V takes nothing but --verbose, not \\x1b");
}

Test(cmd, no_command_or_an_unknown_one)
{
	expect_mistake(run_tool((const char *const[]){ NULL }, NULL, 0), "name a command");
	expect_mistake(RUN("valdiate", "x"), "did you mean validate?");
	expect_mistake(RUN("stat"), "did you mean stats?");
	expect_mistake(RUN("convrt"), "did you mean convert?");
	expect_mistake(RUN("xyzzy"), "there is no command xyzzy");
	expect_mistake(RUN(""), "there is no command");
	expect_mistake(RUN("--frob"), "--frob is an option, and no command stands before it");
	expect_mistake(RUN("a\x1b[31m\nb"), "a\\x1b[31m\\x0ab");
}

Test(cmd, unknown_options)
{
	expect_mistake(RUN("validate", "--fomat", "json", SAMPLE), "did you mean --format?");
	expect_mistake(RUN("validate", "--quite", SAMPLE), "did you mean --quiet?");
	expect_mistake(RUN("convert", "--rebsae", SAMPLE, "-"), "did you mean --rebase?");
	expect_mistake(RUN("stats", "--xyzzy", SAMPLE), "there is no option --xyzzy");
	expect_mistake(RUN("stats", "-Z", SAMPLE), "there is no option -Z");
	expect_mistake(RUN("stats", "-qZ", SAMPLE), "there is no option -Z");
	expect_mistake(RUN("stats", "--quiet=3", SAMPLE), "--quiet takes no argument");
	expect_mistake(RUN("formats", "--from", "htdump"), "--from");
	expect_mistake(RUN("stats", "--\x1b[31m", SAMPLE), "--\\x1b[31m");
}

Test(cmd, arguments_that_are_missing_or_wrong)
{
	expect_mistake(RUN("validate", SAMPLE, "--format"), "option --format needs an argument");
	expect_mistake(RUN("convert", SAMPLE, "-o"), "option -o needs an argument");
	expect_mistake(RUN("validate", "--format", "xml", SAMPLE), "takes one of text, gcc, json");
	expect_mistake(RUN("validate", "--fail-level", "fatal", SAMPLE),
	               "note, warning, error, never, not fatal");
	expect_mistake(RUN("stats", "--format", "", SAMPLE), "--format takes one of");
	expect_mistake(RUN("convert", "--lanes", "maybe", SAMPLE, "-"), "on, off, not maybe");
	expect_mistake(RUN("cat", "--color", "sometimes", SAMPLE), "auto, always, never, not sometimes");
	expect_mistake(RUN("cat", "--limit", "ten", SAMPLE), "--limit takes a number, not ten");
	expect_mistake(RUN("cat", "--limit", "-1", SAMPLE), "--limit takes a number, not -1");
	expect_mistake(RUN("cat", "--limit", "1x", SAMPLE), "--limit takes a number, not 1x");
	expect_mistake(RUN("stats", "--limit", "18446744073709551616", SAMPLE), "--limit takes a number");
	expect_mistake(RUN("stats", "--limit", "", SAMPLE), "--limit takes a number");
	expect_mistake(RUN("info", "--from", "json", SAMPLE), "there is no input format named json");
	expect_mistake(RUN("info", "--from", "perfetto", SAMPLE), "there is no input format named perfetto");
	expect_mistake(RUN("info", "--from-dialect", "spoken", SAMPLE),
	               "no format has a dialect named spoken");
	expect_mistake(RUN("info", "--from", "htdump", "--from-dialect", "spoken", SAMPLE),
	               "htdump has no dialect named spoken");
	expect_mistake(RUN("explain", "a\x1b[31mb"), "a\\x1b[31mb");
}

Test(cmd, operands_that_are_missing_or_too_many)
{
	expect_mistake(RUN("validate"), "name at least one trace");
	expect_mistake(RUN("stats", "-q"), "name at least one trace");
	expect_mistake(RUN("cat"), "name at least one trace");
	expect_mistake(RUN("info", "--"), "name at least one trace");
	expect_mistake(RUN("convert"), "name an input and an output");
	expect_mistake(RUN("convert", SAMPLE), "name an input and an output");
	expect_mistake(RUN("convert", "-o", "a.json"), "name an input and an output");
	expect_mistake(RUN("convert", SAMPLE, "a.json", "b.json"), "one input and one output");
	expect_mistake(RUN("formats", "htdump", "heph"), "takes the name of one format");
	expect_mistake(RUN("convert", SAMPLE, "out.txt"), "unknown suffix .txt");
	expect_mistake(RUN("convert", SAMPLE, "-"), "standard output has no suffix");
	expect_mistake(RUN("convert", SAMPLE, "out.vcd"), "unknown suffix .vcd");
	expect_mistake(RUN("convert", "--to", "vcd", SAMPLE, "-"), "no output format named vcd");
	for (const struct format *const *f = formats; *f != NULL; f++)
		if ((*f)->writer == NULL)
			expect_mistake(RUN("convert", "--to", (*f)->name, SAMPLE, "-"),
			               "can be read, but not written");
}

/* Options anywhere, shortened, with = or without; -- ends them. */
Test(cmd, ways_to_write_options)
{
	struct ran want = RUN("stats", "--format", "json", SAMPLE);

	cr_expect_eq(want.status, 0);
	struct ran got[] = {
		RUN("stats", SAMPLE, "--format", "json"),
		RUN("stats", "--format=json", SAMPLE),
		RUN("stats", "--form=json", "--", SAMPLE),
		RUN("stats", "--format=text", "--format=json", SAMPLE),
		RUN("stats", "--from=htdump", "--from-dialect=wire", "--format=json", SAMPLE),
	};
	for (size_t i = 0; i < sizeof got / sizeof got[0]; i++) {
		cr_expect_eq(got[i].status, 0);
		cr_expect_str_eq(got[i].out, want.out, "way %zu", i);
		ran_free(&got[i]);
	}
	ran_free(&want);
	struct ran r = RUN("validate", "--", "--help");
	cr_expect_eq(r.status, STATUS_UNREADABLE);
	cr_expect_not_null(strstr(r.out, "--help: no such file\n"));
	ran_free(&r);
}

/* Each kind of loss that there is: of the engine, of each writer. */
Test(cmd, explain_knows_losses)
{
	struct ran all = RUN("rules");
	size_t n = 0;

	expect_mistake(RUN("explain", "pairs/no-begni"), "did you mean pairs/no-begin?");
	for (char *line = strtok(all.out, "\n"); line != NULL; line = strtok(NULL, "\n")) {
		char id[64], level[16];
		if (sscanf(line, "%63s %15s", id, level) != 2 || strcmp(level, "loss") != 0)
			continue;
		struct ran r = RUN("explain", id);
		cr_expect_eq(r.status, 0);
		cr_expect(strncmp(r.out, id, strlen(id)) == 0 && strstr(r.out, " (loss): ") != NULL, "%s",
		          r.out);
		cr_expect_not_null(strstr(r.out, ".\n"), "%s: a paragraph", id);
		ran_free(&r);
		n++;
	}
	cr_expect(n > 20);
	ran_free(&all);
}

/* Lines of a list whose second word is this; *n: of all. */
static size_t count_level(struct ran r, const char *level, size_t *n)
{
	size_t found = 0;

	cr_expect_eq(r.status, 0);
	*n = 0;
	for (char *line = strtok(r.out, "\n"); line != NULL; line = strtok(NULL, "\n")) {
		char word[16];
		(*n)++;
		found += sscanf(line, "%*s %15s", word) == 1 && strcmp(word, level) == 0;
	}
	ran_free(&r);
	return found;
}

/* What is listed by kind and level is what a list of all has of it. */
Test(cmd, rules_of_one_kind)
{
	static const char *const levels[] = { "note", "warning", "error" };
	size_t all, n, rules = 0;

	for (size_t i = 0; i < 3; i++) {
		const size_t want = count_level(RUN("rules"), levels[i], &all);
		cr_expect_eq(count_level(RUN("rules", "--level", levels[i]), levels[i], &n), want);
		cr_expect(n == want && want > 0, "%s: %zu, %zu", levels[i], n, want);
		rules += want;
	}
	cr_expect_eq(count_level(RUN("rules", "--losses"), "loss", &n), all - rules);
	cr_expect_eq(n, all - rules);
	cr_expect_eq(count_level(RUN("rules", "--findings"), "loss", &n), 0);
	cr_expect_eq(n, rules);
	expect_ran(RUN("rules", "--losses", "--json"), 0, "\"rules\":[\n],\n\"losses\":[\n{");
	expect_ran(RUN("rules", "--level", "error", "--json"), 0, "\"losses\":[\n]}");
	expect_mistake(RUN("rules", "--losses", "--level", "error"), "--losses lists no rules");
	expect_mistake(RUN("rules", "--losses", "--findings"), "leave out --findings");
	expect_ran(RUN("rules", "--level", "eror"), STATUS_USAGE,
	           "--level takes one of note, warning, error, not eror");
}

Test(cmd, explain)
{
	struct ran r = RUN("explain", "htdump/no-base");

	cr_expect_eq(r.status, 0);
	cr_expect_eq(strncmp(r.out, "htdump/no-base (warning): ", 26), 0, "%s", r.out);
	ran_free(&r);
	r = RUN("explain");
	cr_expect_eq(r.status, 0);
	cr_expect_not_null(strstr(r.out, "usage: tracetool explain [options] [NAME ...]\n"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "\nhtdump "), "%s", r.out);
	cr_expect(count_lines(r.out) < 60);
	ran_free(&r);
	r = RUN("explain", "no-base");
	cr_expect_eq(strncmp(r.out, "htdump/no-base (warning): ", 26), 0, "%s", r.out);
	ran_free(&r);
	r = RUN("explain", "dial9/");
	cr_expect_not_null(strstr(r.out, "\ndial9/bad-version (error): "), "%s", r.out);
	ran_free(&r);
	expect_mistake(RUN("explain", "bad-magic"), "bad-magic may be one of ");
	expect_mistake(RUN("explain", "htdump/unknwon-class"), "did you mean htdump/unknown-class?");
	expect_mistake(RUN("explain", "quite/another-thing-altogether"), "there is no rule or loss");
	r = RUN("explain", "input/empty", "no/such-thing-anywhere-at-all", "input/missing");
	cr_expect_eq(r.status, STATUS_USAGE);
	ran_free(&r);
}

/* ---- threads ---- */

/* Of the inputs each so manieth: all of them take minutes under the sanitizers. */
#if defined(__SANITIZE_ADDRESS__)
#define EVERY "301"
#else
#define EVERY "101"
#endif

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
