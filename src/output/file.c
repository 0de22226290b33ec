/* An output of one file.  Plain output: small writes are collected in a buffer, large ones are passed
 * directly to write().  Compressed output is always packed in whole buffers, so that the bytes of the file do
 * not depend on the sizes of the caller's writes. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "base/numbers.h"
#include "output/private.h"
#include "output/text_visible.h"

enum {
	BUFFER_SIZE = 256 * 1024,
	DIRECT_SIZE = 64 * 1024,
	READ_STEP = 256 * 1024,
	HEAD_MAX = 256,      /* bytes by which an earlier output is recognised */
	WRITE_MAX = 1 << 30, /* bytes of one write(); Linux accepts at most 2 GiB */
	LINKS_MAX = 40,      /* as in the kernel */
};

struct output {
	int fd;
	int parent; /* the folder of output_open_below(); -1: none */
	bool force;
	bool sums;
	bool finished; /* the file is closed */
	struct output_failure failure;
	char *target; /* path after following links; NULL: written directly */
	struct output_temp temp;
	struct output_pack *pack;      /* NULL: plain */
	struct byte_sum given, stored; /* sums of bytes given to output_write(), and of packed bytes */
	char *buffer;                  /* BUFFER_SIZE bytes */
	size_t buffered;
};

/* ---- reading back ---- */

static int sum_file(struct byte_sum *s, int fd, char *buffer)
{
	for (;;) {
		const ssize_t did = read(fd, buffer, READ_STEP);
		if (did == 0)
			return 0;
		if (did > 0)
			byte_sum_add(s, buffer, (size_t)did);
		else if (errno != EINTR)
			return errno;
	}
}

int byte_sum_read(struct byte_sum *s, const char *path)
{
	char *const buffer = malloc(READ_STEP);
	struct stat st;
	int why = 0;

	*s = (struct byte_sum){ .bytes = 0 };
	if (buffer == NULL)
		return ENOMEM;
	const int fd = open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	if (fd < 0 || fstat(fd, &st) != 0)
		why = errno;
	else
		why = S_ISREG(st.st_mode) ? sum_file(s, fd, buffer) : EINVAL;
	if (fd >= 0)
		(void)close(fd);
	free(buffer);
	return why;
}

/* ---- links ---- */

/* The target of the link `at`, which may be another link; malloced.  Returns NULL with errno; EINVAL: not a
 * link. */
static char *link_target(const char *at)
{
	char to[PATH_MAX];
	const ssize_t n = readlink(at, to, sizeof to);
	if (n < 0)
		return NULL;
	if ((size_t)n == sizeof to) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	const char *slash = strrchr(at, '/');
	const size_t folder = to[0] == '/' || slash == NULL ? 0 : (size_t)(slash + 1 - at);
	char *path = malloc(folder + (size_t)n + 1);
	if (path == NULL)
		return NULL;
	memcpy(path, at, folder);
	memcpy(path + folder, to, (size_t)n);
	path[folder + (size_t)n] = '\0';
	return path;
}

char *output_follow_links(const char *path)
{
	char *at = strdup(path);
	for (int i = 0; at != NULL && i < LINKS_MAX; i++) {
		char *next = link_target(at);
		if (next == NULL && (errno == EINVAL || errno == ENOENT))
			return at;
		const int why = errno;
		free(at);
		errno = why;
		at = next;
	}
	if (at != NULL) {
		free(at);
		errno = ELOOP;
	}
	return NULL;
}

static bool fail(struct output *o, int error)
{
	return output_failure_set(&o->failure, error);
}

static bool fail_because(struct output *o, int error, const char *reason)
{
	return output_failure_because(&o->failure, error, reason);
}

/* ---- opening ---- */

/* Names of descriptors are not opened as files: a redirected /dev/stdout would be an existing file. */
int output_fd_of(const char *path)
{
	if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	return strcmp(path, "/dev/stderr") == 0 ? STDERR_FILENO : path_fd(path);
}

/* keep_mode: mode of the file that is replaced; -1: there is none. */
static bool open_temp(struct output *o, const char *path, int keep_mode)
{
	o->target = output_follow_links(path);
	if (o->target == NULL)
		return fail(o, errno);
	if (o->target[strlen(o->target) - 1] == '/')
		return fail_because(o, EISDIR, "names a directory");
	o->fd = output_temp_create(&o->temp, AT_FDCWD, o->target, keep_mode);
	if (o->fd >= 0)
		return true;
	if (errno == ENOENT)
		return fail_because(o, ENOENT, "its directory does not exist");
	return fail(o, errno);
}

