#include "input/input_spool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/spill_file.h"
#include "input/input_open.h"
#include "input/input_source.h"

#define SPOOL_BYTES ((size_t)256 << 10)

/* Whether input_open() reads it, and only once. */
static bool
is_used_up(int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || S_ISDIR(st.st_mode) || isatty(fd))
		return false;
	return !S_ISREG(st.st_mode) || lseek(fd, 0, SEEK_CUR) != 0;
}

/* 0, or the errno value of a read that failed; f->failed: a write did. */
static int
copy(struct spill_file *f, int fd)
{
	char *const room = malloc(SPOOL_BYTES);
	int why = room != NULL ? 0 : ENOMEM;

	while (why == 0) {
		const ssize_t n = input_read_fd(fd, room, SPOOL_BYTES);
		if (n < 0)
			why = errno;
		if (n <= 0 || !spill_write(f, room, (size_t)n))
			break;
	}
	free(room);
	return why;
}

static void
put_reason(const char *path, int error, char *why, size_t n)
{
	char reason[128];

	if (strerror_r(error, reason, sizeof reason) != 0)
		(void)snprintf(reason, sizeof reason, "error %d", error);
	(void)snprintf(why, n, "%s: cannot read: %s", strcmp(path, "-") == 0 ? "standard input" : path,
	               reason);
}

bool
input_spool(const char *path, const char *beside, char *why, size_t n)
{
	const int fd = input_fd_of(path);
	struct spill_file f = { .fd = -1 };
	int error = 0;

	if (!is_used_up(fd))
		return true;
	if (spill_open(&f, beside))
		error = copy(&f, fd);
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
