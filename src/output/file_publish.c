/* Temporary names of outputs (".out.json.tracetool-x7c2..." next to "out.json"), and the step to the final
 * name.  Each is registered, and the handler of ending signals removes those that are still registered.
 * Creation and registration are one step for the handler, which waits for threads between
 * output_register_begin() and _end(). */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"
#include "output/private.h"

enum {
	SLOTS = 1024,         /* usual limit of open files of a process */
	HANDLER_WAIT = 10000, /* ms that the handler waits for threads between _begin() and _end() */
	NAMES_TRIED = 100,
	RANDOM_CHARS = 10,
};

/* ---- register ---- */

/* A file or folder that was created in a registered folder; the last one is first in the list. */
struct inside {
	struct inside *next;
	bool folder;
	char path[];
};

struct output_registered {
	_Atomic(struct inside *) inside;
	int dir; /* the path is relative to it; AT_FDCWD: relative to the current folder */
	bool folder;
	char path[];
};

/* Static, as a signal handler has no argument of its own.  A thread owns an entry after exchanging its slot
 * for NULL: the handler may run on another thread while a file is forgotten. */
static _Atomic(struct output_registered *) slots[SLOTS];

static atomic_bool dying;
static atomic_int creating; /* number of threads between output_register_begin() and _end() */

/* SIGPIPE is ignored instead: a closed pipe is an error of write(). */
static const int ending_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM, SIGUSR1, SIGUSR2 };

enum { ENDING_SIGNALS = COUNT_OF(ending_signals) };

static sigset_t ending_set(void)
{
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < ENDING_SIGNALS; i++)
		sigaddset(&set, ending_signals[i]);
	return set;
}

static void remove_path(int dir, const char *path, bool folder)
{
	(void)unlinkat(dir, path, folder ? AT_REMOVEDIR : 0);
}

static void remove_entry(struct output_registered *r)
{
	for (const struct inside *i = atomic_load(&r->inside); i != NULL; i = i->next)
		remove_path(AT_FDCWD, i->path, i->folder);
	remove_path(r->dir, r->path, r->folder);
}

/* Calls only functions that POSIX allows in a handler: poll, unlinkat, signal, raise. */
static void remove_all_and_die(int sig)
{
	atomic_store(&dying, true);
	for (int ms = 0; atomic_load(&creating) > 0 && ms < HANDLER_WAIT; ms++)
		(void)poll(NULL, 0, 1);
	for (size_t i = 0; i < SLOTS; i++) {
		struct output_registered *const r = atomic_exchange(&slots[i], NULL);
		if (r != NULL)
			remove_entry(r);
	}
	(void)signal(sig, SIG_DFL);
	(void)raise(sig); /* blocked here; ends the process when the handler returns */
}

