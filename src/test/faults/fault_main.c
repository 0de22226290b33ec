/*
 * Runs every command over a small trace of each format, again and again, each time with another call of the C
 * library failing: memory, files, folders, threads.  It must end with the correct result, or with status 2, a
 * message with path and reason, and no output; it must never crash, hang, or leave a temporary file.
 *
 * Calls with the same stack, command and kind of input are equivalent: the first two and the last of them are
 * failed; `whole` cases fail every single one.
 *
 * usage: faults [-t TESTDATA] [-j JOBS] [-e EVERY] [-s SHOWN] [-v] [WORD [CALL [NTH [ERRNO [lasting]]]]]
 *
 * EVERY: only every nth of these calls; WORD: only command lines that contain it; CALL: only failures of this
 * call.  With NTH it is one run, which prints the output of the process and the stack of the failing call.
 */
#define _GNU_SOURCE
#include "test/faults/faults.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	JOBS_MAX = 64,
	WAYS = 1 << 18, /* hash table; a power of two */
	WHOLE = 4000,   /* max calls of a case that is swept as a whole */
	OF_A_WAY = 2,   /* equivalent calls that are failed */
};

/* Number of equivalent calls. */
struct way {
	_Atomic uint64_t key; /* 0: free */
	atomic_uint n;
};

/* Shared by the jobs. */
struct shared {
	atomic_uint next; /* index of the next case */
	atomic_uint runs, failed, wrong;
	struct way ways[WAYS];
};

struct sweep {
	struct fault_cases cases;
	const char *word, *call; /* NULL: all */
	bool verbose;
	unsigned shown; /* max broken promises that are printed */
	unsigned every;
	struct shared *shared;
};

/* One job. */
struct job {
	const struct sweep *sweep;
	struct fault_runner runner;
	struct fault_outcome without, with;
	struct fault_tree before; /* in the folder of outputs */
	const struct fault_case *c;
};

/* ---- runs of a case ---- */

static void report_wrong(struct job *j, const char *what)
{
	const struct fault_plan *const p = j->runner.plan;
	char line[1024];

	if (atomic_fetch_add(&j->sweep->shared->wrong, 1) >= j->sweep->shown)
		return;
	fault_case_show(j->c, line, sizeof line);
	fprintf(stderr, "%s\n  %s %u%s (%s): %s; status %d%s%s\n", line, fault_call_name(p->call), p->nth,
	        p->lasting ? " and all after it" : "",
	        p->error == FAULT_SHORT ? "half of the bytes" : strerror(p->error), what,
	        WIFEXITED(j->with.status) ? WEXITSTATUS(j->with.status) : -WTERMSIG(j->with.status),
	        j->with.err.n > 0 ? "; it said: " : "", j->with.err.n > 0 ? j->with.err.p : "");
}

static bool run_one(struct job *j)
{
	if (!fault_run(&j->runner, j->c, &j->before, &j->with)) {
		fprintf(stderr, "faults: a process could not be run or watched: %s\n", strerror(errno));
		return false;
	}
	atomic_fetch_add(&j->sweep->shared->runs, 1);
	if (j->runner.plan->failed > 0)
		atomic_fetch_add(&j->sweep->shared->failed, 1);
	char what[300] = "";
	if (!fault_judge(j->c, j->runner.plan, &j->before, &j->without, &j->with, what, sizeof what))
		report_wrong(j, what);
	return true;
}

/* Fails the nth call with each of its errors: once, and permanently. */
static bool run_call(struct job *j, enum fault_call call, unsigned nth)
{
	const struct fault_errors *const e = &fault_errors[call];
	const int reasons[] = { e->errors[0], e->errors[1], fault_call_is_transfer(call) ? FAULT_SHORT : 0 };
	struct fault_plan *const p = j->runner.plan;
	bool ok = true;

	p->call = call;
	p->nth = nth;
	p->lasting = false;
	p->error = e->harmless;
	if (p->error != 0)
		ok = run_one(j);
	for (int i = 0; ok && i < 3; i++) {
		p->error = reasons[i];
		p->lasting = false;
		ok = reasons[i] == 0 || run_one(j);
		p->lasting = true;
		ok = ok && (reasons[i] == 0 || run_one(j));
	}
	return ok;
}

/* Counts an equivalent call.  Returns true for the first OF_A_WAY. */
static bool is_new(struct shared *s, uint64_t key)
{
	uint64_t none = 0;
	size_t i = key & (WAYS - 1);

	key += key == 0;
	while (!atomic_compare_exchange_strong(&s->ways[i].key, &none, key) && none != key) {
		i = (i + 1) & (WAYS - 1);
		none = 0;
	}
	return atomic_fetch_add(&s->ways[i].n, 1) < OF_A_WAY;
}

