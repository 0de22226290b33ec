/*
 * Copies of DFTracer traces: several inputs become one trace; a selection has only the metadata that it
 * needs.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"

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

/* Brackets between the records of one input are kept. */
Test(dftracer_write_raw, sessions_in_the_first_input)
{
	expect_joined("[\n" R1 "\n]  " R2 "\n]", R3 "\n", "[\n" R1 "\n]  " R2 "\n" R3 "\n]");
}

/* ---- rebased copies ---- */

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

#define ON_HOST(host, ts)                                                                                    \
	"{\"id\":1,\"name\":\"a\",\"cat\":\"c\",\"pid\":1,\"tid\":1,\"ts\":" ts                              \
	",\"dur\":2,\"ph\":\"X\",\"args\":{\"hhash\":\"" host "\"}}\n"

#define METRIC_ON_HOST(host, unit)                                                                           \
	"{\"id\":2,\"name\":\"CM\",\"cat\":\"dftracer\",\"pid\":1,\"tid\":1,\"ph\":\"M\",\"args\":{"         \
	"\"hhash\":\"" host "\",\"name\":\"time_metric\",\"value\":\"" unit "\"}}\n"

#define HOST_A "aaaaaaaaaaaaaaaa"
#define HOST_B "bbbbbbbbbbbbbbbb"

/* Hosts without a name, and a unit that is given twice, are warnings. */
static void expect_units(const char *in, const char *want)
{
	struct ran r =
	    run_tool((const char *const[]){ "convert", "-q", "--rebase", "--to=dftracer", "-", "-", NULL },
	             in, strlen(in));

	cr_expect_str_eq(r.out, want);
	ran_free(&r);
}

/* A pid on another host is another process; a record without a host is one of the first process. */
Test(dftracer_write_raw, rebase_in_units_of_hosts)
{
	expect_units(METRIC_ON_HOST(HOST_A, "NS") ON_HOST(HOST_A, "5000") ON_HOST(HOST_B, "7"),
	             METRIC_ON_HOST(HOST_A, "NS") ON_HOST(HOST_A, "0") ON_HOST(HOST_B, "2"));
	expect_units(ON_HOST(HOST_A, "5") METRIC_ON_HOST(HOST_B, "NS") ON_HOST(HOST_B, "7000") CALL("1", "8"),
	             ON_HOST(HOST_A, "0") METRIC_ON_HOST(HOST_B, "NS") ON_HOST(HOST_B, "2000")
	                 CALL("1", "3"));
	expect_units(METRIC("1", "NS") ON_HOST(HOST_A, "5000") ON_HOST(HOST_B, "7"),
	             METRIC("1", "NS") ON_HOST(HOST_A, "0") ON_HOST(HOST_B, "2"));
	expect_units(METRIC_ON_HOST(HOST_A, "MS") METRIC("1", "NS") ON_HOST(HOST_A, "5000") CALL("1", "7000"),
	             METRIC_ON_HOST(HOST_A, "MS") METRIC("1", "NS") ON_HOST(HOST_A, "0") CALL("1", "2000"));
}

/* On a pipe the first time is subtracted. */
Test(dftracer_write_raw, rebase_to_before_the_first)
{
	expect_moved(CALL("1", "100") CALL("1", "90"), CALL("1", "0") CALL("1", "0"),
	             "[dftracer/negative-time]");
}

/* ---- long runs of records, copied many at a time ---- */

#define RUN_LINES 900 /* of a run: more than the bytes that are not copied within the program */

struct trace {
	char *p;
	size_t n;
};

static void append_text(struct trace *t, const char *s)
{
	const size_t n = strlen(s);

	memcpy(t->p + t->n, s, n + 1);
	t->n += n;
}

static void append_lines(struct trace *t, unsigned pid, unsigned from)
{
	char line[200];

	for (unsigned i = from; i < from + RUN_LINES; i++) {
		snprintf(line, sizeof line,
		         "{\"id\":%u,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":%u,\"tid\":%u,\"ts\":%u,"
		         "\"dur\":%u,\"ph\":\"X\",\"args\":{\"hhash\":\"00000000000000ab\",\"ret\":%u}}\n",
		         i, pid, pid, 1000000 + i, i % 100, i % 7);
		append_text(t, line);
	}
}

