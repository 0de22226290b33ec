/* merge: several traces as one. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"

#define RUN(...) run_tool((const char *const[]){ __VA_ARGS__, NULL }, NULL, 0)
#define MERGE(...) RUN("merge", "-q", "--to=ndjson", "-o", "-", __VA_ARGS__)
#define OVERLAPPING "testdata/htdump/good/overlapping.htdump"
#define WIRE "testdata/htdump/good/wire-little.htdump"
#define HEPH "testdata/heph/good/mixed.bin.log"
#define RANKS "testdata/dftracer/good/merged.pfw"

/* How many lines have these words. */
static unsigned count(const char *text, const char *words)
{
	unsigned n = 0;

	while ((text = strstr(text, words)) != NULL) {
		n++;
		text += strcspn(text, "\n");
	}
	return n;
}

static unsigned count_events(const char *text)
{
	return count(text, "\"offset\":");
}

/* The times of events do not decrease; returns the first. */
static double expect_in_order(const char *text)
{
	double first = -1, last = -1;

	for (const char *p = text; (p = strstr(p, "\"ts_ns\":")) != NULL; p++) {
		const double ts = strtod(p + 8, NULL);
		cr_expect_geq(ts, last);
		first = first < 0 ? ts : first;
		last = ts;
	}
	return first;
}

Test(merge, events_of_all_in_order_of_time)
{
	struct ran a = RUN("convert", "-q", "--to=ndjson", WIRE, "-"),
	           b = RUN("convert", "-q", "--to=ndjson", OVERLAPPING, "-"),
	           r = MERGE("--align=start", WIRE, OVERLAPPING);

	cr_expect_eq(r.status, 0, "%s", r.err);
	cr_expect_eq(count_events(r.out), count_events(a.out) + count_events(b.out));
	cr_expect_eq(expect_in_order(r.out), 0);
	cr_expect_eq(count(r.out, "\"type\":\"trace_end\",\"records\":103,"), 1);
	ran_free(&a);
	ran_free(&b);
	ran_free(&r);
}

Test(merge, clocks_meet_by_the_wall_time)
{
	struct ran r = MERGE(RANKS, HEPH);

	cr_expect_eq(r.status, 0, "%s", r.err);
	expect_in_order(r.out);
	/* the one counts from 1970, the other from its epoch option: the sum is the same instant */
	cr_expect_eq(count(r.out, "\"epoch_ns\":0,"), 1);
	cr_expect_geq(count(r.out, "\"ts_ns\":16101137"), 1);
	cr_expect_geq(count(r.out, "\"ts_ns\":1750000000000000000,"), 1);
	ran_free(&r);
	expect_ran(MERGE(RANKS, WIRE), 3, WIRE " does not say at which wall time it began");
	expect_ran(MERGE("--align=none", RANKS, WIRE), 0, "\"ts_ns\":5000100,");
	expect_ran(MERGE("--rebase", RANKS, HEPH), 0, "\"ts_ns\":0,");
}

/* Times from 0 and from 1970: decades lie between them, which is hardly meant. */
Test(merge, clocks_that_are_years_apart)
{
	static const char early[] = "[\n{\"id\":1,\"name\":\"a\",\"cat\":\"c\",\"pid\":1,\"tid\":1,"
	                            "\"ts\":10,\"dur\":5,\"ph\":\"X\",\"args\":{}}\n",
	                  late[] = "[\n{\"id\":1,\"name\":\"a\",\"cat\":\"c\",\"pid\":1,\"tid\":1,"
	                           "\"ts\":1727387307981693,\"dur\":5,\"ph\":\"X\",\"args\":{}}\n";
	static const char words[] = "early.pfw ends 19992 days before ";
	char *const dir = make_folder(), a[1024], b[1024];

	snprintf(a, sizeof a, "%s/early.pfw", dir);
	snprintf(b, sizeof b, "%s/late.pfw", dir);
	cr_assert(write_whole(a, early, sizeof early - 1));
	cr_assert(write_whole(b, late, sizeof late - 1));
	expect_ran(RUN("merge", "--to=ndjson", "-o-", b, a), 0, words);
	expect_ran(RUN("merge", "--align=none", "--to=ndjson", "-o-", a, b), 0, words);
	struct ran r = RUN("merge", "--align=start", "--to=ndjson", "-o-", a, b);
	cr_expect_null(strstr(r.err, " days before "), "%s", r.err);
	ran_free(&r);
	r = RUN("merge", "--to=ndjson", "-o-", a, a);
	cr_expect_null(strstr(r.err, " days before "), "%s", r.err);
	ran_free(&r);
	remove_folder(dir);
}

