#include <limits.h>
#include <sys/resource.h>

#include "output/test/output_test.h"

TestSuite(output, .init = folder_make, .fini = folder_remove);
TestSuite(output_temp, .init = folder_make, .fini = folder_remove);

/* ---- plain files ---- */

Test(output, file_has_its_name_only_when_committed)
{
	struct output *o = opened("out.json", 0);
	write_text(o, "[1,");
	write_text(o, "2]\n");
	cr_assert_neq(access("out.json", F_OK), 0);
	committed(o);
	cr_assert_str_eq(listing("."), "out.json");
	file_is("out.json", "[1,2]\n", 6);
}

Test(output, temporary_name_is_beside_and_hidden)
{
	cr_assert_eq(mkdir("sub", 0777), 0);
	struct output *o = opened("sub/out.json", 0);
	cr_assert_str_eq(listing("."), "sub");
	cr_assert_eq(strncmp(listing("sub"), ".out.json.tracetool-", 20), 0);
	output_discard(o);
	cr_assert_str_eq(listing("sub"), "");
}

Test(output, discard_leaves_nothing)
{
	output_discard(NULL);
	struct output *o = opened("out.json", 0);
	write_text(o, "x");
	output_discard(o);
	cr_assert_str_eq(listing("."), "");
}

Test(output, discard_leaves_the_old_file)
{
	file_write("out.json", "old");
	struct output *o = opened("out.json", OUTPUT_FORCE);
	write_text(o, "new");
	output_discard(o);
	cr_assert_str_eq(listing("."), "out.json");
	file_is("out.json", "old", 3);
}

Test(output, nothing_written_is_an_empty_file)
{
	struct output *o = opened("out.json", 0);
	cr_assert(output_write(o, NULL, 0));
	committed(o);
	file_is("out.json", "", 0);
}

Test(output, bytes_survive_any_cutting)
{
	static const size_t max[] = { 1, 100, 65535, 65537, 300000, 1u << 20 };
	struct bytes all = some_json(3000001);
	for (size_t i = 0; i < sizeof max / sizeof max[0]; i++) {
		struct bytes b = all;
		if (max[i] == 1)
			b.n = 600000;
		struct output *o = opened("out.json", OUTPUT_FORCE);
		write_pieces(o, b, max[i], (uint32_t)i);
		committed(o);
		file_is("out.json", b.p, b.n);
	}
	free(all.p);
}

Test(output, borders_of_the_buffers)
{
	static const size_t sizes[] = { 65535, 65536, 65537, 262143, 262144, 262145, 524288 };
	struct bytes b = some_json(1u << 20);
	for (size_t i = 0; i < 7; i++)
		for (size_t first = 0; first < 3; first++) {
			struct output *o = opened("out.json", OUTPUT_FORCE);
			cr_assert(output_write(o, b.p, first));
			cr_assert(output_write(o, b.p + first, sizes[i]));
			cr_assert(output_write(o, b.p + first + sizes[i], 5));
			committed(o);
			file_is("out.json", b.p, first + sizes[i] + 5);
		}
	free(b.p);
}

Test(output, what_is_written_may_change_afterwards)
{
	struct output *o = opened("out.json", 0);
	char text[] = "abc";
	write_text(o, text);
	memset(text, 'x', 3);
	committed(o);
	file_is("out.json", "abc", 3);
}

/* ---- existing files ---- */

Test(output, existing_file_is_refused)
{
	file_write("out.json", "old");
	refused("out.json", 0, "out.json: already exists (use -f to replace it)");
	file_is("out.json", "old", 3);
	cr_assert_str_eq(listing("."), "out.json");
}

Test(output, force_replaces_and_keeps_the_mode)
{
	static const mode_t modes[] = { 0600, 0640, 0666, 0755, 0444 };
	for (size_t i = 0; i < 5; i++) {
		struct stat st;
		file_write("out.json", "old and longer");
		cr_assert_eq(chmod("out.json", modes[i]), 0);
		struct output *o = opened("out.json", OUTPUT_FORCE);
		write_text(o, "new");
		file_is("out.json", "old and longer", 14);
		committed(o);
		file_is("out.json", "new", 3);
		cr_assert_eq(stat("out.json", &st), 0);
		cr_assert_eq(st.st_mode & 07777, modes[i]);
		cr_assert_eq(unlink("out.json"), 0);
	}
}

Test(output, new_file_obeys_the_umask)
{
	struct stat st;
	(void)umask(027);
	committed(opened("out.json", 0));
	cr_assert_eq(stat("out.json", &st), 0);
	cr_assert_eq(st.st_mode & 07777, 0640);
}

Test(output, file_that_appears_meanwhile_is_not_replaced)
{
	struct output *o = opened("out.json", 0);
	write_text(o, "ours");
	file_write("out.json", "theirs");
	not_committed(o, "out.json: appeared while it was written (use -f to replace it)");
	cr_assert_str_eq(listing("."), "out.json");
	file_is("out.json", "theirs", 6);
}

