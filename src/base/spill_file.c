/* _GNU_SOURCE: O_TMPFILE, and fallocate() that punches holes. */
#define _GNU_SOURCE

#include "base/spill_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool
failed(struct spill_file *f, enum spill_action action, int error)
{
	if (f->failed == SPILL_NOTHING) {
		f->failed = action;
		f->error = error;
	}
	return false;
}

/* The folder that holds a path, also when the path ends in slashes.  NULL: no memory. */
static char *
folder_of(const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	while (n > 0 && path[n - 1] != '/')
		n--;
	while (n > 1 && path[n - 1] == '/')
		n--;
	return n > 0 ? strndup(path, n) : strdup(".");
}

static char *
temporary_folder(void)
{
	const char *const named = getenv("TMPDIR");

	return strdup(named != NULL && named[0] != '\0' ? named : "/tmp");
}

/* For file systems without O_TMPFILE.  -1: errno says why. */
static int
create_and_unlink(const char *folder)
{
	static const char name[] = "/.tracetool-spill-XXXXXX";
	const size_t n = strlen(folder);
	char *const path = malloc(n + sizeof name);
	sigset_t all, before;
	int why;

	if (path == NULL)
		return -1;
	memcpy(path, folder, n);
	memcpy(path + n, name, sizeof name);
	(void)sigfillset(&all);
	const bool blocked = pthread_sigmask(SIG_BLOCK, &all, &before) == 0;
	int fd = mkstemp(path);
	why = errno;
	if (fd >= 0 && unlink(path) != 0) {
		why = errno;
		(void)close(fd);
		fd = -1;
	}
	if (blocked)
		(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	free(path);
	errno = why;
	return fd;
}

static int
create(const char *folder)
{
	int fd;

	do
		fd = open(folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
	while (fd < 0 && errno == EINTR);
	/* A kernel or a file system that does not know O_TMPFILE says one of these. */
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd;
	fd = create_and_unlink(folder);
	if (fd >= 0)
		(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fd;
}

bool
spill_open(struct spill_file *f, const char *beside)
{
	if (f->failed != SPILL_NOTHING)
		return false;
	f->folder = beside != NULL ? folder_of(beside) : temporary_folder();
	if (f->folder == NULL)
		return failed(f, SPILL_CREATE, ENOMEM);
	f->fd = create(f->folder);
	if (f->fd < 0)
		return failed(f, SPILL_CREATE, errno);
	f->is_open = true;
	return true;
}

bool
spill_write_at(struct spill_file *f, uint64_t offset, const void *p, size_t n)
{
	const char *at = p;

	if (f->failed != SPILL_NOTHING)
		return false;
	while (n > 0) {
		const ssize_t done = pwrite(f->fd, at, n, (off_t)offset);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return failed(f, SPILL_WRITE, done < 0 ? errno : ENOSPC);
		at += done;
		n -= (size_t)done;
		offset += (uint64_t)done;
		if (offset > f->size)
			f->size = offset;
	}
	return true;
}

bool
spill_write(struct spill_file *f, const void *p, size_t n)
{
	return spill_write_at(f, f->size, p, n);
}

bool
spill_read(struct spill_file *f, uint64_t offset, void *p, size_t n)
{
	char *to = p;

	if (f->failed != SPILL_NOTHING)
		return false;
	while (n > 0) {
		const ssize_t done = pread(f->fd, to, n, (off_t)offset);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return failed(f, SPILL_READ, done < 0 ? errno : EIO);
		to += done;
		n -= (size_t)done;
		offset += (uint64_t)done;
	}
	return true;
}

/* Holes are whole blocks: the kernel leaves what shares a block with other data. */
void
spill_discard(struct spill_file *f, uint64_t offset, uint64_t n)
{
	if (n > 0)
		(void)fallocate(f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)n);
}

void
spill_reason(const struct spill_file *f, const char *purpose, char *why, size_t size)
{
	static const char *const verbs[] = { "use", "create", "write", "read" };

	(void)snprintf(why, size, "%s: cannot %s the temporary file for %s: %s",
	               f->folder != NULL ? f->folder : "?", verbs[f->failed], purpose, strerror(f->error));
}

void
spill_close(struct spill_file *f)
{
	if (f->is_open)
		(void)close(f->fd);
	free(f->folder);
	*f = (struct spill_file){ .fd = -1 };
}
