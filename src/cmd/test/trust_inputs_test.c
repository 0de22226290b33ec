/* Inputs that are not to be trusted: members of a folder that cannot be reached are told of, each with its
 * path and the reason; files that are no trace are named for what they are, with what to do; the cost of what
 * comes with a trace and asks for much (policies, baselines, vocabularies, options) stays in proportion. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cmd/test/cli_test_util.h"
#include "input/open.h"
#include "test/bench/bench.h"

/* ---- incomplete inputs ---- */

/* One rule: if an input, or a member of one, cannot be opened or read, no output gets its name, unless
 * --keep-partial; the status is 2.  What is damaged is a finding, and what was read of it is kept. */

#define SAMPLE "testdata/htdump/good/wire-little.htdump"
#define NOT_WRITTEN "not written, as an input could not be read (--keep-partial writes what could)"

/* $0 is the program, $1 a folder with good.htdump. */
static struct ran shell(const char *dir, const char *command)
{
	char all[4096];

	snprintf(all, sizeof all, "cp " SAMPLE " \"$1/good.htdump\"; %s", command);
	return run_program((const char *const[]){ "sh", "-c", all, tool_path(), dir, NULL }, NULL, 0);
}

static bool exists(const char *dir, const char *name)
{
	char path[1024];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	return access(path, F_OK) == 0;
}

/* inputs: operands in the shell.  Both ways, with and without --keep-partial. */
static void expect_incomplete(const char *prepare, const char *inputs, const char *rule)
{
	char *const dir = make_folder();
	char command[2048];

	snprintf(command, sizeof command, "%s; exec \"$0\" convert %s -o \"$1/out.json\"", prepare, inputs);
	struct ran r = shell(dir, command);
	cr_expect_eq(r.status, STATUS_UNREADABLE, "%s: status %d", inputs, r.status);
	cr_expect_not_null(strstr(r.err, rule), "%s: %s", inputs, r.err);
	cr_expect_not_null(strstr(r.err, NOT_WRITTEN), "%s: %s", inputs, r.err);
	cr_expect_not(exists(dir, "out.json"), "%s", inputs);
	ran_free(&r);
	snprintf(command, sizeof command, "%s; exec \"$0\" convert --keep-partial %s -o \"$1/out.json\"",
	         prepare, inputs);
	r = shell(dir, command);
	cr_expect_eq(r.status, STATUS_UNREADABLE, "%s: status %d", inputs, r.status);
	cr_expect_null(strstr(r.err, NOT_WRITTEN), "%s: %s", inputs, r.err);
	cr_expect(exists(dir, "out.json"), "%s", inputs);
	ran_free(&r);
	remove_folder(dir);
}

Test(trust, an_input_that_cannot_be_opened_leaves_no_output)
{
	expect_incomplete("true", "\"$1/good.htdump\" \"$1/missing\"", ": no such file");
	expect_incomplete("true", "\"$1/missing\" \"$1/good.htdump\"", ": no such file");
	expect_incomplete("true", "\"$1/good.htdump\" /dev/null", "[input/not-a-file]");
	expect_incomplete("true", "\"$1/good.htdump\" Makefile", "[input/unknown-format]");
	expect_incomplete(": > \"$1/empty\"", "\"$1/good.htdump\" \"$1/empty\"", "[input/empty]");
	expect_incomplete("mkdir -p \"$1/none\"", "\"$1/good.htdump\" \"$1/none\"", "[input/not-a-file]");
	/* no process may be read at address 0: EIO */
	expect_incomplete("true", "\"$1/good.htdump\" /proc/self/mem", "cannot read: Input/output error");
}

Test(trust, a_member_that_cannot_be_opened_leaves_no_output)
{
	expect_incomplete("mkdir -p \"$1/in\"; cp " SAMPLE " \"$1/in/a.htdump\"; "
	                  "ln -sf nowhere \"$1/in/b.htdump\"",
	                  "\"$1/in\"", "link to nowhere");
	expect_incomplete("mkdir -p \"$1/in\"; cp " SAMPLE " \"$1/in/a.htdump\"; mkfifo \"$1/in/b.htdump\"",
	                  "\"$1/in\"", "[input/not-a-file]");
	if (geteuid() != 0) /* root may read all */
		expect_incomplete("mkdir -p \"$1/in\"; cp " SAMPLE " \"$1/in/a.htdump\"; "
		                  "cp " SAMPLE " \"$1/in/b.htdump\"; chmod 0 \"$1/in/b.htdump\"",
		                  "\"$1/in\"", "[input/denied]");
}

