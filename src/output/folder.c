/* An output of several files: a folder that grows under a temporary name, and gets its own name when it is
 * complete (folder_publish.c).  Writers append small pieces to thousands of files in any order, so each file
 * has a buffer of 32 KiB, and at most 64 files are open: the least recently used one is closed for the next,
 * and reopened later to be appended to.  Memory: 2 MiB, and the names. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/os.h"
#include "base/scan.h"
#include "output/private.h"

enum {
	OPEN_MAX_FILES = 64,
	BUFFER_SIZE = 32 << 10,
	WRITE_MAX = 1 << 30, /* bytes of one write(); Linux accepts at most 2 GiB */
	PART_MAX = 255,      /* bytes between two slashes of a name */
};

#define NONE UINT32_MAX

/* A file of the folder that is open. */
struct slot {
	int fd;        /* -1: the slot is free */
	uint32_t file; /* index in files[] */
	uint64_t used; /* output_folder.clock of the last put */
	size_t n;      /* bytes in the buffer */
	char *buffer;  /* BUFFER_SIZE bytes; NULL: never used */
};

struct output_folder {
	bool force, finished;
	char *target; /* path after following links, without a slash at its end */
	struct output_failure failure;
	struct output_temp temp;
	struct folder_file *files;
	struct file_state {
		uint32_t slot; /* NONE: the file is closed */
		bool created;
	} * states; /* by index in files[] */
	uint32_t n, files_cap, states_cap;
	uint32_t last;            /* file of the last put; NONE: no put yet */
	struct tabletext by_name; /* index in files[] by name */
	struct tabletext folders; /* folders that were created; keys are parts of names of files */
	struct slot slots[OPEN_MAX_FILES];
	uint64_t clock; /* number of puts */
};

/* ---- names ---- */

static const char *part_wrong(const char *p, size_t n)
{
	if (n == 0)
		return "has an empty part";
	if (n > PART_MAX)
		return "has a part of more than 255 bytes";
	if (p[0] == '.' && (n == 1 || (n == 2 && p[1] == '.')))
		return "has a part that is . or ..";
	return NULL;
}

