/*
 * Replaces functions of the C library in the program that it is linked into, and in its libraries: each
 * counts its calls and fails those that the plan names.  glibc only.  With AddressSanitizer (of gcc),
 * malloc() and its like are passed on to the sanitizer.
 */
#define _GNU_SOURCE
#include "test/faults/faults.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the plan ---- */

static const char *const names[FAULT_CALLS] = {
#define CALL(name, first, second, harmless) #name,
#include "test/faults/fault_calls.def"
#undef CALL
};

const struct fault_errors fault_errors[FAULT_CALLS] = {
#define CALL(name, first, second, harmless) { { first, second }, harmless },
#include "test/faults/fault_calls.def"
#undef CALL
};

const char *fault_call_name(enum fault_call call)
{
	return call < FAULT_CALLS ? names[call] : "none";
}

bool fault_call_is_transfer(enum fault_call call)
{
	return call == FAULT_read || call == FAULT_pread || call == FAULT_write || call == FAULT_pwrite;
}

/* Static, since a replaced function gets no context. */
static struct fault_plan *plan;

void fault_plan_set(struct fault_plan *p)
{
	plan = p;
}

static _Thread_local bool inside; /* the current call is one of the shim itself */

static void print_stack(void)
{
	void *frames[FAULT_FRAMES];

	inside = true;
	backtrace_symbols_fd(frames, backtrace(frames, FAULT_FRAMES), STDERR_FILENO);
	inside = false;
}

static uint64_t hash_stack(void)
{
	void *frames[FAULT_FRAMES];
	uint64_t hash = 0;

	inside = true;
	const int n = backtrace(frames, FAULT_FRAMES);
	inside = false;
	for (int i = 0; i < n; i++)
		hash = (hash ^ (uintptr_t)frames[i]) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
	return hash;
}

static void log_call(struct fault_plan *p, enum fault_call call, unsigned nth)
{
	const unsigned i = atomic_fetch_add(&p->nlogged, 1);

	if (i < FAULT_LOGGED)
		p->logged[i] = (struct fault_logged){ (uint32_t)call, nth, hash_stack() };
}

/* Runs before AddressSanitizer has mapped its memory. */
#define EARLY __attribute__((no_sanitize("address", "undefined")))

/* Returns true, with errno set, if this call fails. */
EARLY static bool fails(enum fault_call call)
{
	struct fault_plan *const p = plan;

	if (p == NULL || inside)
		return false;
	const unsigned n = atomic_fetch_add(&p->counts[call], 1) + 1;
	if (p->log)
		log_call(p, call, n);
	if (call != p->call || n < p->nth || (n > p->nth && !p->lasting))
		return false;
	if (p->trace)
		print_stack();
	atomic_fetch_add(&p->failed, 1);
	errno = p->error;
	return true;
}

/* Returns the number of bytes to transfer, of n; 0: the call fails. */
static size_t transfer_size(enum fault_call call, size_t n)
{
	if (!fails(call))
		return n;
	return plan->error == FAULT_SHORT ? (n + 1) / 2 : 0;
}

/* ---- memory: the originals by their internal names, since dlsym() may allocate ---- */

#ifdef __SANITIZE_ADDRESS__
#define ORIGINAL(name) __interceptor_##name
#else
#define ORIGINAL(name) __libc_##name
#endif

void *ORIGINAL(malloc)(size_t n);
void *ORIGINAL(calloc)(size_t count, size_t n);
void *ORIGINAL(realloc)(void *p, size_t n);
void *ORIGINAL(memalign)(size_t align, size_t n);

EARLY void *malloc(size_t n)
{
	return fails(FAULT_memory) ? NULL : ORIGINAL(malloc)(n);
}

EARLY void *calloc(size_t count, size_t n)
{
	return fails(FAULT_memory) ? NULL : ORIGINAL(calloc)(count, n);
}

EARLY void *realloc(void *p, size_t n)
{
	return fails(FAULT_memory) ? NULL : ORIGINAL(realloc)(p, n);
}

EARLY void *reallocarray(void *p, size_t count, size_t n)
{
	if (n != 0 && count > SIZE_MAX / n) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(p, count * n);
}

EARLY void *aligned_alloc(size_t align, size_t n)
{
	return fails(FAULT_memory) ? NULL : ORIGINAL(memalign)(align, n);
}

/* ---- files, folders and threads ---- */

/* Returns the original function: of this name with 64 (large files), or of this name. */
static void *find_original(const char *name)
{
	char large[64];
	void *p;

	snprintf(large, sizeof large, "%s64", name);
	p = dlsym(RTLD_NEXT, large);
	return p != NULL ? p : dlsym(RTLD_NEXT, name);
}