Test(trust, an_output_that_was_there_stays_when_an_input_is_missing)
{
	char *const dir = make_folder();
	struct ran r = shell(dir, "echo old > \"$1/out.json\"; "
	                          "\"$0\" convert -f \"$1/good.htdump\" \"$1/no\" -o \"$1/out.json\"; "
	                          "echo \"status $?\"; cat \"$1/out.json\"");

	cr_expect_str_eq(r.out, "status 2\nold\n");
	ran_free(&r);
	remove_folder(dir);
}

/* A record that is cut and a compressed stream that is cut have the same status, and leave what came before.
 */
Test(trust, a_cut_record_and_a_cut_gzip_have_the_same_status)
{
	static const char *const ways[][2] = {
		{ "head -c 1500 " SAMPLE, "[htdump/cut-record]" },
		{ "gzip -c " SAMPLE " | head -c 700", "[input/packed-cut]" },
	};

	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		static const char *const readers[] = { "validate", "stats", "cat", "info",
			                               "convert --to chrome -f -o \"$1/out.json\"" };
		for (size_t k = 0; k < sizeof readers / sizeof readers[0]; k++) {
			char *const dir = make_folder();
			char command[2048];
			snprintf(command, sizeof command, "%s | \"$0\" %s - 2>&1", ways[i][0], readers[k]);
			struct ran r = shell(dir, command);
			cr_expect_eq(r.status, STATUS_FINDINGS, "%s: status %d: %s", command, r.status,
			             r.out);
			cr_expect_not_null(strstr(r.out, ways[i][1]), "%s: %s", command, r.out);
			cr_expect_eq(exists(dir, "out.json"), k == 4);
			ran_free(&r);
			remove_folder(dir);
		}
	}
}

/* A wrong --from: nothing could be read. */
Test(trust, an_input_of_which_nothing_is_read_makes_no_output)
{
	static const char *const from[] = { "dial9", "heph", "ovni", "dftracer", "chrome", "ndjson" };
	char *const dir = make_folder(), out[600];
	const char *const in = "testdata/htdump/good/wire-little.htdump";

	snprintf(out, sizeof out, "%s/o.json", dir);
	for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
		struct ran r =
		    run_tool((const char *const[]){ "convert", "--from", from[i], in, out, NULL }, NULL, 0);
		cr_expect_eq(r.status, 2, "%s: status %d: %s", from[i], r.status, r.err);
		cr_expect_not_null(strstr(r.err, "its content looks like htdump (leave out --from)"), "%s",
		                   r.err);
		cr_expect_not_null(strstr(r.err, NOT_WRITTEN), "%s", r.err);
		cr_expect_neq(access(out, F_OK), 0, "%s", from[i]);
		ran_free(&r);
		r = run_tool((const char *const[]){ "merge", "--align", "none", "--from", from[i], in, "-o",
		                                    out, NULL },
		             NULL, 0);
		cr_expect(r.status == 2 && access(out, F_OK) != 0, "merge, %s: status %d: %s", from[i],
		          r.status, r.err);
		ran_free(&r);
		r = run_tool((const char *const[]){ "convert", "--split", "by=tid", "--to", "ndjson",
		                                    "--from", from[i], in, out, NULL },
		             NULL, 0);
		cr_expect(r.status == 2 && access(out, F_OK) != 0, "parts, %s: status %d: %s", from[i],
		          r.status, r.err);
		ran_free(&r);
	}
	remove_folder(dir);
}

/* ---- members of archives ---- */

#define GOOD "testdata/htdump/good/wire-little.htdump"

static char *folder_with_a_trace(void)
{
	char *const dir = make_folder(), path[1024];
	size_t n;
	char *const p = read_whole(GOOD, &n);

	cr_assert_not_null(p);
	snprintf(path, sizeof path, "%s/a.htdump", dir);
	cr_assert(write_whole(path, p, n));
	free(p);
	return dir;
}

