/* A folder with traces of several formats is several traces. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "cmd/reports_util_test.h"

static struct ran
sh(const char *script, const char *dir)
{
	const char *const argv[] = { "sh", "-c", script, tool_path(), dir, NULL };

	return run_program(argv, NULL, 0);
}

#define OVNI "testdata/ovni/folders/good-two-threads"

Test(trace_groups, formats_do_not_disturb_each_other)
{
	char *const dir = make_folder();
	struct ran r = sh(
	    "d=$1; cp testdata/htdump/good/wire-little.htdump $d/a.htdump && "
	    "cp testdata/dftracer/good/sound.pfw $d/b.pfw && "
	    "mkdir $d/run1 $d/run2 && cp -r " OVNI " $d/run1/loom.a.1 && cp -r " OVNI " $d/run2/loom.a.1 && "
	    "echo nothing > $d/c.htdump && cp testdata/htdump/good/wire-big.htdump $d/z.htdump && "
	    "exec \"$0\" validate $d 2>&1",
	    dir);
	char want[1200];

	cr_expect_eq(r.status, 2, "c.htdump: %s", r.out);
	cr_expect_null(strstr(r.out, "input/other-format"), "%s", r.out);
	snprintf(want, sizeof want, "%s/a.htdump: valid htdump", dir);
	cr_expect_not_null(strstr(r.out, want), "%s", r.out);
	snprintf(want, sizeof want, "%s/b.pfw: valid dftracer", dir);
	cr_expect_not_null(strstr(r.out, want), "%s", r.out);
	snprintf(want, sizeof want, "%s/z.htdump: valid htdump", dir);
	cr_expect_not_null(strstr(r.out, want), "%s", r.out);
	snprintf(want, sizeof want, "%s/c.htdump:@0: error: ", dir);
	cr_expect_not_null(strstr(r.out, want), "%s", r.out);
	cr_expect_eq(count_word(r.out, "valid ovni"), 4, "%s", r.out);
	cr_expect_eq(count_word(r.out, "not valid"), 1, "%s", r.out);
	ran_free(&r);
	remove_folder(dir);
}

/* Two runs of one program use the same threads: as one trace that is a fault. */
Test(trace_groups, two_runs_are_two_traces)
{
	char *const dir = make_folder();
	struct ran r = sh("d=$1; mkdir $d/run1 $d/run2 && cp -r " OVNI " $d/run1/loom.a.1 && "
	                  "cp -r " OVNI " $d/run2/loom.a.1 && exec \"$0\" validate $d 2>&1",
	                  dir);

	cr_expect_eq(r.status, 0, "%s", r.out);
	ran_free(&r);
	r = sh("exec \"$0\" validate --from ovni $1 2>&1", dir);
	cr_expect_eq(r.status, 0, "%s", r.out);
	ran_free(&r);
	remove_folder(dir);
}

/* A file that is named as if it lay beside a trace of a format is of another program. */
Test(trace_groups, a_name_alone_is_no_trace)
{
	char *const dir = make_folder();
	struct ran r = sh(
	    "d=$1; cp testdata/htdump/good/wire-little.htdump $d/a.htdump && echo '{}' > $d/stream.json && "
	    "exec \"$0\" validate $d 2>&1",
	    dir);

	cr_expect_eq(r.status, 0, "%s", r.out);
	cr_expect_eq(count_word(r.out, "\n"), 1, "%s", r.out);
	ran_free(&r);
	remove_folder(dir);
}
