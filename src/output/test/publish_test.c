#include "output/private.h"
#include "output/output.h"
#include "output/test/output_test.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/resource.h>

#include "base/os.h"

/* An existing folder. */
TestSuite(folder_replace, .init = folder_make, .fini = folder_remove);

#define NOT_OURS "exists, and its list .tracetool-files does not name all that is in it: not replaced"
#define NO_LIST "exists, and has no list .tracetool-files, so tracetool may not have written it: not replaced"
#define BAD_LIST "exists, and its list .tracetool-files is not as tracetool writes it: not replaced"
#define CHANGED "exists, and a file in it is not as its list .tracetool-files tells: not replaced"

static struct output_folder *opened_folder(unsigned flags)
{
	char why[512] = "";
	struct output_folder *const o = output_folder_open("out", flags, why, sizeof why);

	cr_assert_not_null(o, "%s", why);
	return o;
}

static void refused_folder(unsigned flags, const char *message)
{
	char why[512] = "";

	cr_assert_null(output_folder_open("out", flags, why, sizeof why));
	cr_expect_str_eq(why, message);
}

static void put(struct output_folder *o, const char *file, const char *text)
{
	cr_assert(output_folder_put(o, file, text, strlen(text)), "%s", output_folder_error(o));
}

static void commit(struct output_folder *o)
{
	char why[512] = "";

	cr_assert(output_folder_commit(o, why, sizeof why), "%s", why);
}

static void not_committed_folder(struct output_folder *o, const char *message)
{
	char why[512] = "";

	cr_assert_not(output_folder_commit(o, why, sizeof why));
	cr_expect_str_eq(why, message);
}

static bool is_complete(const char *path)
{
	int error;
	const bool complete = folder_is_complete(path, &error);

	cr_expect_eq(error, 0);
	return complete;
}

/* An output with files "old" and "sub/old". */
static void make_old(void)
{
	struct output_folder *const o = opened_folder(0);

	put(o, "old", "1");
	put(o, "sub/deep/old", "2");
	commit(o);
}

static void expect_old(const char *names)
{
	cr_expect_str_eq(listing("."), "out");
	cr_expect_str_eq(listing("out"), names);
	file_is("out/old", "1", 1);
	file_is("out/sub/deep/old", "2", 1);
}

Test(folder_replace, without_force_it_is_refused)
{
	make_old();
	refused_folder(0, "out: already exists (use -f to replace it)");
	expect_old(".tracetool-files old sub");
}