/* validate says `what` of dir/name, and reads the trace all the same. */
static void expect_told(const char *dir, const char *name, const char *what)
{
	struct ran r = run_tool((const char *const[]){ "validate", dir, NULL }, NULL, 0);
	char line[1200];

	snprintf(line, sizeof line, "%s/%s: %s\n", dir, name, what);
	cr_expect_eq(r.status, STATUS_UNREADABLE, "%d", r.status);
	cr_expect_not_null(strstr(r.out, line), "no %s in %s", line, r.out);
	cr_expect_not_null(strstr(r.out, "a.htdump: valid"), "%s", r.out);
	ran_free(&r);
}

/* They have no name of a trace, but may have led to a folder of traces. */
Test(trust, links_that_lead_nowhere)
{
	char *const dir = folder_with_a_trace(), path[1024];

	snprintf(path, sizeof path, "%s/run", dir);
	cr_assert_eq(symlink("gone", path), 0);
	expect_told(dir, "run", "is a link to nowhere");
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(symlink("run", path), 0);
	expect_told(dir, "run", "Too many levels of symbolic links");
	remove_folder(dir);
}

/* Folders in folders, deeper than a path can name. */
static int make_deep(const char *dir, const char *name, int depth)
{
	int at = open(dir, O_RDONLY | O_DIRECTORY);

	for (int i = 0; i < depth && at >= 0; i++) {
		cr_assert_eq(mkdirat(at, name, 0700), 0);
		const int below = openat(at, name, O_RDONLY | O_DIRECTORY);
		close(at);
		at = below;
	}
	return at;
}

static void remove_deep(const char *dir)
{
	struct ran r = run_program((const char *const[]){ "rm", "-rf", dir, NULL }, NULL, 0);

	ran_free(&r);
}

Test(trust, a_path_that_is_too_long)
{
	char *const dir = folder_with_a_trace(), name[201] = "", file[300];

	memset(name, 'd', 200);
	const int at = make_deep(dir, name, 25);
	cr_assert_geq(at, 0);
	snprintf(file, sizeof file, "%s.htdump", name);
	close(openat(at, file, O_CREAT | O_WRONLY, 0600));
	close(at);
	struct ran r = run_tool((const char *const[]){ "validate", dir, NULL }, NULL, 0);
	cr_expect_eq(r.status, STATUS_UNREADABLE);
	cr_expect_not_null(strstr(r.out, "ddd: File name too long\n"), "%s", r.out);
	ran_free(&r);
	remove_deep(dir);
	free(dir);
}

static bool named_like_a_trace(void *ctx, const char *name)
{
	(void)ctx;
	return strstr(name, ".htdump") != NULL;
}

static const struct input_tree_problem *problem_of(const struct input_tree *t, const char *suffix)
{
	for (size_t i = 0; i < t->nproblems; i++) {
		const size_t n = strlen(t->problems[i].path), m = strlen(suffix);
		if (n > m && strcmp(t->problems[i].path + n - m, suffix) == 0)
			return &t->problems[i];
	}
	return NULL;
}

static void expect_problem(const struct input_tree *t, const char *suffix, const char *text)
{
	const struct input_tree_problem *const p = problem_of(t, suffix);

	cr_assert_not_null(p, "no problem of %s", suffix);
	cr_expect_eq(p->fault, INPUT_DENIED);
	cr_expect_not_null(strstr(p->text, text), "%s: %s", suffix, p->text);
}

/* As a user who may list one folder but not search it, and may not even list another one. */
Test(trust, folders_without_permissions)
{
	static const char *const names[] = { "listed", "closed" };
	static const mode_t modes[] = { 0644, 0 };
	char *const dir = folder_with_a_trace(), path[1100];
	struct input_tree t = { .n = 0 };

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		cr_assert_eq(mkdir(path, 0755), 0);
		snprintf(path, sizeof path, "%s/%s/b.htdump", dir, names[i]);
		cr_assert(write_whole(path, "x", 1));
		snprintf(path, sizeof path, "%s/%s/notes", dir, names[i]);
		cr_assert(write_whole(path, "x", 1));
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		cr_assert_eq(chmod(path, modes[i]), 0);
	}
	cr_assert_eq(chmod(dir, 0755), 0);
	const bool root = geteuid() == 0;
	cr_assert(!root || seteuid(65534) == 0);
	input_tree_list(&t, dir, named_like_a_trace, NULL);
	cr_assert(!root || seteuid(0) == 0);
	cr_expect_eq(t.n, 1);
	cr_expect_eq(t.nproblems, 3);
	expect_problem(&t, "/listed",
	               "its 2 entries cannot be looked at (no x permission): Permission denied");
	expect_problem(&t, "/listed/b.htdump", "Permission denied");
	expect_problem(&t, "/closed", "Permission denied");
	input_tree_free(&t);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		cr_assert_eq(chmod(path, 0700), 0);
	}
	remove_folder(dir);
}

