#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"

/* diff as a user runs it: on small traces in Chrome JSON, and on samples. */

#define RUN(...) run_tool((const char *const[]){ "diff", __VA_ARGS__, NULL }, NULL, 0)

#define SPAN(name, ts, dur, tid, args)                                                                       \
	"{\"name\":\"" name "\",\"ph\":\"X\",\"ts\":" ts ",\"dur\":" dur ",\"pid\":7,\"tid\":" tid           \
	",\"args\":{" args "}},\n"
#define FIRST SPAN("first", "1", "2", "8", "\"x\":1,\"y\":\"a\"")
#define SECOND SPAN("second", "5", "2", "8", "")
#define THIRD SPAN("third", "5", "2", "9", "\"list\":[1,2]")
#define LAST SPAN("last", "9", "0.5", "8", "")

/* Two traces in a folder. */
struct pair {
	char *dir, a[512], b[512];
};

static void write_trace(const char *path, const char *events)
{
	char text[2048];

	snprintf(text, sizeof text, "{\"traceEvents\":[\n%.*s]}\n", (int)strlen(events) - 2, events);
	cr_assert(write_whole(path, text, strlen(text)));
}

static struct pair make_pair(const char *a, const char *b)
{
	struct pair p = { .dir = make_folder() };

	snprintf(p.a, sizeof p.a, "%s/a.json", p.dir);
	snprintf(p.b, sizeof p.b, "%s/b.json", p.dir);
	write_trace(p.a, a);
	write_trace(p.b, b);
	return p;
}

static void expect_words(const struct ran *r, const char *words)
{
	cr_expect_not_null(strstr(r->out, words), "%s\nnot in\n%s%s", words, r->out, r->err);
}

/* The status, and words of the report (NULL: none). */
static void expect(const char *a, const char *b, const char *option, int status, const char *words)
{
	struct pair p = make_pair(a, b);
	struct ran r = option != NULL ? RUN(option, p.a, p.b) : RUN(p.a, p.b);

	cr_expect_eq(r.status, status, "%s: status %d\n%s%s", words, r.status, r.out, r.err);
	expect_words(&r, words);
	ran_free(&r);
	remove_folder(p.dir);
}

Test(diff, equal_in_any_order_and_notation)
{
	expect(FIRST SECOND THIRD LAST, LAST THIRD SECOND FIRST, NULL, 0,
	       "events: 4 in A, 4 in B: 4 the same, 0 changed, 0 only in A, 0 only in B");
	expect(FIRST, SPAN("f\\u0069rst", "1.000", "2.0", "8", "\"y\":\"a\",\"x\":1.0"), NULL, 0,
	       "1 the same");
}

Test(diff, what_differs_is_shown_with_both_values)
{
	expect(FIRST, SPAN("first", "1", "2.5", "8", "\"x\":1,\"y\":\"a\""), NULL, 1,
	       "    dur: 2.000 us, 2.500 us\n");
	expect(SPAN("x", "1", "2000000.001", "8", ""), SPAN("x", "1", "2000000.002", "8", ""), NULL, 1,
	       "    dur: 2000000001, 2000000002 ns\n");
	expect(FIRST SECOND, FIRST SPAN("second", "5.001", "2", "8", ""), "--tolerance=0", 1,
	       "only in B: B @98: span second at +4.001 us");
	expect(FIRST, SPAN("other", "1", "2", "8", "\"x\":1,\"y\":\"a\""), NULL, 1,
	       "    name: first, other\n");
	expect(FIRST, SPAN("first", "1", "2", "9", "\"x\":1,\"y\":\"a\""), NULL, 1,
	       "    track: \"thread 8\" of \"process 7\", \"thread 9\" of \"process 7\"\n");
	expect(FIRST, SPAN("first", "1", "2", "8", "\"x\":2,\"z\":\"a\""), NULL, 1,
	       "    field x: 1, 2\n    field y: only in A: \"a\"\n    field z: only in B: \"a\"\n");
	expect(THIRD, SPAN("third", "5", "2", "9", "\"list\":[2,1]"), NULL, 1,
	       "    field list: [1,2], [2,1]\n");
}

Test(diff, events_on_one_side_have_their_offset)
{
	expect(
	    FIRST SECOND LAST, FIRST LAST, NULL, 1,
	    "only in A: A @98: span second at +4.000 us, 2.000 us long, on \"thread 8\" of \"process 7\"\n");
	expect(FIRST, FIRST SECOND LAST, NULL, 1, "only in B: B @98: span second at +4.000 us");
	expect(FIRST SECOND LAST, FIRST LAST, NULL, 1,
	       "  name    in A  in B  only in A  only in B  changed  time in A  time in B\n"
	       "  second     1     0          1          0        0    2.00 us       0 ns\n");
}

Test(diff, arrows_count_where_they_arrive)
{
	const char *const arrow =
	    FIRST "{\"name\":\"w\",\"ph\":\"s\",\"id\":1,\"ts\":1,\"pid\":7,\"tid\":8},\n";
	const char *const both =
	    FIRST "{\"name\":\"w\",\"ph\":\"s\",\"id\":1,\"ts\":1,\"pid\":7,\"tid\":8},\n"
	          "{\"name\":\"w\",\"ph\":\"f\",\"id\":1,\"ts\":2,\"pid\":7,\"tid\":8},\n";

	expect(FIRST, arrow, NULL, 0, "1 the same");
	expect(FIRST, both, NULL, 1, "only in B: B @151: flow_in w at +1.000 us");
}