/* Runs the case without a fault.  Returns false after a message, if its status is neither 0 nor 1. */
static bool run_without_fault(struct job *j, const struct fault_case *c)
{
	char line[1024];

	fault_case_show(c, line, sizeof line);
	j->runner.plan->call = FAULT_CALLS;
	if (!fault_run(&j->runner, c, &j->before, &j->without))
		fprintf(stderr, "%s\n  a process could not be run or watched: %s\n", line, strerror(errno));
	else if (!WIFEXITED(j->without.status) || WEXITSTATUS(j->without.status) > 1)
		fprintf(stderr, "%s\n  fails with all calls as they are: %s\n", line, j->without.err.p);
	else
		return true;
	return false;
}

/* Creates the files that are in the folder of outputs before the case. */
static bool run_earlier(struct job *j, const struct fault_case *c)
{
	if (c == NULL) {
		j->before.n = 0;
		j->before.used = 0;
		return true;
	}
	if (!run_earlier(j, c->earlier))
		return false;
	if (c->copied != NULL)
		return fault_tree_add(&j->before, c->copied);
	if (!run_without_fault(j, c))
		return false;
	const struct fault_tree made = j->without.made;
	j->without.made = j->before;
	j->before = made;
	return true;
}

/* Returns the calls of the case, or NULL after a message. */
static struct fault_logged *list_calls(struct job *j, unsigned *n)
{
	struct fault_plan *const p = j->runner.plan;
	struct fault_logged *list = NULL;

	p->log = true;
	const bool ok = run_without_fault(j, j->c);
	p->log = false;
	if (ok && p->nlogged < FAULT_LOGGED)
		list = malloc((p->nlogged + 1) * sizeof *list);
	if (ok && list == NULL)
		fprintf(stderr, "faults: no room for a list of %u calls\n", p->nlogged);
	*n = list != NULL ? p->nlogged : 0;
	if (*n > 0)
		memcpy(list, p->logged, *n * sizeof *list);
	return list;
}

static bool run_case(struct job *j)
{
	const char *const only = j->sweep->call;
	unsigned n = 0, nchosen = 0, last[FAULT_CALLS] = { 0 };
	struct fault_logged *const list = run_earlier(j, j->c->earlier) ? list_calls(j, &n) : NULL;
	bool ok = true;

	if (list == NULL)
		atomic_fetch_add(&j->sweep->shared->wrong, 1);
	for (unsigned i = 0; i < n; i++)
		last[list[i].call] = i;
	const unsigned first = (unsigned)(j->c - j->sweep->cases.list);
	for (unsigned i = 0; ok && i < n; i++) {
		const enum fault_call call = (enum fault_call)list[i].call;
		const uint64_t key = (list[i].stack ^ j->c->kind) * FAULT_CALLS + call;
		const bool chosen =
		    is_new(j->sweep->shared, key) || (j->c->whole && n <= WHOLE) || last[call] == i;
		if (chosen && (first + nchosen++) % j->sweep->every == 0 &&
		    (only == NULL || strcmp(only, fault_call_name(call)) == 0))
			ok = run_call(j, call, list[i].nth);
	}
	free(list);
	return ok;
}

/* ---- jobs ---- */

static bool is_wanted(const struct sweep *s, const struct fault_case *c)
{
	char line[1024];

	fault_case_show(c, line, sizeof line);
	return s->word == NULL || strstr(line, s->word) != NULL;
}

/* Creates and enters the folder of the job. */
static bool begin_job(struct job *j, const char *folder)
{
	return mkdir(folder, 0777) == 0 && chdir(folder) == 0 && mkdir("out", 0777) == 0 &&
	       fault_runner_init(&j->runner, "out") && fault_outcome_init(&j->without) &&
	       fault_outcome_init(&j->with) && fault_tree_init(&j->before);
}

static bool run_cases(const struct sweep *s, unsigned number)
{
	struct job j = { .sweep = s };
	char folder[32];
	unsigned i;

	snprintf(folder, sizeof folder, "../%u", number);
	if (!begin_job(&j, folder)) {
		fprintf(stderr, "faults: %s: %s\n", folder, strerror(errno));
		return false;
	}
	while ((i = atomic_fetch_add(&s->shared->next, 1)) < s->cases.n) {
		j.c = &s->cases.list[i];
		if (!is_wanted(s, j.c))
			continue;
		const unsigned before = s->shared->runs;
		if (!run_case(&j))
			return false;
		if (s->verbose) {
			char line[1024];
			fault_case_show(j.c, line, sizeof line);
			fprintf(stderr, "%u %s\n", s->shared->runs - before, line);
		}
	}
	return true;
}