/* NAME(args) calls the original if the call does not fail.  memcpy(): ISO C has no conversion between
 * pointers to functions and void. */
#define REAL(type, name, params)                                                                             \
	static type(*real_##name) params;                                                                    \
	__attribute__((constructor)) static void find_##name(void)                                           \
	{                                                                                                    \
		void *const p = find_original(#name);                                                        \
		memcpy(&real_##name, &p, sizeof p);                                                          \
	}

#define REPLACE(type, name, params, args, bad)                                                               \
	REAL(type, name, params)                                                                             \
	type name params                                                                                     \
	{                                                                                                    \
		return fails(FAULT_##name) ? (bad) : real_##name args;                                       \
	}

#define REPLACE_OPEN(name, params, args)                                                                     \
	REAL(int, name, params)                                                                              \
	int name params                                                                                      \
	{                                                                                                    \
		va_list ap;                                                                                  \
		va_start(ap, flags);                                                                         \
		const mode_t mode =                                                                          \
		    (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(ap, mode_t) : 0;     \
		va_end(ap);                                                                                  \
		return fails(FAULT_##name) ? -1 : real_##name args;                                          \
	}

REPLACE_OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
REPLACE_OPEN(openat, (int at, const char *path, int flags, ...), (at, path, flags, mode))
REPLACE(FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL)
REPLACE(int, fstat, (int fd, struct stat *st), (fd, st), -1)
REPLACE(int, stat, (const char *path, struct stat *st), (path, st), -1)
REPLACE(int, lstat, (const char *path, struct stat *st), (path, st), -1)
REPLACE(int, fstatat, (int at, const char *path, struct stat *st, int flags), (at, path, st, flags), -1)
REPLACE(int, access, (const char *path, int mode), (path, mode), -1)
REPLACE(char *, realpath, (const char *path, char *to), (path, to), NULL)
REPLACE(off_t, lseek, (int fd, off_t by, int from), (fd, by, from), -1)
REPLACE(void *, mmap, (void *at, size_t n, int prot, int flags, int fd, off_t from),
        (at, n, prot, flags, fd, from), MAP_FAILED)
REPLACE(int, munmap, (void *at, size_t n), (at, n), -1)
REPLACE(int, madvise, (void *at, size_t n, int advice), (at, n, advice), -1)
REPLACE(int, rename, (const char *from, const char *to), (from, to), -1)
REPLACE(int, renameat, (int at, const char *from, int at_to, const char *to), (at, from, at_to, to), -1)
REPLACE(int, renameat2, (int at, const char *from, int at_to, const char *to, unsigned flags),
        (at, from, at_to, to, flags), -1)
REPLACE(int, link, (const char *from, const char *to), (from, to), -1)
REPLACE(int, linkat, (int at, const char *from, int at_to, const char *to, int flags),
        (at, from, at_to, to, flags), -1)
REPLACE(int, unlink, (const char *path), (path), -1)
REPLACE(int, unlinkat, (int at, const char *path, int flags), (at, path, flags), -1)
REPLACE(int, mkdir, (const char *path, mode_t mode), (path, mode), -1)
REPLACE(int, rmdir, (const char *path), (path), -1)
REPLACE(int, fsync, (int fd), (fd), -1)
REPLACE(int, ftruncate, (int fd, off_t n), (fd, n), -1)
REPLACE(int, fallocate, (int fd, int mode, off_t from, off_t n), (fd, mode, from, n), -1)
REPLACE(int, chmod, (const char *path, mode_t mode), (path, mode), -1)
REPLACE(int, fchmod, (int fd, mode_t mode), (fd, mode), -1)
REPLACE(int, mkstemp, (char *name), (name), -1)
REPLACE(ssize_t, readlink, (const char *path, char *to, size_t n), (path, to, n), -1)
REPLACE(DIR *, opendir, (const char *path), (path), NULL)
REPLACE(DIR *, fdopendir, (int fd), (fd), NULL)
REPLACE(struct dirent *, readdir, (DIR * d), (d), NULL)
REPLACE(int, dup2, (int fd, int to), (fd, to), -1)
REPLACE(int, pipe, (int fds[2]), (fds), -1)
REPLACE(int, poll, (struct pollfd * fds, nfds_t n, int ms), (fds, n, ms), -1)
REPLACE(ssize_t, getrandom, (void *to, size_t n, unsigned flags), (to, n, flags), -1)
REPLACE(int, clock_gettime, (clockid_t clock, struct timespec *now), (clock, now), -1)
REPLACE(int, pthread_create, (pthread_t * t, const pthread_attr_t *attr, void *(*run)(void *), void *arg),
        (t, attr, run, arg), plan->error)
REPLACE(int, pthread_mutex_init, (pthread_mutex_t * m, const pthread_mutexattr_t *attr), (m, attr),
        plan->error)
REPLACE(int, pthread_cond_init, (pthread_cond_t * c, const pthread_condattr_t *attr), (c, attr), plan->error)

/* Closes in any case, like the kernel. */
REAL(int, close, (int fd))
int close(int fd)
{
	const bool failed = fails(FAULT_close);
	const int why = errno, result = real_close(fd);

	if (!failed)
		return result;
	errno = why;
	return -1;
}

REAL(int, fclose, (FILE * f))
int fclose(FILE *f)
{
	const bool failed = fails(FAULT_fclose);
	const int why = errno, result = real_fclose(f);

	if (!failed)
		return result;
	errno = why;
	return EOF;
}

REAL(int, closedir, (DIR * d))
int closedir(DIR *d)
{
	const bool failed = fails(FAULT_closedir);
	const int why = errno, result = real_closedir(d);

	if (!failed)
		return result;
	errno = why;
	return -1;
}

/* Only the duplication of descriptors can fail. */
REAL(int, fcntl, (int fd, int what, ...))
int fcntl(int fd, int what, ...)
{
	va_list ap;

	va_start(ap, what);
	const long arg = what == F_GETFD || what == F_GETFL ? 0 : va_arg(ap, long);
	va_end(ap);
	if ((what == F_DUPFD || what == F_DUPFD_CLOEXEC) && fails(FAULT_fcntl))
		return -1;
	return real_fcntl(fd, what, arg);
}

/* ---- bytes ---- */

REAL(ssize_t, read, (int fd, void *to, size_t n))
ssize_t read(int fd, void *to, size_t n)
{
	const size_t some = transfer_size(FAULT_read, n);

	return some == 0 && n > 0 ? -1 : real_read(fd, to, some);
}

REAL(ssize_t, pread, (int fd, void *to, size_t n, off_t from))
ssize_t pread(int fd, void *to, size_t n, off_t from)
{
	const size_t some = transfer_size(FAULT_pread, n);

	return some == 0 && n > 0 ? -1 : real_pread(fd, to, some, from);
}

REAL(ssize_t, write, (int fd, const void *p, size_t n))
ssize_t write(int fd, const void *p, size_t n)
{
	const size_t some = transfer_size(FAULT_write, n);

	if (some > 0 || n == 0)
		return real_write(fd, p, some);
	if (fd == STDERR_FILENO && errno != EINTR)
		plan->muted = true;
	return -1;
}

REAL(ssize_t, pwrite, (int fd, const void *p, size_t n, off_t to))
ssize_t pwrite(int fd, const void *p, size_t n, off_t to)
{
	const size_t some = transfer_size(FAULT_pwrite, n);

	return some == 0 && n > 0 ? -1 : real_pwrite(fd, p, some, to);
}

/* Replaces the descriptor of the stream for a moment, so that the library itself sets the error flag. */
REAL(size_t, fread, (void *to, size_t size, size_t n, FILE *f))
size_t fread(void *to, size_t size, size_t n, FILE *f)
{
	if (!fails(FAULT_fread))
		return real_fread(to, size, n, f);
	const int why = errno, fd = fileno(f), kept = dup(fd), folder = real_open("/", O_RDONLY);
	real_dup2(folder, fd); /* a folder cannot be read */
	const size_t got = real_fread(to, size, n, f);
	real_dup2(kept, fd);
	real_close(kept);
	real_close(folder);
	errno = why;
	return got;
}

/* ---- AddressSanitizer ---- */

#ifdef __SANITIZE_ADDRESS__
/* Those of the sanitizer do not call our malloc(). */
char *strdup(const char *s)
{
	const size_t n = strlen(s) + 1;
	char *const copy = malloc(n);

	return copy != NULL ? memcpy(copy, s, n) : NULL;
}

char *strndup(const char *s, size_t max)
{
	const size_t n = strnlen(s, max);
	char *const copy = malloc(n + 1);

	if (copy == NULL)
		return NULL;
	copy[n] = '\0';
	return memcpy(copy, s, n);
}

/* The sanitizer calls this in each thread, and aborts if it fails. */
REAL(int, pthread_getattr_np, (pthread_t t, pthread_attr_t *attr))
int pthread_getattr_np(pthread_t t, pthread_attr_t *attr)
{
	const bool was = inside;

	inside = true;
	const int result = real_pthread_getattr_np(t, attr);
	inside = was;
	return result;
}

/* A report of the sanitizer ends with a status that no command has. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0:allocator_may_return_null=1:exitcode=99";
}
#endif
