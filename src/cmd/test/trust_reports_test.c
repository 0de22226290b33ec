/* Reports for people: what stands apart, how many digits are shown, how wide tables are, which units. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "cli/command.h"

#define RUN(...) run_tool((const char *const[]){ __VA_ARGS__, NULL }, NULL, 0)

static const char lives[] = /* a task that lives for 8 us, of which a thread spends 2 on it */
    "[{\"ph\":\"b\",\"cat\":\"task\",\"name\":\"job\",\"id\":1,\"ts\":1,\"pid\":1,\"tid\":2},"
    "{\"ph\":\"X\",\"cat\":\"poll\",\"name\":\"job\",\"ts\":2,\"dur\":2,\"pid\":1,\"tid\":2},"
    "{\"ph\":\"e\",\"cat\":\"task\",\"name\":\"job\",\"id\":1,\"ts\":9,\"pid\":1,\"tid\":2}]\n";

Test(trust, async_spans_stand_apart_from_what_took_the_time)
{
	struct ran r = run_tool((const char *const[]){ "stats", "-", NULL }, lives, sizeof lives - 1);
	const char *const spans = strstr(r.out, "\nspans\n"), *const async = strstr(r.out, "\nasync spans\n");

	cr_assert(spans != NULL && async != NULL && spans < async, "%s", r.out);
	const char *const poll = strstr(spans, "  job   poll"), *const life = strstr(spans, "  job   task");
	cr_expect(poll != NULL && poll < async, "%s", r.out);
	cr_expect(life != NULL && life > async, "%s", r.out);
	cr_expect_not_null(strstr(spans, "2.00 us  2.00 us"), "total and self: %s", r.out);
	cr_expect_not_null(strstr(async, "8.00 us"), "%s", r.out);
	ran_free(&r);
}

/* 20 spans of 1,000 to 1,950 ns: percentiles of more than 16 are known to 1 %. */
Test(trust, percentiles_show_as_many_digits_as_the_maximum)
{
	char text[4000];
	size_t n = 0;

	for (unsigned i = 0; i < 20; i++)
		n +=
		    (size_t)snprintf(text + n, sizeof text - n,
		                     "%c{\"ph\":\"X\",\"name\":\"a\",\"cat\":\"c\",\"ts\":%u,\"dur\":1.%02u1,"
		                     "\"pid\":1,\"tid\":1}\n",
		                     i == 0 ? '[' : ',', 10 * i, 5 * i);
	n += (size_t)snprintf(text + n, sizeof text - n, "]\n");
	struct ran r = run_tool((const char *const[]){ "stats", "-", NULL }, text, n);
	cr_expect(strstr(r.out, " 1.44 us") != NULL || strstr(r.out, " 1.45 us") != NULL ||
	              strstr(r.out, " 1.46 us") != NULL,
	          "p50, the tenth, is 1,451 ns: %s", r.out);
	cr_expect_not_null(strstr(r.out, " 1.95 us\n"), "the longest: %s", r.out);
	cr_expect_null(strstr(r.out, "1.951"), "%s", r.out);
	ran_free(&r);
	r = run_tool((const char *const[]){ "stats", "--format", "json", "-", NULL }, text, n);
	const char *const p50 = strstr(r.out, "\"p50\":");
	cr_assert_not_null(p50);
	const double ns = atof(p50 + 6);
	cr_expect(ns >= 1451 * 0.99 && ns <= 1451 * 1.01, "%.0f", ns);
	ran_free(&r);
}

/* On a terminal, made by script(1), no line is wider than COLUMNS; elsewhere names are whole. */
Test(trust, tables_of_stats_are_as_wide_as_the_terminal)
{
	static const char command[] = "COLUMNS=120 script -qec \"$0 stats $1\" /dev/null < /dev/null";
	static const char name[] =
	    "a_name_that_is_longer_than_would_fit_into_so_few_columns_beside_nine_numbers";
	char *const dir = make_folder(), path[600], text[400];

	snprintf(path, sizeof path, "%s/t.json", dir);
	snprintf(text, sizeof text,
	         "[{\"ph\":\"X\",\"cat\":\"c\",\"name\":\"%s\",\"ts\":2,\"dur\":2,\"pid\":1,\"tid\":2}]\n",
	         name);
	cr_assert(write_whole(path, text, strlen(text)));
	if (system("script -qec true /dev/null > /dev/null 2>&1 < /dev/null") != 0) {
		remove_folder(dir);
		cr_skip_test("script is not here");
	}
	struct ran r =
	    run_program((const char *const[]){ "sh", "-c", command, tool_path(), path, NULL }, NULL, 0);
	const char *const table = strstr(r.out, "spans");
	cr_assert_not_null(table, "%s%s", r.out, r.err);
	cr_expect_null(strstr(table, name), "%s", r.out);
	for (const char *p = table, *end; (end = strchr(p, '\n')) != NULL; p = end + 1)
		cr_expect_leq((size_t)(end - p), 120 + 1, "%.*s", (int)(end - p), p); /* and CR */
	ran_free(&r);
	r = RUN("stats", path);
	cr_expect_not_null(strstr(r.out, name), "%s", r.out);
	ran_free(&r);
	remove_folder(dir);
}

Test(trust, info_has_tracks_with_events_iso_8601_and_units)
{
	static const char *const lines[] = { "\ntracks:   1 in 1 process\n",
		                             "\ntimes:    100 to 200 ns\nduration: 100 ns\n",
		                             "\nwall:     2021-01-08T13:48:54.118010100Z to "
		                             "2021-01-08T13:48:54.118010200Z\n",
		                             NULL };
	struct ran r = RUN("info", "testdata/heph/good/spec-example.bin.log");

	cr_expect_eq(r.status, 0);
	for (const char *const *l = lines; *l != NULL; l++)
		cr_expect_not_null(strstr(r.out, *l), "%s is not in: %s", *l, r.out);
	ran_free(&r);
	r = RUN("info", "testdata/htdump/good/wire-little.htdump");
	cr_expect_not_null(strstr(r.out, "\nsize:     2688 bytes (2.6 KiB)\n"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "\ntracks:   3 in 1 process\n"), "as stats counts them: %s", r.out);
	cr_expect_not_null(strstr(r.out, "\nduration: 3703 ns (3.703 us)\n"), "%s", r.out);
	ran_free(&r);
}
