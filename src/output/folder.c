#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/os.h"
#include "base/utf8.h"
#include "output/output.h"
#include "output/private.h"
#include "output/text.h"

/* ---- folder name ---- */

enum { PART_MOST = 255 };

static const char *part_wrong(const char *p, size_t n)
{
	if (n == 0)
		return "has an empty part";
	if (n > PART_MOST)
		return "has a part of more than 255 bytes";
	if (p[0] == '.' && (n == 1 || (n == 2 && p[1] == '.')))
		return "has a part that is . or ..";
	return NULL;
}

const char *folder_name_wrong(const char *name, size_t n)
{
	if (n == 0)
		return "is empty";
	if (n > OUTPUT_FAILURE_FILE_MOST)
		return "is longer than 1024 bytes";
	if (name[0] == '/')
		return "is absolute";
	if (!utf8_valid(name, n))
		return "is not UTF-8";
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
			return "has a control character";
	if (slice_is(slice_of(name, n), OUTPUT_FOLDER_LIST))
		return "is that of the list of files";
	const char *wrong = NULL;
	for (size_t i = 0, start = 0; i <= n && wrong == NULL; i++)
		if (i == n || name[i] == '/') {
			wrong = part_wrong(name + start, i - start);
			start = i + 1;
		}
	return wrong;
}

/* ---- folder files ---- */

enum { HELD_SIZE = 32 << 10, WRITE_MOST = 1 << 30 };

#define NONE UINT32_MAX

static void folder_files_init(struct folder_files *f, struct output_temp *temp)
{
	*f = (struct folder_files){ .temp = temp };
	f->last = f->failed_file = NONE;
	for (uint32_t i = 0; i < FOLDER_FILES_OPEN; i++)
		f->slots[i].fd = -1;
}

/* ---- creating ---- */

/* 0, also if it exists; or an errno value. */
static int make_folder(struct folder_files *f, const char *path)
{
	if (mkdir(path, 0777) != 0)
		return errno == EEXIST ? 0 : errno;
	if (output_register_inside(f->temp->entry, path, true))
		return 0;
	(void)rmdir(path);
	return ENOMEM;
}

/* Makes the folders that the name has before its slashes, each once: that call is slow. */
static int make_parents(struct folder_files *f, const struct folder_file *file, char *path, size_t from)
{
	for (char *slash = strchr(path + from, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		const struct slice name = slice_of(file->name, (size_t)(slash - path) - from);
		if (tabletext_get(&f->folders, name) != TABLE_NONE)
			continue;
		*slash = '\0';
		const int why = make_folder(f, path);
		*slash = '/';
		if (why != 0)
			return why;
		if (!tabletext_put(&f->folders, name, 0))
			return ENOMEM;
	}
	return 0;
}

/* A signal may interrupt it. */
static int open_again(const char *path, int flags)
{
	int fd;

	do
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, 0666);
	while (fd < 0 && errno == EINTR);
	return fd;
}

/* The descriptor; -1: errno. */
static int create(struct folder_files *f, const struct folder_file *file, char *path, size_t from)
{
	const int why = make_parents(f, file, path, from);

	if (why != 0) {
		errno = why;
		return -1;
	}
	const int fd = open_again(path, O_CREAT | O_EXCL);
	if (fd >= 0 && !output_register_inside(f->temp->entry, path, false)) {
		(void)unlink(path);
		(void)close(fd);
		errno = ENOMEM;
		return -1;
	}
	return fd;
}

static int open_file(struct folder_files *f, struct folder_file *file)
{
	const size_t folder = strlen(f->temp->path), size = folder + strlen(file->name) + 2;
	char *const path = malloc(size);
	struct output_register_hold hold;
	int fd = -1;

	if (path == NULL)
		return -1;
	(void)snprintf(path, size, "%s/%s", f->temp->path, file->name);
	if (file->created) {
		fd = open_again(path, O_APPEND);
	} else {
		if (output_register_begin(&hold))
			fd = create(f, file, path, folder + 1);
		output_register_end(&hold);
	}
	const int why = errno;
	free(path);
	file->created |= fd >= 0;
	errno = why;
	return fd;
}

