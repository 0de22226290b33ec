/* Folders and several inputs as one trace. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "cli/command.h"

#define GOOD "testdata/htdump/good/"
#define BAD "testdata/htdump/bad/"

static void copy(const char *from, const char *dir, const char *name)
{
	char path[1024];
	size_t n;
	char *const p = read_whole(from, &n);

	cr_assert_not_null(p, "%s", from);
	snprintf(path, sizeof path, "%s/%s", dir, name);
	cr_assert(write_whole(path, p, n), "%s", path);
	free(p);
}

static void sub_folder(const char *dir, const char *name)
{
	char path[1024];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	cr_assert_eq(mkdir(path, 0700), 0);
}

/* b/ before c, a loop, a file that is no trace, and one that is broken. */
static char *make_tree(void)
{
	char *const dir = make_folder();
	char path[1024];

	sub_folder(dir, "b");
	copy(GOOD "wire-little.htdump", dir, "b/one.htdump");
	copy(GOOD "wire-little.htdump.gz", dir, "a.htdump.gz");
	copy(GOOD "document-big.htdump", dir, "c.htdump");
	copy("README.md", dir, "notes.txt");
	snprintf(path, sizeof path, "%s/b/loop", dir);
	cr_assert_eq(symlink("..", path), 0);
	return dir;
}

static size_t count(const char *text, const char *word)
{
	size_t n = 0;

	for (const char *p = text; (p = strstr(p, word)) != NULL; p += strlen(word))
		n++;
	return n;
}

static struct ran run(const char *a, const char *b, const char *c, const char *d, const char *e)
{
	const char *const args[] = { a, b, c, d, e, NULL };

	return run_tool(args, NULL, 0);
}

Test(cmd_folder, files_in_the_order_of_their_paths)
{
	char *const dir = make_tree(), want[3][1100];
	struct ran r = run("validate", dir, NULL, NULL, NULL);
	const char *at[3];

	cr_expect_eq(r.status, STATUS_CLEAN, "%s", r.out);
	snprintf(want[0], sizeof want[0], "%s/a.htdump.gz: valid htdump (wire)", dir);
	snprintf(want[1], sizeof want[1], "%s/b/one.htdump: valid htdump (wire)", dir);
	snprintf(want[2], sizeof want[2], "%s/c.htdump: valid htdump (", dir);
	for (int i = 0; i < 3; i++)
		cr_assert_not_null(at[i] = strstr(r.out, want[i]), "%s is not in: %s", want[i], r.out);
	cr_expect(at[0] < at[1] && at[1] < at[2]);
	cr_expect_eq(count(r.out, "one.htdump"), 1, "a loop of links: %s", r.out);
	cr_expect_null(strstr(r.out, "notes.txt"));
	ran_free(&r);
	remove_folder(dir);
}

Test(cmd_folder, one_trace_with_a_process_for_each_file)
{
	char *const dir = make_tree();
	struct ran one = run("convert", "--to", "chrome", GOOD "wire-little.htdump", "-");
	struct ran all = run("convert", "--to", "chrome", dir, "-");

	cr_expect_eq(all.status, STATUS_CLEAN, "%s", all.err);
	cr_expect_eq(count(all.out, "\"process_name\""), 3);
	cr_expect_not_null(strstr(all.out, "\"pid\":4194309"));
	cr_expect_not_null(strstr(all.out, "\"dialect\":\"wire and document\""));
	cr_expect_gt(count(all.out, "\"ph\":\"X\"") + count(all.out, "\"ph\":\"i\""),
	             count(one.out, "\"ph\":\"X\"") + count(one.out, "\"ph\":\"i\""));
	ran_free(&one);
	ran_free(&all);
	remove_folder(dir);
}

Test(cmd_folder, several_inputs_need_o)
{
	struct ran r = run("convert", GOOD "wire-little.htdump", GOOD "wire-big.htdump", "x.json", NULL);

	cr_expect_eq(r.status, STATUS_USAGE);
	cr_expect_not_null(strstr(r.err, "-o"));
	ran_free(&r);
	const char *const args[] = {
		"convert", "--to", "chrome", "-o", "-", GOOD "wire-little.htdump", GOOD "wire-big.htdump",
		NULL
	};
	r = run_tool(args, NULL, 0);
	cr_expect_eq(r.status, STATUS_CLEAN, "%s", r.err);
	cr_expect_eq(count(r.out, "\"process_name\""), 2);
	ran_free(&r);
}

