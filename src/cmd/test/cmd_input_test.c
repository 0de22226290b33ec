#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "cli/command.h"

/* What is given as an input, and what becomes of it: each with a rule, status 2, no crash and no waiting. */

#define RUN(...) run_tool((const char *const[]){ __VA_ARGS__, NULL }, NULL, 0)
#define SAMPLE "testdata/htdump/good/wire-little.htdump"
#define BROKEN "testdata/htdump/bad/unknown-class.htdump"

static const char *const readers[] = { "validate", "stats", "cat", "info", "convert" };

/* Every command that reads says this, on the output that is for it, and ends with status 2. */
static void expect_refused(const char *path, const char *words)
{
	for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
		const bool convert = strcmp(readers[i], "convert") == 0;
		struct ran r = convert ? RUN("convert", "--to", "chrome", path, "-") : RUN(readers[i], path);
		cr_expect_eq(r.status, STATUS_UNREADABLE, "%s %s: status %d", readers[i], path, r.status);
		const char *const said = strcmp(readers[i], "validate") == 0 ? r.out : r.err;
		cr_expect_not_null(strstr(said, words), "%s %s: %s is not in: %s", readers[i], path, words,
		                   said);
		if (convert)
			cr_expect_str_eq(r.out, "", "%s", r.out);
		ran_free(&r);
	}
}

Test(cmd_input, things_that_are_no_traces)
{
	char *const dir = make_folder();
	char path[1024];

	expect_refused("nowhere/at/all", "nowhere/at/all: no such file\n");
	expect_refused("nowhere", "nowhere: no such file\n");
	expect_refused(dir, "is a directory without files that are named like traces");
	expect_refused(dir, "[input/not-a-file]");
	expect_refused("/dev/null", "[input/not-a-file]");
	expect_refused("/dev/zero", "[input/not-a-file]");
	expect_refused("-", "[input/empty]"); /* its standard input is /dev/null */
	snprintf(path, sizeof path, "%s/empty", dir);
	cr_assert(write_whole(path, "", 0));
	expect_refused(path, "[input/empty]");
	snprintf(path, sizeof path, "%s/nonsense", dir);
	cr_assert(write_whole(path, "this is no trace at all\n", 24));
	expect_refused(path, "[input/unknown-format]");
	snprintf(path, sizeof path, "%s/fifo", dir);
	cr_assert_eq(mkfifo(path, 0600), 0);
	expect_refused(path, "named FIFO");
	snprintf(path, sizeof path, "%s/link", dir);
	cr_assert_eq(symlink("nothing-here", path), 0);
	expect_refused(path, "a link to nowhere\n");
	if (geteuid() != 0) { /* root may read everything */
		snprintf(path, sizeof path, "%s/denied", dir);
		cr_assert(write_whole(path, "x", 1));
		cr_assert_eq(chmod(path, 0), 0);
		expect_refused(path, "[input/denied]");
	}
	remove_folder(dir);
}

/* A name may be longer than a path can be, and hold anything. */
Test(cmd_input, names_are_shown_escaped)
{
	static const char name[] = "a\n\x1b[31mb\x7f\xff";
	char *const dir = make_folder();
	char path[1024], long_name[6000];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	cr_assert(write_whole(path, "nonsense", 8));
	expect_refused(path, "/a\\x0a\\x1b[31mb\\x7f\\xff:@0: error: ");
	for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
		struct ran r = i == 4 ? RUN("convert", "--to", "chrome", path, "-") : RUN(readers[i], path);
		cr_expect_null(memchr(r.out, 0x1b, r.out_n), "%s", readers[i]);
		cr_expect_null(memchr(r.err, 0x1b, r.err_n), "%s", readers[i]);
		ran_free(&r);
	}
	memset(long_name, 'x', sizeof long_name);
	long_name[sizeof long_name - 1] = '\0';
	struct ran r = RUN("stats", long_name);
	cr_expect_eq(r.status, STATUS_UNREADABLE);
	ran_free(&r);
	remove_folder(dir);
}

Test(cmd_input, of_several_inputs_the_worst_counts_and_all_are_read)
{
	struct ran r = RUN("validate", SAMPLE, BROKEN, SAMPLE);

	cr_expect_eq(r.status, STATUS_FINDINGS);
	ran_free(&r);
	r = RUN("validate", BROKEN, "nowhere", SAMPLE);
	cr_expect_eq(r.status, STATUS_UNREADABLE);
	cr_expect_not_null(strstr(r.out, SAMPLE ": valid"));
	cr_expect_not_null(strstr(r.out, BROKEN ": not valid"));
	ran_free(&r);
	r = RUN("info", "nowhere", SAMPLE);
	cr_expect_eq(r.status, STATUS_UNREADABLE);
	cr_expect_not_null(strstr(r.out, "file:     " SAMPLE));
	ran_free(&r);
	r = RUN("stats", "nowhere", SAMPLE, BROKEN);
	cr_expect_eq(r.status, STATUS_UNREADABLE);
	cr_expect_not_null(strstr(r.out, SAMPLE ": htdump"));
	cr_expect_not_null(strstr(r.out, BROKEN ": htdump"));
	ran_free(&r);
	r = RUN("cat", "-n", "1", SAMPLE, BROKEN);
	cr_expect(r.status <= STATUS_FINDINGS); /* how much is checked behind the limit is not promised */
	cr_expect_eq(strstr(r.out, "# " SAMPLE " (htdump)\n@0 "), r.out, "%s", r.out);
	cr_expect_not_null(strstr(r.out, "\n# " BROKEN " (htdump)\n@0 "));
	ran_free(&r);
}