static bool open_path(struct output *o, const char *path)
{
	struct stat st;
	if (path[0] == '\0')
		return fail(o, ENOENT);
	if (stat(path, &st) != 0)
		return errno == ENOENT ? open_temp(o, path, -1) : fail(o, errno);
	if (S_ISDIR(st.st_mode))
		return fail(o, EISDIR);
	if ((S_ISREG(st.st_mode) || S_ISBLK(st.st_mode)) && !o->force)
		return fail_because(o, EEXIST, "already exists (use -f to replace it)");
	if (S_ISREG(st.st_mode))
		return open_temp(o, path, (int)(st.st_mode & 0777));
	o->fd = open_file(path, O_WRONLY | O_NOCTTY, 0); /* a FIFO waits for its reader */
	return o->fd >= 0 || fail(o, errno);
}

static bool open_output(struct output *o, const char *path, unsigned threads)
{
	const int inherited = output_fd_of(path);
	if (inherited >= 0) {
		/* A copy: closing it reports late errors and leaves the original open. */
		o->fd = copy_inherited_fd(inherited);
		return o->fd >= 0 || fail(o, errno);
	}
	const enum output_packing packing = output_packing_of(path);
	if (packing != OUTPUT_PLAIN) {
		o->pack = output_pack_open(packing, threads);
		if (o->pack == NULL)
			return fail(o, ENOMEM);
	}
	return open_path(o, path);
}

static void release(struct output *o)
{
	if (o->fd >= 0)
		(void)close(o->fd);
	output_temp_remove(&o->temp);
	if (o->parent >= 0)
		(void)close(o->parent);
	output_pack_close(o->pack);
	free(o->target);
	free(o->buffer);
	output_failure_free(&o->failure);
	free(o);
}

/* Allocates the memory that an output needs; opens nothing. */
static struct output *new_output(const char *name)
{
	struct output *o = calloc(1, sizeof *o);
	if (o == NULL)
		return NULL;
	o->fd = -1;
	o->parent = -1;
	o->buffer = malloc(BUFFER_SIZE);
	if (output_failure_init(&o->failure, name) && o->buffer != NULL)
		return o;
	release(o);
	return NULL;
}

/* Returns the output, or, if it could not be opened, releases it and returns NULL. */
static struct output *opened_or_null(struct output *o, bool opened, char *why, size_t n)
{
	if (opened)
		return o;
	output_failure_copy(&o->failure, why, n);
	release(o);
	return NULL;
}

struct output *output_open(const char *path, unsigned flags, unsigned threads, char *why, size_t n)
{
	const char *name = strcmp(path, "-") == 0 ? "standard output" : path;
	struct output *o = new_output(name);
	if (o == NULL) {
		output_failure_no_memory(name, why, n);
		return NULL;
	}
	o->force = (flags & OUTPUT_FORCE) != 0;
	o->sums = (flags & OUTPUT_SUMS) != 0;
	return opened_or_null(o, open_output(o, path, threads), why, n);
}

/* ---- opening below a folder ---- */

