/* The name of an output folder.  A list in the folder,
 *
 *     tracetool-files 1 COUNT SUM
 *     BYTES SUM NAME
 *     ...
 *
 * names its files; the first SUM is that of the lines below, the others are those of the files
 * (CRC-64/ECMA-182, reflected, 16 hexadecimal digits).  A folder is replaced only if its list has every file
 * in it, with its size and sum; otherwise a list from a repository could name files of the user.  Old and new
 * folder are exchanged in one step.  Then the old one is read again, and the exchange is undone if it has new
 * contents. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/os.h"
#include "output/private.h"
#include "output/text_visible.h"

#define HEAD "tracetool-files 1 "

enum { READ_STEP = 64 << 10, LIST_MAX = 64 << 20 /* bytes */, SUM_DIGITS = 16 };

#define NOT_REPLACED(what) .text = "exists, and " what ": not replaced"
#define ITS_LIST "its list " OUTPUT_FOLDER_LIST " "

static const struct folder_wrong nothing = { .error = 0 };
static const struct folder_wrong no_memory = { .error = ENOMEM };
static const struct folder_wrong no_list = { NOT_REPLACED("has no list " OUTPUT_FOLDER_LIST
	                                                  ", so tracetool may not have written it") };
static const struct folder_wrong bad_list = { NOT_REPLACED(ITS_LIST "is not as tracetool writes it") };
static const struct folder_wrong not_listed = { NOT_REPLACED(ITS_LIST "does not name all that is in it") };
static const struct folder_wrong changed = { NOT_REPLACED("a file in it is not as " ITS_LIST "tells") };

static bool is_wrong(struct folder_wrong w)
{
	return w.text != NULL || w.error != 0;
}

static struct folder_wrong failed(int error)
{
	return (struct folder_wrong){ .error = error };
}

char *folder_path(const char *a, const char *b)
{
	const size_t size = strlen(a) + strlen(b) + 2;
	char *const path = malloc(size);

	if (path != NULL)
		(void)snprintf(path, size, "%s/%s", a, b);
	return path;
}

/* ---- the list ---- */

static uint64_t sum_of(const char *p, size_t n)
{
	struct byte_sum s = { .sum = 0 };

	byte_sum_add(&s, p, n);
	return s.sum;
}

void folder_list_put(struct text *t, const struct folder_file *files, uint32_t n)
{
	struct text lines = { .p = NULL };

	for (uint32_t i = 0; i < n; i++)
		text_printf(&lines, "%" PRIu64 " %016" PRIx64 " %s\n", files[i].sum.bytes, files[i].sum.sum,
		            files[i].name);
	text_printf(t, HEAD "%" PRIu32 " %016" PRIx64 "\n", n, sum_of(lines.p, lines.n));
	text_add(t, lines.p, lines.n);
	t->failed |= lines.failed;
	text_free(&lines);
}

/* Returns the descriptor of the list, or -1 with *wrong set. */
static int open_list(const char *path, struct folder_wrong *wrong)
{
	struct stat st = { .st_mode = S_IFREG };
	const int fd = open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	if (!S_ISREG(st.st_mode) || (fd < 0 && (errno == ENOENT || errno == ELOOP || errno == ENXIO)))
		*wrong = no_list;
	else
		*wrong = failed(errno);
	if (fd >= 0)
		(void)close(fd);
	return -1;
}

static struct folder_wrong read_text(const char *folder, struct text *text)
{
	char *const path = folder_path(folder, OUTPUT_FOLDER_LIST);
	struct folder_wrong wrong = path != NULL ? nothing : no_memory;
	const int fd = path != NULL ? open_list(path, &wrong) : -1;

	free(path);
	for (ssize_t did = 1; fd >= 0 && did != 0 && !is_wrong(wrong);) {
		char *const to = text_reserve(text, READ_STEP);
		did = to != NULL ? read(fd, to, READ_STEP) : -1;
		if (to == NULL)
			wrong = no_memory;
		else if (did < 0 && errno != EINTR)
			wrong = failed(errno);
		text->n += did > 0 ? (size_t)did : 0;
		if (text->n > LIST_MAX)
			wrong = bad_list;
	}
	if (fd >= 0)
		(void)close(fd);
	return wrong;
}

