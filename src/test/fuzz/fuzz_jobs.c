#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "test/fuzz/fuzz_jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLACE_SECONDS 60 /* for the 255 changes of one byte; far more is a hang */

/* What a process shows to the others; it outlives its death. */
struct shown {
	struct fuzz_swept swept;
	size_t place;
	bool done;
};

static void at_place(void *ctx, size_t place)
{
	struct shown *const s = ctx;

	s->place = place;
	alarm(PLACE_SECONDS);
}

static void work(const struct fuzz_sweep *sweep, struct shown *mine, unsigned job, unsigned jobs)
{
	struct fuzz_sweep part = *sweep;

	part.first = job;
	part.stride = jobs;
	part.at = at_place;
	part.ctx = mine;
	mine->done = fuzz_sweep_run(&part, &mine->swept);
}

static bool report(const struct shown *s, int status, const char *path)
{
	const struct fuzz_swept *const w = &s->swept;

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && s->done)
		return true;
	if (w->result.fault[0] == '\0')
		fprintf(stderr, "%s: prefix of %zu bytes, or a change of byte %zu: the process %s %d\n", path,
		        s->place, s->place, WIFSIGNALED(status) ? "died of signal" : "ended with status",
		        WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	else if (w->byte < 0)
		fprintf(stderr, "%s: prefix of %zu bytes: %s\n", path, w->place, w->result.fault);
	else
		fprintf(stderr, "%s: byte %zu changed to 0x%02x: %s\n", path, w->place, (unsigned)w->byte,
		        w->result.fault);
	return false;
}

static void add(struct fuzz_swept *all, const struct fuzz_swept *one)
{
	all->prefixes += one->prefixes;
	all->changes += one->changes;
	for (int i = 0; i < 3; i++)
		all->status[i] += one->status[i];
}

bool fuzz_jobs_sweep(const struct fuzz_sweep *s, unsigned jobs, const char *path, struct fuzz_swept *all)
{
	pid_t pids[FUZZ_MAX_JOBS];
	const unsigned n = jobs < FUZZ_MAX_JOBS ? jobs : FUZZ_MAX_JOBS;
	struct shown *const shown =
	    mmap(NULL, n * sizeof *shown, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool ok = shown != MAP_FAILED;
	int status;

	*all = (struct fuzz_swept){ .byte = -1 };
	if (!ok)
		return false;
	for (unsigned i = 0; i < n; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			work(s, &shown[i], i, n);
			_exit(0);
		}
	}
	for (unsigned i = 0; i < n; i++) {
		ok &=
		    pids[i] > 0 && waitpid(pids[i], &status, 0) == pids[i] && report(&shown[i], status, path);
		add(all, &shown[i].swept);
	}
	munmap(shown, n * sizeof *shown);
	return ok;
}