/* ---- descriptors ---- */

static int write_all(int fd, const char *p, size_t n)
{
	while (n > 0) {
		const ssize_t done = write(fd, p, n < WRITE_MOST ? n : WRITE_MOST);
		if (done > 0) {
			p += done;
			n -= (size_t)done;
		} else if (done == 0) {
			return EIO; /* nothing written, no reason given */
		} else if (errno != EINTR) {
			return errno;
		}
	}
	return 0;
}

static int blame(struct folder_files *f, uint32_t file, int why)
{
	if (why != 0 && f->failed_file == NONE)
		f->failed_file = file;
	return why;
}

static int flush_slot(struct folder_files *f, struct folder_slot *s)
{
	const size_t n = s->n;

	s->n = 0;
	return blame(f, s->file, write_all(s->fd, s->held, n));
}

static int close_slot(struct folder_files *f, struct folder_slot *s)
{
	const int why = flush_slot(f, s), fd = s->fd;

	s->fd = -1;
	f->files[s->file].slot = NONE;
	/* Linux has closed it even when it says EINTR. */
	if (close(fd) != 0 && errno != EINTR && why == 0)
		return blame(f, s->file, errno);
	return why;
}

/* The one that was not used for the longest time; NULL: all are free. */
static struct folder_slot *oldest_slot(struct folder_files *f)
{
	struct folder_slot *oldest = NULL;

	for (uint32_t i = 0; i < FOLDER_FILES_OPEN; i++)
		if (f->slots[i].fd >= 0 && (oldest == NULL || f->slots[i].used < oldest->used))
			oldest = &f->slots[i];
	return oldest;
}

static struct folder_slot *free_slot(struct folder_files *f)
{
	for (uint32_t i = 0; i < FOLDER_FILES_OPEN; i++)
		if (f->slots[i].fd < 0)
			return &f->slots[i];
	return NULL;
}

/* Opens the file into a slot of its own.  When the system gives no more descriptors, those that there are
 * must do. */
static int open_slot(struct folder_files *f, uint32_t index)
{
	struct folder_file *const file = &f->files[index];
	struct folder_slot *s = free_slot(f);
	int why = 0;

	if (s == NULL) {
		s = oldest_slot(f);
		why = close_slot(f, s);
	}
	if (why == 0 && s->held == NULL && (s->held = malloc(HELD_SIZE)) == NULL)
		why = blame(f, index, ENOMEM);
	while (why == 0 && (s->fd = open_file(f, file)) < 0) {
		struct folder_slot *const other = oldest_slot(f);
		if ((errno != EMFILE && errno != ENFILE) || other == NULL)
			return blame(f, index, errno);
		why = close_slot(f, other);
	}
	if (why != 0)
		return why;
	s->file = index;
	s->n = 0;
	file->slot = (uint32_t)(s - f->slots);
	return 0;
}

/* ---- files ---- */

/* The index of the file of this name, a new one if there is none; NONE: no memory. */
static uint32_t find_file(struct folder_files *f, const char *name)
{
	if (f->last != NONE && strcmp(f->files[f->last].name, name) == 0)
		return f->last;
	const uint32_t known = tabletext_get(&f->by_name, slice_str(name));
	if (known != TABLE_NONE)
		return known;
	char *const copy = strdup(name);
	if (copy == NULL || !array_room(&f->files, f->n, &f->cap, sizeof *f->files) ||
	    !tabletext_put(&f->by_name, slice_str(copy), f->n)) {
		free(copy);
		return NONE;
	}
	f->files[f->n] = (struct folder_file){ .name = copy, .slot = NONE };
	return f->n++;
}

/* Adds to a file, whose name was checked, and makes it if there is none yet.  0, or an errno value, so too
 * below. */