Test(merge, offsets_from_a_file)
{
	char *const dir = make_folder(), path[1024];

	snprintf(path, sizeof path, "%s/offsets", dir);
	cr_assert(write_whole(path, "# a comment\n1ms " WIRE "\r\n\n -5us  " OVERLAPPING "  \n",
	                      strlen("# a comment\n1ms " WIRE "\r\n\n -5us  " OVERLAPPING "  \n")));
	expect_ran(MERGE("--align", path, WIRE, OVERLAPPING), 0, "\"ts_ns\":6000000,");
	cr_assert(write_whole(path, "1ms " WIRE "\n", strlen("1ms " WIRE "\n")));
	expect_ran(MERGE("--align", path, WIRE, OVERLAPPING), 3, "no offset of " OVERLAPPING);
	cr_assert(write_whole(path, "soon " WIRE "\n", strlen("soon " WIRE "\n")));
	expect_ran(MERGE("--align", path, WIRE, OVERLAPPING), 3, "offsets:1: there must be an offset");
	cr_assert(write_whole(path, "1ms elsewhere\n", 14));
	expect_ran(MERGE("--align", path, WIRE, OVERLAPPING), 3, "offsets:1: none of the inputs is named");
	expect_ran(MERGE("--align=/nowhere", WIRE, OVERLAPPING), 2, "/nowhere: cannot read it");
	remove_folder(dir);
}

/* Two traces of one program have the same ids; a process whose host is known is one, whoever tells of it. */
Test(merge, processes_are_renamed_apart_unless_they_are_the_same)
{
	struct ran r = MERGE(HEPH, "testdata/heph/good/nested.bin.log"), again;

	cr_expect_eq(r.status, 0, "%s", r.err);
	cr_expect_eq(count(r.out, "\"name\":\"stream 1 [mixed.bin.log]\""), 1);
	cr_expect_eq(count(r.out, "\"name\":\"stream 1 [nested.bin.log]\""), 1);
	cr_expect_eq(count(r.out, "\"name\":\"stream 1\""), 0);
	ran_free(&r);
	r = MERGE(RANKS, RANKS);
	cr_expect_eq(r.status, 0, "%s", r.err);
	cr_expect_eq(count(r.out, "\"kind\":\"process\""), 2);
	cr_expect_eq(count(r.out, "\"kind\":\"thread\""), 2);
	again = MERGE(RANKS);
	cr_expect_eq(count_events(r.out), 2 * count_events(again.out));
	ran_free(&r);
	ran_free(&again);
}

Test(merge, threads_make_no_difference)
{
	struct ran one = RUN("merge", "-q", "--threads=1", "--to=chrome", "-o", "-", HEPH, RANKS),
	           four = RUN("merge", "-q", "--threads=4", "--to=chrome", "-o", "-", HEPH, RANKS);

	cr_expect_eq(one.status, 0, "%s", one.err);
	cr_expect_str_eq(one.out, four.out);
	cJSON *const j = cJSON_Parse(one.out);
	cr_expect_not_null(j);
	cJSON_Delete(j);
	ran_free(&one);
	ran_free(&four);
}

Test(merge, selects)
{
	expect_ran(MERGE("--align=start", "--name=nothing", WIRE, OVERLAPPING), 0, "\"type\":\"trace_end\"");
	struct ran r = MERGE("--align=start", "--name=frame", WIRE, OVERLAPPING);
	cr_expect_eq(count_events(r.out), 4);
	ran_free(&r);
	expect_ran(MERGE("--align=start", "--since=2026-01-01T00:00:00Z", WIRE, OVERLAPPING), 3,
	           "the wall time of the merged trace is not known");
}

/* A window on the clock of the whole: what convert takes of the merged trace. */
Test(merge, time_windows)
{
	static const char *const windows[][2] = {
		{ "--since=600", "--until=2150" },
		{ "--since=+1us", "--until=-1us" },
		{ "--since=25%", "--until=75%" },
		{ "--since=0", "--edges=drop" },
	};
	char *const dir = make_folder();
	char path[512];
	struct ran whole = MERGE("--align=start", WIRE, OVERLAPPING);

	snprintf(path, sizeof path, "%s/whole.ndjson", dir);
	cr_assert(write_whole(path, whole.out, strlen(whole.out)));
	ran_free(&whole);
	for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
		const char *const *const w = windows[i];
		struct ran merged = MERGE("--align=start", w[0], w[1], WIRE, OVERLAPPING);
		struct ran cut = RUN("convert", "-q", "--to=ndjson", w[0], w[1], path, "-");
		cr_expect_eq(merged.status, 0, "%s", merged.err);
		cr_expect_eq(count_events(merged.out), count_events(cut.out), "%s %s: %d, not %d", w[0], w[1],
		             (int)count_events(merged.out), (int)count_events(cut.out));
		cr_expect_gt(count_events(merged.out), 0);
		ran_free(&merged);
		ran_free(&cut);
	}
	remove_folder(dir);
}

