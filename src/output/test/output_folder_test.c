#include "output/output.h"
#include "output/test/output_test.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>

TestSuite(output_folder, .init = folder_make, .fini = folder_remove);

static struct output_folder *opened_folder(const char *path, unsigned flags)
{
	char why[512] = "";
	struct output_folder *const o = output_folder_open(path, flags, why, sizeof why);

	cr_assert_not_null(o, "%s", why);
	return o;
}

static void refused_folder(const char *path, unsigned flags, const char *message)
{
	char why[512] = "";

	cr_assert_null(output_folder_open(path, flags, why, sizeof why), "%s", path);
	cr_expect_str_eq(why, message);
}

static void put(struct output_folder *o, const char *file, const char *text)
{
	cr_assert(output_folder_put(o, file, text, strlen(text)), "%s", output_folder_error(o));
}

static void committed_folder(struct output_folder *o)
{
	char why[512] = "";

	cr_assert(output_folder_commit(o, why, sizeof why), "%s", why);
}

static void text_is(const char *path, const char *text)
{
	file_is(path, text, strlen(text));
}

/* ---- results ---- */

Test(output_folder, it_has_its_name_only_when_committed)
{
	struct output_folder *const o = opened_folder("out", 0);

	put(o, "a", "1");
	put(o, "sub/deep/b", "2");
	put(o, "a", "3");
	put(o, "empty", "");
	cr_expect_neq(access("out", F_OK), 0);
	cr_expect_eq(strncmp(listing("."), ".out.tracetool-", 15), 0);
	committed_folder(o);
	cr_expect_str_eq(listing("."), "out");
	cr_expect_str_eq(listing("out"), ".tracetool-files a empty sub");
	text_is("out/a", "13");
	text_is("out/sub/deep/b", "2");
	text_is("out/empty", "");
	text_is("out/.tracetool-files", "tracetool-files 1 3 cd58551c824c63b7\n"
	                                "2 b73321c024550637 a\n"
	                                "1 6d85746c3f7235d9 sub/deep/b\n"
	                                "0 0000000000000000 empty\n");
}

Test(output_folder, discard_leaves_nothing)
{
	struct output_folder *const o = opened_folder("out/", 0);

	output_folder_discard(NULL);
	put(o, "a", "1");
	put(o, "sub/deep/b", "2");
	output_folder_discard(o);
	cr_expect_str_eq(listing("."), "");
}

Test(output_folder, without_files_it_holds_its_list)
{
	committed_folder(opened_folder("out", 0));
	cr_expect_str_eq(listing("out"), ".tracetool-files");
	text_is("out/.tracetool-files", "tracetool-files 1 0 0000000000000000\n");
}

