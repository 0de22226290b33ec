#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cmd/test/cli_test_util.h"
#include "format/registry.h"

/* ---- outputs ---- */

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
	expect(RUN("info", "--sort", "x", SAMPLE), 3, "info: has no option --sort; tracetool recover has it");
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

/* ---- names ---- */

/* A shell in a folder with what lines read, each for 10 s at most; $T is the program. */
static struct ran in_folder(const char *dir, const char *command)
{
	static const char prepare[] =
	    "T=\"timeout 60 $(realpath \"$0\")\"; S=$(realpath " SAMPLE
	    "); cd \"$1\"; rm -rf w; mkdir w; cd w; "
	    "cp \"$S\" t.htdump; cp \"$S\" u.htdump; head -c -7 \"$S\" > cut.htdump; mkdir in o; "
	    "cp cut.htdump in/a.htdump; ln -s cut.htdump link; ln cut.htdump hard; ln -s o.json later; "
	    "head -c 32 t.htdump > key; ln -s key keylink; printf '0s t.htdump\\n5s u.htdump\\n' > align; "
	    "echo 'max-findings: 5' > policy.yaml; cp policy.yaml .tracetool.yaml; "
	    "printf 'format: htdump\\n' > v.yaml; "
	    "printf '1 a\\n' > map; $T stats --format json t.htdump > base.json; "
	    "$T convert -q t.htdump o.ctf; ";
	char all[8192];

	snprintf(all, sizeof all, "%s%s", prepare, command);
	return run_program((const char *const[]){ "sh", "-c", all, tool_path(), dir, NULL }, NULL, 0);
}

/* It is a mistake of the command line, after which all files are as they were. */
static void expect_refused(const char *dir, const char *command, const char *words)
{
	char script[4096];

	/* what prepares comes before the last ';' */
	const char *const last = strrchr(command, ';');
	const int n = last != NULL ? (int)(last + 1 - command) : 0;
	snprintf(script, sizeof script,
	         "%.*s find . -type f -exec md5sum {} + | sort > ../before; %s; status=$?; "
	         "find . -type f -exec md5sum {} + | sort | diff ../before - >&2; exit $status",
	         n, command, command + n);
	struct ran r = in_folder(dir, script);
	cr_expect_eq(r.status, STATUS_USAGE, "%s: status %d: %s", command, r.status, r.err);
	cr_expect_not_null(strstr(r.err, words), "%s: %s", command, r.err);
	cr_expect(strstr(r.err, "\n>") == NULL && strstr(r.err, "\n<") == NULL, "%s: %s", command, r.err);
	ran_free(&r);
}

static void expect_clashes(const char *const *lines, size_t n)
{
	char *const dir = make_folder();

	for (size_t i = 0; i < n; i++)
		expect_refused(dir, lines[i], "; nothing was done (tracetool ");
	remove_folder(dir);
}