/* ---- foreign files ---- */

/* What validate says of bytes in a file of this name. */
static void expect(const char *name, const void *p, size_t n, const char *want)
{
	char *const dir = make_folder(), path[1100], line[600];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	cr_assert(write_whole(path, p, n));
	snprintf(line, sizeof line, ":@0: error: the input is %s [input/unknown-format]\n", want);
	struct ran r = run_tool((const char *const[]){ "validate", path, NULL }, NULL, 0);
	cr_expect_eq(r.status, STATUS_UNREADABLE, "%s: %s", name, r.out);
	cr_expect_not_null(strstr(r.out, line), "%s: no %s: %s", name, line, r.out);
	ran_free(&r);
	r = run_tool((const char *const[]){ "convert", "--to", "chrome", path, "-", NULL }, NULL, 0);
	cr_expect_eq(r.status, STATUS_UNREADABLE, "%s: %s", name, r.err);
	cr_expect_not_null(strstr(r.err, line), "%s: no %s: %s", name, line, r.err);
	ran_free(&r);
	remove_folder(dir);
}

Test(trust, foreign_files_are_named)
{
	static const struct {
		const char *name, *bytes;
		size_t n;
		const char *want;
	} rows[] = {
#define ROW(name, bytes, want) { name, bytes, sizeof(bytes) - 1, want }
		ROW("a.lz4", "\x04\x22\x4d\x18\x64\x40\xa7\0\0\0\0",
		    "LZ4-compressed data: unpack it first (lz4 -d)"),
		ROW("a.bz2", "BZh91AY&SY\0\0", "bzip2-compressed data: unpack it first (bzip2 -d)"),
		ROW("a.7z", "7z\xbc\xaf\x27\x1c\0\4",
		    "a 7z archive: unpack it and name the traces that were in it"),
		ROW("a.zip", "PK\3\4\x14\0\0\0\x08\0",
		    "a zip archive: unpack it and name the traces that were in it"),
		ROW("prog",
		    "\x7f"
		    "ELF\2\1\1\0\0\0",
		    "an ELF program, library or core dump: name the trace that the "
		    "program wrote"),
		ROW("perf.data", "PERFILE2h\0\0\0\0\0\0\0",
		    "a perf.data file of Linux perf: perf script prints it"),
		ROW("stream_0", "\xc1\x1f\xfc\xc1\0\0\0\0",
		    "a stream in the Common Trace Format: babeltrace2 reads it"),
		ROW("metadata", "/* CTF 1.8 */\n",
		    "metadata of the Common Trace Format: babeltrace2 reads it"),
		ROW("a.sqlite", "SQLite format 3\0\x10\0", "an SQLite database: sqlite3 reads it"),
		ROW("a.html", "<!DOCTYPE html>\n", "an HTML page: the download of a trace may have failed"),
		ROW("package.json", "{\n  \"name\": \"x\",\n  \"version\": \"1.0\"\n}\n",
		    "JSON, but not a trace (it has no traceEvents): if it belongs to the trace of a folder, "
		    "name the folder"),
		ROW("a.pftrace", "\x0a\x0c\x40\x01\x50\x01\x58\x06\xf2\x03\x02\x08\x01\x00\x0a\x02\x40\x02",
		    "a Perfetto trace: tracetool writes these, but does not read them (trace_processor "
		    "does)"),
		ROW("a.csv", "kind,ts_ns,dur_ns,name\n",
		    "a CSV table of events: tracetool writes these, but does not read them"),
		ROW("stream.json", "{\"version\":3,\"ovni\":{\"part\":\"thread\"}}",
		    "named like a file beside a trace of format ovni, and holds no events: name the folder "
		    "that it is in"),
		ROW("metadata.json", "{\"version\":2,\"app_id\":1}",
		    "named like a file beside a trace of format ovni, and holds no events: name the folder "
		    "that it is in"),
#undef ROW
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		expect(rows[i].name, rows[i].bytes, rows[i].n, rows[i].want);
}

/* As tar makes it, packed too. */
Test(trust, a_tar_archive_is_named)
{
	char *const dir = make_folder(), path[1100];
	size_t n, packed;

	snprintf(path, sizeof path, "%s/a", dir);
	struct ran r =
	    run_program((const char *const[]){ "tar", "-cf", path, "testdata/htdump/good", NULL }, NULL, 0);
	cr_assert_eq(r.status, 0, "%s", r.err);
	ran_free(&r);
	char *const p = read_whole(path, &n);
	cr_assert_not_null(p);
	void *const z = gzip_copy(p, n, &packed);
	expect("a", p, n, "a tar archive: name it .tar (.tar.gz, .tar.zst, .tar.xz), and it is read");
	expect("a.gz", z, packed, "a tar archive: name it .tar (.tar.gz, .tar.zst, .tar.xz), and it is read");
	free(z);
	free(p);
	remove_folder(dir);
}

/* The name of an input stands in messages with what steers a terminal made visible. */
Test(trust, names_of_inputs_are_shown_escaped)
{
	static const char *const ways[] = { "validate", "stats", "info", "cat" };
	char *const dir = make_folder(), path[1100];

	snprintf(path, sizeof path, "%s/\033[31m\nred\xe2\x80\xae.htdump", dir);
	cr_assert(write_whole(path, "x", 1));
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		struct ran r = run_tool((const char *const[]){ ways[i], path, NULL }, NULL, 0);
		cr_expect_eq(r.status, STATUS_UNREADABLE);
		cr_expect_null(strchr(r.out, '\033'), "%s: %s", ways[i], r.out);
		cr_expect_null(strchr(r.err, '\033'), "%s: %s", ways[i], r.err);
		cr_expect(strstr(r.out, "/\\x1b[31m\\x0ared\\u{202e}.htdump:@0: error") != NULL ||
		              strstr(r.err, "/\\x1b[31m\\x0ared\\u{202e}.htdump:@0: error") != NULL,
		          "%s: %s%s", ways[i], r.out, r.err);
		ran_free(&r);
	}
	remove_folder(dir);
}