Test(output_folder, modes_obey_the_umask)
{
	struct stat st;

	(void)umask(027);
	struct output_folder *const o = opened_folder("out", 0);
	put(o, "sub/a", "1");
	committed_folder(o);
	cr_assert_eq(stat("out", &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0750);
	cr_assert_eq(stat("out/sub", &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0750);
	cr_assert_eq(stat("out/sub/a", &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0640);
}

/* ---- many files, many bytes ---- */

enum { MANY = 300 };

/* Lines of numbers are put round robin; each file must have its own at the end. */
static void expect_round_robin(void)
{
	struct output_folder *const o = opened_folder("out", 0);
	char name[32], line[32], want[20 * 16];

	for (int round = 0; round < 20; round++)
		for (int i = 0; i < MANY; i++) {
			(void)sprintf(name, "d%d/f%d", i % 7, i);
			(void)sprintf(line, "%d %d\n", round, i);
			put(o, name, line);
		}
	committed_folder(o);
	for (int i = 0; i < MANY; i++) {
		size_t n = 0;
		for (int round = 0; round < 20; round++)
			n += (size_t)sprintf(want + n, "%d %d\n", round, i);
		(void)sprintf(name, "out/d%d/f%d", i % 7, i);
		text_is(name, want);
	}
}

static int open_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 200; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

Test(output_folder, at_most_64_files_are_open)
{
	struct output_folder *const o = opened_folder("out", 0);
	const int before = open_descriptors();
	char name[32];

	for (int i = 0; i < MANY; i++) {
		(void)sprintf(name, "f%d", i);
		put(o, name, "x");
		cr_assert_leq(open_descriptors(), before + 64);
	}
	cr_expect_eq(open_descriptors(), before + 64);
	committed_folder(o);
	cr_expect_eq(open_descriptors(), before);
}

Test(output_folder, files_that_are_not_open_are_added_to)
{
	expect_round_robin();
}

Test(output_folder, few_descriptors_are_enough)
{
	struct rlimit limit;

	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	const int next = dup(STDIN_FILENO); /* the limit is for the number of a new descriptor */
	cr_assert_eq(close(next), 0);
	limit.rlim_cur = (rlim_t)next + 3;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	expect_round_robin();
}

Test(output_folder, bytes_survive_any_cutting)
{
	static const size_t sizes[] = { 1, 32767, 32768, 32769, 100, 65536, 300000 };
	struct bytes b = some_json(1u << 20);
	struct output_folder *const o = opened_folder("out", 0);
	size_t at = 0;

	for (size_t i = 0; at < b.n; i++) {
		const size_t k = sizes[i % 7] < b.n - at ? sizes[i % 7] : b.n - at;
		cr_assert(output_folder_put(o, "a", b.p + at, k));
		cr_assert(output_folder_put(o, "b", b.p + at, k));
		at += k;
	}
	committed_folder(o);
	file_is("out/a", b.p, b.n);
	file_is("out/b", b.p, b.n);
	free(b.p);
}

/* ---- names of files ---- */

Test(output_folder, names_that_lead_elsewhere_are_refused)
{
	static const char *const wrong[][2] = {
		{ "", "is empty" },
		{ "/etc/passwd", "is absolute" },
		{ "..", "has a part that is . or .." },
		{ "../a", "has a part that is . or .." },
		{ "a/../../b", "has a part that is . or .." },
		{ "./a", "has a part that is . or .." },
		{ "a//b", "has an empty part" },
		{ "a/", "has an empty part" },
		{ "a\nb", "has a control character" },
		{ "a\x7f", "has a control character" },
		{ "a\xff", "is not UTF-8" },
		{ ".tracetool-files", "is that of the list of files" },
	};
	char message[128];

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct output_folder *const o = opened_folder("out", 0);
		put(o, "good", "1");
		cr_expect_not(output_folder_put(o, wrong[i][0], "2", 1), "%s", wrong[i][0]);
		(void)sprintf(message, "out: the name of a file in it %s", wrong[i][1]);
		cr_expect_str_eq(output_folder_error(o), message);
		cr_expect_not(output_folder_put(o, "good", "3", 1));
		char why[256];
		cr_expect_not(output_folder_commit(o, why, sizeof why));
		cr_expect_str_eq(why, message);
		cr_expect_str_eq(listing("."), "");
	}
	cr_expect_str_eq(folder_name_wrong("a\0b", 3), "has a control character");
}

Test(output_folder, names_that_are_too_long_are_refused)
{
	char name[2000];

	memset(name, 'n', sizeof name);
	cr_expect_null(folder_name_wrong(name, 255));
	cr_expect_str_eq(folder_name_wrong(name, 256), "has a part of more than 255 bytes");
	for (size_t i = 100; i < sizeof name; i += 100)
		name[i] = '/';
	cr_expect_null(folder_name_wrong(name, 1024));
	cr_expect_str_eq(folder_name_wrong(name, 1025), "is longer than 1024 bytes");
	cr_expect_null(folder_name_wrong("...", 3));
	cr_expect_null(folder_name_wrong("a/..b/.c", 8));
	cr_expect_null(folder_name_wrong("d/.tracetool-files", 18));
}

Test(output_folder, a_file_is_no_folder)
{
	struct output_folder *const o = opened_folder("out", 0);

	put(o, "a", "1");
	cr_expect_not(output_folder_put(o, "a/b", "2", 1));
	cr_expect_str_eq(output_folder_error(o), "out/a/b: Not a directory");
	output_folder_discard(o);
	cr_expect_str_eq(listing("."), "");
}

/* ---- failures ---- */

Test(output_folder, full_disk_leaves_nothing)
{
	struct rlimit limit;
	struct bytes b = some_json(1u << 20);
	char why[256] = "";

	output_handle_signals();
	cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	const struct rlimit before = limit;
	limit.rlim_cur = 100000;
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	struct output_folder *const o = opened_folder("out", 0);
	put(o, "small", "1");
	bool ok = true;
	for (size_t at = 0; ok && at + 10000 < b.n; at += 10000)
		ok = output_folder_put(o, "sub/large", b.p + at, 10000);
	cr_expect_not(ok);
	cr_expect_not(output_folder_commit(o, why, sizeof why));
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	cr_expect_str_eq(why, "out/sub/large: File too large");
	cr_expect_str_eq(listing("."), "");
	free(b.p);
}

Test(output_folder, bytes_that_wait_fail_in_commit)
{
	struct rlimit limit;
	char why[256] = "";

	output_handle_signals();
	cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	const struct rlimit before = limit;
	limit.rlim_cur = 10;
	struct output_folder *const o = opened_folder("out", 0);
	put(o, "a", "longer than ten bytes");
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_expect_not(output_folder_commit(o, why, sizeof why));
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	cr_expect_str_eq(why, "out/a: File too large");
	cr_expect_str_eq(listing("."), "");
}

Test(output_folder, folder_that_vanishes_meanwhile)
{
	char why[256] = "";

	cr_assert_eq(mkdir("dir", 0777), 0);
	struct output_folder *const o = opened_folder("dir/out", 0);
	put(o, "a", "1");
	cr_assert_eq(rename("dir", "elsewhere"), 0);
	cr_expect_not(output_folder_commit(o, why, sizeof why));
	cr_expect_str_eq(why, "dir/out/.tracetool-files: No such file or directory");
}

/* ---- names of outputs ---- */

Test(output_folder, names_that_no_folder_can_have)
{
	file_write("plain", "");
	refused_folder("", 0, ": No such file or directory");
	refused_folder(".", OUTPUT_FORCE, ".: is not a name that a new directory can have");
	refused_folder("plain/..", OUTPUT_FORCE, "plain/..: Not a directory");
	refused_folder("..", OUTPUT_FORCE, "..: is not a name that a new directory can have");
	refused_folder("/", OUTPUT_FORCE, "/: is not a name that a new directory can have");
	refused_folder("no/out", 0, "no/out: its directory does not exist");
	refused_folder("plain", OUTPUT_FORCE, "plain: exists and is not a directory");
	refused_folder("no\x1b[1m/out", 0, "no\\x1b[1m/out: its directory does not exist");
	cr_expect_str_eq(listing("."), "plain");
}

Test(output_folder, longest_name_still_works)
{
	char name[NAME_MAX + 2];

	memset(name, 'n', sizeof name);
	for (size_t n = NAME_MAX - 30; n <= NAME_MAX; n += 3) {
		name[n] = '\0';
		struct output_folder *const o = opened_folder(name, 0);
		put(o, "a", "1");
		committed_folder(o);
		cr_expect_str_eq(listing("."), name);
		remove_all(name);
		name[n] = 'n';
	}
}

Test(output_folder, link_stays_and_its_target_is_made)
{
	cr_assert_eq(symlink("real", "link"), 0);
	struct output_folder *const o = opened_folder("link", 0);
	put(o, "a", "1");
	committed_folder(o);
	cr_expect_str_eq(listing("."), "link real");
	text_is("real/a", "1");
}

Test(output_folder, check_finds_changed_bytes_of_any_file)
{
	static const char *const names[] = { "a", "sub/b", OUTPUT_FOLDER_LIST };
	char why[200], path[300];

	for (int i = 0; i < 4; i++) {
		struct output_folder *const o = output_folder_open("out", 0, why, sizeof why);
		cr_assert(output_folder_put(o, "a", "one\n", 4) && output_folder_put(o, "sub/b", "two\n", 4));
		cr_assert(output_folder_put(o, "a", "three\n", 6) && output_folder_finish(o));
		cr_expect(output_folder_check(o));
		if (i < 3) {
			(void)snprintf(path, sizeof path, "%s/%s", output_folder_written(o), names[i]);
			FILE *const f = fopen(path, "r+b");
			cr_assert(f != NULL && fputc('!', f) == '!' && fclose(f) == 0, "%s", path);
			cr_expect_not(output_folder_check(o), "%s", names[i]);
			(void)snprintf(path, sizeof path, "out/%s: " BYTE_SUM_DIFFERS, names[i]);
			cr_expect_str_eq(output_folder_error(o), path);
		}
		cr_expect_eq(output_folder_commit(o, why, sizeof why), i == 3);
	}
}