#define CLASHES(...)                                                                                         \
	expect_clashes((const char *const[]){ __VA_ARGS__ },                                                 \
	               sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

Test(trust_names, the_list_of_changes_is_a_file_of_its_own)
{
	CLASHES("$T recover -f --report json=cut.htdump cut.htdump out",
	        "$T recover -f --report json=./cut.htdump cut.htdump out",
	        "$T recover -f --report json=link cut.htdump out",
	        "$T recover -f --report json=hard cut.htdump out",
	        "$T recover -f --report json=in/a.htdump in out",
	        "$T recover --report json=./out cut.htdump out",
	        "$T recover --report json=later cut.htdump o.json",
	        "$T recover --report json=out cut.htdump o/../out", "$T recover --report json=out/x in out",
	        "$T recover -f in in", "$T recover -f cut.htdump in/../link");
}

Test(trust_names, reports_and_outputs_are_different_files)
{
	CLASHES("$T convert -f --report json=o.json t.htdump o.json",
	        "$T convert --report json=./o.json t.htdump o.json",
	        "$T convert --report json=later t.htdump o.json",
	        "$T convert -f --losses o.json t.htdump o.json",
	        "$T convert -f --losses x --report json=x t.htdump o.json",
	        "$T convert --losses o/../x --report json=./x t.htdump o.json",
	        "$T convert --losses n.d//x --split by=tid --to htdump t.htdump n.d",
	        "$T convert -f --report json=o.d/x --split by=tid --to htdump t.htdump o.d",
	        "$T convert -f --report json=o.ctf/metadata t.htdump o.ctf",
	        "$T convert -f --losses o.ctf/new t.htdump o.ctf/",
	        "$T convert -f --losses ./o/../o.ctf/new/er t.htdump o.ctf",
	        "$T convert --to ctf --report json=n/a/b t.htdump n",
	        "$T merge --align none --report json=o.json -o o.json t.htdump",
	        "$T merge --align none --losses t.htdump -f -o o.json t.htdump u.htdump",
	        "$T stats --format json --report json=o.json -o o.json t.htdump",
	        "$T info --report json=later -o o.json t.htdump",
	        "$T cat --report json=o.json -o ./o.json t.htdump",
	        "$T diff --report json=o.json -o o.json t.htdump u.htdump",
	        "$T stats -f --report json=in/a.htdump in", "$T diff -f -o u.htdump t.htdump u.htdump",
	        "$T convert -f --report json=key --to ndjson t.htdump - >> key",
	        "$T convert --report json=/dev/stdout --to ndjson t.htdump -",
	        "$T convert --report json=/proc/self/fd/1 --to ndjson t.htdump /dev/fd/1");
}

Test(trust_names, two_reports_do_not_go_to_one_file)
{
	char *const dir = make_folder();

	expect_refused(dir, "$T convert --report json=x --report sarif=./x t.htdump o.json",
	               "two reports go to ");
	expect_refused(dir, "$T validate --report json=o.json -o ./o.json t.htdump", "two reports go to ");
	expect_refused(dir, "$T validate --format text --report json=/dev/stdout t.htdump",
	               "two reports go to ");
	expect_refused(dir, "$T validate --report json=later --report text=o.json t.htdump",
	               "two reports go to ");
	remove_folder(dir);
}

Test(trust_names, files_that_options_name_stay)
{
	CLASHES("$T convert -f --to htdump --anonymise key t.htdump key",
	        "$T convert -f --to htdump --anonymise keylink t.htdump ./key",
	        "$T convert -f --anonymise key --report json=key t.htdump o.json",
	        "$T convert -f --anonymise key --losses o/../key t.htdump o.json",
	        "$T validate -f --baseline base.json -o base.json t.htdump",
	        "$T validate -f --baseline base.json --report json=base.json t.htdump",
	        "$T validate -f --config policy.yaml -o policy.yaml t.htdump",
	        "$T validate -f -o .tracetool.yaml t.htdump",
	        "printf 'baseline: base.json\\n' > .tracetool.yaml; $T validate -f -o ./base.json t.htdump",
	        "$T merge -f --align align --to htdump -o align t.htdump u.htdump",
	        "$T merge -f --align align --report json=align -o o.json t.htdump u.htdump",
	        "$T convert -f --vocabulary v.yaml --losses v.yaml t.htdump o.json",
	        "$T convert -f --vocabulary v.yaml --report json=v.yaml t.htdump o.json",
	        "$T stats -f --label-map map -o map t.htdump",
	        "$T validate -f --vocabulary v.yaml -o v.yaml t.htdump",
	        "$T vocabulary check -f -o v.yaml v.yaml",
	        "$T vocabulary check -f -o o/../v.yaml align v.yaml");
}

/* What it would not read is not there to be written over. */
Test(trust_names, a_starter_policy_is_made_of_traces_alone)
{
	char *const dir = make_folder();

	expect_refused(dir, "$T validate -f --init --config policy.yaml -o policy.yaml t.htdump", "--init ");
	expect_refused(dir, "$T validate -f --init --baseline base.json -o base.json t.htdump", "--init ");
	expect_refused(dir, "$T validate --init --report json=r.json t.htdump", "--init ");
	remove_folder(dir);
}

/* What can be read once is named once; help is no report. */
Test(trust_names, standard_input_is_read_once)
{
	char *const dir = make_folder();

	expect_ran(in_folder(dir, "$T validate --config - - < t.htdump"), 3, "is named 2 times");
	expect_ran(in_folder(dir, "$T stats -f -o t.htdump --help; cmp t.htdump u.htdump"), 0, "usage:");
	remove_folder(dir);
}

/* ---- folders ---- */

Test(trust_names, a_foreign_list_deletes_nothing)
{
	static const char script[] =
	    "for o in 'ctf src' 'paraver src' 'ovni src' 'chrome-dir src.json.d' 'parquet-dir "
	    "src.parquet.d'; do "
	    "set -- $o; rm -rf \"$2\"; mkdir -p \"$2\"/lib \"$2\"/.git; "
	    "for f in main.c lib/a.h .git/HEAD; do echo precious > \"$2/$f\"; echo $f; done "
	    "> list; mv list \"$2\"/.tracetool-files; "
	    "$T convert -f --to $1 t.htdump $2 && echo replaced; "
	    "[ $(cat $2/main.c $2/lib/a.h $2/.git/HEAD | wc -l) = 3 ] || echo deleted; done";
	char *const dir = make_folder();
	struct ran r = in_folder(dir, script);

	cr_expect_str_eq(r.out, "", "%s", r.err);
	cr_expect_not_null(strstr(r.err, "is not as tracetool writes it: not replaced"), "%s", r.err);
	ran_free(&r);
	remove_folder(dir);
}

Test(trust_names, skip_existing_believes_what_is_complete)
{
	char *const dir = make_folder();

	expect_ran(in_folder(dir, "mkdir n.ctf; : > n.ctf/.tracetool-files; "
	                          "$T convert --skip-existing t.htdump n.ctf"),
	           2, "already exists");
	expect_ran(in_folder(dir, "$T convert --skip-existing t.htdump o.ctf"), 0, "exists, skipped");
	expect_ran(in_folder(dir, "rm o.ctf/metadata; $T convert --skip-existing t.htdump o.ctf"), 2,
	           "already exists");
	expect_ran(in_folder(dir, ": > o.ctf/metadata; $T convert --skip-existing t.htdump o.ctf"), 2,
	           "already exists");
	remove_folder(dir);
}

/* ---- what cannot be written is not there ---- */

static void expect_nothing_new(const char *dir, const char *command)
{
	char script[2048];

	snprintf(script, sizeof script, "%s; s=$?; [ ! -e o.json ] && [ ! -e r.json ] || exit 9; exit $s",
	         command);
	struct ran r = in_folder(dir, script);
	cr_expect_eq(r.status, 2, "%s: status %d: %s", command, r.status, r.err);
	ran_free(&r);
}

Test(trust_names, status_2_leaves_nothing_new)
{
	static const char *const lines[] = {
		"$T convert --report json=/dev/full --losses r.json cut.htdump o.json",
		"$T convert --losses /dev/full --report json=r.json cut.htdump o.json",
		"$T merge --align none --report json=/dev/full --losses r.json -o o.json cut.htdump",
		"$T recover --report json=/dev/full cut.htdump o.json",
		"$T convert --report json=t.htdump/no --losses r.json cut.htdump o.json",
		"$T convert --report json=no-folder/x --losses r.json cut.htdump o.json",
		"$T convert --report json=r.json --losses key cut.htdump o.json",
		"$T convert --report json=r.json missing.htdump o.json",
		"$T merge --align none --report json=r.json -o o.json cut.htdump missing.htdump",
		"$T recover --report json=r.json missing.htdump o.json",
		"$T recover --report json=r.json --from htdump base.json o.json",
		"$T recover --report json=r.json map o.json",
		"$T convert --report json=r.json --to ndjson cut.htdump /dev/full",
	};
	char *const dir = make_folder();

	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		expect_nothing_new(dir, lines[i]);
	remove_folder(dir);
}

/* The same with -f leaves the old ones. */
Test(trust_names, status_2_leaves_the_old_ones)
{
	static const char *const lines[] = {
		"$T convert -f --report json=/dev/full --losses r.json cut.htdump o.json",
		"$T convert -f --losses /dev/full --report json=r.json cut.htdump o.json",
		"$T merge -f --align none --report json=/dev/full --losses r.json -o o.json cut.htdump",
		"$T convert -f --report json=r.json missing.htdump o.json",
		"$T recover -f --report json=r.json missing.htdump o.json",
		"$T stats -f --format json -o o.json missing.htdump",
		"$T stats -f -o o.json missing.htdump missing.htdump",
		"$T cat -f -o o.json missing.htdump",
		"$T info -f -o o.json missing.htdump",
		"$T diff -f -o o.json t.htdump missing.htdump",
		"$T diff -f --format json -o o.json missing.htdump t.htdump",
		"$T stats -f --report json=/dev/full -o o.json t.htdump",
	};
	char *const dir = make_folder(), script[1024];

	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		snprintf(script, sizeof script,
		         "echo old > o.json; echo old > r.json; %s; s=$?; "
		         "[ \"$(cat o.json r.json | sort -u)\" = old ] || exit 9; "
		         "[ $(ls -a | grep -c tracetool-) = 0 ] || exit 8; exit $s",
		         lines[i]);
		struct ran r = in_folder(dir, script);
		cr_expect_eq(r.status, 2, "%s: status %d: %s", lines[i], r.status, r.err);
		ran_free(&r);
	}
	remove_folder(dir);
}

