/* _GNU_SOURCE: renameat2(), the only rename that never replaces. */
#define _GNU_SOURCE

#include "output/output_temp.h"
#include "output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	SLOTS = 1024, /* as many as a process usually may have open files */
	TRIES = 100,  /* other names when one is taken */
	RANDOM_CHARS = 10,
};

/*
 * The names a dying process has to remove.  A signal handler is given no argument of ours, hence the static.
 * Whoever takes a pointer out of its slot owns the string: the handler may run on another thread while a file
 * is forgotten.
 */
static _Atomic(char *) names[SLOTS];

static const int ending_signals[] = { SIGINT, SIGTERM, SIGHUP };
enum { ENDING_SIGNALS = sizeof ending_signals / sizeof ending_signals[0] };

static sigset_t
ending_set(void)
{
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < ENDING_SIGNALS; i++)
		sigaddset(&set, ending_signals[i]);
	return set;
}

/* Only what POSIX allows in a handler: unlink, signal, raise. */
static void
remove_all_and_die(int sig)
{
	for (size_t i = 0; i < SLOTS; i++) {
		const char *name = atomic_exchange(&names[i], NULL);
		if (name != NULL)
			(void)unlink(name);
	}
	(void)signal(sig, SIG_DFL);
	(void)raise(sig); /* blocked here; ends the process on return */
}

void
output_handle_signals(void)
{
	struct sigaction on = { .sa_handler = remove_all_and_die };
	on.sa_mask = ending_set();
	for (size_t i = 0; i < ENDING_SIGNALS; i++) {
		struct sigaction was;
		/* What nohup or a shell's background job ignores stays ignored. */
		if (sigaction(ending_signals[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
			(void)sigaction(ending_signals[i], &on, NULL);
	}
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN); /* `ulimit -f` is an error of write() too */
}

static bool
name_remember(char *name)
{
	for (size_t i = 0; i < SLOTS; i++) {
		char *none = NULL;
		if (atomic_compare_exchange_strong(&names[i], &none, name))
			return true;
	}
	return false;
}

/* Takes the name out and frees it; when the handler was faster, the string is the handler's. */
static void
name_forget(char *name)
{
	for (size_t i = 0; i < SLOTS; i++) {
		char *mine = name;
		if (atomic_compare_exchange_strong(&names[i], &mine, NULL)) {
			free(name);
			return;
		}
	}
}

static void
random_chars(char out[RANDOM_CHARS + 1])
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
	unsigned char r[RANDOM_CHARS];
	if (getrandom(r, sizeof r, GRND_NONBLOCK) != (ssize_t)sizeof r) {
		/* Early boot: guessable, but O_EXCL still makes it safe. */
		struct timespec now = { 0 };
		(void)clock_gettime(CLOCK_REALTIME, &now);
		uint64_t x = (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15u ^ (uint64_t)getpid();
		for (size_t i = 0; i < RANDOM_CHARS; i++)
			r[i] = (unsigned char)(x >> (5 * i));
	}
	for (size_t i = 0; i < RANDOM_CHARS; i++)
		out[i] = letters[r[i] % 32];
	out[RANDOM_CHARS] = '\0';
}

/* One new name: ".out.json.tracetool-x7c2...", or the short ".tracetool-x7c2..." when that is too long. */
static char *
name_new(const char *target, bool is_short)
{
	const char *slash = strrchr(target, '/');
	const size_t folder = slash == NULL ? 0 : (size_t)(slash + 1 - target);
	const char *base = target + folder;
	const char *tail = ".tracetool-";
	char r[RANDOM_CHARS + 1];
	random_chars(r);
	const size_t size = strlen(target) + strlen(tail) + RANDOM_CHARS + 2;
	char *name = malloc(size);
	if (name == NULL)
		return NULL;
	memcpy(name, target, folder);
	if (is_short)
		(void)snprintf(name + folder, size - folder, "%s%s", tail, r);
	else
		(void)snprintf(name + folder, size - folder, ".%s%s%s", base, tail, r);
	return name;
}

static int
create_one(struct output_temp *t, const char *target, bool is_short, mode_t mode)
{
	char *name = name_new(target, is_short);
	if (name == NULL)
		return -1;
	const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd >= 0 && name_remember(name)) {
		*t = (struct output_temp){ .path = name, .target = target };
		return fd;
	}
	int why = errno;
	if (fd >= 0) {
		(void)unlink(name);
		(void)close(fd);
		why = EMFILE; /* no slot left */
	}
	free(name);
	errno = why;
	return -1;
}

static int
create_some(struct output_temp *t, const char *target, mode_t mode)
{
	bool is_short = false;
	for (int i = 0; i < TRIES; i++) {
		const int fd = create_one(t, target, is_short, mode);
		if (fd >= 0)
			return fd;
		if (errno == ENAMETOOLONG && !is_short)
			is_short = true;
		else if (errno != EEXIST && errno != EINTR)
			return -1;
	}
	return -1;
}

int
output_temp_create(struct output_temp *t, const char *target, int keep_mode)
{
	/* No signal between the file and its entry in the register. */
	const sigset_t ending = ending_set();
	sigset_t before;
	const bool blocked = pthread_sigmask(SIG_BLOCK, &ending, &before) == 0;
	const int fd = create_some(t, target, keep_mode < 0 ? 0666 : 0600);
	int why = errno;
	if (blocked)
		(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	/* File systems without permission bits may refuse; the file then has what they give. */
	if (fd >= 0 && keep_mode >= 0 && fchmod(fd, (mode_t)keep_mode & 0777) != 0 && errno != EPERM &&
	    errno != ENOSYS && errno != EOPNOTSUPP) {
		why = errno;
		(void)close(fd);
		output_temp_remove(t);
		errno = why;
		return -1;
	}
	errno = why;
	return fd;
}

/* For file systems that know no RENAME_NOREPLACE: a second name never replaces; without hard links, look
 * first. */
static int
publish_by_link(const char *from, const char *to)
{
	if (link(from, to) == 0) {
		(void)unlink(from);
		return 0;
	}
	if (errno == EEXIST)
		return EEXIST;
	struct stat st;
	if (lstat(to, &st) == 0)
		return EEXIST;
	return rename(from, to) == 0 ? 0 : errno;
}

static int
publish(const char *from, const char *to, bool replace)
{
	if (replace)
		return rename(from, to) == 0 ? 0 : errno;
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno == EINVAL || errno == ENOSYS)
		return publish_by_link(from, to);
	return errno;
}

int
output_temp_publish(struct output_temp *t, bool replace)
{
	const int why = publish(t->path, t->target, replace);
	if (why == 0) {
		name_forget(t->path);
		t->path = NULL;
	}
	return why;
}

void
output_temp_remove(struct output_temp *t)
{
	if (t->path == NULL)
		return;
	(void)unlink(t->path);
	name_forget(t->path);
	t->path = NULL;
}
