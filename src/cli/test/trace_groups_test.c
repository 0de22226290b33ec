/* A folder with traces of several formats is several traces. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "report/test/reports_util_test.h"

static struct ran sh(const char *script, const char *dir)
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
	cr_expect_eq(count_word(r.out, "valid ovni, 2 streams"), 2, "%s", r.out);
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

/* ---- a folder is a list of traces for all commands ---- */

/* Five traces of five formats, and a folder of two heph logs of different epochs. */
static char *make_mixture(void)
{
	char *const dir = make_folder();
	struct ran r = sh("d=$1; mkdir -p $d/mix/run $d/logs && cd testdata && "
	                  "cp htdump/good/wire-little.htdump dftracer/good/sound.pfw $d/mix && "
	                  "cp heph/good/max-integers.bin.log $d/mix && "
	                  "cp dial9/good/all-types.dial9 $d/mix/t.bin && "
	                  "cp -r ../" OVNI " $d/mix/run/loom.a.1 && "
	                  "cp heph/good/spec-example.bin.log heph/good/max-integers.bin.log $d/logs",
	                  dir);

	cr_assert_eq(r.status, 0, "%s", r.err);
	ran_free(&r);
	return dir;
}

static void expect_sh(const char *dir, const char *script, int status, const char *want, size_t times)
{
	struct ran r = sh(script, dir);

	cr_expect_eq(r.status, status, "%s: status %d: %s", script, r.status, r.out);
	cr_expect_eq(count_word(r.out, want), times, "%s: %s is %zu times in: %s", script, want,
	             count_word(r.out, want), r.out);
	ran_free(&r);
}

Test(trace_groups, all_commands_read_the_traces_of_a_folder)
{
	char *const dir = make_mixture();

	expect_sh(dir, "cd $1 && exec \"$OLDPWD\"/\"$0\" stats -q mix 2>&1", 0, " events, ", 5);
	expect_sh(dir, "cd $1 && exec \"$OLDPWD\"/\"$0\" info mix 2>&1", 0, "format:   ", 5);
	expect_sh(dir, "cd $1 && exec \"$OLDPWD\"/\"$0\" cat mix 2>&1", 0, "# mix/", 5);
	expect_sh(dir, "cd $1 && exec \"$OLDPWD\"/\"$0\" cat mix 2>&1", 0, "# mix/run (ovni)\n", 1);
	expect_sh(dir, "cd $1 && exec \"$OLDPWD\"/\"$0\" validate mix 2>&1", 0, ": valid ", 5);
	expect_sh(dir, "cd $1 && exec \"$OLDPWD\"/\"$0\" merge --align none mix -o o.json 2>&1", 0, "error",
	          0);
	remove_folder(dir);
}

Test(trace_groups, convert_writes_one_trace)
{
	char *const dir = make_mixture();

	expect_sh(dir,
	          "cd $1 && \"$OLDPWD\"/\"$0\" convert mix o.json 2>&1; s=$?; test ! -e o.json && exit $s", 3,
	          "mix holds 5 traces of 5 formats (", 1);
	expect_sh(dir, "cd $1 && exec \"$OLDPWD\"/\"$0\" convert --from heph mix o.json 2>&1", 0, "error", 0);
	expect_sh(dir,
	          "cd $1 && \"$OLDPWD\"/\"$0\" convert logs l.json 2>&1; s=$?; test ! -e l.json && exit $s",
	          2, "[input/other-clock]", 1);
	expect_sh(dir,
	          "cd $1 && \"$OLDPWD\"/\"$0\" merge logs -o a.json && "
	          "\"$OLDPWD\"/\"$0\" merge logs/max-integers.bin.log logs/spec-example.bin.log "
	          "-o b.json && "
	          "cmp a.json b.json 2>&1",
	          0, "differ", 0);
	remove_folder(dir);
}

/* Neither is what another one is; what both are is named. */
Test(trace_groups, dialects_do_not_leak)
{
	static const char script[] = "cd $1 && cp $OLDPWD/testdata/dftracer/good/d3.pfw run-2.pfw && "
	                             "cp $OLDPWD/testdata/dftracer/good/sound.pfw run-1.pfw && ";
	char *const dir = make_folder(), text[400];

	snprintf(text, sizeof text, "%s\"$OLDPWD\"/\"$0\" validate . 2>&1; :", script);
	expect_sh(dir, text, 0, "run-1.pfw: valid dftracer (d2a)", 1);
	expect_sh(dir, text, 0, "run-2.pfw: valid dftracer (d3)", 1);
	snprintf(text, sizeof text, "%s\"$OLDPWD\"/\"$0\" info . 2>&1; :", script);
	expect_sh(dir, text, 0, "dialect d2a and d3\n", 1);
	remove_folder(dir);
}

/* Nothing is compared or counted besides. */
Test(trace_groups, what_is_missing_is_one_line)
{
	char *const dir = make_folder();

	expect_sh(dir, "\"$0\" diff $1/a $1/b 2>&1", 2, "\n", 2);
	expect_sh(dir, "\"$0\" diff $1/a $1/b 2>&1", 2, ": no such file\n", 2);
	expect_sh(dir, "\"$0\" validate $1/a 2>&1", 2, "\n", 1);
	remove_folder(dir);
}
