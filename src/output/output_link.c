#include "output/output_link.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINKS_MOST 40 /* as the kernel */

/* Where the link `at` leads, not looking further; malloced.  NULL: errno EINVAL says that it is no link. */
static char *
link_target(const char *at)
{
	char to[PATH_MAX];
	const ssize_t n = readlink(at, to, sizeof to);
	if (n < 0)
		return NULL;
	if ((size_t)n == sizeof to) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	const char *slash = strrchr(at, '/');
	const size_t folder = to[0] == '/' || slash == NULL ? 0 : (size_t)(slash + 1 - at);
	char *path = malloc(folder + (size_t)n + 1);
	if (path == NULL)
		return NULL;
	memcpy(path, at, folder);
	memcpy(path + folder, to, (size_t)n);
	path[folder + (size_t)n] = '\0';
	return path;
}

char *
output_follow_links(const char *path)
{
	char *at = strdup(path);
	for (int i = 0; at != NULL && i < LINKS_MOST; i++) {
		char *next = link_target(at);
		if (next == NULL && (errno == EINVAL || errno == ENOENT))
			return at;
		const int why = errno;
		free(at);
		errno = why;
		at = next;
	}
	if (at != NULL) {
		free(at);
		errno = ELOOP;
	}
	return NULL;
}
