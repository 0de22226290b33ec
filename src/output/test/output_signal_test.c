#include "output/output.h"
#include "output/test/output_test.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

/* Signals that end the process remove its temporary files. */
TestSuite(output_signal, .init = folder_make, .fini = folder_remove);

static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM, SIGUSR1, SIGUSR2 };
enum { ENDING = sizeof ending / sizeof ending[0] };

/* Runs `body` in a child that handles signals.  Returns the signal that ended it, or its exit status,
 * negated. */
static int ended_by(void (*body)(int sig), int sig, bool ignored)
{
	const pid_t child = fork();
	int status = 0;

	cr_assert_geq(child, 0);
	if (child == 0) {
		(void)signal(sig, ignored ? SIG_IGN : SIG_DFL);
		output_handle_signals();
		body(sig);
		_exit(7);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

/* Two files open, one committed. */
static void write_files(int sig)
{
	char why[256];
	struct output *const a = output_open("a.json", 0, 1, why, sizeof why);
	struct output *const b = output_open("dir/b.json.gz", OUTPUT_FORCE, 1, why, sizeof why);
	struct output *const c = output_open("c.json", 0, 1, why, sizeof why);

	if (a == NULL || b == NULL || c == NULL || !output_write(a, "x", 1) ||
	    !output_commit(c, why, sizeof why))
		_exit(90);
	(void)raise(sig);
	output_discard(a);
	output_discard(b);
}

Test(output_signal, files_are_removed)
{
	cr_assert_eq(mkdir("dir", 0777), 0);
	for (size_t i = 0; i < ENDING; i++) {
		cr_expect_eq(ended_by(write_files, ending[i], false), ending[i]);
		cr_expect_str_eq(listing("."), "c.json dir", "signal %d", ending[i]);
		cr_expect_str_eq(listing("dir"), "");
		cr_assert_eq(unlink("c.json"), 0);
	}
}

Test(output_signal, ignored_signals_stay_ignored)
{
	cr_assert_eq(mkdir("dir", 0777), 0);
	for (size_t i = 0; i < ENDING; i++) {
		cr_expect_eq(ended_by(write_files, ending[i], true), -7);
		cr_assert_eq(unlink("c.json"), 0);
	}
	cr_expect_str_eq(listing("."), "dir");
}

/* A folder with files and sub-folders, more than are open at once. */
static void write_folder(int sig)
{
	char why[256], name[32];
	struct output_folder *const o = output_folder_open("out", 0, why, sizeof why);
	struct output_folder *const done = output_folder_open("done", 0, why, sizeof why);

	for (int i = 0; i < 80; i++) {
		(void)sprintf(name, "d%d/e/f%d", i % 9, i);
		if (o == NULL || !output_folder_put(o, name, "x", 1))
			_exit(90);
	}
	if (done == NULL || !output_folder_put(done, "a", "x", 1) ||
	    !output_folder_commit(done, why, sizeof why))
		_exit(91);
	(void)raise(sig);
	output_folder_discard(o);
}

Test(output_signal, folders_are_removed_with_all_in_them)
{
	for (size_t i = 0; i < ENDING; i++) {
		cr_expect_eq(ended_by(write_folder, ending[i], false), ending[i]);
		cr_expect_str_eq(listing("."), "done", "signal %d", ending[i]);
		remove_all("done");
	}
	cr_expect_eq(ended_by(write_folder, SIGTERM, true), -7);
	cr_expect_str_eq(listing("."), "done");
}

/* A thread creates files while another one gets the signal. */
struct maker {
	struct output_folder *o;
	atomic_int made;
};

static void *make_files(void *arg)
{
	struct maker *const m = arg;
	char name[32];

	for (int i = 0; i < 1000000; i++) {
		(void)sprintf(name, "d%d/f%d", i % 3, i);
		if (!output_folder_put(m->o, name, "x", 1))
			break;
		(void)atomic_fetch_add(&m->made, 1);
	}
	return NULL;
}

static void write_on_a_thread(int sig)
{
	char why[256];
	struct maker m = { .o = output_folder_open("out", 0, why, sizeof why) };
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	(void)pthread_sigmask(SIG_BLOCK, &all, &before); /* as all threads of the program */
	if (m.o == NULL || pthread_create(&thread, NULL, make_files, &m) != 0)
		_exit(90);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	while (atomic_load(&m.made) < 50)
		(void)sched_yield();
	(void)raise(sig);
	_exit(91);
}

Test(output_signal, no_file_is_made_after_the_signal)
{
	for (int i = 0; i < 20; i++) {
		cr_expect_eq(ended_by(write_on_a_thread, SIGTERM, false), SIGTERM);
		cr_expect_str_eq(listing("."), "");
	}
}
