/*
 * Runs a case in a child process, and collects its status, standard streams and outputs.
 */
#define _GNU_SOURCE /* memfd_create */
#include "test/faults/faults.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Limits; a run takes some milliseconds. */
enum {
	CPU_SECONDS = 20,   /* for endless loops */
	WALL_SECONDS = 300, /* for deadlocks; large, since the machine may be busy */
};

/* main() of src/main.c, which is compiled under this name. */
int tracetool_main(int argc, char **argv);

bool fault_runner_init(struct fault_runner *r, const char *out_folder)
{
	sigset_t set;
	void *frame;

	(void)backtrace(&frame, 1); /* loads its library here, not in the process under test */
	*r = (struct fault_runner){ .out_folder = out_folder };
	r->plan = mmap(NULL, sizeof *r->plan, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	r->out = memfd_create("stdout", 0);
	r->err = memfd_create("stderr", 0);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD); /* see wait_for() */
	return r->plan != MAP_FAILED && r->out >= 0 && r->err >= 0 && sigprocmask(SIG_BLOCK, &set, NULL) == 0;
}

bool fault_outcome_init(struct fault_outcome *o)
{
	*o = (struct fault_outcome){ .status = 0 };
	o->out.p = malloc(FAULT_KEPT + 1);
	o->err.p = malloc(FAULT_KEPT + 1);
	return o->out.p != NULL && o->err.p != NULL && fault_tree_init(&o->made);
}

/* ---- the process ---- */

/* Returns a pipe with the bytes of a file, which must fit into its buffer. */
static int open_pipe(const char *path)
{
	char bytes[65536];
	int fds[2];
	const int from = open(path, O_RDONLY);
	const ssize_t n = read(from, bytes, sizeof bytes);

	if (n < 0 || n == sizeof bytes || pipe(fds) != 0 || write(fds[1], bytes, (size_t)n) != n)
		_exit(120);
	close(fds[1]);
	close(from);
	return fds[0];
}

static void show_crash(int sig)
{
	void *frames[FAULT_FRAMES];

	fault_plan_set(NULL);
	signal(sig, SIG_DFL);
	(void)!write(STDERR_FILENO, "crash:\n", 7);
	backtrace_symbols_fd(frames, backtrace(frames, FAULT_FRAMES), STDERR_FILENO);
	raise(sig);
}

__attribute__((noreturn)) static void run_child(const struct fault_runner *r, const struct fault_case *c)
{
	const struct rlimit cpu = { CPU_SECONDS, CPU_SECONDS };
	const int in = c->stdin_ != NULL ? open_pipe(c->stdin_) : open("/dev/null", O_RDONLY);
	char summary[4096];
	sigset_t none;

	(void)snprintf(summary, sizeof summary, "%s/summary.md", r->out_folder);
	setenv("GITHUB_STEP_SUMMARY", summary, 1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setrlimit(RLIMIT_CPU, &cpu);
	if (in < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(r->out, STDOUT_FILENO) < 0 ||
	    dup2(r->err, STDERR_FILENO) < 0)
		_exit(120);
	close(in);
	if (r->plan->trace) {
		signal(SIGSEGV, show_crash);
		signal(SIGABRT, show_crash);
	}
	fault_plan_set(r->plan);
	const int status = tracetool_main(c->argc, (char **)(size_t)c->argv);
	fault_plan_set(NULL);
	_exit(status);
}

/* ---- its results ---- */

static void read_stream(struct fault_bytes *b, int fd)
{
	const ssize_t n = pread(fd, b->p, FAULT_KEPT, 0);

	b->n = n > 0 ? (size_t)n : 0;
	b->p[b->n] = '\0';
}

static bool wait_for(pid_t pid, struct fault_outcome *o)
{
	const struct timespec limit = { .tv_sec = WALL_SECONDS };
	sigset_t set;
	pid_t done;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	o->hung = false;
	while ((done = waitpid(pid, &o->status, WNOHANG)) == 0) {
		if (sigtimedwait(&set, NULL, &limit) < 0 && errno == EAGAIN) {
			o->hung = true;
			kill(pid, SIGKILL);
			done = waitpid(pid, &o->status, 0);
			break;
		}
	}
	return done == pid;
}

bool fault_run(struct fault_runner *r, const struct fault_case *c, const struct fault_tree *before,
               struct fault_outcome *o)
{
	memset(r->plan->counts, 0, sizeof r->plan->counts);
	r->plan->failed = r->plan->nlogged = 0;
	r->plan->muted = false;
	if (ftruncate(r->out, 0) != 0 || ftruncate(r->err, 0) != 0 || lseek(r->out, 0, SEEK_SET) != 0 ||
	    lseek(r->err, 0, SEEK_SET) != 0 || !fault_tree_write(before, r->out_folder))
		return false;
	const pid_t pid = fork();
	if (pid == 0)
		run_child(r, c);
	if (pid < 0 || !wait_for(pid, o))
		return false;
	read_stream(&o->out, r->out);
	read_stream(&o->err, r->err);
	const bool ok = fault_tree_read(&o->made, r->out_folder);
	fault_folder_empty(r->out_folder);
	return ok;
}
