#include "output/output_register.h"
#include "output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	SLOTS = 1024,     /* as many as a process usually may have open files */
	PATIENCE = 10000, /* ms that a dying process waits for threads that are creating something */
};

/* What was made in a folder, the last first. */
struct inside {
	struct inside *next;
	bool folder;
	char path[];
};

struct output_registered {
	_Atomic(struct inside *) inside;
	int dir; /* where the path begins; AT_FDCWD: as any path */
	bool folder;
	char path[];
};

/*
 * A signal handler is given no argument of ours, hence the statics.  Whoever takes a pointer out of its slot
 * owns what it leads to: the handler may run on another thread while a file is forgotten.
 */
static _Atomic(struct output_registered *) slots[SLOTS];
static atomic_bool dying;
static atomic_int creating; /* threads between output_register_begin() and _end() */

/* SIGPIPE is ignored instead: a closed pipe is an error of write(). */
static const int ending_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM, SIGUSR1, SIGUSR2 };
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

static void
remove_one(const char *path, bool folder)
{
	(void)(folder ? rmdir(path) : unlink(path));
}

static void
remove_with_all(struct output_registered *r)
{
	for (const struct inside *i = atomic_load(&r->inside); i != NULL; i = i->next)
		remove_one(i->path, i->folder);
	if (r->dir != AT_FDCWD)
		(void)unlinkat(r->dir, r->path, 0);
	else
		remove_one(r->path, r->folder);
}

/* Only what POSIX allows in a handler: poll, unlink, unlinkat, rmdir, signal, raise. */
static void
remove_all_and_die(int sig)
{
	atomic_store(&dying, true);
	for (int ms = 0; atomic_load(&creating) > 0 && ms < PATIENCE; ms++)
		(void)poll(NULL, 0, 1);
	for (size_t i = 0; i < SLOTS; i++) {
		struct output_registered *const r = atomic_exchange(&slots[i], NULL);
		if (r != NULL)
			remove_with_all(r);
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

bool
output_register_begin(struct output_register_hold *h)
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

void
output_register_end(const struct output_register_hold *h)
{
	const int why = errno;

	if (h->held)
		(void)atomic_fetch_sub(&creating, 1);
	if (h->blocked)
		(void)pthread_sigmask(SIG_SETMASK, &h->before, NULL);
	errno = why;
}

struct output_registered *
output_register_add(int dir, const char *path, bool folder)
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

bool
output_register_inside(struct output_registered *folder, const char *path, bool is_folder)
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

/* false: the handler was faster, and it is the handler's. */
static bool
take_out(struct output_registered *r)
{
	for (size_t i = 0; i < SLOTS; i++) {
		struct output_registered *mine = r;
		if (atomic_compare_exchange_strong(&slots[i], &mine, NULL))
			return true;
	}
	return false;
}

static void
entry_free(struct output_registered *r)
{
	struct inside *i = atomic_load(&r->inside);

	while (i != NULL) {
		struct inside *const next = i->next;
		free(i);
		i = next;
	}
	free(r);
}

void
output_register_forget(struct output_registered *r)
{
	if (take_out(r))
		entry_free(r);
}

void
output_register_remove(struct output_registered *r)
{
	if (!take_out(r))
		return;
	remove_with_all(r);
	entry_free(r);
}