/* ---- one file by two names ---- */

/* The program in a shell that stands in a folder with the sample: $T is the program, a.htdump the sample,
 * in/b.htdump another copy, and links to both. */
static struct ran in_folder(const char *dir, const char *command)
{
	static const char prepare[] =
	    "T=$(realpath \"$0\"); cp " SAMPLE " \"$1/a.htdump\" && mkdir -p \"$1/in\" && cp " SAMPLE
	    " \"$1/in/b.htdump\" && cd \"$1\" && ln -sf a.htdump link.htdump && ln -f a.htdump hard.htdump "
	    "&& "
	    "ln -sfn in linked && ln -sf ../in/b.htdump in/deep.htdump; ";
	char all[4096];

	snprintf(all, sizeof all, "%s%s", prepare, command);
	return run_program((const char *const[]){ "sh", "-c", all, tool_path(), dir, NULL }, NULL, 0);
}

static void expect_refused(const char *dir, const char *command, const char *words)
{
	size_t before_n, n;
	char path[1024], *const before = read_whole(SAMPLE, &before_n);
	struct ran r = in_folder(dir, command);

	cr_expect_eq(r.status, STATUS_USAGE, "%s: status %d: %s", command, r.status, r.err);
	cr_expect_not_null(strstr(r.err, words), "%s: %s is not in: %s", command, words, r.err);
	ran_free(&r);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, i == 0 ? "a.htdump" : "in/b.htdump");
		char *const after = read_whole(path, &n);
		cr_expect(after != NULL && n == before_n && memcmp(after, before, n) == 0,
		          "%s: the input is another one", command);
		free(after);
	}
	free(before);
}

