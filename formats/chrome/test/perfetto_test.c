/* Queries of Perfetto's own importer about the output.  Skipped without the importer. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"

static const char *importer(void)
{
	const char *const set = getenv("PERFETTO");
	const char *const path = set != NULL ? set : "../shared/tools/perfetto";

	if (access(path, X_OK) != 0)
		cr_skip_test("no importer at %s", path);
	return path;
}

/* Returns the rows of a query about the output for an input; the caller frees them. */
static char *ask(const char *input, const char *query)
{
	const char *const perfetto = importer();
	char *const dir = make_folder();
	char out[512];

	snprintf(out, sizeof out, "%s/out.json", dir);
	struct ran r = run_tool((const char *const[]){ "convert", "--quiet", input, out, NULL }, NULL, 0);
	cr_assert_neq(access(out, R_OK), -1, "%s: %s", input, r.err);
	ran_free(&r);
	r = run_program((const char *const[]){ perfetto, out, query, NULL }, NULL, 0);
	char *const rows = strdup(r.out);
	ran_free(&r);
	remove_folder(dir);
	return rows;
}

static void expect_rows(const char *input, const char *query, const char *want)
{
	char *const got = ask(input, query);

	cr_expect_str_eq(got, want, "%s: %s\n%s", input, query, got);
	free(got);
}

/* An arrow to a span of no length inside another one:
 * as its begin and end, or after it, but not before it. */
Test(chrome_perfetto, arrows_bind_to_spans_of_no_length)
{
	static const char *const orders[] = {
		"{\"name\":\"none\",\"ph\":\"X\",\"ts\":7,\"dur\":0,\"pid\":1,\"tid\":2},"
		"{\"name\":\"a\",\"ph\":\"f\",\"bp\":\"e\",\"id\":1,\"ts\":7,\"pid\":1,\"tid\":2}",
		"{\"name\":\"a\",\"ph\":\"f\",\"id\":1,\"ts\":7,\"pid\":1,\"tid\":2},"
		"{\"name\":\"none\",\"ph\":\"X\",\"ts\":7,\"dur\":0,\"pid\":1,\"tid\":2}",
		"{\"name\":\"a\",\"ph\":\"f\",\"bp\":\"e\",\"id\":1,\"ts\":7,\"pid\":1,\"tid\":2},"
		"{\"name\":\"none\",\"ph\":\"X\",\"ts\":7,\"dur\":0,\"pid\":1,\"tid\":2}",
	};
	static const char query[] = "select i.name from flow join slice i on slice_in = i.id";
	char *const dir = make_folder();
	char in[512], out[512];

	for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
		const char *const want = i < 2 ? "none\n" : "outer\n";
		snprintf(in, sizeof in, "%s/in.json", dir);
		FILE *const f = fopen(in, "w");
		cr_assert_not_null(f);
		fprintf(f,
		        "[{\"name\":\"from\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":1,\"tid\":1},"
		        "{\"name\":\"a\",\"ph\":\"s\",\"id\":1,\"ts\":2,\"pid\":1,\"tid\":1},"
		        "{\"name\":\"outer\",\"ph\":\"X\",\"ts\":5,\"dur\":9,\"pid\":1,\"tid\":2},%s]",
		        orders[i]);
		fclose(f);
		expect_rows(in, query, want);
		snprintf(out, sizeof out, "%s/%zu.pftrace", dir, i);
		struct ran r =
		    run_tool((const char *const[]){ "convert", "--quiet", in, out, NULL }, NULL, 0);
		cr_expect_eq(r.status, 0, "%s", r.err);
		ran_free(&r);
		expect_rows(out, query, want);
	}
	remove_folder(dir);
}

/* A subset of `make check-viewers`: one input of each format and a real trace. */
Test(chrome_perfetto, loads_without_errors)
{
	static const char *const argv[] = {
		"sh", "-c",
		"set -- \"$TRACETOOL_BIN\" testdata/htdump/good/overlapping.htdump "
		"testdata/heph/good/mixed.bin.log testdata/dftracer/good/sound.pfw "
		"testdata/dial9/good/document.dial9 testdata/ovni/good/document.obs\n"
		"t=../shared/traces/dial9/metrics-service.bin\n"
		"[ ! -e $t ] || [ \"${STRENGTH:-1}\" -lt 10 ] || set -- \"$@\" $t\n"
		"exec sh formats/chrome/test/viewers.sh \"$@\"",
		NULL
	};

	importer();
	struct ran r = run_program(argv, NULL, 0);
	cr_expect_eq(r.status, 0, "%s%s", r.out, r.err);
	ran_free(&r);
}

/* CPU profiles, also without the importer. */
Test(chrome_perfetto, cpu_profiles_are_those_of_a_plain_reading)
{
	static const char *const argv[] = { "sh", "-c",
		                            "command -v python3 >/dev/null || exit 0\n"
		                            "exec python3 formats/chrome/test/profile.py \"$TRACETOOL_BIN\"",
		                            NULL };

	struct ran r = run_program(argv, NULL, 0);
	cr_expect_eq(r.status, 0, "%s%s", r.out, r.err);
	ran_free(&r);
}

#define SERVICE "../shared/traces/dial9/metrics-service.bin"

/* Several wakes of one thread have equal times. */
Test(chrome_perfetto, arrows_start_where_they_leave)
{
	if (access(SERVICE, R_OK) != 0)
		cr_skip_test("no %s", SERVICE);
	expect_rows(SERVICE,
	            "select count(*) > 30000, count(*) = (select count(*) from flow), "
	            "sum(a.int_value != b.int_value) from flow join slice o on slice_out = o.id "
	            "join slice i on slice_in = i.id "
	            "join args a on a.arg_set_id = o.arg_set_id and a.key = 'args.woken_task_id' "
	            "join args b on b.arg_set_id = i.arg_set_id and b.key = 'args.task_id'",
	            "1\t1\t0\n");
}

/* Async spans are on tracks of their process. */
Test(chrome_perfetto, async_spans_are_of_their_process)
{
	if (access(SERVICE, R_OK) != 0)
		cr_skip_test("no %s", SERVICE);
	expect_rows(
	    SERVICE,
	    "select count(*) > 100, sum(p.upid is null) from slice join track t on slice.track_id = t.id "
	    "left join process_track p on p.id = t.id where t.type like '%async%'",
	    "1\t0\n");
}

/* A lane or invented id never makes a thread the main thread. */
Test(chrome_perfetto, no_thread_becomes_the_main_one)
{
	static const char *const inputs[] = { "testdata/htdump/good/overlapping.htdump",
		                              "testdata/dial9/good/document.dial9" };

	for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++)
		expect_rows(
		    inputs[i],
		    "select count(*) from thread_track join thread using (utid) where is_main_thread = 1 "
		    "or thread.name is null",
		    "0\n");
}
