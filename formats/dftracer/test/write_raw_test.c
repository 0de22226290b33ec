/* A DFTracer trace written as one: the same bytes; several joined: one trace. */
#include <criterion/criterion.h>

#include "cmd/test/samples_test_util.h"
#include "dftracer/test/cli_test_util.h"
#include "input/open.h"

#define GOOD "testdata/dftracer/good"
#define BAD "testdata/dftracer/bad"

static void expect_copy(const char *path, const char *threads, int status)
{
	size_t n;
	char *const p = read_unpacked(path, &n);
	struct ran r = run_tool(
	    (const char *const[]){ "convert", "-q", threads, "--to=dftracer", path, "-", NULL }, NULL, 0);

	cr_expect(status < 0 || r.status == status, "%s: status %d: %s", path, r.status, r.err);
	cr_expect(r.out_n == n && memcmp(r.out, p, n) == 0, "%s: %zu bytes, %zu of the input", path, r.out_n,
	          n);
	ran_free(&r);
	free(p);
}

static size_t expect_copies(const char *dir, const char *threads, int status)
{
	char **const names = list_folder(dir, "");
	char path[1024];
	size_t n = 0;

	for (size_t i = 0; names[i] != NULL; i++) {
		/* packed bytes that are damaged end before the trace does */
		if (strstr(names[i], ".pfw") == NULL || (status < 0 && strstr(names[i], ".gz") != NULL))
			continue;
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		expect_copy(path, threads, status);
		n++;
	}
	list_free(names);
	return n;
}

Test(dftracer_write_raw, good_samples_stay_what_they_are)
{
	cr_expect_gt(expect_copies(GOOD, "--threads=1", 0), 10);
	expect_copy(GOOD "/merged.pfw", "--threads=3", 0);
}

/* Whatever is wrong with them. */
Test(dftracer_write_raw, bad_samples_stay_what_they_are)
{
	cr_expect_gt(expect_copies(BAD, "--threads=2", -1), 50);
}

Test(dftracer_write_raw, real_traces_stay_what_they_are)
{
	const char *const dir = real_traces();
	char folder[600];

	snprintf(folder, sizeof folder, "%s/dftracer", dir);
	cr_expect_gt(expect_copies(folder, "--threads=2", 0), 1);
}

Test(dftracer_write_raw, names_tell_the_format)
{
	static const char *const names[] = { "out.pfw", "out.pfw.gz", "out.pfw.zst" };
	char *const dir = make_folder(), path[1024];
	size_t n, m;
	char *const want = read_unpacked(GOOD "/d3.pfw", &n);

	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		struct ran r =
		    run_tool((const char *const[]){ "convert", GOOD "/d3.pfw", path, NULL }, NULL, 0);
		cr_expect_eq(r.status, 0, "%s", r.err);
		char *const got = read_unpacked(path, &m);
		cr_expect(n == m && memcmp(got, want, n) == 0, "%s", path);
		free(got);
		ran_free(&r);
	}
	free(want);
	remove_folder(dir);
}

/* ---- several inputs ---- */

#define R1                                                                                                   \
	"{\"id\":1,\"name\":\"a\",\"cat\":\"c\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2,\"ph\":\"X\","        \
	"\"args\":{}}"
#define R2                                                                                                   \
	"{\"id\":2,\"name\":\"b\",\"cat\":\"c\",\"pid\":1,\"tid\":1,\"ts\":3,\"dur\":2,\"ph\":\"X\","        \
	"\"args\":{}}"
#define R3                                                                                                   \
	"{\"id\":3,\"name\":\"c\",\"cat\":\"c\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":2,\"ph\":\"X\","        \
	"\"args\":{}}"

static void expect_joined(const char *a, const char *b, const char *want)
{
	char *const dir = make_folder(), first[1024], second[1024], out[1024];
	size_t n;

	snprintf(first, sizeof first, "%s/1.pfw", dir);
	snprintf(second, sizeof second, "%s/2.pfw", dir);
	snprintf(out, sizeof out, "%s/out.pfw", dir);
	cr_assert(write_whole(first, a, strlen(a)) && write_whole(second, b, strlen(b)));
	struct ran r = run_tool(
	    (const char *const[]){ "convert", "-q", "--from=dftracer", first, second, "-o", out, NULL }, NULL,
	    0);
	char *const got = read_whole(out, &n);
	cr_assert_not_null(got, "%s", r.err);
	cr_expect_str_eq(got, want);
	free(got);
	ran_free(&r);
	remove_folder(dir);
}

