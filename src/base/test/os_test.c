#define _GNU_SOURCE /* posix_openpt, TIOCSWINSZ, mkdtemp */

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/os.h"
#include "output/test/output_test.h"

/* ---- files below a folder ---- */

Test(open_below, names)
{
	static const char *const good[] = { "a",          "a/b",     "./a",       "a//b",
		                            ".gitignore", "a.git/b", ".github/x", "..a/b" };
	static const char *const bad[] = { "",         "/a",     "..",       "a/..",  "../a", "a/../b",
		                           ".git",     ".Git/a", "a/.GIT/b", "a/",    ".",    "a/.",
		                           ".hg/hgrc", ".svn/x", ".bzr/x",   ".jj/x", "//a" };

	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		cr_expect_null(below_mistake(good[i]), "%s", good[i]);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		cr_expect_not_null(below_mistake(bad[i]), "%s", bad[i]);
}

/* ---- terminal ---- */

Test(terminal, columns)
{
	const int master = posix_openpt(O_RDWR | O_NOCTTY);
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	setenv("COLUMNS", "44", 1);
	cr_expect_eq(terminal_columns(ends[1]), 44, "COLUMNS is obeyed in pipes");
	unsetenv("COLUMNS");
	cr_expect_eq(terminal_columns(ends[1]), 0, "a pipe has none of its own");
	setenv("COLUMNS", "44", 1);
	if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
		cr_skip_test("no terminals here");
	const int fd = open(ptsname(master), O_RDWR | O_NOCTTY);
	cr_assert_geq(fd, 0);
	const struct winsize size = { .ws_row = 24, .ws_col = 97 };
	cr_assert_eq(ioctl(fd, TIOCSWINSZ, &size), 0);
	cr_expect_eq(terminal_columns(fd), 44);
	setenv("COLUMNS", "many", 1);
	cr_expect_eq(terminal_columns(fd), 97);
	unsetenv("COLUMNS");
	cr_expect_eq(terminal_columns(fd), 97);
}

/* ---- spill files ---- */

TestSuite(spill_file, .init = folder_make, .fini = folder_remove);

static const char *reason(const struct spill_file *f)
{
	static char why[300];

	spill_reason(f, "sorting", why, sizeof why);
	return why;
}

static int open_descriptors(void)
{
	struct dirent **names = NULL;
	const int n = scandir("/proc/self/fd", &names, NULL, NULL);

	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return n;
}

Test(spill_file, write_and_read)
{
	struct spill_file f = { .fd = -1 };
	char got[12] = "";
	const int before = open_descriptors();

	cr_assert(spill_open(&f, "out.json"), "%s", reason(&f));
	cr_assert_str_eq(f.folder, ".");
	cr_assert_str_eq(listing("."), "");
	cr_assert(spill_write(&f, "0123456789", 10) && spill_write(&f, "", 0) && spill_write(&f, "ab", 2));
	cr_assert_eq(f.size, 12);
	cr_assert(spill_read(&f, 8, got, 4));
	cr_assert_str_eq(got, "89ab");
	spill_discard(&f, 0, 4);
	cr_assert(spill_read(&f, 4, got, 2));
	cr_assert_eq(got[0], '4');
	cr_assert_not(spill_read(&f, 10, got, 3));
	cr_assert_str_eq(reason(&f), ".: cannot read the temporary file for sorting: Input/output error");
	cr_assert_not(spill_write(&f, "x", 1), "works after a failure");
	spill_close(&f);
	cr_assert_eq(open_descriptors(), before);
	cr_assert_str_eq(listing("."), "");
}

Test(spill_file, folders)
{
	static const char *const paths[][2] = {
		{ "out", "." },        { "dir/out", "dir" },      { "dir//out", "dir" },
		{ "dir/out/", "dir" }, { "/tmp/x.json", "/tmp" }, { "out///", "." }
	};

	cr_assert_eq(mkdir("dir", 0777), 0);
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		struct spill_file f = { .fd = -1 };
		cr_assert(spill_open(&f, paths[i][0]), "%s", reason(&f));
		cr_assert_str_eq(f.folder, paths[i][1]);
		spill_close(&f);
	}
	struct spill_file f = { .fd = -1 };
	cr_assert_eq(setenv("TMPDIR", "dir", 1), 0);
	cr_assert(spill_open(&f, NULL));
	cr_assert_str_eq(f.folder, "dir");
	spill_close(&f);
	cr_assert_eq(setenv("TMPDIR", "", 1), 0);
	cr_assert(spill_open(&f, NULL));
	cr_assert_str_eq(f.folder, "/tmp");
	spill_close(&f);
}

Test(spill_file, cannot_create)
{
	struct spill_file f = { .fd = -1 };

	cr_assert_not(spill_open(&f, "missing/out"));
	cr_assert_str_eq(reason(&f), "missing: cannot create the temporary file for sorting: "
	                             "No such file or directory");
	spill_close(&f);
	/* a file system without files: both ways of creating one fail */
	cr_assert_not(spill_open(&f, "/proc/out"));
	cr_assert_eq(strncmp(reason(&f), "/proc: cannot create", 20), 0, "%s", reason(&f));
	cr_assert_not(spill_open(&f, "out"), "works after a failure");
	spill_close(&f);
	spill_close(&f);
}

Test(spill_file, disk_full)
{
	struct spill_file f = { .fd = -1 };

	cr_assert(spill_open(&f, "out"));
	const int file = f.fd;
	f.fd = open("/dev/full", O_RDWR);
	cr_assert_not(spill_write(&f, "x", 1));
	cr_assert_str_eq(reason(&f), ".: cannot write the temporary file for sorting: "
	                             "No space left on device");
	(void)close(file);
	spill_close(&f);
}

/* As `ulimit -f` does it. */
Test(spill_file, file_too_large)
{
	struct spill_file f = { .fd = -1 };
	struct rlimit before, small;
	char block[3000] = "";

	(void)signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = 10000;
	cr_assert(spill_open(&f, "out"));
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	cr_assert(spill_write(&f, block, sizeof block) && spill_write(&f, block, sizeof block) &&
	          spill_write(&f, block, sizeof block));
	cr_assert_not(spill_write(&f, block, sizeof block));
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	cr_assert_str_eq(reason(&f), ".: cannot write the temporary file for sorting: File too large");
	spill_close(&f);
}