/* Findings are no failure: all is there, in the place of the old ones. */
Test(trust_names, status_1_publishes_all)
{
	char *const dir = make_folder();

	expect_ran(
	    in_folder(dir, "echo old > o.json; echo old > r.json; echo old > l.json; "
	                   "$T convert -f --keep-partial --report json=r.json --losses l.json "
	                   "cut.htdump o.json; s=$?; grep old o.json r.json l.json; ls -a | grep tracetool-;"
	                   " exit $s"),
	    1, "");
	expect_ran(
	    in_folder(dir, "echo old > r.json; $T recover -f --report json=r.json cut.htdump o.htdump; s=$?; "
	                   "grep '\"written\":true' r.json && cmp -n 100 o.htdump cut.htdump; exit $s"),
	    1, "\"written\":true");
	remove_folder(dir);
}

/* ---- FIFOs ---- */

Test(trust_names, named_fifos_are_not_waited_for)
{
	static const char *const lines[] = {
		"$T convert --anonymise fifo t.htdump o.json",
		"$T validate --baseline fifo t.htdump",
		"$T validate --config fifo t.htdump",
		"$T validate --vocabulary fifo t.htdump",
		"$T vocabulary check fifo",
		"$T merge --align fifo -o o2.json t.htdump u.htdump",
		"rm .tracetool.yaml; mkfifo .tracetool.yaml; $T validate t.htdump",
	};
	char *const dir = make_folder(), script[512];

	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		snprintf(script, sizeof script, "mkfifo fifo; %s", lines[i]);
		expect_ran(in_folder(dir, script), 2, "is a named FIFO");
	}
	expect_ran(in_folder(dir, "$T convert --anonymise /dev/zero t.htdump o.json"), 2,
	           "is a character device");
	expect_ran(
	    in_folder(dir, "mkfifo fifo; echo 'baseline: fifo' > .tracetool.yaml; $T validate t.htdump"), 2,
	    "is not a regular file");
	expect_ran(in_folder(dir, "$T vocabulary check /dev/zero"), 2, "is a character device");
	remove_folder(dir);
}

/* What a shell connects is read as ever: pipes, also those that bash makes, and redirected files. */
Test(trust_names, descriptors_are_read)
{
	static const char *const lines[] = {
		"bash -c \"$T validate --config <(cat policy.yaml) t.htdump\"",
		"bash -c \"$T convert -q --anonymise <(sleep 0.1; cat key) t.htdump o.json\"",
		"cat policy.yaml | $T validate --config /dev/stdin t.htdump",
		"$T validate --config /dev/fd/3 t.htdump 3< policy.yaml",
		"$T convert -q --anonymise /proc/self/fd/4 t.htdump o.json 4< key",
		"cat v.yaml | $T vocabulary check /dev/fd/0",
		"cat align | $T merge -q --align /dev/stdin -o o2.json t.htdump u.htdump",
		"bash -c \"$T validate --baseline <(cat base.json) t.htdump\"",
	};
	char *const dir = make_folder();

	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		expect_ran(in_folder(dir, lines[i]), 0, "");
	remove_folder(dir);
}
