/* Inputs that are read as a whole, and pipes that are copied because they are needed twice. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "input/private.h"

enum { FIRST_SIZE = 16 << 10, SPOOL_SIZE = 256 << 10 };

/* ---- reading ---- */

/* Reads to the end, or one byte more than allowed. */
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
			input_errno_text(w->why, sizeof w->why, errno);
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

bool input_read_whole(struct input_whole *w, const char *path, size_t max)
{
	struct input *const in = input_new(path);
	struct stat st;

	*w = (struct input_whole){ .no_memory = in == NULL };
	if (in == NULL)
		return false;
	const int fd = input_open_path(in, &st);
	const bool ok = fd >= 0 && input_read_whole_fd(w, fd, max);
	if (fd < 0) {
		const char *const hint = strstr(in->fault_text, ": feed it"); /* is advice for traces */
		const size_t n = hint != NULL ? (size_t)(hint - in->fault_text) : sizeof w->why - 1;
		(void)snprintf(w->why, sizeof w->why, "%.*s", (int)n, in->fault_text);
	}
	if (fd >= 0)
		(void)close(fd);
	input_close(in);
	return ok;
}

/* ---- copying ---- */

/* Whether input_open() can read it only once. */
static bool is_consumed(int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || S_ISDIR(st.st_mode) || isatty(fd))
		return false;
	return !S_ISREG(st.st_mode) || lseek(fd, 0, SEEK_CUR) != 0;
}

/* Returns 0, or errno of a read that failed; f->failed: a write failed. */
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

	input_errno_text(reason, sizeof reason, error);
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
