/* Opens a path as a source: whether it may be read, is packed, or can be mapped.  Also reads whole files. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/numbers.h"
#include "base/os.h"
#include "input/private.h"

/* ---- descriptors ---- */

int input_fd_of(const char *path)
{
	return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdin") == 0 ? STDIN_FILENO : path_fd(path);
}

bool input_is_named(const char *path)
{
	return input_fd_of(path) < 0;
}

int input_open_fd(const char *path)
{
	return open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
}

ssize_t input_read_fd(int fd, void *to, size_t n)
{
	for (;;) {
		const ssize_t got = read(fd, to, n);

		if (got >= 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK))
			return got;
		if (errno != EINTR) {
			struct pollfd wait = { .fd = fd, .events = POLLIN };

			(void)poll(&wait, 1, -1);
		}
	}
}

/* ---- paths ---- */

/* Why a named file is not read; NULL: it is a regular file. */
static const char *refuse_mode(mode_t mode)
{
	if (S_ISREG(mode))
		return NULL;
	if (S_ISDIR(mode))
		return "is a directory";
	if (S_ISFIFO(mode))
		return "is a named FIFO: feed it to standard input instead (tracetool ... - < FIFO)";
	if (S_ISCHR(mode))
		return "is a character device";
	if (S_ISBLK(mode))
		return "is a block device: feed it to standard input instead (tracetool ... - < DEVICE)";
	return S_ISSOCK(mode) ? "is a socket" : "is not a regular file";
}

/* Whether it is the name that findings give to a file of an archive, "run.tar:/a". */
static bool is_of_archive(const char *path)
{
	const char *const colon = strstr(path, ":/");
	char *const archive = colon != NULL ? strndup(path, (size_t)(colon - path)) : NULL;
	struct stat st;
	const bool is = archive != NULL && input_is_archive(archive) && stat(archive, &st) == 0;

	free(archive);
	return is;
}

static bool fail_stat(struct input *in, int error)
{
	struct stat st;

	if (error == ENOENT && is_of_archive(in->path))
		return input_fail(in, INPUT_MISSING,
		                  "is a file of an archive: name the archive, or unpack it");
	if (error == ENOENT && lstat(in->path, &st) == 0 && S_ISLNK(st.st_mode))
		return input_fail(in, INPUT_MISSING, "is a link to nowhere");
	return input_fail_errno(in, "", error);
}

/* The type is checked before the file is opened: opening a FIFO or a device has effects on its other side. */
static int open_named(struct input *in, struct stat *st)
{
	const char *reason;
	int fd;

	if (stat(in->path, st) != 0) {
		(void)fail_stat(in, errno);
		return -1;
	}
	reason = refuse_mode(st->st_mode);
	if (reason == NULL) {
		/* Non-blocking, in case the file became a FIFO meanwhile. */
		fd = input_open_fd(in->path);
		if (fd < 0 || fstat(fd, st) != 0) {
			(void)fail_stat(in, errno);
			if (fd >= 0)
				(void)close(fd);
			return -1;
		}
		reason = refuse_mode(st->st_mode);
		if (reason == NULL)
			return fd;
		(void)close(fd);
	}
	(void)input_fail(in, INPUT_NOT_A_FILE, "%s", reason);
	return -1;
}

/* A descriptor that the process inherited may have nearly any type. */
static int open_given(struct input *in, int given, struct stat *st)
{
	const int fd = copy_inherited_fd(given);

	if (fd < 0 || fstat(fd, st) != 0)
		(void)input_fail_errno(in, given == STDIN_FILENO ? "standard input: " : "", errno);
	else if (S_ISDIR(st->st_mode))
		(void)input_fail(in, INPUT_NOT_A_FILE, "is a directory");
	else if (isatty(fd))
		(void)input_fail(in, INPUT_NOT_A_FILE, "%s is a terminal",
		                 given == STDIN_FILENO ? "standard input" : "the descriptor");
	else
		return fd;
	if (fd >= 0)
		(void)close(fd);
	return -1;
}

/* ---- starting a source ---- */