/* As if it were a file, but for its name. */
static void expect_piped(const char *align, const void *in, size_t n)
{
	struct ran r = MERGE(align, WIRE, OVERLAPPING),
	           piped = run_tool((const char *const[]){ "merge", "-q", "--to=ndjson", "-o", "-", align,
	                                                   "-", OVERLAPPING, NULL },
	                            in, n);
	const char *const a = strstr(r.out, "\"type\":\"class\""), *const b = strstr(piped.out,
	                                                                             "\"type\":\"class\"");

	cr_expect_eq(piped.status, 0, "%s", piped.err);
	cr_assert_not_null(a);
	cr_assert_not_null(b);
	cr_expect_str_eq(b, a);
	cr_expect_eq(count(piped.out, "\"name\":\"standard input\""), 1);
	ran_free(&r);
	ran_free(&piped);
}

Test(merge, standard_input)
{
	size_t n, packed;
	char *const wire = read_whole(WIRE, &n);
	cr_assert_not_null(wire);
	void *const gzip = gzip_copy(wire, n, &packed);

	expect_piped("--align=start", wire, n);
	expect_piped("--align=none", wire, n);
	expect_piped("--align=start", gzip, packed);
	expect_ran(MERGE("--align=none", "-", OVERLAPPING), 2, "the input is empty");
	free(gzip);
	free(wire);
}

/* The copy that is read twice has no place to lie. */
Test(merge, standard_input_without_room)
{
	const char *const before = getenv("TMPDIR");
	char *const was = before != NULL ? strdup(before) : NULL;

	setenv("TMPDIR", "/nowhere/at/all", 1);
	expect_ran(
	    run_tool((const char *const[]){ "merge", "--to=ndjson", "-o", "-", "--align=none", "-", NULL },
	             "x", 1),
	    2, "/nowhere/at/all: cannot create the temporary file for an input that is read twice");
	if (was != NULL)
		setenv("TMPDIR", was, 1);
	else
		unsetenv("TMPDIR");
	free(was);
}

Test(merge, mistakes)
{
	expect_ran(RUN("merge", WIRE, OVERLAPPING), 3, "name the output with -o");
	expect_ran(MERGE("--align=none", "-", "-"), 3, "standard input (-) is named 2 times");
	expect_ran(MERGE("--align=start", WIRE, "nowhere"), 2, "nowhere");
	expect_ran(RUN("merge", "-o", WIRE, "--to=ndjson", WIRE, OVERLAPPING), 3, "is the input");
	expect_ran(MERGE("--align=start", "testdata/htdump/bad/cut-record.htdump", OVERLAPPING), 1,
	           "htdump/cut-record");
}

/* The ids of arrows are a file's own. */
Test(merge, arrows_of_several_files_are_kept_apart)
{
	static const char arrow[] =
	    "[{\"name\":\"a\",\"cat\":\"c\",\"ph\":\"s\",\"id\":1,\"ts\":1,\"pid\":1,\"tid\":1},\n"
	    "{\"name\":\"a\",\"cat\":\"c\",\"ph\":\"f\",\"id\":1,\"ts\":3,\"pid\":1,\"tid\":2}]\n";
	char *const dir = make_folder(), a[512], b[512];
	const char *ids[4];
	size_t n = 0;

	snprintf(a, sizeof a, "%s/a.json", dir);
	snprintf(b, sizeof b, "%s/b.json", dir);
	cr_assert(write_whole(a, arrow, sizeof arrow - 1) && write_whole(b, arrow, sizeof arrow - 1));
	struct ran r = RUN("convert", "-q", "--to=ndjson", "-o", "-", a, b);
	cr_assert_eq(r.status, 0, "%s", r.err);
	for (const char *p = r.out; n < 4 && (p = strstr(p, "\"kind\":\"flow_")) != NULL; p++)
		ids[n++] = strstr(p, "\"id\":") + 5;
	cr_assert_eq(n, 4, "%s", r.out);
	cr_expect_eq(strtoull(ids[0], NULL, 10), strtoull(ids[1], NULL, 10));
	cr_expect_eq(strtoull(ids[2], NULL, 10), strtoull(ids[3], NULL, 10));
	cr_expect_neq(strtoull(ids[0], NULL, 10), strtoull(ids[2], NULL, 10));
	ran_free(&r);
	remove_folder(dir);
}
