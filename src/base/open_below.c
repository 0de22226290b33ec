#include "base/open_below.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* Folders whose files are hooks and settings that name programs. */
static const char *const guarded[] = { ".git", ".hg", ".svn", ".bzr", ".jj" };
enum { GUARDED = sizeof guarded / sizeof guarded[0] };

/* Some file systems do not tell upper case from lower case. */
static bool
is_guarded(const char *name, size_t n)
{
	for (size_t i = 0; i < GUARDED; i++)
		if (strlen(guarded[i]) == n && strncasecmp(guarded[i], name, n) == 0)
			return true;
	return false;
}

const char *
below_mistake(const char *path)
{
	const char *last = "";

	if (path[0] == '\0')
		return "it is empty";
	if (path[0] == '/')
		return "it begins with a slash";
	for (const char *p = path; *p != '\0'; p += *p == '/') {
		const size_t n = strcspn(p, "/");
		if (n > NAME_MAX)
			return "a part of it is too long";
		if (n == 2 && memcmp(p, "..", 2) == 0)
			return "it contains ..";
		if (is_guarded(p, n))
			return "it leads into a folder of version control";
		last = p;
		p += n;
	}
	return last[strcspn(last, "/")] == '/' || strcmp(last, ".") == 0 ? "it names a folder" : NULL;
}

/* Whether it is one of the guarded ones by another name: short names, other spellings of a letter. */
static bool
is_guarded_folder(int parent, int fd)
{
	struct stat st, other;

	if (fstat(fd, &st) != 0)
		return true;
	for (size_t i = 0; i < GUARDED; i++)
		if (fstatat(parent, guarded[i], &other, 0) == 0 && other.st_dev == st.st_dev &&
		    other.st_ino == st.st_ino)
			return true;
	return false;
}

static int
open_at(int parent, const char *name, int flags)
{
	int fd;

	do
		fd = openat(parent, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
	while (fd < 0 && errno == EINTR);
	return fd;
}

/* Closes the folder; the next one below it, or -1. */
static int
step(int parent, const char *p, size_t n)
{
	char name[NAME_MAX + 1];

	memcpy(name, p, n);
	name[n] = '\0';
	int fd = open_at(parent, name, O_RDONLY | O_DIRECTORY);
	int why = errno;
	if (fd >= 0 && is_guarded_folder(parent, fd)) {
		(void)close(fd);
		fd = -1;
		why = EXDEV;
	}
	(void)close(parent);
	errno = why;
	return fd;
}

int
below_open_folder(const char *folder, const char *path, const char **last)
{
	int fd;

	if (below_mistake(path) != NULL) {
		errno = EXDEV;
		return -1;
	}
	/* the folder itself is the user's, links and all */
	do
		fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	const char *const slash = strrchr(path, '/');
	*last = slash != NULL ? slash + 1 : path;
	for (const char *p = path; fd >= 0 && p < *last;) {
		const size_t n = strcspn(p, "/");
		if (n > 0 && !(n == 1 && *p == '.'))
			fd = step(fd, p, n);
		p += n + 1;
	}
	return fd;
}

int
below_open_file(const char *folder, const char *path)
{
	const char *last;
	struct stat st;
	const int parent = below_open_folder(folder, path, &last);

	if (parent < 0)
		return -1;
	const int fd = open_at(parent, last, O_RDONLY);
	int why = errno;
	(void)close(parent);
	if (fd < 0) {
		errno = why;
		return -1;
	}
	why = fstat(fd, &st) != 0 ? errno : S_ISREG(st.st_mode) ? 0 : EINVAL;
	if (why == 0)
		return fd;
	(void)close(fd);
	errno = why;
	return -1;
}

const char *
below_why(int error)
{
	switch (error) {
	case ELOOP:
	case ENOTDIR:
		return "a part of the name is a link or no folder; a policy's files are below its folder";
	case EXDEV:
		return "it is not below the folder of the policy, or in a folder of version control";
	case EINVAL:
		return "it is not a regular file";
	default:
		return strerror(error);
	}
}