static enum input_packing packing_of(const char *p, size_t n)
{
	if (n >= 3 && memcmp(p, "\x1f\x8b\x08", 3) == 0)
		return INPUT_GZIP;
	if (n >= 6 && memcmp(p,
	                     "\xfd"
	                     "7zXZ",
	                     6) == 0)
		return INPUT_XZ;
	/* zstd may begin with skippable frames of any size: one of 16 magic numbers. */
	const uint32_t magic = n >= 4 ? load_u32(p, false) : 0;
	return magic == 0xfd2fb528U || (magic & 0xfffffff0U) == 0x184d2a50U ? INPUT_ZSTD : INPUT_PLAIN;
}

static bool start_mapped(struct input *in, struct input_mapping *m)
{
	return in->packing == INPUT_PLAIN ? input_file_start(in, m) : input_unpack_start_mapped(in, m);
}

bool input_mapped_start(struct input *in, struct input_mapping *m)
{
	in->packing = packing_of(m->buffer.bytes, m->buffer.cap);
	return start_mapped(in, m);
}

/* Reads the first window, which is passed to the source afterwards. */
static bool probe_stream(struct input *in, int fd, struct input_buffer *b)
{
	while (b->len < INPUT_FIRST_WINDOW) {
		const ssize_t n = input_read_fd(fd, b->bytes + b->len, b->cap - b->len);

		if (n < 0 && b->len == 0)
			return input_fail_errno(in, "cannot read: ", errno);
		if (n <= 0) /* an error after some bytes occurs again after them */
			break;
		b->len += (size_t)n;
	}
	in->packing = packing_of(b->bytes, b->len);
	return true;
}

static bool start_stream(struct input *in, int fd)
{
	struct input_pool *pool = input_pool_new();
	struct input_buffer *b = pool != NULL ? input_buffer_new(pool, INPUT_BUFFER_SIZE) : NULL;

	/* with 64 KiB it takes three times as long, as reader and writer wait for each other more often */
	pipe_widen(fd, INPUT_BUFFER_SIZE);
	if (b != NULL && probe_stream(in, fd, b))
		return in->packing == INPUT_PLAIN ? input_stream_start(in, fd, b, pool)
		                                  : input_unpack_start_stream(in, fd, b, pool);
	if (b == NULL)
		(void)input_fail(in, INPUT_SYSTEM, "out of memory");
	input_buffer_drop(b);
	input_pool_close(pool);
	(void)close(fd);
	return false;
}

/* Opens in->path for reading; -1 after a fault.  Named files that are not regular are refused, without
 * waiting for their other sides; open descriptors ("-") may have nearly any type. */
static int open_path(struct input *in, struct stat *st)
{
	const int given = input_fd_of(in->path);

	return given >= 0 ? open_given(in, given, st) : open_named(in, st);
}

/* A regular file that is read from its start is mapped; other files, and files that cannot be mapped, are
 * read.  (Files of /proc claim to have size 0.) */
static bool start_source(struct input *in, int fd, const struct stat *st)
{
	struct input_mapping *m = NULL;

	if (S_ISREG(st->st_mode) && st->st_size > 0 && (uint64_t)st->st_size <= SIZE_MAX / 2 &&
	    lseek(fd, 0, SEEK_CUR) == 0)
		m = input_map(fd, st);
	if (m == NULL) {
		if (in->files != NULL)
			input_files_unkeep(in->files, in);
		if (!start_stream(in, fd))
			return false;
		if (S_ISREG(st->st_mode) && st->st_size > 0) {
			in->source->file_size = (uint64_t)st->st_size;
			in->source->id = input_id_of(st);
			in->source->can_reopen = input_fd_of(in->path) < 0;
		}
		return true;
	}
	(void)close(fd);
	return input_mapped_start(in, m);
}

void input_prime(struct input *in)
{
	(void)input_need(in, INPUT_FIRST_WINDOW);
	if (in->p != in->end) {
		if (in->fault != INPUT_OK) {
			in->fault = INPUT_OK;
			in->fault_text[0] = '\0';
			in->last = false;
		}
	} else if (in->fault == INPUT_OK || in->fault == INPUT_TRAILING) {
		(void)input_fail(in, INPUT_EMPTY,
		                 in->packing == INPUT_PLAIN ? "is empty" : "is empty when unpacked");
	}
}