static int folder_files_put(struct folder_files *f, const char *name, const char *p, size_t n)
{
	const uint32_t index = find_file(f, name);

	if (index == NONE)
		return ENOMEM;
	f->last = index;
	if (f->files[index].slot == NONE) {
		const int why = open_slot(f, index);
		if (why != 0)
			return why;
	}
	struct folder_slot *const s = &f->slots[f->files[index].slot];
	s->used = ++f->clock;
	byte_sum_add(&f->files[index].given, p, n);
	if (n > HELD_SIZE - s->n) {
		const int why = flush_slot(f, s);
		if (why != 0)
			return why;
	}
	if (n >= HELD_SIZE)
		return blame(f, index, write_all(s->fd, p, n));
	if (n > 0)
		memcpy(s->held + s->n, p, n);
	s->n += n;
	return 0;
}

/* Writes out what waits, and closes all. */
static int folder_files_close(struct folder_files *f)
{
	int why = 0;

	for (uint32_t i = 0; i < FOLDER_FILES_OPEN; i++)
		if (f->slots[i].fd >= 0) {
			const int now = close_slot(f, &f->slots[i]);
			why = why == 0 ? now : why;
		}
	return why;
}

/* After that: reads all files.  EBADMSG: the bytes of one are not those that were put. */
static int folder_files_check(struct folder_files *f)
{
	const size_t folder = strlen(f->temp->path);
	int why = 0;

	for (uint32_t i = 0; i < f->n && why == 0; i++) {
		const struct folder_file *const file = &f->files[i];
		const size_t size = folder + strlen(file->name) + 2;
		char *const path = malloc(size);
		struct byte_sum back;
		if (path != NULL)
			(void)snprintf(path, size, "%s/%s", f->temp->path, file->name);
		why = path != NULL ? byte_sum_read(&back, path) : ENOMEM;
		if (why == 0 && !byte_sum_equal(&back, &file->given))
			why = EBADMSG;
		(void)blame(f, i, why);
		free(path);
	}
	return why;
}

/* Closes what is open, and frees. */
static void folder_files_free(struct folder_files *f)
{
	for (uint32_t i = 0; i < FOLDER_FILES_OPEN; i++) {
		if (f->slots[i].fd >= 0)
			(void)close(f->slots[i].fd);
		free(f->slots[i].held);
	}
	for (uint32_t i = 0; i < f->n; i++)
		free(f->files[i].name);
	free(f->files);
	tabletext_free(&f->by_name);
	tabletext_free(&f->folders);
	f->files = NULL;
	f->n = 0;
}

/* ---- output folder ---- */

struct output_folder {
	bool force, finished;
	char *target; /* where it goes, links followed, no slash at its end */
	struct output_failure failure;
	struct output_temp temp;
	struct folder_files files;
	unsigned long long bytes;
};

static void release(struct output_folder *o)
{
	folder_files_free(&o->files);
	output_temp_remove(&o->temp);
	output_failure_free(&o->failure);
	free(o->target);
	free(o);
}

/* ---- opening ---- */

/* Without the slashes at its end. */
static char *name_of(const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return strndup(path, n);
}

/* A name that a rename can give: not the root, and no other word for a folder that has its own name. */
static bool is_name(const char *path)
{
	const char *const slash = strrchr(path, '/'), *const last = slash != NULL ? slash + 1 : path;

	return last[0] != '\0' && strcmp(last, ".") != 0 && strcmp(last, "..") != 0;
}

static bool find_target(struct output_folder *o, const char *path)
{
	char *const name = name_of(path);

	if (name == NULL)
		return output_failure_set(&o->failure, ENOMEM);
	if (name[0] != '\0')
		o->target = output_follow_links(name);
	const int why = name[0] == '\0' ? ENOENT : errno;
	free(name);
	if (o->target == NULL)
		return output_failure_set(&o->failure, why);
	size_t n = strlen(o->target);
	while (n > 1 && o->target[n - 1] == '/') /* of a link */
		o->target[--n] = '\0';
	return is_name(o->target) ||
	       output_failure_because(&o->failure, EISDIR, "is no name that a new directory can be given");
}

