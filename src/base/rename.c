/* _GNU_SOURCE: renameat2(). */
#define _GNU_SOURCE

#include "base/rename.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* A second name never replaces; without hard links, look first. */
static int
rename_by_link(int dir, const char *from, const char *to)
{
	struct stat st;

	if (linkat(dir, from, dir, to, 0) == 0) {
		(void)unlinkat(dir, from, 0);
		return 0;
	}
	if (errno == EEXIST || fstatat(dir, to, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return EEXIST;
	return renameat(dir, from, dir, to) == 0 ? 0 : errno;
}

int
rename_new_in(int dir, const char *from, const char *to)
{
	if (renameat2(dir, from, dir, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno == EINVAL || errno == ENOSYS)
		return rename_by_link(dir, from, to);
	return errno;
}

int
rename_new(const char *from, const char *to)
{
	return rename_new_in(AT_FDCWD, from, to);
}

int
rename_exchange(const char *a, const char *b)
{
	return renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) == 0 ? 0 : errno;
}
