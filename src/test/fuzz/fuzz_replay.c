/*
 * Runs inputs through fuzz_check() without a fuzzer:
 *
 *     fuzz_replay [--format F] PATH ...                        files and folders, each once
 *     fuzz_replay [--format F] [--jobs N] --sweep FILE         all prefixes, all changes of one byte
 *     fuzz_replay [--format F] [--jobs N] --sweep-light FILE   all prefixes, some changes of each byte
 *
 * Exit status 0: all promises were kept; 1: one was broken, or a process died; 2: usage.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/registry.h"
#include "test/fuzz/fuzz_sweep.h"

/* ---- sweeps in several processes ---- */

#define MAX_JOBS 256
#define POSITION_SECONDS 60 /* for the 255 changes of one byte; more is a hang */

/* Progress of a job, in shared memory, so that it survives the process. */
struct progress {
	struct fuzz_swept swept;
	size_t place;
	bool done;
};

static void begin_position(void *ctx, size_t place)
{
	struct progress *const s = ctx;

	s->place = place;
	alarm(POSITION_SECONDS);
}

static void run_job(const struct fuzz_sweep *sweep, struct progress *mine, unsigned job, unsigned jobs)
{
	struct fuzz_sweep part = *sweep;

	part.first = job;
	part.stride = jobs;
	part.at = begin_position;
	part.ctx = mine;
	mine->done = fuzz_sweep_run(&part, &mine->swept);
}

static bool report_job(const struct progress *s, int status, const char *path)
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

static void add_counts(struct fuzz_swept *all, const struct fuzz_swept *one)
{
	all->prefixes += one->prefixes;
	all->changes += one->changes;
	for (int i = 0; i < 3; i++)
		all->status[i] += one->status[i];
}

/* Distributes the positions of a sweep over several processes (sets stride and first), adds up their counts,
 * and reports on stderr which case broke a promise, killed its process, or took longer than a minute. */
static bool sweep_in_jobs(const struct fuzz_sweep *s, unsigned jobs, const char *path, struct fuzz_swept *all)
{
	pid_t pids[MAX_JOBS];
	const unsigned n = jobs < MAX_JOBS ? jobs : MAX_JOBS;
	struct progress *const progress =
	    mmap(NULL, n * sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool ok = progress != MAP_FAILED;
	int status;

	*all = (struct fuzz_swept){ .byte = -1 };
	if (!ok)
		return false;
	for (unsigned i = 0; i < n; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			run_job(s, &progress[i], i, n);
			_exit(0);
		}
	}
	for (unsigned i = 0; i < n; i++) {
		ok &= pids[i] > 0 && waitpid(pids[i], &status, 0) == pids[i] &&
		      report_job(&progress[i], status, path);
		add_counts(all, &progress[i].swept);
	}
	munmap(progress, n * sizeof *progress);
	return ok;
}

/* ---- files and folders ---- */

struct replay {
	const struct format *format; /* or NULL */
	unsigned jobs;
	enum { REPLAY, SWEEP, SWEEP_LIGHT } what;
	uint64_t inputs;
	bool failed;
};

static void report_failure(struct replay *r, const char *path, const char *why)
{
	fprintf(stderr, "fuzz_replay: %s: %s\n", path, why);
	r->failed = true;
}

/* Reads a whole file, unpacked, into an allocation of exactly its size; to be freed. */
static char *read_unpacked(struct replay *r, const char *path, size_t *n)
{
	struct input *const in = input_open(path);
	char *p = NULL;

	if (in != NULL) {
		while (input_more(in))
			;
		*n = (size_t)(in->end - in->p);
		p = malloc(*n > 0 ? *n : 1);
	}
	if (p != NULL)
		memcpy(p, in->p, *n);
	else
		report_failure(r, path, "no memory");
	input_close(in);
	return p;
}

static void check_input(struct replay *r, const char *path, const char *p, size_t n,
                        const struct format *format)
{
	struct fuzz_result result;

	if (fuzz_check(&result, p, n, format, NULL, FUZZ_ALL))
		return;
	fprintf(stderr, "fuzz_replay: %s: as %s: %s\n", path,
	        format != NULL ? format->name : "told by content", result.fault);
	r->failed = true;
}