Test(cmd_folder, a_broken_file_spoils_no_other)
{
	char *const dir = make_tree();
	struct ran whole = run("stats", "--format", "json", dir, NULL);

	copy(BAD "unknown-class.htdump", dir, "b/broken.htdump");
	copy("README.md", dir, "b/text.htdump");
	struct ran r = run("stats", "--format", "json", dir, NULL);
	cr_expect_eq(r.status, STATUS_UNREADABLE, "text.htdump is of no known format");
	cr_expect_not_null(strstr(r.err, "b/broken.htdump:@"), "%s", r.err);
	cr_expect_not_null(strstr(r.err, "b/text.htdump:@0: error: "), "%s", r.err);
	cr_expect_gt(r.out_n, whole.out_n / 2);
	cr_expect_not_null(strstr(r.out, "\"spans\""));
	ran_free(&whole);
	ran_free(&r);
	remove_folder(dir);
}

Test(cmd_folder, earliest_time_of_all_files)
{
	char *const dir = make_tree();
	struct ran r = run("convert", "--rebase", "--to=chrome", dir, "-");

	cr_expect_eq(r.status, STATUS_CLEAN, "%s", r.err);
	cr_expect_null(strstr(r.out, "\"ts\":-"));
	cr_expect_not_null(strstr(r.out, "\"ts\":0.000"));
	ran_free(&r);
	remove_folder(dir);
}

Test(cmd_folder, what_cannot_be_read_in_a_folder_is_said)
{
	char *const dir = make_tree(), path[1024];

	snprintf(path, sizeof path, "%s/pipe.htdump", dir);
	cr_assert_eq(mkfifo(path, 0600), 0);
	snprintf(path, sizeof path, "%s/gone.htdump", dir);
	cr_assert_eq(symlink("nothing", path), 0);
	struct ran r = run("validate", dir, NULL, NULL, NULL);
	cr_expect_eq(r.status, STATUS_UNREADABLE);
	cr_expect_not_null(strstr(r.out, "pipe.htdump:@0: error: is not a regular file [input/not-a-file]"),
	                   "%s", r.out);
	cr_expect_not_null(strstr(r.out, "gone.htdump: is a link to nowhere\n"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "c.htdump: valid"), "%s", r.out);
	ran_free(&r);
	remove_folder(dir);
}

/* Links that lead out of a named folder are left out, with a warning; what is named may be a link. */
Test(cmd_folder, links_out_of_a_folder_are_left_out)
{
	char *const dir = make_tree(), *const other = make_folder(), path[1024], file[1024];

	copy(GOOD "document-big.htdump", other, "far.htdump");
	snprintf(path, sizeof path, "%s/far", dir);
	cr_assert_eq(symlink(other, path), 0);
	snprintf(file, sizeof file, "%s/far.htdump", other);
	snprintf(path, sizeof path, "%s/file.htdump", dir);
	cr_assert_eq(symlink(file, path), 0);
	snprintf(path, sizeof path, "%s/near.htdump", dir);
	cr_assert_eq(symlink("b/one.htdump", path), 0);
	struct ran r = run("validate", dir, NULL, NULL, NULL);
	cr_expect_eq(r.status, 0, "%s", r.out);
	cr_expect_not_null(strstr(r.out, "left out: links that lead out of the directory (2), directories"),
	                   "%s", r.out);
	cr_expect_not_null(strstr(r.out, "/far; name them to have them read"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "near.htdump: valid"), "%s", r.out);
	cr_expect_null(strstr(r.out, "file.htdump: valid"), "%s", r.out);
	cr_expect_null(strstr(r.out, "far.htdump"), "%s", r.out);
	ran_free(&r);
	snprintf(path, sizeof path, "%s/far", dir);
	r = run("validate", path, NULL, NULL, NULL);
	cr_expect_not_null(strstr(r.out, "far.htdump: valid"), "%s", r.out);
	ran_free(&r);
	snprintf(path, sizeof path, "%s/file.htdump", dir);
	r = run("validate", path, NULL, NULL, NULL);
	cr_expect_not_null(strstr(r.out, "file.htdump: valid"), "%s", r.out);
	ran_free(&r);
	/* nothing else is in it */
	snprintf(path, sizeof path, "%s/far.htdump", other);
	cr_assert_eq(unlink(path), 0);
	snprintf(path, sizeof path, "%s/back", other);
	cr_assert_eq(symlink(dir, path), 0);
	r = run("validate", other, NULL, NULL, NULL);
	cr_expect_eq(r.status, STATUS_UNREADABLE, "%s", r.out);
	cr_expect_not_null(strstr(r.out, "without files that are named like traces"), "%s", r.out);
	ran_free(&r);
	remove_folder(other);
	remove_folder(dir);
}

