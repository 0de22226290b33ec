#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "cli/command.h"
#include "format/registry.h"

/* Outputs: their names, and how a run ends that cannot write them. */

#define RUN(...) run_tool((const char *const[]){ __VA_ARGS__, NULL }, NULL, 0)
#define SAMPLE "testdata/htdump/good/wire-little.htdump"
#define RED "\x1b[31m"

static void expect(struct ran r, int status, const char *words)
{
	cr_expect_eq(r.status, status, "status %d, not %d: %s", r.status, status, r.err);
	cr_expect_not_null(strstr(r.err, words), "%s is not in: %s", words, r.err);
	cr_expect_null(strchr(r.err, '\x1b'), "%s", r.err);
	ran_free(&r);
}

Test(trust, names_of_outputs_are_escaped)
{
	expect(RUN("convert", SAMPLE, "no/" RED ".json"), 2,
	       "no/\\x1b[31m.json: its directory does not exist");
	expect(RUN("stats", "-o", "no/" RED, SAMPLE), 2, "no/\\x1b[31m: its directory does not exist");
	expect(RUN("convert", SAMPLE, RED), 3, "\\x1b[31m: no suffix: use ");
	expect(RUN("convert", SAMPLE, "a." RED), 3, "unknown suffix .\\x1b[31m");
	expect(RUN("convert", "--to", RED, SAMPLE, "-"), 3, "no output format named \\x1b[31m");
	expect(RUN(RED), 3, "there is no command \\x1b[31m");
	expect(RUN("-" RED), 3, "-\\x1b[31m is an option");
	expect(RUN("convert", "-f", SAMPLE, "\u202e/a.json"), 2, "\\u{202e}/a.json: its directory");
}

Test(trust, each_mistake_in_an_output_has_its_message)
{
	expect(RUN("convert", SAMPLE, "out.JSON"), 3,
	       "the suffix of out.JSON is not in lower case; name it so, or use --to chrome");
	expect(RUN("convert", SAMPLE, "out.Json.GZ"), 3, "is not in lower case");
	expect(RUN("convert", SAMPLE, "b.pb"), 3, "b.pb: unknown suffix .pb: use ");
	expect(RUN("convert", SAMPLE, "b.pb"), 3, " .json, ");
	expect(RUN("convert", SAMPLE, "dir.json/out"), 3, "dir.json/out: no suffix: use ");
	expect(RUN("convert", "--to", "json", SAMPLE, "-"), 3,
	       "--to takes the name of a format, not the suffix json: use --to chrome");
	expect(RUN("convert", "--to", ".jsonl", SAMPLE, "-"), 3, "use --to ndjson");
	expect(RUN("convert", "--to", "crome", SAMPLE, "-"), 3, "did you mean chrome?");
	for (const struct format *const *f = formats; *f != NULL; f++)
		if ((*f)->writer == NULL)
			expect(RUN("convert", "--to", (*f)->name, SAMPLE, "-"), 3,
			       "can be read, but not written");
	expect(RUN("convert", SAMPLE, "-"), 3, "standard output has no suffix: choose its format with --to");
	expect(RUN("convert", SAMPLE, ""), 3, "the name of the output is empty");
	expect(RUN("convert", SAMPLE, "-o", ""), 3, "the name of the output is empty");
	expect(RUN("stats", SAMPLE, "-o", ""), 3, "the name of the output is empty");
}

/* Texts may have the suffix of another text, and any name without a suffix of ours is fine. */
Test(trust, outputs_that_no_program_reads_are_refused)
{
	static const char *const packed[] = { "o.parquet.gz", "o.db.gz", "o.sqlite.zst", "o.parquet.zst" };
	static const char *const misnamed[][2] = {
		{ "dial9", "o.htdump" }, { "htdump", "o.json" },    { "chrome", "o.db" },
		{ "sqlite", "o.json" },  { "heph", "o.htdump.gz" }, { "dftracer", "o.bin.log" },
	};
	static const char *const fine[][2] = { { "ndjson", "o.json" },
		                               { "chrome", "o" },
		                               { "dial9", "o.log" } };
	char *const dir = make_folder(), path[600];

	for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, packed[i]);
		expect(RUN("convert", SAMPLE, path), 3, ": no program reads a compressed ");
		cr_expect_neq(access(path, F_OK), 0, "%s", path);
	}
	for (size_t i = 0; i < sizeof misnamed / sizeof misnamed[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, misnamed[i][1]);
		expect(RUN("convert", "--to", misnamed[i][0], SAMPLE, path), 3,
		       " is the name of a file in format ");
		cr_expect_neq(access(path, F_OK), 0, "%s", path);
	}
	for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, fine[i][1]);
		expect(RUN("convert", "-q", "-f", "--to", fine[i][0], SAMPLE, path), 0, "");
	}
	remove_folder(dir);
}

