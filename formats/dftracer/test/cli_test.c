/* The program on .pfw samples and real traces: findings and statistics. */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "cmd/test/samples_test_util.h"
#include "dftracer/test/cli_test_util.h"

/* ---- findings of samples ---- */

#define GOOD "testdata/dftracer/good"
#define BAD "testdata/dftracer/bad"

static const struct samples samples = { .suffix = ".pfw", .dialect = true, .records = true, .lines = true };

Test(dftracer_cli, good_samples)
{
	expect_samples(&samples, GOOD);
}

Test(dftracer_cli, bad_samples)
{
	expect_samples(&samples, BAD);
}

/* Rules that no small file can provoke, with the test that does. */
static const char *const elsewhere[] = {
	"dftracer/hash-late",       /* cli.test: on a pipe */
	"dftracer/limit",           /* dftracer_limits: files of some MB */
	"dftracer/record-too-long", /* dftracer_limits: likewise */
	"dftracer/thread-limit",    /* dftracer_limits: likewise */
	NULL,
};

Test(dftracer_rules, every_rule_has_a_sample)
{
	expect_samples_of_rules("dftracer", elsewhere);
}

/* ---- statistics of real traces ---- */

/* Times have more bits than a double: they are compared as text. */
static void expect_raw(const char *report, const char *text, const char *key)
{
	char got[40], expected[40];

	raw_value(report, key, got, sizeof got);
	raw_value(text, key, expected, sizeof expected);
	expected[strcspn(expected, "\n ")] = '\0';
	cr_expect_str_eq(got, expected, "%s", key);
}

static void expect_stats(const char *dir, const cJSON *want, const char *text)
{
	char path[1024];
	const cJSON *row, *name;
	uint64_t spans = 0, sum = 0;

	snprintf(path, sizeof path, "%s/%s", dir, want->string);
	struct ran r = run_tool((const char *const[]){ "stats", "--format", "json", path, NULL }, NULL, 0);
	cr_assert_eq(r.status, 0, "%s: exit status %d: %s", path, r.status, r.err);
	cJSON *const report = cJSON_ParseWithLength(r.out, r.out_n);
	const cJSON *const in = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(report, "inputs"), 0);
	const cJSON *const rows = cJSON_GetObjectItemCaseSensitive(in, "spans");
	cJSON_ArrayForEach(row, rows)
	{
		spans += number_at(row, "count");
		sum += number_at(cJSON_GetObjectItemCaseSensitive(row, "dur_ns"), "sum");
	}
	cr_expect_eq(spans, number_at(want, "events"), "%s", path);
	cr_expect_eq(sum, number_at(want, "dur_sum_ns"), "%s", path);
	cJSON_ArrayForEach(name, cJSON_GetObjectItemCaseSensitive(want, "names"))
	{
		uint64_t count = 0;
		cJSON_ArrayForEach(row, rows)
		{
			count +=
			    strcmp(text_of(row, "name"), name->string) == 0 ? number_at(row, "count") : 0;
		}
		cr_expect_eq(count, (uint64_t)name->valuedouble, "%s: %s", path, name->string);
	}
	expect_raw(r.out, strstr(text, want->string), "first_ns");
	expect_raw(r.out, strstr(text, want->string), "last_ns");
	cJSON_Delete(report);
	ran_free(&r);
}

Test(dftracer_stats, agrees_with_expected)
{
	cr_expect_gt(each_expected(real_traces(), "dftracer/", expect_stats), 0);
}

/* Times with fractions are reported, with their exact value. */
Test(dftracer_cli, times_with_fractions)
{
	static const char trace[] =
	    "[\n{\"id\":1,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":2,\"ts\":10.5,"
	    "\"dur\":2.25,\"ph\":\"X\",\"args\":{}}\n";
	struct ran r = run_tool((const char *const[]){ "cat", "-", NULL }, trace, sizeof trace - 1);

	cr_expect_not_null(strstr(r.out, " span POSIX ts=10500 dur=2250 "), "%s", r.out);
	cr_expect_not_null(strstr(r.err, "ts is a number with a fraction (\"10.5\")"), "%s", r.err);
	ran_free(&r);
}

/* An opening bracket is valid only once, before all records. */
Test(dftracer_cli, repeated_opening_brackets)
{
#define RECORD                                                                                               \
	"{\"id\":1,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":2,\"ts\":10,\"dur\":2,\"ph\":"      \
	"\"X\",\"args\":{}}\n"
	static const char *const traces[] = { "[\n[\n" RECORD, RECORD "[\n" RECORD };
#undef RECORD

	for (size_t i = 0; i < 2; i++) {
		struct ran r =
		    run_tool((const char *const[]){ "validate", "-", NULL }, traces[i], strlen(traces[i]));
		cr_expect_not_null(strstr(r.out, "opening [ between records"), "%s", r.out);
		ran_free(&r);
	}
}

/* Lines of two processes with threads, hashes and sizes; `more`: an arg of each. */
static char *write_lines(const char *path, const char *more)
{
	static const char *const names[] = { "read", "write", "close", "start" };
	FILE *const f = fopen(path, "w");

	cr_assert_not_null(f);
	fputs("[\n", f);
	for (int i = 0; i < 4000; i++) {
		const int pid = 10 + i / 50 % 2;
		if (i % 100 == 0)
			fprintf(
			    f,
			    "{\"id\":%d,\"name\":\"FH\",\"cat\":\"dftracer\",\"pid\":%d,\"tid\":%d,\"ph\":"
			    "\"M\",\"args\":{\"hhash\":\"00000000000000aa\",\"name\":\"/a/%d\",\"value\":"
			    "\"%016x\"%s}}\n",
			    i / 100 % 2 == 0 ? i : 0, pid, pid, i, i, more);
		fprintf(
		    f,
		    "{\"id\":%d,\"name\":\"%s\",\"cat\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%d,\"dur\":%d,"
		    "\"ph\":\"X\",\"args\":{\"hhash\":\"00000000000000a%d\",\"fhash\":\"%016x\",\"ret\":%d%s}"
		    "}"
		    "\n",
		    i % 700 == 0 ? 5 : i, names[i % 3 + i / 3900], i % 7 == 0 ? "STDIO" : "POSIX", pid,
		    pid + i % 3, 1000000 + 10 * i, i % 29, i % 900 == 0, i % 800 == 0 ? 77 : i / 200 * 100, i,
		    more);
	}
	cr_assert_eq(fclose(f), 0);
	const char *const stats[] = { "stats", "-f", "--format", "csv", path, NULL };
	struct ran r = run_tool(stats, NULL, 0);
	char *const out = malloc(r.out_n + r.err_n + 1);
	cr_assert(out != NULL && r.out_n > 100, "%s", r.err);
	sprintf(out, "%s%s", r.out, r.err);
	ran_free(&r);
	return out;
}

/* A line with a byte that is not ASCII is left to the general path. */
Test(dftracer_cli, events_of_both_paths)
{
	char *const dir = make_folder();
	char path[300];

	snprintf(path, sizeof path, "%s/a.pfw", dir);
	char *const fast = write_lines(path, ",\"x\":\"e.\""), *const general =
	                                                           write_lines(path, ",\"x\":\"\u00e9\"");
	cr_expect_str_eq(fast, general);
	free(fast);
	free(general);
	remove_folder(dir);
}
