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
#include "base/os.h"
#include "output/output.h"
#include "output/private.h"
#include "output/text_json.h"
#include "output/text_visible.h"

/* ---- folder list ---- */

#define HEAD "tracetool-files 1 "

enum { READ_STEP = 64 << 10, LIST_MOST = 64 << 20 /* bytes of a list that is believed */, SUM_DIGITS = 16 };

static const char no_list[] =
    "exists, and has no list " OUTPUT_FOLDER_LIST " that would tell that tracetool wrote it: not replaced";

static const char not_ours[] =
    "exists, and its list " OUTPUT_FOLDER_LIST " is not as tracetool writes it: not replaced";
static const struct folder_wrong no_memory = { .error = ENOMEM };
static const struct folder_wrong bad_list = { .text = not_ours };

/* ---- writing ---- */

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
		text_printf(&lines, "%" PRIu64 " %016" PRIx64 " %s\n", files[i].given.bytes,
		            files[i].given.sum, files[i].name);
	text_printf(t, HEAD "%" PRIu32 " %016" PRIx64 "\n", n, sum_of(lines.p, lines.n));
	text_add(t, lines.p, lines.n);
	t->failed |= lines.failed;
	text_free(&lines);
}

/* ---- reading ---- */

/* The descriptor of the list; -1: *wrong says why. */
static int open_list(const char *path, struct folder_wrong *wrong)
{
	struct stat st = { .st_mode = S_IFREG };
	int fd;

	do
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	while (fd < 0 && errno == EINTR);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	if (!S_ISREG(st.st_mode) || (fd < 0 && (errno == ENOENT || errno == ELOOP || errno == ENXIO)))
		wrong->text = no_list;
	else
		wrong->error = errno;
	if (fd >= 0)
		(void)close(fd);
	return -1;
}

/* All bytes of the list. */
static struct folder_wrong read_text(const char *folder, struct text *text)
{
	const size_t size = strlen(folder) + sizeof "/" OUTPUT_FOLDER_LIST;
	char *const path = malloc(size);
	struct folder_wrong wrong = { .error = 0 };

	if (path == NULL)
		return no_memory;
	(void)snprintf(path, size, "%s/" OUTPUT_FOLDER_LIST, folder);
	const int fd = open_list(path, &wrong);
	free(path);
	if (fd < 0)
		return wrong;
	for (ssize_t did = 1; did != 0 && wrong.error == 0 && wrong.text == NULL;) {
		char *const room = text_room(text, READ_STEP);
		did = room != NULL ? read(fd, room, READ_STEP) : -1;
		if (room == NULL)
			wrong = no_memory;
		else if (did < 0 && errno != EINTR)
			wrong.error = errno;
		text->n += did > 0 ? (size_t)did : 0;
		if (text->n > LIST_MOST)
			wrong = bad_list;
	}
	(void)close(fd);
	return wrong;
}

/* A number and what stands behind it; moves *p behind that.  false: there is none. */
static bool take_number(const char **p, const char *end, char behind, uint64_t *v)
{
	const char *at = *p;

	for (*v = 0; at < end && *at >= '0' && *at <= '9' && *v <= (UINT64_MAX - 9) / 10; at++)
		*v = *v * 10 + (uint64_t)(*at - '0');
	if (at == *p || at == end || *at != behind)
		return false;
	*p = at + 1;
	return true;
}

static bool take_sum(const char **p, const char *end, char behind, uint64_t *v)
{
	static const char digits[] = "0123456789abcdef";

	if (end - *p <= SUM_DIGITS || (*p)[SUM_DIGITS] != behind)
		return false;
	*v = 0;
	for (int i = 0; i < SUM_DIGITS; i++) {
		const char *const digit = memchr(digits, (*p)[i], SUM_DIGITS);
		if (digit == NULL)
			return false;
		*v = *v << 4 | (uint64_t)(digit - digits);
	}
	*p += SUM_DIGITS + 1;
	return true;
}

static struct folder_wrong take_line(struct folder_list *l, const char **p, const char *end)
{
	struct folder_listed file;