const char *folder_name_wrong(const char *name, size_t n)
{
	if (n == 0)
		return "is empty";
	if (n > OUTPUT_FILE_NAME_MAX)
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

static void cut_slashes(char *path)
{
	for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
		path[n - 1] = '\0';
}

/* Whether rename() can set the name: not for the root, nor for an alias of a folder that has another name. */
static bool is_name(const char *path)
{
	const char *const last = path_name(path);

	return last[0] != '\0' && strcmp(last, ".") != 0 && strcmp(last, "..") != 0;
}

/* ---- creating files ---- */

/* Makes a folder.  Returns 0, also if it exists, or an errno value. */
static int make_folder(struct output_folder *o, const char *path)
{
	if (mkdir(path, 0777) != 0)
		return errno == EEXIST ? 0 : errno;
	if (output_register_inside(o->temp.entry, path, true))
		return 0;
	(void)rmdir(path);
	return ENOMEM;
}

/* Makes the folders in the name of a file, each only once, as mkdir() is slow.  path: that of the file; its
 * first `from` bytes are the path of the temporary folder. */
static int make_parents(struct output_folder *o, const char *name, char *path, size_t from)
{
	for (char *slash = strchr(path + from, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		const struct slice folder = slice_of(name, (size_t)(slash - path) - from);
		if (tabletext_get(&o->folders, folder) != TABLE_NONE)
			continue;
		*slash = '\0';
		const int why = make_folder(o, path);
		*slash = '/';
		if (why != 0)
			return why;
		if (!tabletext_put(&o->folders, folder, 0))
			return ENOMEM;
	}
	return 0;
}

/* Creates a file.  Returns its descriptor, or -1 with errno set. */
static int create_file(struct output_folder *o, const char *name, char *path)
{
	const int why = make_parents(o, name, path, strlen(o->temp.path) + 1);

	if (why != 0) {
		errno = why;
		return -1;
	}
	const int fd = open_file(path, O_WRONLY | O_NOFOLLOW | O_CREAT | O_EXCL, 0666);
	if (fd >= 0 && !output_register_inside(o->temp.entry, path, false)) {
		(void)unlink(path);
		(void)close(fd);
		errno = ENOMEM;
		return -1;
	}
	return fd;
}

/* Likewise, but opens an existing file, to be appended to. */
static int open_named(struct output_folder *o, uint32_t file)
{
	char *const path = folder_path(o->temp.path, o->files[file].name);
	struct output_register_hold hold;
	int fd = -1;

	if (path == NULL)
		return -1;
	if (o->states[file].created) {
		fd = open_file(path, O_WRONLY | O_NOFOLLOW | O_APPEND, 0);
	} else {
		if (output_register_begin(&hold))
			fd = create_file(o, o->files[file].name, path);
		output_register_end(&hold);
	}
	const int why = errno;
	free(path);
	o->states[file].created |= fd >= 0;
	errno = why;
	return fd;
}

/* ---- descriptors ---- */

static bool fail_file(struct output_folder *o, uint32_t file, int why)
{
	return output_failure_in(&o->failure, o->files[file].name, why, NULL);
}

static bool write_slot(struct output_folder *o, const struct slot *s, const char *p, size_t n)
{
	while (n > 0) {
		const ssize_t done = write(s->fd, p, n < WRITE_MAX ? n : WRITE_MAX);
		if (done > 0) {
			p += done;
			n -= (size_t)done;
		} else if (done == 0 || errno != EINTR) {
			return fail_file(o, s->file, done < 0 ? errno : EIO); /* 0: without a reason */
		}
	}
	return true;
}

static bool flush_slot(struct output_folder *o, struct slot *s)
{
	const size_t n = s->n;

	s->n = 0;
	return write_slot(o, s, s->buffer, n);
}

static bool close_slot(struct output_folder *o, struct slot *s)
{
	const bool flushed = flush_slot(o, s);
	const int fd = s->fd;

	s->fd = -1;
	o->states[s->file].slot = NONE;
	/* Linux has closed the descriptor even if it returns EINTR. */
	return (close(fd) == 0 || errno == EINTR || fail_file(o, s->file, errno)) && flushed;
}

/* The least recently used slot; NULL: all are free. */
static struct slot *oldest_slot(struct output_folder *o)
{
	struct slot *oldest = NULL;

	for (uint32_t i = 0; i < OPEN_MAX_FILES; i++)
		if (o->slots[i].fd >= 0 && (oldest == NULL || o->slots[i].used < oldest->used))
			oldest = &o->slots[i];
	return oldest;
}

/* A free slot; NULL after a failure. */
static struct slot *free_slot(struct output_folder *o)
{
	for (uint32_t i = 0; i < OPEN_MAX_FILES; i++)
		if (o->slots[i].fd < 0)
			return &o->slots[i];
	struct slot *const s = oldest_slot(o);
	return close_slot(o, s) ? s : NULL;
}

/* Opens a file into a slot.  If the system has no more descriptors, the open ones are closed one by one. */
static bool open_slot(struct output_folder *o, uint32_t file)
{
	struct slot *const s = free_slot(o);

	if (s == NULL)
		return false;
	if (s->buffer == NULL && (s->buffer = malloc(BUFFER_SIZE)) == NULL)
		return fail_file(o, file, ENOMEM);
	while ((s->fd = open_named(o, file)) < 0) {
		const int why = errno;
		struct slot *const other = why == EMFILE || why == ENFILE ? oldest_slot(o) : NULL;
		if (other == NULL)
			return fail_file(o, file, why);
		if (!close_slot(o, other))
			return false;
	}
	s->file = file;
	s->n = 0;
	o->states[file].slot = (uint32_t)(s - o->slots);
	return true;
}

/* ---- files ---- */

/* The index of the file of this name, which is added if it is new.  Returns NONE on OOM. */
static uint32_t find_file(struct output_folder *o, const char *name)
{
	if (o->last != NONE && strcmp(o->files[o->last].name, name) == 0)
		return o->last;
	const uint32_t known = tabletext_get(&o->by_name, slice_str(name));
	if (known != TABLE_NONE)
		return known;
	char *const copy = strdup(name);
	if (copy == NULL || !array_reserve(&o->files, o->n, &o->files_cap, sizeof *o->files) ||
	    !array_reserve(&o->states, o->n, &o->states_cap, sizeof *o->states) ||
	    !tabletext_put(&o->by_name, slice_str(copy), o->n)) {
		free(copy);
		return NONE;
	}
	o->files[o->n] = (struct folder_file){ .name = copy };
	o->states[o->n] = (struct file_state){ .slot = NONE };
	return o->n++;
}

/* Appends to a file; its name must be checked already. */
static bool put_bytes(struct output_folder *o, const char *name, const char *p, size_t n)
{
	const uint32_t file = find_file(o, name);

	if (file == NONE)
		return output_failure_set(&o->failure, ENOMEM);
	o->last = file;
	if (o->states[file].slot == NONE && !open_slot(o, file))
		return false;
	struct slot *const s = &o->slots[o->states[file].slot];
	s->used = ++o->clock;
	byte_sum_add(&o->files[file].sum, p, n);
	if (n > BUFFER_SIZE - s->n && !flush_slot(o, s))
		return false;
	if (n >= BUFFER_SIZE)
		return write_slot(o, s, p, n);
	if (n > 0)
		memcpy(s->buffer + s->n, p, n);
	s->n += n;
	return true;
}

/* Writes the list, a file like the others, which does not contain its own name. */
static bool put_list(struct output_folder *o)
{
	struct text list = { .p = NULL };

	folder_list_put(&list, o->files, o->n);
	const bool ok = list.failed ? output_failure_set(&o->failure, ENOMEM)
	                            : put_bytes(o, OUTPUT_FOLDER_LIST, list.p, list.n);
	text_free(&list);
	return ok;
}

/* ---- the output ---- */

static void release(struct output_folder *o)
{
	for (uint32_t i = 0; i < OPEN_MAX_FILES; i++) {
		if (o->slots[i].fd >= 0)
			(void)close(o->slots[i].fd);
		free(o->slots[i].buffer);
	}
	for (uint32_t i = 0; i < o->n; i++)
		free(o->files[i].name);
	free(o->files);
	free(o->states);
	tabletext_free(&o->by_name);
	tabletext_free(&o->folders);
	output_temp_remove(&o->temp);
	output_failure_free(&o->failure);
	free(o->target);
	free(o);
}

static bool find_target(struct output_folder *o, const char *path)
{
	char *const name = strdup(path);

	if (name == NULL)
		return output_failure_set(&o->failure, ENOMEM);
	cut_slashes(name);
	if (name[0] != '\0')
		o->target = output_follow_links(name);
	const int why = name[0] == '\0' ? ENOENT : errno;
	free(name);
	if (o->target == NULL)
		return output_failure_set(&o->failure, why);
	cut_slashes(o->target); /* those of the link's target */
	return is_name(o->target) ||
	       output_failure_because(&o->failure, EISDIR, "is not a name that a new directory can have");
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
	o->last = NONE;
	for (uint32_t i = 0; i < OPEN_MAX_FILES; i++)
		o->slots[i].fd = -1;
	if (!output_failure_init(&o->failure, path))
		output_failure_no_memory(path, why, n);
	else if (find_target(o, path) && folder_may_replace(o->target, o->force, &o->failure) && open_temp(o))
		return o;
	else
		output_failure_copy(&o->failure, why, n);
	release(o);
	return NULL;
}

bool output_folder_put(struct output_folder *o, const char *file, const char *p, size_t n)
{
	char text[64];

	if (o->failure.error != 0 || o->finished)
		return false;
	const char *const wrong = folder_name_wrong(file, strlen(file));
	if (wrong != NULL) {
		(void)snprintf(text, sizeof text, "the name of a file in it %s", wrong);
		return output_failure_because(&o->failure, EINVAL, text);
	}
	return put_bytes(o, file, p, n);
}

const char *output_folder_error(const struct output_folder *o)
{
	return output_failure_text(&o->failure);
}

const char *output_folder_written(const struct output_folder *o)
{
	return o->temp.path;
}

const char *output_folder_target(const struct output_folder *o)
{
	return o->target;
}

bool output_folder_finish(struct output_folder *o)
{
	if (o->failure.error != 0 || o->finished)
		return o->failure.error == 0;
	o->finished = true;
	bool ok = put_list(o);
	for (uint32_t i = 0; ok && i < OPEN_MAX_FILES; i++)
		ok = o->slots[i].fd < 0 || close_slot(o, &o->slots[i]);
	return ok;
}

bool output_folder_check(struct output_folder *o)
{
	for (uint32_t i = 0; i < o->n && o->failure.error == 0; i++) {
		char *const path = folder_path(o->temp.path, o->files[i].name);
		struct byte_sum back;
		const int why = path != NULL ? byte_sum_read(&back, path) : ENOMEM;
		if (why != 0)
			(void)fail_file(o, i, why);
		else if (!byte_sum_equal(&back, &o->files[i].sum))
			(void)output_failure_in(&o->failure, o->files[i].name, EIO, BYTE_SUM_DIFFERS);
		free(path);
	}
	return o->failure.error == 0;
}

bool output_folder_commit(struct output_folder *o, char *why, size_t n)
{
	const bool done =
	    output_folder_finish(o) && folder_publish(&o->temp, o->force, rename_exchange, &o->failure);

	if (!done)
		output_failure_copy(&o->failure, why, n);
	release(o);
	return done;
}

void output_folder_discard(struct output_folder *o)
{
	if (o != NULL)
		release(o);
}
