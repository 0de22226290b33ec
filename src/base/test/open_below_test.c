#include "base/os.h"

#include <criterion/criterion.h>

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