	if (!take_number(p, end, ' ', &file.is.bytes) || !take_sum(p, end, ' ', &file.is.sum))
		return bad_list;
	const char *const line_end = memchr(*p, '\n', (size_t)(end - *p));
	if (line_end == NULL || folder_name_wrong(*p, (size_t)(line_end - *p)) != NULL)
		return bad_list;
	file.name = slice_of(*p, (size_t)(line_end - *p));
	if (tabletext_get(&l->names, file.name) != TABLE_NONE)
		return bad_list;
	if (!array_room(&l->files, l->n, &l->cap, sizeof *l->files) ||
	    !tabletext_put(&l->names, file.name, l->n))
		return no_memory;
	l->files[l->n++] = file;
	*p = line_end + 1;
	return (struct folder_wrong){ .error = 0 };
}

/* Reads and checks that of a folder; free it in any case. */
static struct folder_wrong folder_list_read(struct folder_list *l, const char *folder)
{
	uint64_t count, sum;

	*l = (struct folder_list){ .n = 0 };
	struct folder_wrong wrong = read_text(folder, &l->text);
	if (wrong.text != NULL || wrong.error != 0)
		return wrong;
	const char *p = l->text.p, *const end = p + l->text.n;
	if (l->text.n < strlen(HEAD) || memcmp(p, HEAD, strlen(HEAD)) != 0)
		return bad_list;
	p += strlen(HEAD);
	if (!take_number(&p, end, ' ', &count) || !take_sum(&p, end, '\n', &sum) ||
	    sum_of(p, (size_t)(end - p)) != sum)
		return bad_list;
	while (wrong.text == NULL && wrong.error == 0 && p < end)
		wrong = take_line(l, &p, end);
	return wrong.text == NULL && wrong.error == 0 && l->n != count ? bad_list : wrong;
}

static void folder_list_free(struct folder_list *l)
{
	text_free(&l->text);
	tabletext_free(&l->names);
	free(l->files);
	*l = (struct folder_list){ .n = 0 };
}

bool folder_is_complete(const char *folder, int *error)
{
	struct text path = { .p = NULL };
	struct folder_list list;
	struct stat st;
	const struct folder_wrong wrong = folder_list_read(&list, folder);
	bool ok = wrong.text == NULL && wrong.error == 0;

	*error = wrong.error;
	for (uint32_t i = 0; i < list.n && ok; i++) {
		text_clear(&path);
		text_printf(&path, "%s/%.*s", folder, (int)list.files[i].name.n, list.files[i].name.p);
		text_char(&path, '\0');
		ok = !path.failed && lstat(path.p, &st) == 0;
		if (!ok && (path.failed || errno != ENOENT))
			*error = path.failed ? ENOMEM : errno;
		ok = ok && S_ISREG(st.st_mode) && (uint64_t)st.st_size == list.files[i].is.bytes;
	}
	text_free(&path);
	folder_list_free(&list);
	return ok;
}

/* ---- folder old ---- */

static const struct folder_wrong not_ours_folder_old = {
	.text = "exists, and its list " OUTPUT_FOLDER_LIST " does not name all that is in it: not replaced"
};

static const struct folder_wrong changed = {
	.text = "exists, and a file in it is not as its list " OUTPUT_FOLDER_LIST " tells: not replaced"
};
static const struct folder_wrong nothing = { .error = 0 };

static struct folder_wrong failed(int error)
{
	return (struct folder_wrong){ .error = error };
}

static bool is_wrong(struct folder_wrong w)
{
	return w.text != NULL || w.error != 0;
}

/* "A/B"; NULL: no memory. */
static char *join(const char *a, const char *b)
{
	const size_t size = strlen(a) + strlen(b) + 2;
	char *const path = malloc(size);

	if (path != NULL)
		(void)snprintf(path, size, "%s/%s", a, b);
	return path;
}

/* ---- the files ---- */

/* Whether the file has the bytes that its line tells. */
static struct folder_wrong check_file(const char *path, const struct stat *st,
                                      const struct folder_listed *listed)
{
	struct byte_sum is;

	if ((uint64_t)st->st_size != listed->is.bytes)
		return changed;
	const int error = byte_sum_read(&is, path);
	return error != 0 ? failed(error) : byte_sum_equal(&is, &listed->is) ? nothing : changed;
}