Test(dftracer_write_raw, brackets_of_joined_inputs)
{
	expect_joined("[\n" R1 "\n]", "[\n" R2 "\n]\n", "[\n" R1 "\n" R2 "\n]");
	expect_joined("[\n" R1 "\n", "[\n" R2 "\n]\n", "[\n" R1 "\n" R2 "\n]");
	expect_joined("[\n" R1 "\n]\n", R2, "[\n" R1 "\n" R2 "\n]\n");
	expect_joined(R1 "\n", "[\n" R2 "\n]", R1 "\n" R2 "\n");
	expect_joined(R1, R2 "\n", R1 "\n" R2 "\n");
	expect_joined("[\n]", "[\n" R2 "\n]", "[\n" R2 "\n]");
	expect_joined("{\"traceEvents\":[\n" R1 "\n]}\n", "\xef\xbb\xbf[\n\n  " R2 "\n]",
	              "{\"traceEvents\":[\n" R1 "\n" R2 "\n]}\n");
}

Test(dftracer_write_raw, commas_of_joined_inputs)
{
	expect_joined("[" R1 ",\n" R2 "\n]\n", "[" R3 "]", "[" R1 ",\n" R2 "\n,\n" R3 "\n]\n");
	expect_joined("[" R1 ",\n" R2 ",\n", "[\n" R3 "\n]", "[" R1 ",\n" R2 ",\n" R3 "\n]");
}

/* Brackets between the records of one input are its own. */
Test(dftracer_write_raw, sessions_in_the_first_input)
{
	expect_joined("[\n" R1 "\n]  " R2 "\n]", R3 "\n", "[\n" R1 "\n]  " R2 "\n" R3 "\n]");
}

/* ---- times from 0 ---- */

#define CALL(pid, ts)                                                                                        \
	"{\"id\":1,\"name\":\"a\",\"cat\":\"c\",\"pid\":" pid ",\"tid\":1,\"ts\":" ts                        \
	",\"dur\":2,\"ph\":\"X\",\"args\":{}}\n"
#define METRIC(pid, unit)                                                                                    \
	"{\"id\":2,\"name\":\"CM\",\"cat\":\"dftracer\",\"pid\":" pid                                        \
	",\"tid\":1,\"ph\":\"M\",\"args\":{\"name\":\"time_metric\",\"value\":\"" unit "\"}}\n"

static void expect_moved(const char *in, const char *want, const char *loss)
{
	struct ran r = run_tool(
	    (const char *const[]){ "convert", "--rebase", "--to=dftracer", "-", "-", NULL }, in, strlen(in));

	cr_expect_str_eq(r.out, want);
	cr_expect(loss != NULL ? strstr(r.err, loss) != NULL : r.err_n == 0, "%s", r.err);
	ran_free(&r);
}

Test(dftracer_write_raw, rebase_changes_the_times_alone)
{
	expect_moved("[\n" CALL("1", "100") CALL("1", "170") "]", "[\n" CALL("1", "0") CALL("1", "70") "]",
	             NULL);
	expect_moved(CALL("\"1\"", "\"100\"") CALL("\"1\"", "\"1000\""),
	             CALL("\"1\"", "\"0\"") CALL("\"1\"", "\"900\""), NULL);
}

/* Each process has its unit: 5000 ns are 5 us. */
Test(dftracer_write_raw, rebase_in_several_units)
{
	expect_moved(METRIC("1", "NS") CALL("1", "5000") CALL("1", "5001") CALL("2", "7"),
	             METRIC("1", "NS") CALL("1", "0") CALL("1", "1") CALL("2", "2"), NULL);
	expect_moved(METRIC("1", "NS") CALL("1", "5001") CALL("2", "7"),
	             METRIC("1", "NS") CALL("1", "0") CALL("2", "1"), ": 1; the first at input offset");
}

/* On a pipe the first time is subtracted. */
Test(dftracer_write_raw, rebase_to_before_the_first)
{
	expect_moved(CALL("1", "100") CALL("1", "90"), CALL("1", "0") CALL("1", "0"),
	             "[dftracer/negative-time]");
}