static struct trace new_trace(void)
{
	struct trace t = { malloc(1 << 20), 0 };

	cr_assert_not_null(t.p);
	return t;
}

static void expect_long_copy(const char *dir, const struct trace *in, size_t n, const struct trace *wanted,
                             const char *threads)
{
	const char *args[12] = { "convert", "-f", "--to", "dftracer", "--threads", threads, "-o" };
	char names[3][300];
	size_t got;

	for (size_t i = 0; i < n; i++) {
		snprintf(names[i], sizeof names[i], "%s/%zu.pfw", dir, i);
		cr_assert(write_whole(names[i], in[i].p, in[i].n));
		args[8 + i] = names[i];
	}
	snprintf(names[2], sizeof names[2], "%s/out.pfw", dir);
	args[7] = names[2];
	struct ran r = run_tool(args, NULL, 0);
	cr_expect_leq(r.status, 1, "%s", r.err);
	ran_free(&r);
	char *const out = read_whole(names[2], &got);
	cr_assert_not_null(out);
	cr_expect_eq(got, wanted->n, "%zu bytes, expected %zu", got, wanted->n);
	cr_expect(got == wanted->n && memcmp(out, wanted->p, got) == 0);
	free(out);
}

Test(dftracer_runs, copy_is_the_input)
{
	static const char *const between[] = { "\n\n",         " \r\n", "no record\n", "[\n", "]\n",
		                               "{\"id\":1,\n", "" };
	char *const dir = make_folder();

	for (size_t i = 0; i < sizeof between / sizeof between[0]; i++) {
		struct trace t = new_trace();
		append_text(&t, "[\n");
		append_lines(&t, 7, 0);
		append_text(&t, between[i]);
		append_lines(&t, 7, RUN_LINES);
		append_text(&t, i % 2 == 0 ? "]" : "");
		expect_long_copy(dir, &t, 1, &t, i % 3 == 0 ? "3" : "1");
		free(t.p);
	}
	remove_folder(dir);
}

/* The first input has no line end after its last record and no closing bracket; the second is complete. */
Test(dftracer_runs, two_inputs_are_one_trace)
{
	char *const dir = make_folder();
	struct trace in[2] = { new_trace(), new_trace() }, wanted = new_trace();

	append_text(&in[0], "[\n");
	append_lines(&in[0], 7, 0);
	in[0].n--;
	append_text(&in[1], "[\n");
	append_lines(&in[1], 8, 0);
	append_text(&in[1], "]");
	append_text(&wanted, "[\n");
	append_lines(&wanted, 7, 0);
	append_lines(&wanted, 8, 0);
	append_text(&wanted, "]");
	expect_long_copy(dir, in, 2, &wanted, "1");
	for (int i = 0; i < 2; i++)
		free(in[i].p);
	free(wanted.p);
	remove_folder(dir);
}

/* ---- selections: metadata ---- */

static void expect_selected(const char *const *inputs, const char *name, const char *want, const char *said)
{
	char *const dir = make_folder(), paths[2][1024], out[1024];
	const char *args[] = {
		"convert", "--from=dftracer", "--name", name, "-o", out, paths[0], NULL, NULL
	};
	size_t n;

	snprintf(out, sizeof out, "%s/out.pfw", dir);
	for (size_t i = 0; i < 2 && inputs[i] != NULL; i++) {
		snprintf(paths[i], sizeof paths[i], "%s/%zu.pfw", dir, i);
		cr_assert(write_whole(paths[i], inputs[i], strlen(inputs[i])));
		args[6 + i] = paths[i];
	}
	struct ran r = run_tool(args, NULL, 0);
	char *const got = read_whole(out, &n);
	cr_assert_not_null(got, "%s", r.err);
	cr_expect_str_eq(got, want);
	cr_expect(said == NULL || strstr(r.err, said) != NULL, "%s", r.err);
	free(got);
	ran_free(&r);
	remove_folder(dir);
}

#define ONE(in) ((const char *const[]){ in, NULL })
#define TWO(a, b) ((const char *const[]){ a, b, NULL })

#define META(name, pid, tid, args)                                                                           \
	"{\"id\":0,\"name\":\"" name "\",\"cat\":\"dftracer\",\"pid\":" pid ",\"tid\":" tid                  \
	",\"ph\":\"M\",\"args\":{" args "}}\n"

