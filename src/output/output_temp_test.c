#include "output/output_test.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

TestSuite(output_temp, .init = folder_make, .fini = folder_remove, .timeout = 30);

/* ---- Limits ---- */

Test(output_temp, file_size_limit_leaves_nothing)
{
	static const char *const names[] = { "out.json", "out.json.gz", "out.json.zst" };
	struct bytes b = some_json(4u << 20);
	struct rlimit before, small;
	output_handle_signals();
	cr_assert_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = 100000;
	for (size_t i = 0; i < 3; i++) {
		char why[256] = "", want[256];
		cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
		struct output *o = opened(names[i], 0);
		(void)output_write(o, b.p, b.n);
		const bool ok = output_commit(o, why, sizeof why);
		cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
		(void)sprintf(want, "%s: File too large", names[i]);
		cr_assert_not(ok);
		cr_assert_str_eq(why, want);
		cr_assert_str_eq(listing("."), "");
	}
	free(b.p);
}

/* ---- Signals ---- */

/* A child with two files open is ended by `sig`; what it left is in the folder. */
static int
child_killed_by(int sig, bool ignored)
{
	const pid_t child = fork();
	cr_assert_geq(child, 0);
	if (child == 0) {
		char why[256];
		(void)signal(sig, ignored ? SIG_IGN : SIG_DFL);
		output_handle_signals();
		struct output *a = output_open("a.json", 0, why, sizeof why);
		struct output *b = output_open("dir/b.json.gz", OUTPUT_FORCE, why, sizeof why);
		struct output *c = output_open("c.json", 0, why, sizeof why);
		if (a == NULL || b == NULL || c == NULL || !output_write(a, "x", 1) ||
		    !output_commit(c, why, sizeof why))
			_exit(90);
		(void)raise(sig);
		output_discard(a);
		output_discard(b);
		_exit(7);
	}
	int status = 0;
	cr_assert_eq(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

Test(output_temp, signals_remove_temporary_files)
{
	static const int sigs[] = { SIGTERM, SIGINT, SIGHUP };
	cr_assert_eq(mkdir("dir", 0777), 0);
	for (size_t i = 0; i < 3; i++) {
		cr_assert_eq(child_killed_by(sigs[i], false), sigs[i]);
		cr_assert_str_eq(listing("."), "c.json dir", "signal %d", sigs[i]);
		cr_assert_str_eq(listing("dir"), "");
		cr_assert_eq(unlink("c.json"), 0);
	}
}

Test(output_temp, ignored_signals_stay_ignored)
{
	static const int sigs[] = { SIGTERM, SIGINT, SIGHUP };
	cr_assert_eq(mkdir("dir", 0777), 0);
	for (size_t i = 0; i < 3; i++) {
		cr_assert_eq(child_killed_by(sigs[i], true), -7);
		cr_assert_eq(unlink("c.json"), 0);
	}
	cr_assert_str_eq(listing("."), "dir");
}