static void replay_file(struct replay *r, const char *path)
{
	size_t n = 0;
	char *const p = read_unpacked(r, path, &n);

	if (p == NULL)
		return;
	const size_t probed = n < 65536 ? n : 65536;
	check_input(r, path, p, n, NULL);
	for (const struct format *const *f = formats; *f != NULL; f++)
		if ((*f)->reader != NULL &&
		    (*f == r->format || (*f)->reader->probe(slice_of(p, probed), probed == n) > 0))
			check_input(r, path, p, n, *f);
	r->inputs++;
	free(p);
}

/* In order of names, so that all runs report the same. */
static void replay_path(struct replay *r, const char *path, int depth)
{
	struct dirent **names;
	struct stat st;

	if (stat(path, &st) != 0 || (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))) {
		report_failure(r, path, "is no file and no folder");
		return;
	}
	if (!S_ISDIR(st.st_mode)) {
		replay_file(r, path);
		return;
	}
	const int n = depth < 8 ? scandir(path, &names, NULL, alphasort) : -1;
	if (n < 0) {
		report_failure(r, path, "cannot be listed");
		return;
	}
	for (int i = 0; i < n; i++) {
		struct text t = { .p = NULL };
		text_printf(&t, "%s/%s%c", path, names[i]->d_name, '\0');
		if (names[i]->d_name[0] != '.' && !t.failed)
			replay_path(r, t.p, depth + 1);
		text_free(&t);
		free(names[i]);
	}
	free(names);
}

static void sweep_file(struct replay *r, const char *path)
{
	size_t n = 0;
	char *const p = read_unpacked(r, path, &n);
	struct fuzz_swept all;
	const struct fuzz_sweep sweep = {
		.p = p, .n = n, .format = r->format, .light = r->what == SWEEP_LIGHT, .full_every = 16
	};

	if (p == NULL)
		return;
	if (!sweep_in_jobs(&sweep, r->jobs, path, &all))
		r->failed = true;
	printf("swept %s: %" PRIu64 " prefixes, %" PRIu64 " changes of a byte; exit status 0: %" PRIu64
	       ", 1: %" PRIu64 ", 2: %" PRIu64 "\n",
	       path, all.prefixes, all.changes, all.status[0], all.status[1], all.status[2]);
	free(p);
}

/* Parses an option with its argument.  Returns the number of arguments, or 0 for a mistake. */
static int parse_option(struct replay *r, char **argv)
{
	if (strcmp(argv[0], "--sweep") == 0 || strcmp(argv[0], "--sweep-light") == 0) {
		r->what = argv[0][7] == '\0' ? SWEEP : SWEEP_LIGHT;
		return 1;
	}
	if (strcmp(argv[0], "--format") == 0 && argv[1] != NULL &&
	    (r->format = format_by_name(argv[1])) != NULL && r->format->reader != NULL)
		return 2;
	if (strcmp(argv[0], "--jobs") == 0 && argv[1] != NULL &&
	    (r->jobs = (unsigned)strtoul(argv[1], NULL, 10)) > 0)
		return 2;
	return 0;
}

int main(int argc, char **argv)
{
	struct replay r = { .jobs = 1 };
	int i = 1;

	while (i < argc && argv[i][0] == '-') {
		const int args = parse_option(&r, argv + i);
		if (args == 0)
			break;
		i += args;
	}
	if (i >= argc || argv[i][0] == '-') {
		fprintf(stderr,
		        "usage: fuzz_replay [--format F] [--jobs N] [--sweep | --sweep-light] PATH ...\n");
		return 2;
	}
	for (; i < argc; i++)
		if (r.what == REPLAY)
			replay_path(&r, argv[i], 0);
		else
			sweep_file(&r, argv[i]);
	if (r.what == REPLAY)
		printf("replayed %" PRIu64 " inputs%s\n", r.inputs, r.failed ? ", not all well" : "");
	return r.failed;
}