Test(folder_replace, the_new_one_has_its_files_alone)
{
	struct stat st;

	make_old();
	cr_assert_eq(chmod("out", 0711), 0);
	struct output_folder *const o = opened_folder(OUTPUT_FORCE);
	put(o, "new", "3");
	file_is("out/old", "1", 1);
	commit(o);
	cr_expect_str_eq(listing("."), "out");
	cr_expect_str_eq(listing("out"), ".tracetool-files new");
	cr_assert_eq(stat("out", &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0711);
}

Test(folder_replace, files_that_somebody_removed_are_not_missed)
{
	make_old();
	cr_assert_eq(unlink("out/old"), 0);
	struct output_folder *const o = opened_folder(OUTPUT_FORCE);
	put(o, "new", "3");
	commit(o);
	cr_expect_str_eq(listing("out"), ".tracetool-files new");
}

Test(folder_replace, an_empty_folder_is_replaced)
{
	cr_assert_eq(mkdir("out", 0777), 0);
	refused_folder(0, "out: already exists (use -f to replace it)");
	struct output_folder *const o = opened_folder(OUTPUT_FORCE);
	put(o, "new", "3");
	commit(o);
	cr_expect_str_eq(listing("out"), ".tracetool-files new");
}

Test(folder_replace, what_is_not_ours_is_never_removed)
{
	make_old();
	file_write("out/sub/mine", "x");
	refused_folder(OUTPUT_FORCE, "out: " NOT_OURS);
	expect_old(".tracetool-files old sub");
	cr_assert_eq(unlink("out/sub/mine"), 0);
	cr_assert_eq(symlink("old", "out/link"), 0);
	refused_folder(OUTPUT_FORCE, "out: " NOT_OURS);
	cr_assert_eq(unlink("out/link"), 0);
	cr_assert_eq(mkdir("out/empty", 0777), 0);
	refused_folder(OUTPUT_FORCE, "out: " NOT_OURS);
	cr_assert_eq(rmdir("out/empty"), 0);
	cr_assert_eq(unlink("out/.tracetool-files"), 0);
	refused_folder(OUTPUT_FORCE, "out: " NO_LIST);
	expect_old("old sub");
}

/* The list of the folder. */
static struct bytes the_list(void)
{
	return file_read("out/.tracetool-files");
}

static void write_list(const char *p, size_t n)
{
	FILE *const f = fopen("out/.tracetool-files", "wb");

	cr_assert_not_null(f);
	cr_assert_eq(fwrite(p, 1, n, f), n);
	cr_assert_eq(fclose(f), 0);
}

/* A list of these lines with the right head. */
static void forge_list(unsigned count, const char *lines)
{
	struct byte_sum is = { .bytes = 0 };
	char text[512];

	byte_sum_add(&is, lines, strlen(lines));
	const int n =
	    snprintf(text, sizeof text, "tracetool-files 1 %u %016" PRIx64 "\n%s", count, is.sum, lines);

	write_list(text, (size_t)n);
}

/* A change of any bit, and a cut at any byte, is noticed. */
Test(folder_replace, a_list_that_was_changed_is_not_believed)
{
	make_old();
	const struct bytes list = the_list();
	for (size_t i = 0; i < list.n; i++) {
		char copy[256];
		cr_assert_lt(list.n, sizeof copy);
		memcpy(copy, list.p, list.n);
		copy[i] ^= (char)(1 << i % 7);
		write_list(copy, list.n);
		refused_folder(OUTPUT_FORCE, "out: " BAD_LIST);
		cr_expect_not(is_complete("out"));
		write_list(list.p, i);
		refused_folder(OUTPUT_FORCE, "out: " BAD_LIST);
		cr_expect_not(is_complete("out"));
	}
	write_list(list.p, list.n);
	cr_expect(is_complete("out"));
	expect_old(".tracetool-files old sub");
	free(list.p);
}

/* Forged lists: of names alone, of names that lead elsewhere, of another version. */
Test(folder_replace, a_foreign_list_is_not_believed)
{
	static const struct {
		unsigned count;
		const char *lines;
	} forged[] = {
		{ 1, "1 0000000000000000 ../precious\n" },
		{ 1, "1 0000000000000000 /precious\n" },
		{ 1, "1 0000000000000000 sub/../../precious\n" },
		{ 1, "1 0000000000000000 sub//old\n" },
		{ 1, "1 0000000000000000 .tracetool-files\n" },
		{ 1, "1 0000000000000000 old" },
		{ 1, "1 000000000000000 old\n" },
		{ 1, " 0000000000000000 old\n" },
		{ 1, "99999999999999999999 0000000000000000 old\n" },
		{ 1, "old\n" },
		{ 2, "1 0000000000000000 old\n" },
		{ 2, "1 0000000000000000 old\n1 0000000000000000 old\n" },
	};
	static const char *const lists[] = {
		"",
		"old\nsub/deep/old\n",
		"old\n",
		"tracetool-files 2 0 0000000000000000\n",
		"tracetool-files 1 ",
	};

	make_old();
	file_write("precious", "x");
	for (size_t i = 0; i < sizeof forged / sizeof forged[0]; i++) {
		forge_list(forged[i].count, forged[i].lines);
		refused_folder(OUTPUT_FORCE, "out: " BAD_LIST);
		cr_expect_not(is_complete("out"));
	}
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
		write_list(lists[i], strlen(lists[i]));
		refused_folder(OUTPUT_FORCE, "out: " BAD_LIST);
		cr_expect_not(is_complete("out"));
	}
	file_is("precious", "x", 1);
	cr_assert_eq(unlink("out/.tracetool-files"), 0);
	cr_assert_eq(symlink("../precious", "out/.tracetool-files"), 0);
	refused_folder(OUTPUT_FORCE, "out: " NO_LIST);
	cr_expect_not(is_complete("out"));
	file_is("precious", "x", 1);
	cr_assert_eq(unlink("precious"), 0);
	expect_old(".tracetool-files old sub");
}