/* Reads a number and the byte after it; moves *p after that byte.  Returns false if there is none. */
static bool read_number(char **p, const char *end, char after, uint64_t *v)
{
	char *at = *p;

	for (*v = 0; at < end && *at >= '0' && *at <= '9' && *v <= (UINT64_MAX - 9) / 10; at++)
		*v = *v * 10 + (uint64_t)(*at - '0');
	if (at == *p || at == end || *at != after)
		return false;
	*p = at + 1;
	return true;
}

/* Likewise reads a sum. */
static bool read_sum(char **p, const char *end, char after, uint64_t *v)
{
	if (end - *p <= SUM_DIGITS || (*p)[SUM_DIGITS] != after)
		return false;
	*v = 0;
	for (int i = 0; i < SUM_DIGITS; i++) {
		const int d = hex_digit((*p)[i]);
		if (d < 0)
			return false;
		*v = *v << 4 | (unsigned)d;
	}
	*p += SUM_DIGITS + 1;
	return true;
}

/* Reads a line; its end becomes the NUL of the name. */
static struct folder_wrong read_line(struct folder_old *old, char **p, const char *end)
{
	struct folder_file file;

	if (!read_number(p, end, ' ', &file.sum.bytes) || !read_sum(p, end, ' ', &file.sum.sum))
		return bad_list;
	file.name = *p;
	char *const line_end = memchr(*p, '\n', (size_t)(end - *p));
	if (line_end == NULL || folder_name_wrong(file.name, (size_t)(line_end - file.name)) != NULL)
		return bad_list;
	*line_end = '\0';
	*p = line_end + 1;
	if (tabletext_get(&old->names, slice_str(file.name)) != TABLE_NONE)
		return bad_list;
	if (!array_reserve(&old->listed, old->nlisted, &old->listed_cap, sizeof *old->listed) ||
	    !tabletext_put(&old->names, slice_str(file.name), old->nlisted))
		return no_memory;
	old->listed[old->nlisted++] = file;
	return nothing;
}

/* Reads and checks the list of a folder. */
static struct folder_wrong read_list(struct folder_old *old, const char *folder)
{
	uint64_t count, sum;

	*old = (struct folder_old){ .n = 0 };
	struct folder_wrong wrong = read_text(folder, &old->text);
	if (is_wrong(wrong))
		return wrong;
	char *p = old->text.p;
	const char *const end = p + old->text.n;
	if (old->text.n < strlen(HEAD) || memcmp(p, HEAD, strlen(HEAD)) != 0)
		return bad_list;
	p += strlen(HEAD);
	if (!read_number(&p, end, ' ', &count) || !read_sum(&p, end, '\n', &sum) ||
	    sum_of(p, (size_t)(end - p)) != sum)
		return bad_list;
	while (!is_wrong(wrong) && p < end)
		wrong = read_line(old, &p, end);
	return !is_wrong(wrong) && old->nlisted != count ? bad_list : wrong;
}

bool folder_is_complete(const char *folder, int *error)
{
	struct folder_old old;
	struct stat st;
	const struct folder_wrong wrong = read_list(&old, folder);
	bool ok = !is_wrong(wrong);

	*error = wrong.error;
	for (uint32_t i = 0; i < old.nlisted && ok; i++) {
		char *const path = folder_path(folder, old.listed[i].name);
		ok = path != NULL && lstat(path, &st) == 0;
		if (!ok && (path == NULL || errno != ENOENT))
			*error = path == NULL ? ENOMEM : errno;
		ok = ok && S_ISREG(st.st_mode) && (uint64_t)st.st_size == old.listed[i].sum.bytes;
		free(path);
	}
	folder_old_free(&old);
	return ok;
}

/* ---- an old folder ---- */

/* Whether the list has the entry; a file must have the number and sum of bytes of its line.  name: path
 * relative to the old folder. */