/* An arrow that goes on from where it arrives is another one. */
Test(diff, steps_of_arrows_are_no_ends)
{
#define END(phase, time)                                                                                     \
	"{\"name\":\"w\",\"ph\":\"" phase "\",\"id\":1,\"ts\":" time ",\"pid\":7,\"tid\":8},\n"
#define ARROW(end) FIRST END("s", "1") END(end, "2")
	expect(ARROW("t"), ARROW("t"), NULL, 0, "2 the same");
	expect(ARROW("f"), ARROW("t"), NULL, 1, "    kind: flow_in, flow_step\n");
#undef ARROW
#undef END
}

Test(diff, tolerance_is_of_times_and_durations)
{
	const char *const a = SPAN("s", "1", "2", "8", "") SPAN("s", "2", "2", "8", "") LAST;
	const char *const b = SPAN("s", "1.001", "2", "8", "") SPAN("s", "2", "1.999", "8", "") LAST;

	expect(a, b, NULL, 1, "3 in A, 3 in B: 1 the same");
	expect(a, b, "--tolerance=1", 0, "3 the same");
	expect(a, SPAN("s", "1.002", "2", "8", "") SPAN("s", "2", "2", "8", "") LAST, "--tolerance=1ns", 1,
	       "2 the same, 0 changed, 1 only in A, 1 only in B");
	expect(a, SPAN("s", "1.6", "2", "8", "") SPAN("s", "1.9", "2", "8", "") LAST, "--tolerance=1us", 0,
	       "3 the same");
}

Test(diff, what_is_ignored_does_not_count)
{
	const char *const b = SPAN("other", "1", "3", "9", "\"x\":2,\"y\":\"a\"");

	expect(FIRST, b, "--ignore=name,dur,track", 1, "    field x: 1, 2\n");
	expect(FIRST, b, "--ignore=name,dur,track,field:x", 0, "1 the same");
	expect(FIRST, b, "--ignore=name,dur,track,args", 0, "1 the same");
	expect(FIRST, b, "--ignore=name,dur,field:x", 1, "    track: ");
}

Test(diff, limit_and_selection)
{
	expect(FIRST SECOND THIRD, LAST, "--limit=1", 1, "3 more differences\n");
	expect(FIRST SECOND LAST, FIRST LAST, "--name=first", 0, "1 in A, 1 in B: 1 the same");
}

/* Two formats of one trace; and many events of one time, in another order, where threads tell them apart. */
Test(diff, formats_agree)
{
	char *const dir = make_folder();
	char out[512];

	snprintf(out, sizeof out, "%s/out.json.gz", dir);
	struct ran r = run_tool(
	    (const char *const[]){ "convert", "-q", "testdata/dial9/good/tracks.dial9", out, NULL }, NULL, 0);
	cr_assert_eq(r.status, 0);
	ran_free(&r);
	r = RUN("testdata/dial9/good/tracks.dial9", out);
	cr_expect_eq(r.status, 0, "%s%s", r.out, r.err);
	ran_free(&r);
	remove_folder(dir);
}

Test(diff, mistakes_and_what_cannot_be_read)
{
	struct ran r = RUN("testdata/htdump/good/wire-little.htdump");

	cr_expect_eq(r.status, 3);
	cr_expect_not_null(strstr(r.err, "takes two traces"), "%s", r.err);
	ran_free(&r);
	r = RUN("--tolerance=soon", "a", "b");
	cr_expect_eq(r.status, 3);
	cr_expect_not_null(strstr(r.err, "--tolerance takes a duration"), "%s", r.err);
	ran_free(&r);
	r = RUN("--ignore=field:x,field:,field:y", "a", "b");
	cr_expect_eq(r.status, 3);
	cr_expect_not_null(strstr(r.err, "--ignore: a name is empty"), "%s", r.err);
	ran_free(&r);
	r = RUN("testdata/htdump/good/wire-little.htdump", "nowhere");
	cr_expect_eq(r.status, 2);
	cr_expect_not_null(strstr(r.err, "nowhere"), "%s", r.err);
	cr_expect_str_eq(r.out, "");
	ran_free(&r);
}

/* Two runs have nothing in common: the line says how far apart they are, and what may be left out. */
Test(diff, nothing_is_the_same)
{
	static const char later[] = SPAN("first", "1001", "2", "8", "\"x\":1,\"y\":\"a\"");

	expect(FIRST, later, NULL, 1,
	       "no event is the same: B begins 1.000 ms after A (what may be left out: --ignore "
	       "time,process,thread)\n");
	expect(later, FIRST, "--ignore=process,thread", 1,
	       "A begins 1.000 ms after B (what may be left out: --ignore time)\n");
	expect(FIRST, later, "--ignore=time", 0, "1 the same");
	expect(FIRST, SPAN("first", "1", "2", "9", ""), "--ignore=time,process", 1,
	       "no event is the same (what may be left out: --ignore thread)\n");
}