/* A file of the same or another size, or a link to a copy of it. */
Test(folder_replace, a_file_that_was_changed_is_not_removed)
{
	make_old();
	file_write("out/sub/deep/old", "3");
	refused_folder(OUTPUT_FORCE, "out: " CHANGED);
	cr_expect(is_complete("out"), "only the sizes are looked at");
	file_write("out/sub/deep/old", "23");
	refused_folder(OUTPUT_FORCE, "out: " CHANGED);
	cr_expect_not(is_complete("out"));
	file_write("out/sub/deep/old", "2");
	cr_expect(is_complete("out"));
	cr_assert_eq(rename("out/old", "elsewhere"), 0);
	cr_expect_not(is_complete("out"));
	cr_assert_eq(symlink("../elsewhere", "out/old"), 0);
	cr_expect_not(is_complete("out"));
	refused_folder(OUTPUT_FORCE, "out: " NOT_OURS);
	file_is("elsewhere", "1", 1);
}

Test(folder_replace, a_file_that_changes_meanwhile_stays)
{
	make_old();
	struct output_folder *const o = opened_folder(OUTPUT_FORCE);
	put(o, "new", "3");
	file_write("out/old", "x");
	not_committed_folder(o, "out: " CHANGED);
	cr_expect_str_eq(listing("."), "out");
	cr_expect_str_eq(listing("out"), ".tracetool-files old sub");
	file_is("out/old", "x", 1);
}

/* A failure of the system is reported as itself, not as a wrong folder. */
Test(folder_replace, a_failing_system_is_told_as_itself)
{
	struct output_failure failure = { .error = 0 };
	struct rlimit limit;
	int error;

	make_old();
	cr_assert(output_failure_init(&failure, "out"));
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 0, limit.rlim_max }), 0);
	cr_expect_not(folder_may_replace("out", true, &failure));
	cr_expect_not(folder_is_complete("out", &error));
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	cr_expect_eq(error, EMFILE);
	cr_expect_str_eq(output_failure_text(&failure), "out: Too many open files");
	output_failure_free(&failure);
	expect_old(".tracetool-files old sub");
}

/* If one file cannot be removed, the others are, and the message names it. */
Test(folder_replace, what_cannot_be_removed_is_told)
{
	struct folder_old old;

	make_old();
	const struct folder_wrong wrong = folder_old_read(&old, "out");
	cr_assert(wrong.text == NULL && wrong.error == 0);
	cr_assert_eq(unlink("out/old"), 0);
	cr_assert_eq(mkdir("out/old", 0777), 0);
	cr_expect_eq(folder_old_remove(&old, "out"), EISDIR);
	folder_old_free(&old);
	cr_expect_str_eq(listing("out"), "old");
}

/* Bytes that were put in many pieces, more files than can be open, and no files. */
Test(folder_replace, sums_are_those_of_whole_files)
{
	static char piece[40000];
	struct output_folder *o = opened_folder(0);

	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 100; i++) {
			char name[32];
			(void)snprintf(name, sizeof name, "f%d", i);
			memset(piece, 'a' + round, sizeof piece);
			cr_assert(output_folder_put(o, name, piece, (size_t)(i * 397)));
		}
	commit(o);
	cr_expect(is_complete("out"));
	o = opened_folder(OUTPUT_FORCE);
	commit(o);
	cr_expect_str_eq(listing("out"), ".tracetool-files");
}

