#define _GNU_SOURCE /* posix_openpt, TIOCSWINSZ */
#include "base/os.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

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