static bool run_jobs(const struct sweep *s, unsigned jobs)
{
	bool ok = true;
	int status;

	for (unsigned i = 0; i < jobs; i++) {
		const pid_t pid = fork();
		if (pid == 0)
			_exit(run_cases(s, i) ? 0 : 1);
		ok &= pid > 0;
	}
	while (wait(&status) > 0)
		ok &= WIFEXITED(status) && WEXITSTATUS(status) == 0;
	return ok;
}

/* ---- one run, to find the cause ---- */

static bool show_one(const struct sweep *s, unsigned nth, int error, bool lasting)
{
	struct job j = { .sweep = s };
	unsigned i = 0;

	while (i < s->cases.n && !is_wanted(s, &s->cases.list[i]))
		i++;
	if (i == s->cases.n || !begin_job(&j, "../0"))
		return false;
	j.c = &s->cases.list[i];
	struct fault_plan *const p = j.runner.plan;
	if (!run_earlier(&j, j.c->earlier) || !run_without_fault(&j, j.c))
		return false;
	for (int call = 0; call < FAULT_CALLS; call++)
		if (strcmp(s->call, fault_call_name((enum fault_call)call)) == 0)
			p->call = (enum fault_call)call;
	p->nth = nth;
	p->error = error != 0 || p->call == FAULT_CALLS ? error : fault_errors[p->call].errors[0];
	p->lasting = lasting;
	p->trace = true;
	const bool ok = run_one(&j);
	printf("---- standard output\n%s---- standard error\n%s", j.with.out.p, j.with.err.p);
	return ok;
}

/* ---- all cases ---- */

static bool prepare(struct sweep *s, const char *testdata, char *root)
{
	char from[PATH_MAX], in[PATH_MAX + 8], data[PATH_MAX + 8];

	s->shared = mmap(NULL, sizeof *s->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s->shared == MAP_FAILED || realpath(testdata, from) == NULL || mkdtemp(root) == NULL)
		return false;
	snprintf(in, sizeof in, "%s/in", root);
	snprintf(data, sizeof data, "%s/data", root);
	return symlink(from, data) == 0 && mkdir(in, 0777) == 0 && chdir(in) == 0 &&
	       fault_cases_create(&s->cases, "../data", "../in", "out");
}

static int finish(const struct sweep *s, bool ok)
{
	printf("%u command lines, %u runs, %u with a failing call, %u broken promises\n", s->cases.n,
	       s->shared->runs, s->shared->failed, s->shared->wrong);
	return ok && s->shared->wrong == 0 && s->shared->failed > 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct sweep s = { .shown = 40, .every = 1 };
	const char *testdata = "testdata";
	const char *const tmp = getenv("TMPDIR");
	const long cores = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned jobs = cores > 0 && cores < JOBS_MAX ? (unsigned)cores : 2;
	char root[PATH_MAX];
	int opt;

	while ((opt = getopt(argc, argv, "t:j:e:s:v")) != -1) {
		if (opt == 't')
			testdata = optarg;
		else if (opt == 'j')
			jobs = (unsigned)strtoul(optarg, NULL, 10);
		else if (opt == 'e')
			s.every = (unsigned)strtoul(optarg, NULL, 10);
		else if (opt == 's')
			s.shown = (unsigned)strtoul(optarg, NULL, 10);
		else if (opt == 'v')
			s.verbose = true;
		else
			return 3;
	}
	if (s.every == 0)
		return 3;
	argv += optind;
	argc -= optind;
	s.word = argc > 0 ? argv[0] : NULL;
	s.call = argc > 1 ? argv[1] : NULL;
	snprintf(root, sizeof root, "%s/tracetool-faults-XXXXXX", tmp != NULL ? tmp : "/tmp");
	bool ok = prepare(&s, testdata, root);
	if (!ok)
		fprintf(stderr, "faults: %s: %s\n", root, strerror(errno));
	else if (argc > 2)
		ok = show_one(&s, (unsigned)strtoul(argv[2], NULL, 10), argc > 3 ? atoi(argv[3]) : 0,
		              argc > 4);
	else
		ok = run_jobs(&s, jobs);
	fault_folder_empty(root);
	rmdir(root);
	return ok ? finish(&s, ok) : 1;
}