Test(folder_replace, what_appears_meanwhile_stays)
{
	make_old();
	struct output_folder *o = opened_folder(OUTPUT_FORCE);
	put(o, "new", "3");
	file_write("out/mine", "x");
	not_committed_folder(o, "out: " NOT_OURS);
	expect_old(".tracetool-files mine old sub");
	remove_all("out");
	o = opened_folder(0);
	put(o, "new", "3");
	cr_assert_eq(mkdir("out", 0777), 0);
	not_committed_folder(o, "out: already exists (use -f to replace it)");
	cr_expect_str_eq(listing("."), "out");
	cr_expect_str_eq(listing("out"), "");
}

Test(folder_replace, a_folder_that_vanishes_meanwhile_is_made)
{
	make_old();
	struct output_folder *const o = opened_folder(OUTPUT_FORCE);
	put(o, "new", "3");
	remove_all("out");
	commit(o);
	cr_expect_str_eq(listing("out"), ".tracetool-files new");
}

/* ---- systems without exchange, and races ---- */

static int cannot_exchange(const char *a, const char *b)
{
	return EINVAL;
}

static int fails(const char *a, const char *b)
{
	return EIO;
}

/* A file is added during the exchange. */
static int exchange_and_add(const char *a, const char *b)
{
	char path[256];

	(void)snprintf(path, sizeof path, "%s/mine", b);
	if (access("seen", F_OK) != 0)
		file_write(path, "x");
	file_write("seen", "");
	return rename_exchange(a, b);
}

/* Likewise without exchange: the file is added before the old folder steps aside. */
static int cannot_exchange_and_add(const char *a, const char *b)
{
	file_write("out/mine", "x");
	return ENOSYS;
}

/* Publishes a temporary folder with a file "new". */
static bool publish(folder_exchange *exchange, char *why, size_t n)
{
	struct output_failure failure = { .error = 0 };
	struct output_temp temp;
	char path[256];

	cr_assert(output_failure_init(&failure, "out"));
	cr_assert(output_temp_create_folder(&temp, "out"));
	(void)snprintf(path, sizeof path, "%s/new", temp.path);
	file_write(path, "3");
	cr_assert(output_register_inside(temp.entry, path, false));
	const bool done = folder_publish(&temp, true, exchange, &failure);
	if (!done)
		output_failure_copy(&failure, why, n);
	output_temp_remove(&temp);
	output_failure_free(&failure);
	return done;
}

Test(folder_replace, without_exchange_the_old_one_steps_aside)
{
	char why[256] = "";

	make_old();
	cr_expect(publish(cannot_exchange, why, sizeof why), "%s", why);
	cr_expect_str_eq(listing("."), "out");
	cr_expect_str_eq(listing("out"), "new");
}

Test(folder_replace, a_failing_exchange_leaves_the_old_one)
{
	char why[256] = "";

	make_old();
	cr_expect_not(publish(fails, why, sizeof why));
	cr_expect_str_eq(why, "out: Input/output error");
	expect_old(".tracetool-files old sub");
}

Test(folder_replace, what_comes_in_during_the_exchange_goes_back)
{
	char why[256] = "";

	make_old();
	cr_expect_not(publish(exchange_and_add, why, sizeof why));
	cr_expect_str_eq(why, "out: " NOT_OURS);
	cr_assert_eq(unlink("seen"), 0);
	expect_old(".tracetool-files mine old sub");
	cr_assert_eq(unlink("out/mine"), 0);
	cr_expect_not(publish(cannot_exchange_and_add, why, sizeof why));
	cr_expect_str_eq(why, "out: " NOT_OURS);
	expect_old(".tracetool-files mine old sub");
}