static struct folder_wrong check_entry(const struct folder_old *old, const char *path, const char *name,
                                       const struct stat *st)
{
	const uint32_t listed = tabletext_get(&old->names, slice_str(name));
	struct byte_sum is;

	if (S_ISDIR(st->st_mode) || (S_ISREG(st->st_mode) && strcmp(name, OUTPUT_FOLDER_LIST) == 0))
		return nothing;
	if (!S_ISREG(st->st_mode) || listed == TABLE_NONE)
		return not_listed;
	const struct byte_sum *const sum = &old->listed[listed].sum;
	if ((uint64_t)st->st_size != sum->bytes)
		return changed;
	const int error = byte_sum_read(&is, path);
	return error != 0 ? failed(error) : byte_sum_equal(&is, sum) ? nothing : changed;
}

/* Checks and adds one entry; takes over the path.  root: length of the old folder's path and a slash. */
static struct folder_wrong add_entry(struct folder_old *old, size_t root, char *path)
{
	struct folder_wrong wrong;
	struct stat st;

	if (path == NULL)
		return no_memory;
	if (lstat(path, &st) != 0)
		wrong = failed(errno);
	else
		wrong = check_entry(old, path, path + root, &st);
	if (!is_wrong(wrong) && !array_reserve(&old->entries, old->n, &old->cap, sizeof *old->entries))
		wrong = no_memory;
	if (is_wrong(wrong))
		free(path);
	else
		old->entries[old->n++] = (struct folder_entry){ path, S_ISDIR(st.st_mode) };
	return wrong;
}

/* Reads the old folder, or a folder in it. */
static struct folder_wrong read_folder(struct folder_old *old, size_t root, const char *path)
{
	const uint32_t before = old->n;
	const struct dirent *e;
	struct folder_wrong wrong = nothing;
	DIR *const dir = opendir(path);