/* The same bytes by file, pipe and packed give the same report. */
Test(cmd_input, standard_input_and_packed)
{
	size_t n, packed;
	char *const p = read_whole(SAMPLE, &n);
	const char *const args[] = { "cat", "-", NULL };

	cr_assert_not_null(p);
	struct ran want = RUN("cat", SAMPLE);
	cr_expect_eq(want.status, 0);
	struct ran r = run_tool(args, p, n);
	cr_expect_str_eq(r.out, want.out);
	ran_free(&r);
	void *z = gzip_copy(p, n, &packed);
	r = run_tool(args, z, packed);
	cr_expect_str_eq(r.out, want.out);
	ran_free(&r);
	free(z);
	z = zstd_copy(p, n, &packed);
	r = run_tool(args, z, packed);
	cr_expect_str_eq(r.out, want.out);
	ran_free(&r);
	r = run_tool(args, z, packed - 20);
	cr_expect_eq(r.status, STATUS_UNREADABLE); /* its one block lacks its end: nothing can be unpacked */
	cr_expect_not_null(strstr(r.err, "[input/packed-cut]"), "%s", r.err);
	ran_free(&r);
	free(z);
	ran_free(&want);
	free(p);
}

/* What process substitution of a shell gives. */
Test(cmd_input, dev_fd)
{
	static const char *const ways[] = {
		"exec \"$0\" stats --format=text /dev/fd/7 7< " SAMPLE,
		"cat " SAMPLE " | \"$0\" stats /dev/stdin",
		"cat " SAMPLE " | \"$0\" stats /dev/fd/0",
		"exec \"$0\" stats - < " SAMPLE,
	};

	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		struct ran r =
		    run_program((const char *const[]){ "sh", "-c", ways[i], tool_path(), NULL }, NULL, 0);
		cr_expect_eq(r.status, 0, "%s: %s", ways[i], r.err);
		cr_expect_not_null(
		    strstr(r.out, ": htdump (wire), 2688 bytes, 57 records, 12 events, 3 tracks\n"), "%s: %s",
		    ways[i], r.out);
		ran_free(&r);
	}
}

Test(cmd_input, format_and_dialect_by_force)
{
	struct ran r = RUN("validate", "--from", "htdump", "README.md");

	cr_expect(r.status == STATUS_FINDINGS, "status %d", r.status);
	cr_expect_not_null(strstr(r.out, "README.md: not valid htdump"), "%s", r.out);
	ran_free(&r);
	r = RUN("validate", "--from-dialect", "wire", SAMPLE);
	cr_expect_eq(r.status, STATUS_CLEAN);
	ran_free(&r);
	r = RUN("validate", "--from-dialect", "document", SAMPLE);
	cr_expect_eq(r.status, STATUS_FINDINGS);
	cr_expect_not_null(strstr(r.out, "htdump (document)"), "%s", r.out);
	ran_free(&r);
}

Test(cmd_input, label_maps)
{
	static const char map[] = "\nframe from the map 3\r\n  frame\tother 18446744073709551615\n";
	static const char labels[] = "testdata/htdump/bad/label-unresolved.htdump";
	char *const dir = make_folder();
	char path[1024];

	snprintf(path, sizeof path, "%s/map", dir);
	cr_assert(write_whole(path, map, sizeof map - 1));
	struct ran r = RUN("cat", "--label-map", path, labels);
	cr_expect_eq(r.status, 0);
	cr_expect_not_null(strstr(r.out, " name=other "), "%s", r.out);
	ran_free(&r);
	cr_assert(write_whole(path, "frame label\n", 12));
	r = RUN("cat", "--label-map", path, labels);
	cr_expect_eq(r.status, STATUS_UNREADABLE);
	cr_expect_not_null(strstr(r.err, "line 1: "), "%s", r.err);
	cr_expect_not_null(strstr(r.err, "[htdump/bad-label-map]"), "%s", r.err);
	ran_free(&r);
	r = RUN("validate", "--label-map", "nowhere", labels);
	cr_expect_eq(r.status, STATUS_UNREADABLE);
	cr_expect_not_null(strstr(r.out, "[htdump/bad-label-map]"), "%s", r.out);
	ran_free(&r);
	remove_folder(dir);
}

Test(cmd_input, options_of_other_formats)
{
	struct ran r = RUN("validate", "--check", "state", "testdata/htdump/good/wire-little.htdump");

	cr_expect_eq(r.status, 0, "%s", r.err);
	cr_expect_not_null(
	    strstr(r.out, "the input is in format htdump, --check is for ovni [input/option-unused]"), "%s",
	    r.out);
	ran_free(&r);
	r = RUN("validate", "--check", "state", "testdata/ovni/good/document.obs");
	cr_expect_null(strstr(r.out, "[input/option-unused]"), "%s", r.out);
	ran_free(&r);
}