Test(trust, an_output_that_is_an_input_is_refused)
{
	static const char *const ways[] = {
		"$T convert a.htdump a.htdump",
		"$T convert -f a.htdump a.htdump",
		"$T convert -f a.htdump ./in/../a.htdump",
		"$T convert -f a.htdump link.htdump",
		"$T convert -f link.htdump a.htdump",
		"$T convert -f a.htdump hard.htdump",
		"$T convert -f in/b.htdump a.htdump -o a.htdump",
		"$T convert -f --to chrome a.htdump -o link.htdump",
		"$T convert -f --to htdump - a.htdump < a.htdump",
		"$T convert -f --to htdump a.htdump - >> a.htdump",
		"$T convert -f --to htdump a.htdump /dev/stdout >> a.htdump",
		"$T stats -f -o a.htdump a.htdump",
		"$T validate -f -o a.htdump link.htdump",
		"$T cat -f -o hard.htdump a.htdump",
		"$T info -f -o a.htdump in a.htdump",
	};
	char *const dir = make_folder();

	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
		expect_refused(dir, ways[i], " is the input ");
	remove_folder(dir);
}

Test(trust, an_output_that_is_a_member_of_an_input_is_refused)
{
	static const char *const ways[] = {
		"$T convert -f in in/b.htdump",      "$T convert -f in in/deep.htdump",
		"$T convert -f linked in/b.htdump",  "$T convert -f a.htdump in -o linked/b.htdump",
		"$T stats -f -o in/b.htdump linked",
	};
	char *const dir = make_folder();

	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
		expect_refused(dir, ways[i], " is the input ");
	remove_folder(dir);
}

Test(trust, an_output_that_holds_an_input_is_refused)
{
	static const char *const ways[] = {
		"$T convert -f --to htdump in in",
		"$T convert -f --to htdump in/b.htdump in",
		"$T convert -f --to htdump in/b.htdump linked",
		"$T convert -f --to htdump a.htdump .",
		"ln -s in/b.htdump far.htdump; $T convert -f --to htdump far.htdump in",
	};
	char *const dir = make_folder();

	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
		expect_refused(dir, ways[i], " holds the input ");
	remove_folder(dir);
}

Test(trust, an_output_that_is_a_file_of_an_option_is_refused)
{
	char *const dir = make_folder();

	expect_refused(dir,
	               "printf 'format: htdump\\n' > v.yaml; $T convert -f --to chrome --vocabulary v.yaml "
	               "a.htdump v.yaml",
	               "the output v.yaml is the vocabulary v.yaml; nothing was done");
	expect_refused(dir, "printf '1 a\\n' > m; $T convert -f --to chrome --label-map m a.htdump m",
	               "the output m is the label-map m; nothing was done");
	remove_folder(dir);
}

/* Others of the same folder, and devices that are both, are fine. */
Test(trust, an_output_beside_its_input_is_written)
{
	char *const dir = make_folder();
	struct ran r = in_folder(
	    dir, "$T convert a.htdump in/new.htdump && $T convert -f a.htdump in/new.htdump && "
	         "cmp a.htdump in/new.htdump && "
	         "$T convert -f --to chrome - - < a.htdump > /dev/null && $T stats -q a.htdump -o t");

	cr_expect_eq(r.status, 0, "%s", r.err);
	ran_free(&r);
	remove_folder(dir);
}

/* ---- cost ---- */

/* A file that is put together; its folder is the test's. */
struct made {
	FILE *f;
	char path[1100];
};

static struct made made_begin(const char *dir, const char *name)
{
	struct made m;

	snprintf(m.path, sizeof m.path, "%s/%s", dir, name);
	m.f = fopen(m.path, "w");
	cr_assert_not_null(m.f);
	return m;
}

static void made_end(struct made *m)
{
	cr_assert_eq(fclose(m->f), 0);
}

/* Runs the tool within `seconds` of CPU; returns its status. */
static int run_within(unsigned seconds, const char *format, ...)
{
	char args[4096], command[4500];
	va_list ap;

	va_start(ap, format);
	vsnprintf(args, sizeof args, format, ap);
	va_end(ap);
	snprintf(command, sizeof command, "ulimit -t ${COST_SECONDS:-%u}; \"$0\" %s >/dev/null 2>&1", seconds,
	         args);
	struct ran r = run_program((const char *const[]){ "sh", "-c", command, tool_path(), NULL }, NULL, 0);
	const int status = r.status;
	ran_free(&r);
	return status;
}