Test(output, force_replaces_what_appears_meanwhile)
{
	struct output *o = opened("out.json", OUTPUT_FORCE);
	write_text(o, "ours");
	file_write("out.json", "theirs");
	committed(o);
	file_is("out.json", "ours", 4);
}

Test(output, two_at_once_first_wins)
{
	struct output *a = opened("out.json", 0);
	struct output *b = opened("out.json", 0);
	write_text(a, "a");
	write_text(b, "b");
	committed(b);
	not_committed(a, "out.json: appeared while it was written (use -f to replace it)");
	file_is("out.json", "b", 1);
	cr_assert_str_eq(listing("."), "out.json");
}

Test(output, folder_is_refused)
{
	cr_assert_eq(mkdir("dir", 0777), 0);
	refused("dir", 0, "dir: Is a directory");
	refused("dir", OUTPUT_FORCE, "dir: Is a directory");
	refused("dir/", OUTPUT_FORCE, "dir/: Is a directory");
	refused(".", OUTPUT_FORCE, ".: Is a directory");
	refused("new/", OUTPUT_FORCE, "new/: names a directory");
	refused("", OUTPUT_FORCE, ": No such file or directory");
	cr_assert_str_eq(listing("."), "dir");
}

Test(output, folder_that_appears_meanwhile)
{
	struct output *o = opened("out.json", OUTPUT_FORCE);
	cr_assert_eq(mkdir("out.json", 0777), 0);
	not_committed(o, "out.json: Is a directory");
	cr_assert_str_eq(listing("."), "out.json");
}

Test(output, missing_folder)
{
	refused("no/out.json", 0, "no/out.json: its directory does not exist");
	refused("no/out.json.gz", 0, "no/out.json.gz: its directory does not exist");
	file_write("plain", "");
	refused("plain/out.json", 0, "plain/out.json: Not a directory");
	refused("plain/", OUTPUT_FORCE, "plain/: Not a directory");
	cr_assert_str_eq(listing("."), "plain");
}

Test(output, folder_that_takes_no_files)
{
	char why[256];
	cr_assert_null(output_open("/proc/self/out.json", 0, 1, why, sizeof why));
	cr_assert_eq(strncmp(why, "/proc/self/out.json: ", 21), 0);
	if (geteuid() == 0)
		return; /* may write anywhere */
	cr_assert_eq(mkdir("shut", 0555), 0);
	refused("shut/out.json", 0, "shut/out.json: Permission denied");
}

Test(output, folder_that_vanishes_meanwhile)
{
	cr_assert_eq(mkdir("dir", 0777), 0);
	struct output *o = opened("dir/out.json", 0);
	cr_assert_eq(rename("dir", "elsewhere"), 0);
	not_committed(o, "dir/out.json: No such file or directory");
}

/* ---- names ---- */

Test(output, longest_name_still_works)
{
	char name[NAME_MAX + 2];
	memset(name, 'n', sizeof name);
	for (size_t n = NAME_MAX - 30; n <= NAME_MAX; n++) {
		name[n] = '\0';
		struct output *o = opened(name, 0);
		write_text(o, "x");
		committed(o);
		cr_assert_str_eq(listing("."), name);
		cr_assert_eq(unlink(name), 0);
		name[n] = 'n';
	}
}

Test(output, name_that_is_too_long)
{
	char name[NAME_MAX + 2], message[NAME_MAX + 64];
	memset(name, 'n', sizeof name);
	name[NAME_MAX + 1] = '\0';
	(void)sprintf(message, "%s: File name too long", name);
	refused(name, 0, message);
	cr_assert_str_eq(listing("."), "");

	/* A short message keeps the reason. */
	char why[32];
	cr_assert_null(output_open(name, 0, 1, why, sizeof why));
	cr_assert_str_eq(why, "...nnnnnnnn: File name too long");
}

Test(output, message_fits_any_room)
{
	char why[64];
	for (size_t n = 0; n <= sizeof why; n++) {
		memset(why, '#', sizeof why);
		cr_assert_null(output_open("no/\xc3\xa4\xc3\xb6.json", 0, 1, why, n));
		cr_assert(n == 0 ? why[0] == '#' : memchr(why, '\0', n) != NULL);
		for (size_t i = n; i < sizeof why; i++)
			cr_assert_eq(why[i], '#');
	}
}

/* ---- links ---- */

Test(output, link_stays_and_its_target_is_replaced)
{
	struct stat st;
	cr_assert_eq(mkdir("real", 0777), 0);
	cr_assert_eq(mkdir("links", 0777), 0);
	file_write("real/out.json", "old");
	cr_assert_eq(symlink("../real/out.json", "links/a"), 0);
	cr_assert_eq(symlink("links/a", "b"), 0);
	refused("b", 0, "b: already exists (use -f to replace it)");
	struct output *o = opened("b", OUTPUT_FORCE);
	write_text(o, "new");
	cr_assert_str_eq(listing("links"), "a");
	committed(o);
	file_is("real/out.json", "new", 3);
	cr_assert_eq(lstat("b", &st), 0);
	cr_assert(S_ISLNK(st.st_mode));
	cr_assert_eq(lstat("links/a", &st), 0);
	cr_assert(S_ISLNK(st.st_mode));
	cr_assert_str_eq(listing("real"), "out.json");
}