#define EVENT(name, pid, tid, args)                                                                          \
	"{\"id\":1,\"name\":\"" name "\",\"cat\":\"c\",\"pid\":" pid ",\"tid\":" tid                         \
	",\"ts\":5,\"dur\":2,\"ph\":\"X\",\"args\":{" args "}}\n"
#define H(n) "\"00000000000000" n "\""
#define DEF(n, text) "\"name\":\"" text "\",\"value\":" H(n)

Test(dftracer_write_select, hashes_that_are_referred_to)
{
	static const char in[] = "[\n" META("HH", "1", "1", "\"hhash\":" H("aa") "," DEF("aa", "host"))
	    META("HH", "2", "2", DEF("ab", "another host")) META("FH", "1", "1", DEF("ba", "/a"))
	        META("FH", "1", "1", DEF("bb", "/b")) META("SH", "1", "1", DEF("ba", "not a file"))
	            EVENT("x", "1", "1", "\"hhash\":" H("aa") ",\"fhash\":" H("ba"))
	                EVENT("y", "1", "1", "\"hhash\":" H("aa") ",\"fhash\":" H("bb"))
	                    META("FH", "2", "2", DEF("bb", "/b")) "]";

	expect_selected(ONE(in), "y",
	                "[\n" META("HH", "1", "1", "\"hhash\":" H("aa") "," DEF("aa", "host"))
	                    META("FH", "1", "1", DEF("bb", "/b"))
	                        EVENT("y", "1", "1", "\"hhash\":" H("aa") ",\"fhash\":" H("bb")) "]",
	                "1 of 2 events selected");
}

/* Both texts of a hash are kept: an event uses the last definition before it. */
Test(dftracer_write_select, hashes_that_are_defined_again)
{
	static const char in[] = META("FH", "1", "1", DEF("ba", "/a")) META("FH", "1", "1", DEF("ba", "/a"))
	    META("FH", "1", "1", DEF("ba", "/b")) EVENT("x", "1", "1", "\"fhash\":" H("ba"))
	        EVENT("y", "1", "1", "");

	expect_selected(ONE(in), "x",
	                META("FH", "1", "1", DEF("ba", "/a")) META("FH", "1", "1", DEF("ba", "/b"))
	                    EVENT("x", "1", "1", "\"fhash\":" H("ba")),
	                NULL);
}

/* Hashes of 16 bits belong to their process. */
Test(dftracer_write_select, narrow_hashes)
{
	static const char in[] = META("FH", "1", "1", "\"name\":\"/a\",\"value\":7")
	    META("FH", "2", "2", "\"name\":\"/b\",\"value\":7") EVENT("x", "1", "1", "\"fhash\":7")
	        EVENT("y", "2", "2", "\"fhash\":7");

	expect_selected(
	    ONE(in), "y",
	    META("FH", "2", "2", "\"name\":\"/b\",\"value\":7") EVENT("y", "2", "2", "\"fhash\":7"), NULL);
}

Test(dftracer_write_select, processes_and_threads)
{
	static const char in[] = META("CM", "1", "1", "\"name\":\"time_metric\",\"value\":\"NS\"")
	    META("CM", "2", "2", "\"name\":\"time_metric\",\"value\":\"NS\"")
	        META("process_name", "1", "1", "\"name\":\"one\",\"value\":\"process_name\"")
	            META("thread_name", "1", "1", "\"name\":\"first\",\"value\":\"thread_name\"")
	                META("thread_name", "1", "8", "\"name\":\"other\",\"value\":\"thread_name\"")
	                    EVENT("x", "1", "1", "") EVENT("y", "1", "8", "") EVENT("y", "2", "2", "");

	expect_selected(ONE(in), "x",
	                META("CM", "1", "1", "\"name\":\"time_metric\",\"value\":\"NS\"")
	                    META("process_name", "1", "1", "\"name\":\"one\",\"value\":\"process_name\"")
	                        META("thread_name", "1", "1", "\"name\":\"first\",\"value\":\"thread_name\"")
	                            EVENT("x", "1", "1", ""),
	                NULL);
}

