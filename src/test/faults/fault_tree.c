/*
 * The content of a folder in memory: read, written, compared.
 */
#define _GNU_SOURCE
#include "test/faults/faults.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 1024, MAX_DEPTH = 8 };

bool fault_tree_init(struct fault_tree *t)
{
	*t = (struct fault_tree){ .list = malloc(FAULT_TREE_ENTRIES * sizeof *t->list),
		                  .bytes = malloc(FAULT_TREE_BYTES) };
	return t->list != NULL && t->bytes != NULL;
}

/* ---- reading ---- */

/* Adds an entry with a copy of the path, and without bytes. */
static struct fault_entry *add_entry(struct fault_tree *t, const char *path)
{
	const size_t size = strlen(path) + 1;

	if (t->n == FAULT_TREE_ENTRIES || size > FAULT_TREE_BYTES - t->used) {
		errno = EFBIG;
		return NULL;
	}
	struct fault_entry *const e = &t->list[t->n++];
	*e = (struct fault_entry){ .path = memcpy(t->bytes + t->used, path, size) };
	t->used += size;
	return e;
}

static bool add_file(struct fault_tree *t, const char *file, const char *path)
{
	struct fault_entry *const e = add_entry(t, path);
	const int fd = e != NULL ? open(file, O_RDONLY) : -1;

	if (fd < 0)
		return false;
	const ssize_t n = read(fd, t->bytes + t->used, FAULT_TREE_BYTES - t->used);
	close(fd);
	if (n < 0 || (size_t)n == FAULT_TREE_BYTES - t->used) {
		errno = n < 0 ? errno : EFBIG;
		return false;
	}
	e->p = t->bytes + t->used;
	e->n = (size_t)n;
	t->used += (size_t)n;
	return true;
}

static int is_entry(const struct dirent *e)
{
	return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* inside: the path of the folder relative to the root, with a slash at the end; "": the root. */
static bool read_folder(struct fault_tree *t, const char *folder, const char *inside, int depth)
{
	struct dirent **list = NULL;
	char from[PATH_SIZE], path[PATH_SIZE];
	const int n = depth < MAX_DEPTH ? scandir(folder, &list, is_entry, alphasort) : -1;
	bool ok = n >= 0;

	for (int i = 0; i < n; i++) {
		snprintf(from, sizeof from, "%s/%s", folder, list[i]->d_name);
		snprintf(path, sizeof path, "%s%s", inside, list[i]->d_name);
		if (ok && !is_folder(from)) {
			ok = add_file(t, from, path);
		} else if (ok) {
			ok = add_entry(t, path) != NULL;
			strncat(path, "/", sizeof path - strlen(path) - 1);
			ok = ok && read_folder(t, from, path, depth + 1);
		}
		free(list[i]);
	}
	free(list);
	return ok;
}

bool fault_tree_read(struct fault_tree *t, const char *folder)
{
	t->n = 0;
	t->used = 0;
	return read_folder(t, folder, "", 0);
}

bool fault_tree_add(struct fault_tree *t, const char *file)
{
	const char *const slash = strrchr(file, '/');

	return add_file(t, file, slash != NULL ? slash + 1 : file);
}

/* ---- writing ---- */

bool fault_tree_write(const struct fault_tree *t, const char *folder)
{
	char path[PATH_SIZE];
	bool ok = true;

	for (unsigned i = 0; ok && i < t->n; i++) {
		const struct fault_entry *const e = &t->list[i];
		snprintf(path, sizeof path, "%s/%s", folder, e->path);
		if (e->p == NULL) {
			ok = mkdir(path, 0777) == 0;
			continue;
		}
		const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
		ok = fd >= 0 && write(fd, e->p, e->n) == (ssize_t)e->n;
		ok = fd >= 0 && close(fd) == 0 && ok;
	}
	return ok;
}

static void empty_folder(const char *folder, int depth)
{
	char path[PATH_SIZE];
	DIR *const d = depth < MAX_DEPTH ? opendir(folder) : NULL;

	for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
		if (!is_entry(e))
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
		if (unlink(path) != 0) {
			empty_folder(path, depth + 1);
			rmdir(path);
		}
	}
	if (d != NULL)
		closedir(d);
}

void fault_folder_empty(const char *path)
{
	empty_folder(path, 0);
}

/* ---- comparing ---- */

const struct fault_entry *fault_tree_find(const struct fault_tree *t, const char *path)
{
	for (unsigned i = 0; i < t->n; i++)
		if (strcmp(t->list[i].path, path) == 0)
			return &t->list[i];
	return NULL;
}

bool fault_entries_equal(const struct fault_entry *a, const struct fault_entry *b)
{
	if (a == NULL || b == NULL || a->p == NULL || b->p == NULL)
		return (a == NULL) == (b == NULL) && (a == NULL || (a->p == NULL) == (b->p == NULL));
	return a->n == b->n && memcmp(a->p, b->p, a->n) == 0;
}