/* Whether the file is an earlier output: a regular file that begins with the head. */
static bool begins_with(int fd, const char *head)
{
	const size_t n = strlen(head);
	char begin[HEAD_MAX];
	struct stat st;
	size_t got = 0;

	if (n > sizeof begin || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	while (got < n) {
		const ssize_t k = pread(fd, begin + got, n - got, (off_t)got);
		if (k == 0 || (k < 0 && errno != EINTR))
			return false;
		got += k > 0 ? (size_t)k : 0;
	}
	return memcmp(begin, head, n) == 0;
}

/* Returns false after a failure if the file exists and must be kept. */
static bool may_replace_below(struct output *o, const char *name, const char *head, int *keep_mode)
{
	struct stat st;

	*keep_mode = -1;
	if (fstatat(o->parent, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT || fail(o, errno);
	if (S_ISLNK(st.st_mode))
		return fail_because(o, ELOOP, below_why(ELOOP));
	const int fd =
	    head != NULL && S_ISREG(st.st_mode)
	        ? openat(o->parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
	        : -1;
	o->force = fd >= 0 && begins_with(fd, head);
	if (fd >= 0)
		(void)close(fd);
	*keep_mode = (int)(st.st_mode & 0666);
	return o->force || fail_because(o, EEXIST,
	                                "already exists and is kept: it is not known as an earlier report "
	                                "of this kind; remove it, or name the report with --report");
}

static bool open_below(struct output *o, const char *folder, const char *path, const char *head)
{
	const char *name;
	int keep_mode;

	o->parent = below_open_folder(folder, path, &name);
	if (o->parent < 0)
		return fail_because(o, errno,
		                    errno == ENOENT ? "its directory does not exist" : below_why(errno));
	const enum output_packing packing = output_packing_of(name);
	if (packing != OUTPUT_PLAIN && (o->pack = output_pack_open(packing, 1)) == NULL)
		return fail(o, ENOMEM);
	if (!may_replace_below(o, name, packing == OUTPUT_PLAIN ? head : NULL, &keep_mode))
		return false;
	o->target = strdup(name);
	if (o->target == NULL)
		return fail(o, ENOMEM);
	o->fd = output_temp_create(&o->temp, o->parent, o->target, keep_mode);
	return o->fd >= 0 || fail(o, errno);
}

struct output *output_open_below(const char *folder, const char *path, const char *head, char *why, size_t n)
{
	char name[PATH_MAX];
	struct output *o;

	snprintf(name, sizeof name, "%s%s%s", folder, strcmp(folder, "/") == 0 ? "" : "/", path);
	o = new_output(name);
	if (o == NULL) {
		output_failure_no_memory(name, why, n);
		return NULL;
	}
	return opened_or_null(o, open_below(o, folder, path, head), why, n);
}

/* ---- writing ---- */

/* send_all() and send_unmapped() call each other once: send_unmapped() passes only bytes of o->buffer. */
static bool send_all(struct output *o, const char *p, size_t n);

/* Standard output may be a pipe that another process made non-blocking. */
static int wait_writable(int fd)
{
	struct pollfd ask = { .fd = fd, .events = POLLOUT };
	return poll(&ask, 1, -1) >= 0 || errno == EINTR ? 0 : errno;
}

/* write() refuses bytes of a mapped file that became shorter (EFAULT); reading them gives zeros (by the
 * SIGBUS handler in input/file.c). */
static bool send_unmapped(struct output *o, const char *p, size_t n)
{
	for (size_t k; n > 0; p += k, n -= k) {
		k = n < BUFFER_SIZE ? n : BUFFER_SIZE;
		memcpy(o->buffer, p, k);
		if (!send_all(o, o->buffer, k))
			return false;
	}
	return true;
}

static bool send_all(struct output *o, const char *p, size_t n)
{
	while (n > 0) {
		const ssize_t done = write(o->fd, p, n < WRITE_MAX ? n : WRITE_MAX);
		int why = done < 0 ? errno : EIO; /* nothing was written, without a reason */
		if (done > 0) {
			p += done;
			n -= (size_t)done;
			continue;
		}
		if (why == EFAULT && p != o->buffer)
			return send_unmapped(o, p, n);
		if (why == EAGAIN)
			why = wait_writable(o->fd);
		if (why != 0 && why != EINTR)
			return fail(o, why);
	}
	return true;
}

static bool send_packed(void *to, const char *p, size_t n)
{
	struct output *const o = to;

	if (o->sums)
		byte_sum_add(&o->stored, p, n);
	return send_all(o, p, n);
}

/* Writes the buffer; `last`: also writes the end of a compressed file. */
static bool flush(struct output *o, bool last)
{
	const size_t n = o->buffered;
	o->buffered = 0;
	if (o->pack == NULL)
		return send_all(o, o->buffer, n);
	const char *why = output_pack_feed(o->pack, o->buffer, n, last, send_packed, o);
	if (why != NULL)
		return fail_because(o, EIO, why);
	return o->failure.error == 0;
}

bool output_write(struct output *o, const char *p, size_t n)
{
	if (o->failure.error != 0 || o->finished)
		return false;
	if (o->sums)
		byte_sum_add(&o->given, p, n);
	if (o->pack == NULL && n >= DIRECT_SIZE)
		return flush(o, false) && send_all(o, p, n);
	while (n > 0) {
		const size_t space = BUFFER_SIZE - o->buffered;
		const size_t k = n < space ? n : space;
		memcpy(o->buffer + o->buffered, p, k);
		o->buffered += k;
		p += k;
		n -= k;
		if (k == space && !flush(o, false))
			return false;
	}
	return true;
}

const char *output_error(const struct output *o)
{
	return output_failure_text(&o->failure);
}

bool output_pipe_closed(const struct output *o)
{
	return o->failure.error == EPIPE;
}

const char *output_written(const struct output *o)
{
	return o->temp.path;
}

const char *output_target(const struct output *o)
{
	return o->target;
}

/* ---- finishing ---- */

bool output_check(struct output *o)
{
	const struct byte_sum *const is = o->pack != NULL ? &o->stored : &o->given;
	struct byte_sum back;

	if (o->failure.error != 0 || o->temp.path == NULL)
		return o->failure.error == 0;
	const int error = byte_sum_read(&back, o->temp.path);
	if (error != 0)
		return fail(o, error);
	return byte_sum_equal(&back, is) || fail_because(o, EIO, BYTE_SUM_DIFFERS);
}

const struct byte_sum *output_packed(const struct output *o)
{
	return o->pack != NULL ? &o->given : NULL;
}

static bool close_checked(struct output *o)
{
	const int fd = o->fd;
	o->fd = -1;
	/* Linux has closed the descriptor even if it returns EINTR. */
	return close(fd) == 0 || errno == EINTR || fail(o, errno);
}

bool output_finish(struct output *o)
{
	if (o->failure.error == 0 && !o->finished) {
		o->finished = true;
		(void)(flush(o, true) && close_checked(o));
	}
	return o->failure.error == 0;
}

/* why: result of a rename, 0 or an errno value. */
static bool check_rename(struct output *o, int why)
{
	if (why == EEXIST && !o->force)
		return fail_because(o, why, "appeared while it was written (use -f to replace it)");
	return why == 0 || fail(o, why);
}

bool output_publish(struct output *o)
{
	if (!output_finish(o))
		return false;
	return o->target == NULL || check_rename(o, output_temp_try(&o->temp, o->force));
}

void output_take_back(struct output *o)
{
	if (o->temp.path != NULL)
		output_temp_take_back(&o->temp);
}

bool output_commit(struct output *o, char *why, size_t n)
{
	const bool done = output_finish(o) &&
	                  (o->target == NULL || check_rename(o, output_temp_publish(&o->temp, o->force)));
	if (!done)
		output_failure_copy(&o->failure, why, n);
	release(o);
	return done;
}

void output_discard(struct output *o)
{
	if (o != NULL)
		release(o);
}

/* ---- failures ---- */

/* The first failure of an output, as a message with the output and the reason.  Its memory is allocated when
 * the output is opened, so that a lack of memory can be reported too. */

enum { REASON_SIZE = 256 };

bool output_failure_init(struct output_failure *f, const char *name)
{
	struct text shown = { .p = NULL };

	text_visible(&shown, slice_str(name), 0);
	text_char(&shown, '\0');
	f->size = shown.n + OUTPUT_FILE_NAME_MAX + REASON_SIZE;
	f->text = malloc(f->size);
	f->name = shown.p;
	return !shown.failed && f->text != NULL;
}

void output_failure_free(struct output_failure *f)
{
	free(f->name);
	free(f->text);
	*f = (struct output_failure){ .error = 0 };
}

bool output_failure_because(struct output_failure *f, int error, const char *reason)
{
	if (f->error == 0) {
		f->error = error;
		(void)snprintf(f->text, f->size, "%s: %s", f->name, reason);
	}
	return false;
}

bool output_failure_set(struct output_failure *f, int error)
{
	char reason[REASON_SIZE / 2];

	errno_text(reason, sizeof reason, error);
	return output_failure_because(f, error, reason);
}

bool output_failure_in(struct output_failure *f, const char *file, int error, const char *reason)
{
	char of_errno[REASON_SIZE / 2];

	if (f->error == 0) {
		f->error = error;
		errno_text(of_errno, sizeof of_errno, error);
		(void)snprintf(f->text, f->size, "%s/%.*s: %s", f->name, OUTPUT_FILE_NAME_MAX, file,
		               reason != NULL ? reason : of_errno);
	}
	return false;
}

const char *output_failure_text(const struct output_failure *f)
{
	return f->error != 0 ? f->text : NULL;
}

void output_failure_copy(const struct output_failure *f, char *why, size_t n)
{
	const size_t len = strlen(f->text);

	if (n <= len && n > 4) {
		const char *tail = f->text + (len - (n - 4));
		while ((*tail & 0xc0) == 0x80) /* do not begin within a UTF-8 character */
			tail++;
		(void)snprintf(why, n, "...%s", tail);
	} else if (n > 0) {
		(void)snprintf(why, n, "%s", f->text);
	}
}

void output_failure_no_memory(const char *name, char *why, size_t n)
{
	char space[REASON_SIZE];
	struct text shown = text_start(space, sizeof space);

	text_visible_ends(&shown, slice_str(name), REASON_SIZE / 2);
	if (n > 0)
		(void)snprintf(why, n, "%.*s: out of memory for the output", (int)shown.n, shown.p);
	text_free(&shown);
}