/* 64 patterns of 1 KB, and 4,500 names of 1 KB that are referred to again and again. */
Test(trust_cost, patterns_and_names_that_are_long)
{
	char *const dir = make_folder();
	struct made t = made_begin(dir, "t.json"), p = made_begin(dir, "p.yaml");
	char stars[14 * 61 + 1], name[1001];

	memset(stars, 'a', sizeof stars - 1);
	for (int i = 0; i < 14; i++) /* of 16 that a pattern may have */
		stars[61 * i] = '*';
	stars[sizeof stars - 1] = '\0';
	fputs("expect:\n  events:\n", p.f);
	for (int i = 0; i < 64; i++)
		fprintf(p.f, "    - {name: \"%s*%db*\", count: {min: 0}}\n", stars, i);
	made_end(&p);
	memset(name, 'a', 1000);
	fputs("[\n", t.f);
	for (unsigned i = 0; i < 9000; i++) {
		snprintf(name + 994, 7, "%06u", i % 4500);
		fprintf(t.f, "%s{\"ph\":\"X\",\"name\":\"%s\",\"ts\":%u,\"dur\":1,\"pid\":1,\"tid\":1}",
		        i > 0 ? ",\n" : "", name, i * 10);
	}
	fputs("\n]\n", t.f);
	made_end(&t);
	cr_expect_eq(run_within(60, "validate --config %s/p.yaml %s/t.json", dir, dir), 0);
	/* More stars are refused before the trace is read. */
	p = made_begin(dir, "p.yaml");
	fputs("expect: {events: [{name: \"", p.f);
	for (int i = 0; i < 400; i++)
		fputs("*a", p.f);
	fputs("\", count: {min: 0}}]}\n", p.f);
	made_end(&p);
	cr_expect_eq(run_within(60, "validate --config %s/p.yaml %s/t.json", dir, dir), 2);
	remove_folder(dir);
}

/* 16,000 rules of a vocabulary: refused, or looked up. */
Test(trust_cost, a_vocabulary_of_many_rules)
{
	char *const dir = make_folder();
	struct made v = made_begin(dir, "v.yaml");

	fputs("format: chrome\nevents:\n", v.f);
	for (unsigned i = 0; i < 16000; i++)
		fprintf(v.f, "  - match: \"A%u*\"\n    name: \"{x}\"\n", i);
	made_end(&v);
	const int status =
	    run_within(60, "validate --vocabulary %s/v.yaml testdata/chrome/good/object.json", dir);
	cr_expect(status == 0 || status == 2, "status %d", status);
	remove_folder(dir);
}

/* As many parts as are promised. */
Test(trust_cost, a_part_for_each_of_many_threads)
{
	char *const dir = make_folder();
	struct made t = made_begin(dir, "t.json");

	fputs("[\n", t.f);
	for (unsigned i = 0; i < 9999; i++)
		fprintf(t.f, "%s{\"ph\":\"X\",\"name\":\"s\",\"ts\":%u,\"dur\":1,\"pid\":1,\"tid\":%u}",
		        i > 0 ? ",\n" : "", i * 10, i + 1);
	fputs("\n]\n", t.f);
	made_end(&t);
	cr_expect_eq(run_within(60, "convert -q --split by=tid --to ndjson %s/t.json %s/o", dir, dir), 0);
	remove_folder(dir);
}

/* 8,000,000 numbers where a baseline has reports: memory is a small multiple of its size. */
Test(host_trust, a_baseline_of_many_numbers)
{
	char *const dir = make_folder();
	struct made b = made_begin(dir, "base.json");
	struct bench_cost cost;

	fputs("{\"inputs\":[", b.f);
	for (unsigned i = 0; i < 8000000; i++)
		fputs("0,", b.f);
	fputs("0]}", b.f);
	made_end(&b);
	const char *const argv[] = { tool_path(),  "validate", "-q",
		                     "--baseline", b.path,     "testdata/htdump/good/wire-little.htdump",
		                     NULL };
	cr_assert(bench_run(argv, NULL, "/dev/null", &cost));
	cr_expect_eq(cost.status, 2);
	cr_expect_lt(cost.rss_kib, (4 * 16 + 64) * 1024, "%ld KiB", cost.rss_kib);
	remove_folder(dir);
}
