/* Functions that POSIX lacks or leaves open: files below an untrusted folder, rename without replacing,
 * temporary files without a name, the terminal. */
#define _GNU_SOURCE /* renameat2, O_TMPFILE, fallocate, TIOCGWINSZ, F_SETPIPE_SZ, madvise */

#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"

/* ---- environment ---- */

enum { COLUMNS_LIMIT = 10000 };

const char *libc_version(char *p, size_t n)
{
	snprintf(p, n, "libc");
#ifdef _CS_GNU_LIBC_VERSION
	char name[64];
	const size_t length = confstr(_CS_GNU_LIBC_VERSION, name, sizeof name);
	if (length > 0 && length <= sizeof name)
		snprintf(p, n, "%s", name);
#endif
	return p;
}

unsigned terminal_columns(int fd)
{
	const char *const set = getenv("COLUMNS");
	struct winsize size;

	const long columns = set != NULL ? strtol(set, NULL, 10) : 0;
	if (columns > 0 && columns <= COLUMNS_LIMIT)
		return (unsigned)columns;
	if (!isatty(fd))
		return 0;
	return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* ---- files ---- */

int path_fd(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	const char *digits = NULL;
	int fd = -1;

	for (size_t i = 0; i < COUNT_OF(folders); i++)
		if (strncmp(path, folders[i], strlen(folders[i])) == 0)
			digits = path + strlen(folders[i]);
	if (digits == NULL)
		return -1;
	for (; *digits >= '0' && *digits <= '9' && fd < 100000000; digits++)
		fd = (fd < 0 ? 0 : fd * 10) + (*digits - '0');
	return *digits == '\0' ? fd : -1;
}

int copy_inherited_fd(int fd)
{
	const int flags = fcntl(fd, F_GETFD);

	if (flags >= 0 && (flags & FD_CLOEXEC) != 0)
		errno = EBADF;
	return flags < 0 || (flags & FD_CLOEXEC) != 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

int open_file(const char *path, int flags, mode_t mode)
{
	int fd;

	do
		fd = open(path, flags | O_CLOEXEC, mode);
	while (fd < 0 && errno == EINTR);
	return fd;
}

void pipe_widen(int fd, int size)
{
#ifdef F_SETPIPE_SZ
	(void)fcntl(fd, F_SETPIPE_SZ, size);
#endif
}

void map_forget(void *at, size_t n)
{
	(void)madvise(at, n, MADV_DONTNEED);
}

bool map_zeros(void *at, size_t n)
{
	return mmap(at, n, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

/* ---- rename ---- */

/* link() never replaces; without hard links, the name is checked first. */
static int rename_by_link(int dir, const char *from, const char *to)
{
	struct stat st;

	if (linkat(dir, from, dir, to, 0) == 0) {
		(void)unlinkat(dir, from, 0);
		return 0;
	}
	if (errno == EEXIST || fstatat(dir, to, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return EEXIST;
	return renameat(dir, from, dir, to) == 0 ? 0 : errno;
}

int rename_new_in(int dir, const char *from, const char *to)
{
	if (renameat2(dir, from, dir, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno == EINVAL || errno == ENOSYS)
		return rename_by_link(dir, from, to);
	return errno;
}

int rename_new(const char *from, const char *to)
{
	return rename_new_in(AT_FDCWD, from, to);
}

int rename_exchange(const char *a, const char *b)
{
	return renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) == 0 ? 0 : errno;
}

/* ---- files below a folder ---- */

/* Folders of version control: their files are hooks, and settings with names of programs. */
static const char *const guarded[] = { ".git", ".hg", ".svn", ".bzr", ".jj" };

enum { GUARDED = COUNT_OF(guarded) };

/* Ignores case, as some file systems do. */
static bool is_guarded(const char *name, size_t n)
{
	for (size_t i = 0; i < GUARDED; i++)
		if (strlen(guarded[i]) == n && strncasecmp(guarded[i], name, n) == 0)
			return true;
	return false;
}

const char *below_mistake(const char *path)
{
	const char *last = "";

	if (path[0] == '\0')
		return "it is empty";
	if (path[0] == '/')
		return "it begins with a slash";
	for (const char *p = path; *p != '\0'; p += *p == '/') {
		const size_t n = strcspn(p, "/");
		if (n > NAME_MAX)
			return "a part of it is too long";
		if (n == 2 && memcmp(p, "..", 2) == 0)
			return "it contains ..";
		if (is_guarded(p, n))
			return "it leads into a directory of version control";
		last = p;
		p += n;
	}
	return last[strcspn(last, "/")] == '/' || strcmp(last, ".") == 0 ? "it names a directory" : NULL;
}

/* Whether fd is a guarded folder with another name: a short name, or another spelling of a letter. */
static bool is_guarded_folder(int parent, int fd)
{
	struct stat st, other;

	if (fstat(fd, &st) != 0)
		return true;
	for (size_t i = 0; i < GUARDED; i++)
		if (fstatat(parent, guarded[i], &other, 0) == 0 && other.st_dev == st.st_dev &&
		    other.st_ino == st.st_ino)
			return true;
	return false;
}

static int open_at(int parent, const char *name, int flags)
{
	int fd;

	do
		fd = openat(parent, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
	while (fd < 0 && errno == EINTR);
	return fd;
}

/* Opens the folder of a name of n bytes, and closes its parent.  Returns -1 with errno. */
static int open_next(int parent, const char *p, size_t n)
{
	char name[NAME_MAX + 1];

	memcpy(name, p, n);
	name[n] = '\0';
	int fd = open_at(parent, name, O_RDONLY | O_DIRECTORY);
	int why = errno;
	if (fd >= 0 && is_guarded_folder(parent, fd)) {
		(void)close(fd);
		fd = -1;
		why = EXDEV;
	}
	(void)close(parent);
	errno = why;
	return fd;
}

int below_open_folder(const char *folder, const char *path, const char **last)
{
	if (below_mistake(path) != NULL) {
		errno = EXDEV;
		return -1;
	}
	/* links are followed, as the folder itself is trusted */
	int fd = open_file(folder, O_RDONLY | O_DIRECTORY, 0);
	*last = path_name(path);
	for (const char *p = path; fd >= 0 && p < *last;) {
		const size_t n = strcspn(p, "/");
		if (n > 0 && !(n == 1 && *p == '.'))
			fd = open_next(fd, p, n);
		p += n + 1;
	}
	return fd;
}

int below_open_file(const char *folder, const char *path)
{
	const char *last;
	struct stat st;
	const int parent = below_open_folder(folder, path, &last);

	if (parent < 0)
		return -1;
	const int fd = open_at(parent, last, O_RDONLY);
	int why = errno;
	(void)close(parent);
	if (fd < 0) {
		errno = why;
		return -1;
	}
	why = fstat(fd, &st) != 0 ? errno : S_ISREG(st.st_mode) ? 0 : EINVAL;
	if (why == 0)
		return fd;
	(void)close(fd);
	errno = why;
	return -1;
}

const char *below_why(int error)
{
	switch (error) {
	case ELOOP:
	case ENOTDIR:
		return "a part of the name is a link or no directory; a policy's files are below its "
		       "directory";
	case EXDEV:
		return "it is not below the directory of the policy, or in a directory of version control";
	case EINVAL:
		return "it is not a regular file";
	default:
		return strerror(error);
	}
}

/* ---- threads ---- */

int thread_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	sigset_t blocked, before;

	(void)sigfillset(&blocked);
	(void)sigdelset(&blocked, SIGBUS);
	(void)sigdelset(&blocked, SIGSEGV);
	(void)sigdelset(&blocked, SIGFPE);
	(void)sigdelset(&blocked, SIGILL);
	(void)pthread_sigmask(SIG_BLOCK, &blocked, &before);
	const int error = pthread_create(thread, NULL, run, arg);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

static uint64_t cpu_time_of(clockid_t clock)
{
	struct timespec t;

	return clock_gettime(clock, &t) == 0 ? (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec : 0;
}

struct cpu_times cpu_times_now(void)
{
	const uint64_t mine = cpu_time_of(CLOCK_THREAD_CPUTIME_ID),
	               all = cpu_time_of(CLOCK_PROCESS_CPUTIME_ID);

	return (struct cpu_times){ mine, all > mine ? all - mine : 0 };
}

/* ---- spill files ---- */

static bool failed(struct spill_file *f, enum spill_action action, int error)
{
	if (f->failed == SPILL_NOTHING) {
		f->failed = action;
		f->error = error;
	}
	return false;
}

/* The parent folder of a path, which may end in slashes. */
static char *folder_of(const char *path)
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

static char *temporary_folder(void)
{
	const char *const named = getenv("TMPDIR");

	return strdup(named != NULL && named[0] != '\0' ? named : "/tmp");
}

/* For file systems without O_TMPFILE.  Returns -1 with errno. */
static int create_and_unlink(const char *folder)
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

static int create_spill(const char *folder)
{
	int fd = open_file(folder, O_TMPFILE | O_RDWR | O_EXCL, 0600);

	/* Kernels and file systems without O_TMPFILE return one of these. */
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd;
	fd = create_and_unlink(folder);
	if (fd >= 0)
		(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fd;
}

bool spill_open(struct spill_file *f, const char *near)
{
	if (f->failed != SPILL_NOTHING)
		return false;
	f->folder = near != NULL ? folder_of(near) : temporary_folder();
	if (f->folder == NULL)
		return failed(f, SPILL_CREATE, ENOMEM);
	f->fd = create_spill(f->folder);
	if (f->fd < 0)
		return failed(f, SPILL_CREATE, errno);
	f->is_open = true;
	return true;
}

bool spill_write_at(struct spill_file *f, uint64_t offset, const void *p, size_t n)
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

bool spill_write(struct spill_file *f, const void *p, size_t n)
{
	return spill_write_at(f, f->size, p, n);
}

bool spill_read(struct spill_file *f, uint64_t offset, void *p, size_t n)
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

/* Holes are whole blocks: the kernel keeps bytes that are in a block with other data. */
void spill_discard(struct spill_file *f, uint64_t offset, uint64_t n)
{
	if (n > 0)
		(void)fallocate(f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)n);
}

void spill_reason(const struct spill_file *f, const char *purpose, char *why, size_t size)
{
	static const char *const verbs[] = { "use", "create", "write", "read" };

	(void)snprintf(why, size, "%s: cannot %s the temporary file for %s: %s",
	               f->folder != NULL ? f->folder : "?", verbs[f->failed], purpose, strerror(f->error));
}

void spill_close(struct spill_file *f)
{
	if (f->is_open)
		(void)close(f->fd);
	free(f->folder);
	*f = (struct spill_file){ .fd = -1 };
}