/* Only plain regular files are read in pieces. */
static void start_by_pieces(struct input *in, int fd, const struct stat *st, size_t piece)
{
	char head[64];
	const ssize_t n = pread(fd, head, sizeof head, 0);

	in->packing = n > 0 ? packing_of(head, (size_t)n) : INPUT_PLAIN;
	if (n <= 0 || in->packing != INPUT_PLAIN || !S_ISREG(st->st_mode) || st->st_size <= 0 ||
	    (uint64_t)st->st_size > SIZE_MAX / 2) {
		if (start_source(in, fd, st))
			input_prime(in);
		return;
	}
	input_pieces_start(in, fd, st, piece);
}

/* Opens the file of the path; it must be the file of an earlier pass.  Returns -1 with the fault set. */
static int open_in_run(struct input *in, struct stat *st)
{
	int fd = -1;

	if (in->files != NULL && input_files_look(in->files, in, &fd) == INPUT_FILES_FAILED)
		return -1;
	if (fd >= 0 && fstat(fd, st) != 0) {
		(void)input_fail_errno(in, "", errno);
		(void)close(fd);
		fd = -1;
	} else if (fd < 0) {
		fd = open_path(in, st);
	}
	if (fd < 0 && in->files != NULL)
		input_files_note_fault(in->files, in);
	if (fd >= 0 && in->files != NULL && !input_files_note(in->files, in, fd, st)) {
		(void)close(fd);
		fd = -1;
	}
	return fd;
}

static struct input *open_input(struct input_files *files, const char *path, size_t piece)
{
	struct input *in = input_new(path);
	struct stat st;

	if (in == NULL)
		return NULL;
	in->files = files;
	in->last = true;
	const int fd = open_in_run(in, &st);
	if (fd < 0)
		return in;
	in->last = false;
	if (piece > 0 && input_is_named(path))
		start_by_pieces(in, fd, &st, piece);
	else if (start_source(in, fd, &st))
		input_prime(in);
	return in;
}

struct input *input_open(const char *path)
{
	return open_input(NULL, path, 0);
}

struct input *input_open_in(struct input_files *files, const struct input_archive *a, const char *path)
{
	if (!input_archive_holds(a, path))
		return open_input(files, path, 0);
	struct input *const in = input_new(path);
	if (in == NULL)
		return NULL;
	in->files = files;
	input_archive_start(in, a);
	return in;
}

bool input_is_missing(struct input_files *files, const struct input_archive *a, const char *path)
{
	struct stat st;

	if (!input_archive_holds(a, path))
		return stat(path, &st) != 0 && input_fault_of_errno(errno) == INPUT_MISSING;
	struct input *const member = input_open_in(files, a, path);
	const bool missing = member != NULL && member->fault == INPUT_MISSING;
	input_close(member);
	return missing;
}

struct input *input_reopen(const struct input *in)
{
	if (!input_can_reopen(in))
		return NULL;
	if (in->ops->reopen != NULL)
		return in->ops->reopen(in);
	struct input_mapping *const m = in->source->mapping;
	if (m == NULL)
		return input_open_in(in->files, NULL, in->path);
	struct input *const again = input_new(in->path);
	if (again == NULL)
		return NULL;
	again->files = in->files;
	again->again = in->again;
	again->packing = in->packing;
	input_buffer_ref(&m->buffer);
	if (start_mapped(again, m))
		input_prime(again);
	return again;
}

struct input *input_open_pieces(struct input_files *files, const char *path, size_t piece)
{
	return open_input(files, path, piece);
}

/* ---- inputs that are read as a whole ---- */

enum { FIRST_SIZE = 16 << 10, SPOOL_SIZE = 256 << 10 };

/* Reads to the end, or at most one byte more than allowed. */
static bool read_to_end(struct input_whole *w, int fd, size_t max)
{
	size_t size = 0;

	while (w->n <= max) {
		if (size - w->n < 2) {
			const size_t want = size == 0 ? FIRST_SIZE : size * 2;
			char *const p = realloc(w->p, want);
			w->no_memory = p == NULL;
			if (p == NULL)
				return false;
			w->p = p;
			size = want;
		}
		const ssize_t got = input_read_fd(fd, w->p + w->n, size - w->n - 1);
		if (got < 0) {
			errno_text(w->why, sizeof w->why, errno);
			return false;
		}
		w->n += (size_t)got;
		w->p[w->n] = '\0';
		if (got == 0)
			return true;
	}
	w->too_large = true;
	return false;
}

