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
rename_by_link(const char *from, const char *to)
{
	struct stat st;

	if (link(from, to) == 0) {
		(void)unlink(from);
		return 0;
	}
	if (errno == EEXIST || lstat(to, &st) == 0)
		return EEXIST;
	return rename(from, to) == 0 ? 0 : errno;
}

int
rename_new(const char *from, const char *to)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno == EINVAL || errno == ENOSYS)
		return rename_by_link(from, to);
	return errno;
}

int
rename_exchange(const char *a, const char *b)
{
	return renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) == 0 ? 0 : errno;
}
