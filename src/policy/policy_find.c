#define _XOPEN_SOURCE 700 /* realpath() */

#include "policy/policy_find.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Whether a file of this name is in the folder of n bytes; room has place for both.  *error: errno, if that
 * cannot be known. */
static bool
holds(char *room, const char *folder, size_t n, const char *name, int *error)
{
	struct stat st;

	memcpy(room, folder, n);
	sprintf(room + n, "%s%s", n > 0 && folder[n - 1] == '/' ? "" : "/", name);
	if (stat(room, &st) == 0)
		return true;
	if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
		*error = errno;
	return false;
}

/* The bytes of the folder around it; 0: there is none. */
static size_t
parent(const char *folder, size_t n)
{
	if (n <= 1)
		return 0;
	while (n > 1 && folder[n - 1] != '/')
		n--;
	return n > 1 ? n - 1 : 1;
}

/* Where the search ends: the bytes of the path. */
static size_t
root_of(char *room, const char *folder, const char *here, int *error)
{
	const size_t n = strlen(folder), h = strlen(here);

	for (size_t i = n; i > 0; i = parent(folder, i))
		if (holds(room, folder, i, ".git", error))
			return i;
	if (strncmp(folder, here, h) == 0 && (folder[h] == '\0' || folder[h] == '/' || h == 1))
		return h;
	return n;
}

char *
policy_find(const char *folder, const char *here, int *error)
{
	char *const full = realpath(folder, NULL);
	bool found = false;

	*error = full != NULL || errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : errno;
	if (full == NULL)
		return NULL;
	char *room = malloc(strlen(full) + sizeof POLICY_NAME + 8);
	if (room != NULL) {
		const size_t root = root_of(room, full, here, error);
		for (size_t n = strlen(full); n >= root && n > 0 && !found; n = parent(full, n))
			found = holds(room, full, n, POLICY_NAME, error);
	} else {
		*error = ENOMEM;
	}
	free(full);
	if (!found || *error != 0) {
		free(room);
		room = NULL;
	}
	return room;
}
