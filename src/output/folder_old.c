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

static const struct folder_wrong not_ours = {
	.text = "exists, and its list " OUTPUT_FOLDER_LIST " does not name all that is in it: not replaced"
};
static const struct folder_wrong changed = {
	.text = "exists, and a file in it is not as its list " OUTPUT_FOLDER_LIST " tells: not replaced"
};
static const struct folder_wrong nothing = { .error = 0 };

static struct folder_wrong
failed(int error)
{
	return (struct folder_wrong){ .error = error };
}

static bool
is_wrong(struct folder_wrong w)
{
	return w.text != NULL || w.error != 0;
}

/* "A/B"; NULL: no memory. */
static char *
join(const char *a, const char *b)
{
	const size_t size = strlen(a) + strlen(b) + 2;
	char *const path = malloc(size);

	if (path != NULL)
		(void)snprintf(path, size, "%s/%s", a, b);
	return path;
}

/* ---- the files ---- */

/* Whether the file has the bytes that its line tells. */
static struct folder_wrong
check_file(const char *path, const struct stat *st, const struct folder_listed *listed)
{
	struct byte_sum is;

	if ((uint64_t)st->st_size != listed->is.bytes)
		return changed;
	const int error = byte_sum_read(&is, path);
	return error != 0 ? failed(error) : byte_sum_equal(&is, &listed->is) ? nothing : changed;
}

/* ---- the folder ---- */

/* Takes over the path. */
static struct folder_wrong
add(char ***list, uint32_t *n, uint32_t *cap, char *path)
{
	if (!array_room(list, *n, cap, sizeof **list)) {
		free(path);
		return failed(ENOMEM);
	}
	(*list)[(*n)++] = path;
	return nothing;
}

/* One entry; `name`: from the folder's own name on. */
static struct folder_wrong
check_entry(const struct folder_old *old, const char *path, const char *name, const struct stat *st)
{
	const uint32_t listed = tabletext_get(&old->list.names, slice_str(name));

	if (S_ISDIR(st->st_mode) || (S_ISREG(st->st_mode) && strcmp(name, OUTPUT_FOLDER_LIST) == 0))
		return nothing;
	if (!S_ISREG(st->st_mode) || listed == TABLE_NONE)
		return not_ours;
	return check_file(path, st, &old->list.files[listed]);
}

/* Takes over the path; `root`: the bytes before the entry's name. */
static struct folder_wrong
take_entry(struct folder_old *old, size_t root, char *path)
{
	struct folder_wrong wrong = nothing;
	struct stat st;

	if (path == NULL)
		wrong = failed(ENOMEM);
	else if (lstat(path, &st) != 0)
		wrong = failed(errno);
	else
		wrong = check_entry(old, path, path + root, &st);
	if (is_wrong(wrong))
		free(path);
	else if (S_ISDIR(st.st_mode))
		wrong = add(&old->folders, &old->nfolders, &old->folders_cap, path);
	else
		wrong = add(&old->files, &old->nfiles, &old->files_cap, path);
	return wrong;
}

static struct folder_wrong
read_entries(struct folder_old *old, size_t root, const char *path, DIR *dir)
{
	const struct dirent *e;
	struct folder_wrong wrong = nothing;

	while (!is_wrong(wrong) && (errno = 0, e = readdir(dir)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			wrong = take_entry(old, root, join(path, e->d_name));
	return is_wrong(wrong) ? wrong : failed(errno);
}

/* Reads the folder itself, or one in it. */
static struct folder_wrong
read_one(struct folder_old *old, size_t root, const char *path)
{
	const uint32_t files = old->nfiles, folders = old->nfolders;
	DIR *const dir = opendir(path);

	if (dir == NULL)
		return failed(errno);
	const struct folder_wrong wrong = read_entries(old, root, path, dir);
	(void)closedir(dir);
	if (is_wrong(wrong))
		return wrong;
	if (old->nfiles == files && old->nfolders == folders)
		return strlen(path) < root ? nothing : not_ours; /* no output has an empty folder in it */
	return access(path, W_OK | X_OK) != 0 ? failed(errno) : nothing;
}

struct folder_wrong
folder_old_read(struct folder_old *old, const char *path)
{
	const size_t root = strlen(path) + 1;

	*old = (struct folder_old){ .nfiles = 0 };
	const struct folder_wrong list = folder_list_read(&old->list, path);
	if (list.error != 0)
		return list;
	struct folder_wrong wrong = read_one(old, root, path);
	if (list.text != NULL && wrong.error == 0 && (wrong.text != NULL || old->nfiles + old->nfolders > 0))
		return list; /* an empty one has nothing to lose */
	for (uint32_t i = 0; !is_wrong(wrong) && i < old->nfolders; i++)
		wrong = read_one(old, root, old->folders[i]);
	return wrong;
}

int
folder_old_remove(const struct folder_old *old, const char *path)
{
	int why = 0;

	for (uint32_t i = 0; i < old->nfiles + old->nfolders; i++) {
		const bool file = i < old->nfiles;
		const uint32_t from_end = old->nfiles + old->nfolders - 1 - i;
		const int gone = file ? unlink(old->files[i]) : rmdir(old->folders[from_end]);
		if (gone != 0 && why == 0)
			why = errno;
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