/* Tracks are those that stats counts; times for people, too. */
Test(cmd_folder, info_counts_tracks_as_stats_does)
{
	struct ran r = run("stats", "testdata/ovni/folders/good-two-threads", NULL, NULL, NULL);
	const char *const counted = strstr(r.out, " track");
	char line[64];

	cr_assert_not_null(counted, "%s", r.out);
	const char *digits = counted;
	while (digits > r.out && digits[-1] >= '0' && digits[-1] <= '9')
		digits--;
	snprintf(line, sizeof line, "\ntracks:   %.*s in ", (int)(counted - digits), digits);
	ran_free(&r);
	r = run("info", "testdata/ovni/folders/good-two-threads", NULL, NULL, NULL);
	cr_expect_not_null(strstr(r.out, line), "%s: %s", line, r.out);
	ran_free(&r);
}

/* A file that is no trace, behind one that is broken: each gets what is said of itself only. */
Test(cmd_folder, the_last_file_is_no_trace)
{
	char *const dir = make_folder(), unread[1100];

	copy(BAD "cut-record.htdump", dir, "a.htdump");
	copy("README.md", dir, "z.htdump");
	struct ran r = run("info", dir, NULL, NULL, NULL);
	cr_expect_eq(r.status, STATUS_UNREADABLE);
	cr_expect_not_null(strstr(r.out, "format:   htdump"), "%s%s", r.out, r.err);
	snprintf(unread, sizeof unread, "%s/a.htdump: 21 bytes not read", dir);
	cr_expect_not_null(strstr(r.err, unread), "%s", r.err);
	cr_expect_eq(count(r.err, "bytes not read"), 1, "%s", r.err);
	ran_free(&r);
	remove_folder(dir);
}

/* Descriptors can be read once only: nothing of them is looked at before, and their times may be the
 * earliest. */
Test(cmd_folder, rebase_with_a_pipe_beside_a_file)
{
	static const char *const names[] = { "-", "/dev/stdin", "/dev/fd/0" };
	size_t n;
	char *const early =
	    read_whole(GOOD "overlapping.htdump", &n); /* begins at 1000 ns, the other at 5000000 */

	cr_assert_not_null(early);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *const args[] = { "convert", "--rebase", "--to=chrome",
			                     "-o",      "-",        GOOD "wire-little.htdump",
			                     names[i],  NULL };
		struct ran r = run_tool(args, early, n);
		cr_expect_eq(r.status, STATUS_CLEAN, "%s", r.err);
		cr_expect_not_null(strstr(r.out, "{\"name\":\"first\",\"cat\":\"HT_CallstackStringEvent\","
		                                 "\"ph\":\"X\",\"ts\":-4999.000,"),
		                   "%s: %s", names[i], r.out);
		ran_free(&r);
	}
	free(early);
}

/* What is still open comes at the end, when the streams are closed. */
Test(cmd_folder, tracks_are_declared_once)
{
	struct ran r = run("convert", "--to", "chrome", "testdata/ovni/folders-state/nesting-left-open", "-");

	cr_expect_eq(r.status, STATUS_CLEAN, "%s", r.err);
	cr_expect_eq(count(r.out, "\"unfinished\":true"), 2, "%s", r.out);
	cr_expect_eq(count(r.out, "\"process_name\""), 1, "%s", r.out);
	cr_expect_eq(count(r.out, "true_pid"), 0);
	ran_free(&r);
}

Test(cmd_folder, a_format_without_dialects_names_none)
{
	struct ran r = run("info", "testdata/ovni/folders/good-two-threads", NULL, NULL, NULL);

	cr_expect_null(strstr(r.out, "dialect"), "%s", r.out);
	ran_free(&r);
	r = run("convert", "--to", "chrome", "testdata/ovni/folders/good-two-threads", "-");
	cr_expect_null(strstr(r.out, "dialect"), "%s", r.out);
	ran_free(&r);
	r = run("info", GOOD "wire-little.htdump", NULL, NULL, NULL);
	cr_expect_not_null(
	    strstr(r.out, "format:   htdump (HawkTracer dump), dialect wire, byte order little\n"), "%s",
	    r.out);
	ran_free(&r);
}
