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

static const char not_ours[] =
    "exists, and its list " OUTPUT_FOLDER_LIST " does not name all that is in it: not replaced";
static const char changed[] =
    "exists, and a file in it is not as its list " OUTPUT_FOLDER_LIST " tells: not replaced";
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

/* ---- the files ---- */

/* Whether the file has the bytes that its line tells; NULL, or why not. */
static const char *
check_file(const char *path, const struct stat *st, const struct folder_listed *listed, char reason[128])
{
	struct byte_sum is;

	if ((uint64_t)st->st_size != listed->is.bytes)
		return changed;
	const int error = byte_sum_read(&is, path);
	return error != 0 ? errno_reason(reason, error) : byte_sum_equal(&is, &listed->is) ? NULL : changed;
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
	const char *why = path == NULL ? no_memory : NULL;

	if (why == NULL && lstat(path, &st) != 0)
		why = errno_reason(reason, errno);
	const bool folder = why == NULL && S_ISDIR(st.st_mode);
	if (why == NULL && !folder) {
		const uint32_t listed = tabletext_get(&old->list.names, slice_str(name));
		if (!S_ISREG(st.st_mode))
			why = not_ours;
		else if (listed != TABLE_NONE)
			why = check_file(path, &st, &old->list.files[listed], reason);
		else if (strcmp(name, OUTPUT_FOLDER_LIST) != 0)
			why = not_ours;
	}
	free(path);
	if (why != NULL)
		free(name);
	else if (!(folder ? add(&old->folders, &old->nfolders, &old->folders_cap, name)
	                  : add(&old->files, &old->nfiles, &old->files_cap, name)))
		why = no_memory;
	return why;
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
	*old = (struct folder_old){ .nfiles = 0 };
	const char *const wrong = folder_list_read(&old->list, path);
	const char *why = read_one(old, path, "", reason);
	if (wrong != NULL && why != reason && (why != NULL || old->nfiles + old->nfolders > 0))
		return wrong; /* an empty one has nothing to lose */
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
	folder_list_free(&old->list);
	*old = (struct folder_old){ .nfiles = 0 };
}