bool input_read_whole_fd(struct input_whole *w, int fd, size_t max)
{
	*w = (struct input_whole){ .p = NULL };
	if (read_to_end(w, fd, max))
		return true;
	free(w->p);
	w->p = NULL;
	return false;
}

/* Copies the reason of a fault, without the advice for traces. */
static void set_whole_why(struct input_whole *w, const struct input *in)
{
	const char *const hint = strstr(in->fault_text, ": feed it");
	const size_t n = hint != NULL ? (size_t)(hint - in->fault_text) : sizeof w->why - 1;

	(void)snprintf(w->why, sizeof w->why, "%.*s", (int)n, in->fault_text);
}

bool input_read_whole(struct input_whole *w, const char *path, size_t max)
{
	struct input *const in = input_new(path);
	struct stat st;

	*w = (struct input_whole){ .no_memory = in == NULL };
	if (in == NULL)
		return false;
	const int fd = open_path(in, &st);
	const bool ok = fd >= 0 && input_read_whole_fd(w, fd, max);
	if (fd < 0)
		set_whole_why(w, in);
	if (fd >= 0)
		(void)close(fd);
	input_close(in);
	return ok;
}

bool input_read_unpacked(struct input_whole *w, const char *path, size_t max)
{
	struct input *const in = input_open(path);

	*w = (struct input_whole){ .no_memory = in == NULL };
	if (in == NULL)
		return false;
	while ((size_t)(in->end - in->p) <= max && !in->last && input_more(in))
		;
	w->n = (size_t)(in->end - in->p);
	w->too_large = w->n > max;
	if (in->fault != INPUT_OK && in->fault != INPUT_EMPTY) {
		set_whole_why(w, in);
	} else if (!w->too_large) {
		w->p = malloc(w->n + 1);
		w->no_memory = w->p == NULL;
	}
	if (w->p != NULL) {
		array_copy(w->p, in->p, w->n);
		w->p[w->n] = '\0';
	}
	input_close(in);
	return w->p != NULL;
}

/* ---- pipes that are copied, as they are needed twice ---- */

/* Whether input_open() can read the descriptor only once. */
static bool is_consumed(int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || S_ISDIR(st.st_mode) || isatty(fd))
		return false;
	return !S_ISREG(st.st_mode) || lseek(fd, 0, SEEK_CUR) != 0;
}

/* Returns 0, or the errno of a failed read.  f->failed: a write failed. */
static int copy_input(struct spill_file *f, int fd)
{
	char *const buffer = malloc(SPOOL_SIZE);
	int why = buffer != NULL ? 0 : ENOMEM;

	while (why == 0) {
		const ssize_t n = input_read_fd(fd, buffer, SPOOL_SIZE);
		if (n < 0)
			why = errno;
		if (n <= 0 || !spill_write(f, buffer, (size_t)n))
			break;
	}
	free(buffer);
	return why;
}

static void put_reason(const char *path, int error, char *why, size_t n)
{
	char reason[128];

	errno_text(reason, sizeof reason, error);
	(void)snprintf(why, n, "%s: cannot read: %s", strcmp(path, "-") == 0 ? "standard input" : path,
	               reason);
}

bool input_spool(const char *path, const char *near, char *why, size_t n)
{
	const int fd = input_fd_of(path);
	struct spill_file f = { .fd = -1 };
	int error = 0;

	if (!is_consumed(fd))
		return true;
	if (spill_open(&f, near))
		error = copy_input(&f, fd);
	if (error == 0 && f.failed == SPILL_NOTHING && dup2(f.fd, fd) < 0)
		error = errno;
	const bool ok = error == 0 && f.failed == SPILL_NOTHING;
	if (f.failed != SPILL_NOTHING)
		spill_reason(&f, "an input that is read twice", why, n);
	else if (!ok)
		put_reason(path, error, why, n);
	spill_close(&f);
	return ok;
}
