/* Folders and several inputs as one trace. */
/* The program on inputs that are packed with xz. */
#include <criterion/criterion.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cmd/test/cli_test_util.h"

/* ---- files ---- */

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

/* ---- folders ---- */

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
	cr_expect_not_null(strstr(r.out, "[input/elsewhere]"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, ": not valid, 1 error, 1 warning\n"), "%s", r.out);
	cr_expect_null(strstr(r.out, ": valid"), "%s", r.out);
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

/* ---- xz ---- */

/* To be freed. */
static char *xz_copy(const char *p, size_t n, size_t *packed)
{
	const size_t room = lzma_stream_buffer_bound(n);
	char *const to = malloc(room);

	*packed = 0;
	cr_assert(to != NULL && lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, (const uint8_t *)p, n,
	                                                (uint8_t *)to, packed, room) == LZMA_OK);
	return to;
}

static void expect(const char *const *args, const char *in, size_t n, int status, const char *said)
{
	struct ran r = run_tool(args, in, n);

	cr_expect_eq(r.status, status, "%s: status %d: %s%s", args[0], r.status, r.out, r.err);
	cr_expect(strstr(r.out, said) != NULL || strstr(r.err, said) != NULL, "no %s in %s%s", said, r.out,
	          r.err);
	ran_free(&r);
}

Test(cmd_xz, is_read_from_pipes_files_and_folders)
{
	char *const dir = make_folder(), path[1100];
	size_t n, packed;
	char *const text = read_whole(SAMPLE, &n), *const xz = xz_copy(text, n, &packed);

	snprintf(path, sizeof path, "%s/a.htdump.xz", dir);
	cr_assert(write_whole(path, xz, packed));
	expect((const char *const[]){ "validate", "-", NULL }, xz, packed, 0, "valid htdump (wire)");
	expect((const char *const[]){ "validate", path, NULL }, NULL, 0, 0, "valid htdump (wire)");
	expect((const char *const[]){ "validate", dir, NULL }, NULL, 0, 0, "valid htdump (wire)");
	expect((const char *const[]){ "info", path, NULL }, NULL, 0, 0, ", xz: ");
	struct ran plain = run_tool((const char *const[]){ "cat", SAMPLE, NULL }, NULL, 0);
	struct ran same = run_tool((const char *const[]){ "cat", path, NULL }, NULL, 0);
	cr_expect_str_eq(plain.out, same.out);
	ran_free(&plain);
	ran_free(&same);
	free(xz);
	free(text);
	remove_folder(dir);
}

Test(cmd_xz, damage_is_a_finding)
{
	size_t n, packed;
	char *const text = read_whole(SAMPLE, &n);
	char *const xz = xz_copy(text, n, &packed);
	char *const more = malloc(packed + 1);

	expect((const char *const[]){ "validate", "-", NULL }, xz, packed - 5, 1, "[input/packed-cut]");
	memcpy(more, xz, packed);
	more[packed] = 'x';
	expect((const char *const[]){ "validate", "-", NULL }, more, packed + 1, 0,
	       "[input/packed-trailing]");
	more[packed / 2] = (char)(more[packed / 2] ^ 1);
	expect((const char *const[]){ "validate", "-", NULL }, more, packed, 1, "[input/packed-corrupt]");
	free(more);
	free(xz);
	free(text);
}

/* Zeros behind streams, and between them, are a multiple of four bytes. */
Test(cmd_xz, padding)
{
	static const struct {
		size_t zeros;
		bool two;
		int status;
		const char *said;
	} rows[] = {
		{ 4, false, 0, "valid htdump" },
		{ 8, true, 0, "valid htdump" },
		{ 2 << 20, false, 0, "valid htdump" },
		{ 3, false, 0, "[input/packed-trailing]" },
		{ (2 << 20) + 1, false, 0, "[input/packed-trailing]" },
		{ 1, true, 1, "[input/packed-corrupt]" },
		{ 6, true, 1, "[input/packed-corrupt]" },
	};
	char *const dir = make_folder(), path[1100];
	size_t n, first, second;
	char *const text = read_whole(SAMPLE, &n);
	char *const a = xz_copy(text, n / 2, &first), *const b = xz_copy(text + n / 2, n - n / 2, &second);
	char *const whole = xz_copy(text, n, &n), *const all = malloc(n + first + second + (3 << 20));

	snprintf(path, sizeof path, "%s/a.htdump.xz", dir);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		size_t size = rows[i].two ? first : n;
		memcpy(all, rows[i].two ? a : whole, size);
		memset(all + size, 0, rows[i].zeros);
		size += rows[i].zeros;
		memcpy(all + size, b, second);
		size += rows[i].two ? second : 0;
		cr_assert(write_whole(path, all, size));
		expect((const char *const[]){ "validate", path, NULL }, NULL, 0, rows[i].status,
		       rows[i].said);
		expect((const char *const[]){ "validate", "-", NULL }, all, size, rows[i].status,
		       rows[i].said);
	}
	free(all);
	free(whole);
	free(b);
	free(a);
	free(text);
	remove_folder(dir);
}

/* Outputs are packed with gzip and zstd alone. */
Test(cmd_xz, is_no_output)
{
	expect((const char *const[]){ "convert", SAMPLE, "a.json.xz", NULL }, NULL, 0, 3,
	       "unknown suffix .xz");
}
