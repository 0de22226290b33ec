/* The program: traces that it converts are read again by check.py, which shares nothing with the writer. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "test/support/strength.h"

static struct ran convert(const char *in, const char *out, const char *to, const char *option)
{
	return run_tool((const char *const[]){ "convert", "--quiet", "--to", to, in, out, option, NULL },
	                NULL, 0);
}

static void expect_check(const char *option, const char *in, const char *dir, const char *other)
{
	const char *const args[] = { "python3",
		                     "formats/paraver/test/check.py",
		                     option != NULL ? option : dir,
		                     option != NULL ? dir : other,
		                     option != NULL ? other : NULL,
		                     NULL };
	struct ran r = run_program(args, NULL, 0);

	cr_expect_eq(r.status, 0, "%s: %s%s", in, r.out, r.err);
	ran_free(&r);
}

static void expect_same_as_lines(const char *in, const char *dir)
{
	char out[1024], lines[1024];

	snprintf(out, sizeof out, "%s/a.paraver", dir);
	snprintf(lines, sizeof lines, "%s/a.ndjson", dir);
	struct ran r = convert(in, out, "paraver", "-f");
	cr_expect_leq(r.status, 1, "%s: %s", in, r.err);
	ran_free(&r);
	r = convert(in, lines, "ndjson", "-f");
	ran_free(&r);
	expect_check(NULL, in, out, lines);
}

static bool has_python(void)
{
	return system("python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' >/dev/null 2>&1") == 0;
}

Test(paraver_cli, the_events_are_those_of_the_lines)
{
	static const char *const inputs[] = {
		"testdata/htdump/good/overlapping.htdump",       "testdata/htdump/good/max-integers.htdump",
		"testdata/heph/good/all-types.bin.log",          "testdata/htdump/bad/cut-record.htdump",
		"testdata/htdump/bad/invalid-utf8.htdump",       "../shared/traces/ovni/good/tampi-ss-comm",
		"../shared/traces/next/dial9/callframe-def.bin",
	};

	if (!has_python())
		cr_skip_test("python3 is not here");
	char *const dir = make_folder();
	for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
		if (access(inputs[i], R_OK) == 0 && strength_takes(inputs[i], 3))
			expect_same_as_lines(inputs[i], dir);
	remove_folder(dir);
}

/* Compares start and end of thread states, functions, tasks and marks. */
Test(paraver_cli, intervals_of_ovni_traces_are_those_of_the_emulator)
{
	static const char *const names[] = { "mpi-func", "nanos6-nested-tasks", "nosv-nested-tasks",
		                             "openmp-mix-task-ws", "ovni-libovni-mark" };
	char in[256], packed[256], out[1024];

	if (!has_python() || access("../shared/traces/ovni-paraver", R_OK) != 0)
		cr_skip_test("python3 or the traces are not here");
	char *const dir = make_folder();
	snprintf(out, sizeof out, "%s/a.paraver", dir);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (!strength_takes(names[i], 2))
			continue;
		snprintf(in, sizeof in, "../shared/traces/ovni/good/%s", names[i]);
		snprintf(packed, sizeof packed, "../shared/traces/ovni-paraver/%s.tar.gz", names[i]);
		struct ran r =
		    run_program((const char *const[]){ "tar", "-xzf", packed, "-C", dir, NULL }, NULL, 0);
		cr_assert_eq(r.status, 0, "%s", r.err);
		ran_free(&r);
		r = convert(in, out, "paraver", "-f");
		cr_assert_eq(r.status, 0, "%s", r.err);
		ran_free(&r);
		expect_check("--emulated", in, out, dir);
	}
	remove_folder(dir);
}
