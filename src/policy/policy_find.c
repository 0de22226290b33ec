#define _XOPEN_SOURCE 700 /* realpath() */

#include "policy/policy_find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Whether a file of this name is in the folder of n bytes; room has place for both. */
static bool
holds(char *room, const char *folder, size_t n, const char *name)
{
	struct stat st;

	memcpy(room, folder, n);
	sprintf(room + n, "%s%s", n > 0 && folder[n - 1] == '/' ? "" : "/", name);
	return stat(room, &st) == 0;
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
root_of(char *room, const char *folder, const char *here)
{
	const size_t n = strlen(folder), h = strlen(here);

	for (size_t i = n; i > 0; i = parent(folder, i))
		if (holds(room, folder, i, ".git"))
			return i;
	if (strncmp(folder, here, h) == 0 && (folder[h] == '\0' || folder[h] == '/' || h == 1))
		return h;
	return n;
}

char *
policy_find(const char *folder, const char *here, bool *no_memory)
{
	errno = 0;
	char *const full = realpath(folder, NULL);
	char *room = NULL;
	bool found = false;

	*no_memory = full == NULL && errno == ENOMEM;
	if (full == NULL)
		return NULL;
	room = malloc(strlen(full) + sizeof POLICY_NAME + 8);
	*no_memory = room == NULL;
	if (room != NULL) {
		const size_t root = root_of(room, full, here);
		for (size_t n = strlen(full); n >= root && n > 0 && !found; n = parent(full, n))
			found = holds(room, full, n, POLICY_NAME);
	}
	free(full);
	if (!found) {
		free(room);
		room = NULL;
	}
	return room;
}