void output_handle_signals(void)
{
	struct sigaction on = { .sa_handler = remove_all_and_die };
	on.sa_mask = ending_set();
	for (size_t i = 0; i < ENDING_SIGNALS; i++) {
		struct sigaction was;
		/* A signal that is ignored already (nohup, background job of a shell) stays ignored. */
		if (sigaction(ending_signals[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
			(void)sigaction(ending_signals[i], &on, NULL);
	}
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN); /* exceeding `ulimit -f` is an error of write(), too */
}

bool output_register_begin(struct output_register_hold *h)
{
	const sigset_t ending = ending_set();

	h->blocked = pthread_sigmask(SIG_BLOCK, &ending, &h->before) == 0;
	(void)atomic_fetch_add(&creating, 1);
	h->held = !atomic_load(&dying);
	if (!h->held) {
		(void)atomic_fetch_sub(&creating, 1);
		errno = EINTR;
	}
	return h->held;
}

void output_register_end(const struct output_register_hold *h)
{
	const int why = errno;

	if (h->held)
		(void)atomic_fetch_sub(&creating, 1);
	if (h->blocked)
		(void)pthread_sigmask(SIG_SETMASK, &h->before, NULL);
	errno = why;
}

/* Registers an existing file or folder; the path is copied.  dir: AT_FDCWD, or the open folder of a file,
 * which must stay open as long as the entry.  Returns NULL on OOM, or if no slot is left (EMFILE). */
static struct output_registered *register_path(int dir, const char *path, bool folder)
{
	const size_t size = strlen(path) + 1;
	struct output_registered *const r = calloc(1, sizeof *r + size);

	if (r == NULL)
		return NULL;
	r->dir = dir;
	r->folder = folder;
	memcpy(r->path, path, size);
	for (size_t i = 0; i < SLOTS; i++) {
		struct output_registered *none = NULL;
		if (atomic_compare_exchange_strong(&slots[i], &none, r))
			return r;
	}
	free(r);
	errno = EMFILE;
	return NULL;
}

bool output_register_inside(struct output_registered *folder, const char *path, bool is_folder)
{
	const size_t size = strlen(path) + 1;
	struct inside *const i = malloc(sizeof *i + size);

	if (i == NULL)
		return false;
	i->folder = is_folder;
	memcpy(i->path, path, size);
	i->next = atomic_load(&folder->inside);
	atomic_store(&folder->inside, i);
	return true;
}

/* Returns false if the handler owns the entry already. */
static bool unregister(struct output_registered *r)
{
	for (size_t i = 0; i < SLOTS; i++) {
		struct output_registered *mine = r;
		if (atomic_compare_exchange_strong(&slots[i], &mine, NULL))
			return true;
	}
	return false;
}

static void free_entry(struct output_registered *r)
{
	struct inside *i = atomic_load(&r->inside);

	while (i != NULL) {
		struct inside *const next = i->next;
		free(i);
		i = next;
	}
	free(r);
}

/* ---- temporary names ---- */

static void random_chars(char out[RANDOM_CHARS + 1])
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
	unsigned char r[RANDOM_CHARS];
	if (getrandom(r, sizeof r, GRND_NONBLOCK) != (ssize_t)sizeof r) {
		/* In early boot, the name can be guessed, but O_EXCL still makes it safe. */
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

/* Returns ".out.json.tracetool-x7c2...", or ".tracetool-x7c2..." (is_short) if that is too long. */
static char *new_name(const char *target, bool is_short)
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

/* Returns the descriptor, or 0 for a folder; -1 with errno. */
static int create_one(struct output_temp *t, const char *target, bool is_short, mode_t mode)
{
	char *name = new_name(target, is_short);
	if (name == NULL)
		return -1;
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
	const int fd = t->folder ? mkdir(name, mode) : openat(t->dir, name, flags, mode);
	if (fd >= 0 && (t->entry = register_path(t->dir, name, t->folder)) != NULL) {
		t->path = name;
		t->target = target;
		return fd;
	}
	const int why = errno;
	if (fd >= 0) {
		remove_path(t->dir, name, t->folder);
		if (!t->folder)
			(void)close(fd);
	}
	free(name);
	errno = why;
	return -1;
}

static int create_unused(struct output_temp *t, const char *target, mode_t mode)
{
	bool is_short = false;
	for (int i = 0; i < NAMES_TRIED; i++) {
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

/* Creates and registers a file or folder, without a signal in between. */
static int create_temp(struct output_temp *t, const char *target, mode_t mode)
{
	struct output_register_hold hold;
	const int fd = output_register_begin(&hold) ? create_unused(t, target, mode) : -1;

	output_register_end(&hold);
	return fd;
}

int output_temp_create(struct output_temp *t, int dir, const char *target, int keep_mode)
{
	*t = (struct output_temp){ .dir = dir };
	const int fd = create_temp(t, target, keep_mode < 0 ? 0666 : 0600);
	/* File systems without permission bits may refuse; then the file has their permissions. */
	if (fd >= 0 && keep_mode >= 0 && fchmod(fd, (mode_t)keep_mode & 0777) != 0 && errno != EPERM &&
	    errno != ENOSYS && errno != EOPNOTSUPP) {
		const int why = errno;
		(void)close(fd);
		output_temp_remove(t);
		errno = why;
		return -1;
	}
	return fd;
}

bool output_temp_create_folder(struct output_temp *t, const char *target)
{
	*t = (struct output_temp){ .dir = AT_FDCWD, .folder = true };
	return create_temp(t, target, 0777) >= 0;
}

void output_temp_forget(struct output_temp *t)
{
	if (unregister(t->entry))
		free_entry(t->entry);
	free(t->path);
	t->path = NULL;
}

int output_temp_publish(struct output_temp *t, bool replace)
{
	int why = 0;

	if (!replace)
		why = rename_new_in(t->dir, t->path, t->target);
	else if (renameat(t->dir, t->path, t->dir, t->target) != 0)
		why = errno;
	if (why == 0)
		output_temp_forget(t);
	return why;
}

/* Exchanges two files without rename_exchange(): a hard link keeps the replaced file.  EINVAL: it cannot be
 * kept. */
static int exchange_by_link(const struct output_temp *t)
{
	char *const aside = strdup(t->path);
	int why = aside == NULL ? ENOMEM : 0;

	if (why == 0) {
		aside[strlen(aside) - 1] = '-'; /* random names have no '-' */
		why = link(t->target, aside) != 0 ? EINVAL : 0;
	}
	if (why == 0 && rename(t->path, t->target) != 0) {
		why = errno;
		(void)unlink(aside);
	} else if (why == 0) {
		(void)rename(aside, t->path);
	}
	free(aside);
	return why;
}

int output_temp_try(struct output_temp *t, bool replace)
{
	int why = rename_new_in(t->dir, t->path, t->target);

	if (why == 0)
		t->named = TEMP_NAMED;
	if (why != EEXIST || !replace)
		return why;
	if (t->dir != AT_FDCWD) /* reports that policies name are never taken back */
		return output_temp_publish(t, true);
	why = rename_exchange(t->path, t->target);
	if (why == EINVAL || why == ENOSYS)
		why = exchange_by_link(t);
	if (why == EINVAL)
		return output_temp_publish(t, true);
	if (why == 0)
		t->named = TEMP_SWAPPED;
	return why;
}

void output_temp_take_back(struct output_temp *t)
{
	if (t->named == TEMP_NAMED)
		(void)renameat(t->dir, t->target, t->dir, t->path);
	else if (t->named == TEMP_SWAPPED && rename_exchange(t->path, t->target) != 0)
		(void)rename(t->path, t->target);
	t->named = TEMP_UNNAMED;
}

void output_temp_remove(struct output_temp *t)
{
	if (t->path == NULL)
		return;
	if (unregister(t->entry)) {
		remove_entry(t->entry);
		free_entry(t->entry);
	}
	free(t->path);
	t->path = NULL;
}