#define ENTITY(n, type) "\"id\":" H(n) ",\"type\":\"" type "\",\"store\":1,\"uri\":\"file:///a\""

Test(dftracer_write_select, entities)
{
	static const char in[] = META("ET", "1", "1", "\"type\":\"file\",\"role\":1")
	    META("ET", "1", "1", "\"type\":\"set\",\"role\":1") META("EH", "1", "1", ENTITY("ea", "file"))
	        META("EH", "1", "1", ENTITY("eb", "set"))
	            META("ER", "1", "1", "\"relation\":16,\"subject\":" H("ea") ",\"object\":" H("eb"))
	                EVENT("x", "1", "1", "\"relations\":{\"used\":[" H("ea") "]}")
	                    EVENT("y", "1", "1", "");

	expect_selected(ONE(in), "x",
	                META("ET", "1", "1", "\"type\":\"file\",\"role\":1")
	                    META("EH", "1", "1", ENTITY("ea", "file"))
	                        EVENT("x", "1", "1", "\"relations\":{\"used\":[" H("ea") "]}"),
	                NULL);
}

/* The end record would count the records that were left out. */
Test(dftracer_write_select, start_and_end)
{
	static const char start[] =
	    "{\"id\":1,\"name\":\"start\",\"cat\":\"dftracer\",\"pid\":1,\"tid\":1,\"ts\":1,"
	    "\"dur\":0,\"ph\":\"X\",\"args\":{}}\n";
	char in[1000];

	snprintf(in, sizeof in, "%s%s%s", start, EVENT("sx", "1", "1", ""), EVENT("y", "1", "1", ""));
	expect_selected(ONE(in), "*", in, NULL);
	expect_selected(ONE(in), "s*", EVENT("sx", "1", "1", ""),
	                "start records of a selection, left out: 1; the first at input offset 0 "
	                "[dftracer/start-left-out]");
}

/* ---- selections: bytes between records ---- */

#define R(n)                                                                                                 \
	"{\"name\":\"" n "\",\"cat\":\"c\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2,\"ph\":\"X\",\"args\":{}}"

Test(dftracer_write_select, brackets_and_line_ends)
{
	expect_selected(ONE("[\n" R("x") "\n" R("y") "\n" R("x") "\n]\n"), "x",
	                "[\n" R("x") "\n" R("x") "\n]\n", NULL);
	expect_selected(ONE("[\n" R("x") "\n\n" R("y") "\n]"), "y", "[\n" R("y") "\n]", NULL);
	expect_selected(ONE("[\r\n" R("x") "\r\n" R("y") "\r\n]\r\n"), "x", "[\r\n" R("x") "\r\n]\r\n", NULL);
	expect_selected(ONE(R("x") "\n" R("y")), "x", R("x") "\n", NULL);
	expect_selected(ONE(R("x") "\n" R("y")), "y", R("y"), NULL);
	expect_selected(ONE("[\n" R("x") "\n]"), "z", "[\n]", NULL);
	expect_selected(ONE("[\n" R("x") "\n]  " R("y") "\n]"), "y", "[\n" R("y") "\n]", NULL);
}

Test(dftracer_write_select, commas)
{
	expect_selected(ONE("[" R("x") ",\n" R("y") ",\n" R("x") "\n]\n"), "x",
	                "[" R("x") ",\n" R("x") "\n]\n", NULL);
	expect_selected(ONE("[" R("x") ",\n" R("y") ",\n" R("x") "\n]\n"), "y", "[" R("y") "\n]\n", NULL);
	expect_selected(ONE("{\"traceEvents\":[" R("x") ", " R("y") ", " R("x") "]}"), "x",
	                "{\"traceEvents\":[" R("x") ",\n" R("x") "\n]}", NULL);
}

Test(dftracer_write_select, of_joined_inputs)
{
	expect_selected(TWO("[\n" R("x") "\n" R("y") "\n]", "[\n" R("y") "\n" R("x") "\n]\n"), "x",
	                "[\n" R("x") "\n" R("x") "\n]", NULL);
	expect_selected(TWO("[" R("x") ",\n" R("y") "]\n", "[\n" R("y") ",\n" R("x") "]"), "x",
	                "[" R("x") ",\n" R("x") "\n]\n", NULL);
}
