/* stats: what the tables say. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"

/* Writes a Chrome trace and runs stats on it. */
static struct ran stats_of(const char *json, const char *form)
{
	char path[300], *const dir = make_folder();

	snprintf(path, sizeof path, "%s/t.json", dir);
	cr_assert(write_whole(path, json, strlen(json)));
	const struct ran r =
	    run_tool((const char *const[]){ "stats", "-q", "--format", form, path, NULL }, NULL, 0);
	remove_folder(dir);
	cr_assert_eq(r.status, 0, "%s%s", r.out, r.err);
	return r;
}

static void expect_in(const struct ran *r, const char *text)
{
	cr_expect_not_null(strstr(r->out, text), "%s is not in %s", text, r->out);
}

#define SPAN(name, ts, dur)                                                                                  \
	"{\"ph\":\"X\",\"cat\":\"c\",\"pid\":1,\"tid\":1,\"name\":\"" name "\",\"ts\":" #ts ",\"dur\":" #dur \
	"}"

/* f calls g, which calls f; in the order of their ends and of their starts. */
Test(stats_command, recursion_counts_once)
{
	static const char *const orders[] = {
		"[" SPAN("f", 2, 3) "," SPAN("g", 1, 6) "," SPAN("f", 0, 10) "]",
		"[" SPAN("f", 0, 10) "," SPAN("g", 1, 6) "," SPAN("f", 2, 3) "]",
		"[" SPAN("g", 1, 6) "," SPAN("f", 0, 10) "," SPAN("f", 2, 3) "]",
	};

	for (size_t i = 0; i < 3; i++) {
		struct ran r = stats_of(orders[i], "json");
		expect_in(&r, "\"dur_ns\":{\"sum\":13000,");
		expect_in(&r, "\"self_ns\":7000,\"total_ns\":10000,\"recursive\":1}");
		expect_in(&r, "\"self_ns\":3000,\"total_ns\":6000}");
		ran_free(&r);
		r = stats_of(orders[i], "text");
		expect_in(&r, "f     c             2  10.0 us  7.00 us");
		expect_in(&r, "  recursive: 1 of 2 lies in another of the same name: f\n");
		ran_free(&r);
	}
}

#define SAMPLE "testdata/htdump/good/wire-little.htdump"

/* What the file is made of is no answer to what took the time. */
Test(stats_command, classes_are_listed_when_they_are_asked_for)
{
	struct ran r = run_tool((const char *const[]){ "stats", SAMPLE, NULL }, NULL, 0);

	cr_expect_null(strstr(r.out, "classes\n"), "%s", r.out);
	ran_free(&r);
	r = run_tool((const char *const[]){ "stats", "--classes", SAMPLE, NULL }, NULL, 0);
	expect_in(&r, "\nclasses\n   1  HT_EndiannessInfoEvent\n  10  HT_EventKlassInfoEvent\n");
	ran_free(&r);
	r = run_tool((const char *const[]){ "stats", "--classes", "--name", "draw", SAMPLE, NULL }, NULL, 0);
	cr_expect_null(strstr(r.out, "classes\n"), "%s", r.out);
	ran_free(&r);
}

Test(stats_command, counters_have_values)
{
	static const char json[] =
	    "[{\"ph\":\"C\",\"pid\":1,\"name\":\"q\",\"ts\":0,\"args\":{\"depth\":4,\"text\":\"x\"}},"
	    "{\"ph\":\"C\",\"pid\":1,\"name\":\"q\",\"ts\":3,\"args\":{\"depth\":-2}},"
	    "{\"ph\":\"C\",\"pid\":1,\"name\":\"q\",\"ts\":4,\"args\":{\"depth\":1.5}}]";

	struct ran r = stats_of(json, "json");
	expect_in(&r,
	          "\"series\":[\n     {\"name\":\"depth\",\"count\":3,\"first\":4,\"last\":1.5,\"min\":-2,"
	          "\"max\":4,\"mean\":1.1666666666666667,\"time_mean\":2.5,\"p50\":1.5,\"p99\":4}]");
	ran_free(&r);
	r = stats_of(json, "text");
	expect_in(&r, "q     depth       3      4   1.5   -2  1.16667    2.5  1.5    4    4\n");
	ran_free(&r);
}

/* 4,000 spans of one thread, in two passes. */
Test(stats_command, two_passes_over_a_thread)
{
	static const char path[] = "../shared/traces/chrome/made/two-pass-2000.json.gz";

	if (access(path, R_OK) != 0)
		cr_skip("%s is not there", path);
	struct ran r =
	    run_tool((const char *const[]){ "stats", "-q", "--format", "json", path, NULL }, NULL, 0);
	expect_in(&r, "\"self_inexact\":0");
	expect_in(&r, "\"self_ns\":120000000,\"total_ns\":160000000}");
	ran_free(&r);
}