	if (dir == NULL)
		return failed(errno);
	while (!is_wrong(wrong) && (errno = 0, e = readdir(dir)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			wrong = add_entry(old, root, folder_path(path, e->d_name));
	if (!is_wrong(wrong))
		wrong = failed(errno);
	(void)closedir(dir);
	if (is_wrong(wrong))
		return wrong;
	if (old->n == before) /* outputs have no empty folders */
		return strlen(path) < root ? nothing : not_listed;
	return access(path, W_OK | X_OK) != 0 ? failed(errno) : nothing;
}

struct folder_wrong folder_old_read(struct folder_old *old, const char *path)
{
	const size_t root = strlen(path) + 1;
	const struct folder_wrong list = read_list(old, path);

	if (list.error != 0)
		return list;
	struct folder_wrong wrong = read_folder(old, root, path);
	if (list.text != NULL && wrong.error == 0 && (wrong.text != NULL || old->n > 0))
		return list; /* an empty folder needs no list */
	for (uint32_t i = 0; !is_wrong(wrong) && i < old->n; i++)
		if (old->entries[i].is_folder)
			wrong = read_folder(old, root, old->entries[i].path);
	return wrong;
}

int folder_old_remove(const struct folder_old *old, const char *path)
{
	int why = 0;

	for (uint32_t i = old->n; i-- > 0;) {
		const struct folder_entry *const e = &old->entries[i];
		const int gone = e->is_folder ? rmdir(e->path) : unlink(e->path);
		if (gone != 0 && why == 0)
			why = errno;
	}
	return rmdir(path) == 0 || why != 0 ? why : errno;
}

void folder_old_free(struct folder_old *old)
{
	for (uint32_t i = 0; i < old->n; i++)
		free(old->entries[i].path);
	free(old->entries);
	free(old->listed);
	tabletext_free(&old->names);
	text_free(&old->text);
	*old = (struct folder_old){ .n = 0 };
}

/* ---- publishing ---- */

static bool refuse(struct output_failure *failure, struct folder_wrong wrong)
{
	return wrong.error != 0 ? output_failure_set(failure, wrong.error)
	                        : output_failure_because(failure, EEXIST, wrong.text);
}

bool folder_may_replace(const char *path, bool replace, struct output_failure *failure)
{
	struct stat st;
	struct folder_old old;

	if (lstat(path, &st) != 0)
		return errno == ENOENT || output_failure_set(failure, errno);
	if (!S_ISDIR(st.st_mode))
		return output_failure_because(failure, ENOTDIR, "exists and is not a directory");
	if (!replace)
		return output_failure_because(failure, EEXIST, "already exists (use -f to replace it)");
	const struct folder_wrong wrong = folder_old_read(&old, path);
	folder_old_free(&old);
	return !is_wrong(wrong) || refuse(failure, wrong);
}

/* Without an exchange: the old folder gets a new name, and its own again if the new folder does not get
 * it. */
static int step_aside(const struct output_temp *temp, const char *aside)
{
	int why = rename_new(temp->target, aside);

	if (why != 0)
		return why;
	why = rename_new(temp->path, temp->target);
	if (why != 0)
		(void)rename_new(aside, temp->target);
	return why;
}

/* Reports a failure that leaves both folders: the old one at the path `at`. */
static bool report_left(struct output_failure *failure, const char *at, int why)
{
	char reason[128], space[512];
	struct text text = text_start(space, sizeof space);

	errno_text(reason, sizeof reason, why);
	text_str(&text, "is written, but the old one could not be removed from ");
	text_visible(&text, slice_str(path_name(at)), 0);
	text_printf(&text, ": %s", reason);
	text_char(&text, '\0');
	(void)output_failure_because(failure, why, text.failed ? reason : text.p);
	text_free(&text);
	return false;
}

/* Removes the old folder, which is at the path `at` now.  If it has new contents since the first check, it is
 * kept, and both names are exchanged back. */
static bool remove_old(struct output_temp *temp, const char *at, bool exchanged, folder_exchange *exchange,
                       struct output_failure *failure)
{
	struct folder_old old;
	const struct folder_wrong wrong = folder_old_read(&old, at);
	int why = 0;

	if (!is_wrong(wrong))
		why = folder_old_remove(&old, at);
	else if (exchanged)
		(void)exchange(temp->path, temp->target);
	else if (rename_new(temp->target, temp->path) == 0)
		(void)rename_new(at, temp->target);
	folder_old_free(&old);
	if (is_wrong(wrong))
		return refuse(failure, wrong);
	const bool removed = why == 0 || report_left(failure, at, why);
	output_temp_forget(temp); /* after report_left(): `at` may be the path of temp */
	return removed;
}

static bool replace_old(struct output_temp *temp, folder_exchange *exchange, struct output_failure *failure)
{
	char *const aside = strdup(temp->path);

	if (aside == NULL)
		return output_failure_set(failure, ENOMEM);
	aside[strlen(aside) - 1] = '-'; /* random names have no '-' */
	int why = exchange(temp->path, temp->target);
	const bool exchanged = why == 0;
	if (why == EINVAL || why == ENOSYS)
		why = step_aside(temp, aside);
	const bool done = why == 0
	                      ? remove_old(temp, exchanged ? temp->path : aside, exchanged, exchange, failure)
	                      : output_failure_set(failure, why);
	free(aside);
	return done;
}

static bool publish(struct output_temp *temp, bool replace, folder_exchange *exchange,
                    struct output_failure *failure)
{
	struct stat st;

	if (!folder_may_replace(temp->target, replace, failure))
		return false;
	if (lstat(temp->target, &st) == 0) {
		(void)chmod(temp->path, st.st_mode & 07777);
		return replace_old(temp, exchange, failure);
	}
	if (errno != ENOENT)
		return output_failure_set(failure, errno);
	const int why = rename_new(temp->path, temp->target);
	if (why == EEXIST)
		return output_failure_because(failure, why, "appeared while it was written");
	if (why != 0)
		return output_failure_set(failure, why);
	output_temp_forget(temp);
	return true;
}

bool folder_publish(struct output_temp *temp, bool replace, folder_exchange *exchange,
                    struct output_failure *failure)
{
	struct output_register_hold hold;
	const bool done = output_register_begin(&hold) ? publish(temp, replace, exchange, failure)
	                                               : output_failure_set(failure, EINTR);

	output_register_end(&hold);
	return done;
}
