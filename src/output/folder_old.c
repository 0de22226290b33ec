#include "output/folder_old.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "output/folder_name.h"
#include "output/output_folder.h"

enum { READ_STEP = 64 << 10, LIST_MOST = 64 << 20 /* bytes of a list that is believed */ };

static const char not_ours[] =
    "exists, and its list " OUTPUT_FOLDER_LIST " does not name all that is in it: not replaced";
static const char no_memory[] = "the system gives no more memory";

static const char *
errno_reason(char reason[128], int error)
{
	if (strerror_r(error, reason, 128) != 0)
		(void)snprintf(reason, 128, "error %d", error);
	return reason;
}

/* "A/B"; with an empty one, the other.  NULL: no memory. */
static char *
join(const char *a, const char *b)
{
	const size_t size = strlen(a) + strlen(b) + 2;
	char *const path = malloc(size);

	if (path != NULL)
		(void)snprintf(path, size, "%s%s%s", a, a[0] != '\0' && b[0] != '\0' ? "/" : "", b);
	return path;
}

/* ---- the list ---- */

/* All bytes of a regular file, to be freed.  false: there is none, it is too long, or no memory. */
static bool
read_list(const char *path, struct text *list)
{
	struct stat st;
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool ok = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	ssize_t did = 1;

	while (ok && did > 0) {
		char *const room = text_room(list, READ_STEP);
		did = room != NULL ? read(fd, room, READ_STEP) : -1;
		ok = did >= 0 && list->n <= LIST_MOST;
		list->n += ok ? (size_t)did : 0;
	}
	if (fd >= 0)
		(void)close(fd);
	return ok;
}

/* Whether all lines are names that an output could have. */
static const char *
take_names(struct folder_old *old)
{
	const size_t n = old->list.n;

	for (const char *p = old->list.p, *const end = p + n; p < end;) {
		const char *const line_end = memchr(p, '\n', (size_t)(end - p));
		if (line_end == NULL || folder_name_wrong(p, (size_t)(line_end - p)) != NULL)
			return not_ours;
		if (!tabletext_put(&old->names, slice_of(p, (size_t)(line_end - p)), 0))
			return no_memory;
		p = line_end + 1;
	}
	return NULL;
}

/* ---- the folder ---- */

static bool
add(char ***list, uint32_t *n, uint32_t *cap, char *path)
{
	if (!array_room(list, *n, cap, sizeof **list)) {
		free(path);
		return false;
	}
	(*list)[(*n)++] = path;
	return true;
}

/* One entry; takes over `name`, its path from the folder on. */
static const char *
take_entry(struct folder_old *old, const char *root, char *name, char reason[128])
{
	char *const path = join(root, name);
	struct stat st;

	if (path == NULL || lstat(path, &st) != 0) {
		const char *const why = path == NULL ? no_memory : errno_reason(reason, errno);
		free(path);
		free(name);
		return why;
	}
	free(path);
	if (S_ISDIR(st.st_mode))
		return add(&old->folders, &old->nfolders, &old->folders_cap, name) ? NULL : no_memory;
	if (!S_ISREG(st.st_mode) || (strcmp(name, OUTPUT_FOLDER_LIST) != 0 &&
	                             tabletext_get(&old->names, slice_str(name)) == TABLE_NONE)) {
		free(name);
		return not_ours;
	}
	return add(&old->files, &old->nfiles, &old->files_cap, name) ? NULL : no_memory;
}

/* The entries of one folder; `inside`: its path from the root on. */
static const char *
read_entries(struct folder_old *old, const char *root, const char *inside, DIR *dir, char reason[128])
{
	const struct dirent *e;
	const char *why = NULL;

	while (why == NULL && (errno = 0, e = readdir(dir)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
			char *const name = join(inside, e->d_name);
			why = name == NULL ? no_memory : take_entry(old, root, name, reason);
		}
	if (why == NULL && errno != 0)
		why = errno_reason(reason, errno);
	return why;
}

static const char *
read_one(struct folder_old *old, const char *root, const char *inside, char reason[128])
{
	char *const path = join(root, inside);

	if (path == NULL)
		return no_memory;
	DIR *const dir = opendir(path);
	const char *why = dir == NULL ? errno_reason(reason, errno) : NULL;
	if (why == NULL) {
		const uint32_t files = old->nfiles, folders = old->nfolders;
		why = read_entries(old, root, inside, dir, reason);
		(void)closedir(dir);
		const bool empty = old->nfiles == files && old->nfolders == folders;
		if (why == NULL && empty && inside[0] != '\0')
			why = not_ours; /* no output has an empty folder */
		else if (why == NULL && !empty && access(path, W_OK | X_OK) != 0)
			why = errno_reason(reason, errno);
	}
	free(path);
	return why;
}

const char *
folder_old_read(struct folder_old *old, const char *path, char reason[128])
{
	char *const list = join(path, OUTPUT_FOLDER_LIST);

	*old = (struct folder_old){ .nfiles = 0 };
	if (list == NULL)
		return no_memory;
	const char *why = read_list(list, &old->list) ? take_names(old) : NULL;
	free(list);
	if (why == NULL)
		why = read_one(old, path, "", reason);
	for (uint32_t i = 0; why == NULL && i < old->nfolders; i++)
		why = read_one(old, path, old->folders[i], reason);
	return why;
}

int
folder_old_remove(const struct folder_old *old, const char *path)
{
	int why = 0;

	for (uint32_t i = 0; i < old->nfiles + old->nfolders; i++) {
		const bool file = i < old->nfiles;
		const uint32_t from_end = old->nfiles + old->nfolders - 1 - i;
		char *const p = join(path, file ? old->files[i] : old->folders[from_end]);
		const bool gone = p != NULL && (file ? unlink(p) : rmdir(p)) == 0;
		if (!gone && why == 0)
			why = p == NULL ? ENOMEM : errno;
		free(p);
	}
	return rmdir(path) == 0 || why != 0 ? why : errno;
}

void
folder_old_free(struct folder_old *old)
{
	for (uint32_t i = 0; i < old->nfiles; i++)
		free(old->files[i]);
	for (uint32_t i = 0; i < old->nfolders; i++)
		free(old->folders[i]);
	free(old->files);
	free(old->folders);
	text_free(&old->list);
	tabletext_free(&old->names);
	*old = (struct folder_old){ .nfiles = 0 };
}