Test(output, link_to_nowhere_creates_its_target)
{
	char absolute[128];
	(void)sprintf(absolute, "%s/far", folder);
	cr_assert_eq(symlink("new.json", "near"), 0);
	cr_assert_eq(symlink(absolute, "abs"), 0);
	cr_assert_eq(symlink("no/new.json", "lost"), 0);
	cr_assert_eq(symlink("new/", "slash"), 0);
	struct output *o = opened("near", 0);
	write_text(o, "1");
	committed(o);
	committed(opened("abs", 0));
	file_is("new.json", "1", 1);
	refused("lost", 0, "lost: its directory does not exist");
	refused("slash", 0, "slash: names a directory");
	cr_assert_str_eq(listing("."), "abs far lost near new.json slash");
}

Test(output, link_in_a_circle)
{
	cr_assert_eq(symlink("b", "a"), 0);
	cr_assert_eq(symlink("a", "b"), 0);
	refused("a", OUTPUT_FORCE, "a: Too many levels of symbolic links");
	cr_assert_str_eq(listing("."), "a b");
}

/* ---- several outputs ---- */

Test(output, many_at_once)
{
	enum { MANY = 64 };
	struct output *all[MANY];
	char name[32];
	for (int i = 0; i < MANY; i++) {
		(void)sprintf(name, "out%d", i);
		all[i] = opened(name, 0);
		write_text(all[i], name);
	}
	for (int i = 0; i < MANY; i++) {
		if (i % 2 == 0)
			committed(all[i]);
		else
			output_discard(all[i]);
	}
	for (int i = 0; i < MANY; i++) {
		(void)sprintf(name, "out%d", i);
		if (i % 2 == 0)
			file_is(name, name, strlen(name));
		else
			cr_assert_neq(access(name, F_OK), 0);
	}
}

Test(output, nothing_is_written_after_finish)
{
	struct output *o = opened("out.json", 0);
	write_text(o, "abc");
	cr_assert(output_finish(o));
	cr_assert(output_finish(o));
	cr_assert_not(output_write(o, "d", 1));
	committed(o);
	file_is("out.json", "abc", 3);
}

/* ---- reading back ---- */

static void flip(const char *path, long at)
{
	FILE *const f = fopen(path, "r+b");

	cr_assert_not_null(f, "%s", path);
	cr_assert_eq(fseek(f, at, at < 0 ? SEEK_END : SEEK_SET), 0);
	const int c = fgetc(f);
	cr_assert(c != EOF && fseek(f, -1, SEEK_CUR) == 0 && fputc(c ^ 1, f) != EOF);
	(void)fclose(f);
}

Test(output, check_finds_each_changed_byte)
{
	static const char *const names[] = { "a.json", "a.json.gz", "a.json.zst" };
	char why[200];

	for (int i = 0; i < 3; i++)
		for (long at = -1; at < 14; at++) {
			struct output *const o = output_open(names[i], OUTPUT_SUMS, 1, why, sizeof why);
			for (int k = 0; k < 1000; k++)
				cr_assert(output_write(o, "[{\"a\":1}]\n", 11));
			cr_assert(output_finish(o));
			cr_expect(output_check(o), "%s", names[i]);
			flip(output_written(o), at);
			cr_expect_not(output_check(o), "%s, byte %ld", names[i], at);
			cr_expect_not_null(strstr(output_error(o), "not those that were written"));
			cr_expect_not(output_commit(o, why, sizeof why));
			cr_expect_str_eq(listing("."), "");
		}
}

Test(output, check_finds_lost_and_more_bytes)
{
	char why[200];

	for (int i = 0; i < 3; i++) {
		struct output *const o = output_open("a", OUTPUT_SUMS, 1, why, sizeof why);
		cr_assert(output_write(o, "\0\0\0\0", 4) && output_finish(o));
		FILE *const f = fopen(output_written(o), i == 0 ? "w" : "a");
		cr_assert(f != NULL && fwrite("\0\0", 1, 2, f) == 2 && fclose(f) == 0);
		if (i == 2)
			cr_assert_eq(unlink(output_written(o)), 0);
		cr_expect_not(output_check(o));
		output_discard(o);
	}
}

/* ---- limits ---- */

Test(output_temp, file_size_limit_leaves_nothing)
{
	static const char *const names[] = { "out.json", "out.json.gz", "out.json.zst" };
	struct bytes b = some_json(4u << 20);
	struct rlimit before, small;
	output_handle_signals();
	cr_assert_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = 100000;
	for (size_t i = 0; i < 3; i++) {
		char why[256] = "", want[256];
		cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
		struct output *o = opened(names[i], 0);
		(void)output_write(o, b.p, b.n);
		const bool ok = output_commit(o, why, sizeof why);
		cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
		(void)sprintf(want, "%s: File too large", names[i]);
		cr_assert_not(ok);
		cr_assert_str_eq(why, want);
		cr_assert_str_eq(listing("."), "");
	}
	free(b.p);
}