Test(trust, each_mistake_in_an_operand_has_its_message)
{
	expect(RUN("convert", "", "a.json"), 3, "the name of input 1 is empty");
	expect(RUN("validate", SAMPLE, ""), 3, "the name of input 2 is empty");
	expect(RUN("validate", "-", "-"), 3, "standard input (-) is named 2 times; it can be read once");
	expect(RUN("convert", "-", SAMPLE, "-", "-o", "a.json"), 3, "standard input (-) is named 2 times");
}

Test(trust, each_mistake_in_an_option_has_its_message)
{
	expect(RUN("-q", "stats", SAMPLE), 3, "options stand behind the command: tracetool stats -q");
	expect(RUN("--from=htdump", "stats", SAMPLE), 3, "tracetool stats --from=htdump");
	expect(RUN("-q"), 3, "-q is an option, and no command stands before it");
	expect(RUN("stats", "--sort", "x", SAMPLE), 3,
	       "stats: has no option --sort; tracetool recover has it");
	expect(RUN("convert", "--memo", "x", SAMPLE, "-"), 3,
	       "--memory takes a number of bytes, 104857600 or 100M, not x");
	expect(RUN("convert", "--f", SAMPLE, "-"), 3, "--f may be one of ");
	expect(RUN("convert", "--raw=1", SAMPLE, "-"), 3, "--raw takes no argument");
	expect(RUN("convert", "--ra=1", SAMPLE, "-"), 3, "--raw takes no argument");
	expect(RUN("convert", "--rawe", SAMPLE, "-"), 3, "there is no option --rawe; did you mean --raw?");
}

Test(trust, the_longest_suffix_chooses_the_format)
{
	static const struct writer_ops ops = { .state_size = 1 };
	static const char *const any[] = { ".json", NULL }, *const long_one[] = { ".x.json", ".y", NULL };
	static const struct format a = { .name = "a", .suffixes = any, .writer = &ops },
	                           b = { .name = "b", .suffixes = long_one, .writer = &ops },
	                           c = { .name = "c", .suffixes = long_one };
	static const struct format *const ways[][4] = { { &a, &b, &c, NULL }, { &c, &b, &a, NULL } };

	for (size_t i = 0; i < 2; i++) {
		cr_expect_eq(format_by_suffix_of(ways[i], "t.json"), &a);
		cr_expect_eq(format_by_suffix_of(ways[i], "t.x.json"), &b);
		cr_expect_eq(format_by_suffix_of(ways[i], "t.x.json.gz"), &b);
		cr_expect_eq(format_by_suffix_of(ways[i], "t.x.json.zst"), &b);
		cr_expect_eq(format_by_suffix_of(ways[i], "t.x.json/"), &b);
		cr_expect_eq(format_by_suffix_of(ways[i], "x.json"), &a);
		cr_expect_eq(format_by_suffix_of(ways[i], "t.y"), &b);
		cr_expect_null(format_by_suffix_of(ways[i], ".json"));
		cr_expect_null(format_by_suffix_of(ways[i], "t.y.z"));
	}
}

/* ---- whoever reads goes away ---- */

/* The shell of $0 and $1 writes what the program's status was; its standard error comes first. */
static void expect_end(const char *before, const char *command, const char *status)
{
	char *const dir = make_folder();
	char all[2048];

	snprintf(all, sizeof all,
	         "%s for i in 1 2 3 4 5 6 7 8; do cat " SAMPLE " " SAMPLE " " SAMPLE " " SAMPLE
	         "; done > \"$1/a\"; "
	         "cat \"$1/a\" \"$1/a\" \"$1/a\" \"$1/a\" \"$1/a\" \"$1/a\" > \"$1/long.htdump\"; "
	         "{ \"$0\" %s; echo \"$?\" > \"$1/status\"; } | head -n 1 > /dev/null; cat \"$1/status\"",
	         before, command);
	struct ran r = run_program((const char *const[]){ "sh", "-c", all, tool_path(), dir, NULL }, NULL, 0);
	cr_expect_str_eq(r.out, status, "%s", command);
	cr_expect_str_eq(r.err, "", "%s: %s", command, r.err);
	ran_free(&r);
	remove_folder(dir);
}

Test(trust, a_closed_pipe_ends_the_program_as_other_filters)
{
	static const char *const ways[] = { "cat \"$1/long.htdump\"", "cat --hex \"$1/long.htdump\"",
		                            "convert --to chrome \"$1/long.htdump\" -",
		                            "convert --threads 3 --to ndjson \"$1/long.htdump\" -" };

	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		expect_end("", ways[i], "141\n"); /* 128 + SIGPIPE */
		expect_end("trap '' PIPE;", ways[i], "2\n");
	}
}