static bool open_temp(struct output_folder *o)
{
	if (output_temp_create_folder(&o->temp, o->target))
		return true;
	if (errno == ENOENT)
		return output_failure_because(&o->failure, ENOENT, "its directory does not exist");
	return output_failure_set(&o->failure, errno);
}

struct output_folder *output_folder_open(const char *path, unsigned flags, char *why, size_t n)
{
	struct output_folder *const o = calloc(1, sizeof *o);

	if (o == NULL) {
		output_failure_no_memory(path, why, n);
		return NULL;
	}
	o->force = (flags & OUTPUT_FORCE) != 0;
	folder_files_init(&o->files, &o->temp);
	if (!output_failure_init(&o->failure, path)) {
		output_failure_no_memory(path, why, n);
		release(o);
		return NULL;
	}
	if (find_target(o, path) && folder_may_replace(o->target, o->force, &o->failure) && open_temp(o))
		return o;
	output_failure_tell(&o->failure, why, n);
	release(o);
	return NULL;
}

/* ---- writing ---- */

static bool put_failed(struct output_folder *o, int why)
{
	const uint32_t file = o->files.failed_file;

	if (file != UINT32_MAX)
		return output_failure_in(&o->failure, o->files.files[file].name, why, NULL);
	return output_failure_set(&o->failure, why);
}

static bool wrong_name(struct output_folder *o, const char *wrong)
{
	char text[64];

	(void)snprintf(text, sizeof text, "the name of a file in it %s", wrong);
	return output_failure_because(&o->failure, EINVAL, text);
}

bool output_folder_put(struct output_folder *o, const char *file, const char *p, size_t n)
{
	if (o->failure.error != 0 || o->finished)
		return false;
	const char *const wrong = folder_name_wrong(file, strlen(file));
	if (wrong != NULL)
		return wrong_name(o, wrong);
	o->bytes += n;
	const int why = folder_files_put(&o->files, file, p, n);
	return why == 0 || put_failed(o, why);
}

const char *output_folder_error(const struct output_folder *o)
{
	return output_failure_text(&o->failure);
}

const char *output_folder_written(const struct output_folder *o)
{
	return o->temp.path;
}

unsigned long long output_folder_bytes(const struct output_folder *o)
{
	return o->bytes;
}

/* ---- the end ---- */

/* The list is a file like the others, and does not name itself. */
static int put_list(struct output_folder *o)
{
	struct text list = { .p = NULL };

	folder_list_put(&list, o->files.files, o->files.n);
	const int why =
	    list.failed ? ENOMEM : folder_files_put(&o->files, OUTPUT_FOLDER_LIST, list.p, list.n);
	text_free(&list);
	return why;
}

bool output_folder_finish(struct output_folder *o)
{
	if (o->failure.error != 0 || o->finished)
		return o->failure.error == 0;
	o->finished = true;
	int why = put_list(o);
	if (why == 0)
		why = folder_files_close(&o->files);
	return why == 0 || put_failed(o, why);
}

bool output_folder_check(struct output_folder *o)
{
	int why = o->failure.error == 0 ? folder_files_check(&o->files) : 0;

	if (why == EBADMSG)
		return output_failure_in(&o->failure, o->files.files[o->files.failed_file].name, EIO,
		                         BYTE_SUM_DIFFERS);
	return o->failure.error == 0 && (why == 0 || put_failed(o, why));
}

bool output_folder_commit(struct output_folder *o, char *why, size_t n)
{
	const bool done =
	    output_folder_finish(o) && folder_publish(&o->temp, o->force, rename_exchange, &o->failure);

	if (!done)
		output_failure_tell(&o->failure, why, n);
	release(o);
	return done;
}

void output_folder_discard(struct output_folder *o)
{
	if (o != NULL)
		release(o);
}