/* ---- the folder ---- */

/* Takes over the path. */
static struct folder_wrong add(char ***list, uint32_t *n, uint32_t *cap, char *path)
{
	if (!array_room(list, *n, cap, sizeof **list)) {
		free(path);
		return failed(ENOMEM);
	}
	(*list)[(*n)++] = path;
	return nothing;
}

/* One entry; `name`: from the folder's own name on. */
static struct folder_wrong check_entry(const struct folder_old *old, const char *path, const char *name,
                                       const struct stat *st)
{
	const uint32_t listed = tabletext_get(&old->list.names, slice_str(name));

	if (S_ISDIR(st->st_mode) || (S_ISREG(st->st_mode) && strcmp(name, OUTPUT_FOLDER_LIST) == 0))
		return nothing;
	if (!S_ISREG(st->st_mode) || listed == TABLE_NONE)
		return not_ours_folder_old;
	return check_file(path, st, &old->list.files[listed]);
}

/* Takes over the path; `root`: the bytes before the entry's name. */
static struct folder_wrong take_entry(struct folder_old *old, size_t root, char *path)
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

static struct folder_wrong read_entries(struct folder_old *old, size_t root, const char *path, DIR *dir)
{
	const struct dirent *e;
	struct folder_wrong wrong = nothing;

	while (!is_wrong(wrong) && (errno = 0, e = readdir(dir)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			wrong = take_entry(old, root, join(path, e->d_name));
	return is_wrong(wrong) ? wrong : failed(errno);
}

/* Reads the folder itself, or one in it. */
static struct folder_wrong read_one(struct folder_old *old, size_t root, const char *path)
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
		return strlen(path) < root ? nothing
		                           : not_ours_folder_old; /* no output has an empty folder in it */
	return access(path, W_OK | X_OK) != 0 ? failed(errno) : nothing;
}

struct folder_wrong folder_old_read(struct folder_old *old, const char *path)
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

int folder_old_remove(const struct folder_old *old, const char *path)
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

void folder_old_free(struct folder_old *old)
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

/* ---- folder publish ---- */

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
	return (wrong.text == NULL && wrong.error == 0) || refuse(failure, wrong);
}

/* Where the system cannot exchange: the old one steps aside to a name that is new, and back if the new one
 * does not get the name.  `aside` is then the path of the old one. */
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

/* The old one is at `at` now: removes it.  What came into it since it was looked at stays, and all goes back.
 */
static bool remove_old(struct output_temp *temp, const char *at, bool exchanged, folder_exchange *exchange,
                       struct output_failure *failure)
{
	struct folder_old old;
	char reason[128], room[512];
	struct text text = text_start(room, sizeof room);
	const struct folder_wrong wrong = folder_old_read(&old, at);
	const bool is_old = wrong.text == NULL && wrong.error == 0;
	int why = 0;

	if (is_old) {
		why = folder_old_remove(&old, at);
	} else if (exchanged) {
		(void)exchange(temp->path, temp->target);
	} else if (rename_new(temp->target, temp->path) == 0) {
		(void)rename_new(at, temp->target);
	}
	folder_old_free(&old);
	if (!is_old)
		return refuse(failure, wrong);
	if (why != 0) {
		if (strerror_r(why, reason, sizeof reason) != 0)
			(void)snprintf(reason, sizeof reason, "error %d", why);
		text_str(&text, "is written, but the old one could not be removed from ");
		text_visible(&text, slice_str(strrchr(at, '/') != NULL ? strrchr(at, '/') + 1 : at), 0);
		text_printf(&text, ": %s", reason);
		text_char(&text, '\0');
		(void)output_failure_because(failure, why, text.failed ? reason : text.p);
		text_free(&text);
	}
	output_temp_forget(temp); /* `at` may be its path */
	return why == 0;
}

static bool replace_old(struct output_temp *temp, folder_exchange *exchange, struct output_failure *failure)
{
	char *const aside = strdup(temp->path);

	if (aside == NULL)
		return output_failure_set(failure, ENOMEM);
	aside[strlen(aside) - 1] = '-'; /* random names have none */
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
		(void)chmod(temp->path, st.st_mode & 0777);
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
