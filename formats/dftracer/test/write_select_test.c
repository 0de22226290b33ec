/* Selections of DFTracer traces: whole records, and the metadata that they need. */
#include <criterion/criterion.h>

#include "cmd/test/cli_test_util.h"
#include "dftracer/test/cli_test_util.h"

#define GOOD "testdata/dftracer/good"

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

/* ---- what comes along ---- */

#define META(name, pid, tid, args)                                                                           \
	"{\"id\":0,\"name\":\"" name "\",\"cat\":\"dftracer\",\"pid\":" pid ",\"tid\":" tid                  \
	",\"ph\":\"M\",\"args\":{" args "}}\n"
#define CALL(name, pid, tid, args)                                                                           \
	"{\"id\":1,\"name\":\"" name "\",\"cat\":\"c\",\"pid\":" pid ",\"tid\":" tid                         \
	",\"ts\":5,\"dur\":2,\"ph\":\"X\",\"args\":{" args "}}\n"
#define H(n) "\"00000000000000" n "\""
#define DEF(n, text) "\"name\":\"" text "\",\"value\":" H(n)

Test(dftracer_write_select, hashes_that_are_referred_to)
{
	static const char in[] = "[\n" META("HH", "1", "1", "\"hhash\":" H("aa") "," DEF("aa", "host"))
	    META("HH", "2", "2", DEF("ab", "another host")) META("FH", "1", "1", DEF("ba", "/a"))
	        META("FH", "1", "1", DEF("bb", "/b")) META("SH", "1", "1", DEF("ba", "not a file"))
	            CALL("x", "1", "1", "\"hhash\":" H("aa") ",\"fhash\":" H("ba"))
	                CALL("y", "1", "1", "\"hhash\":" H("aa") ",\"fhash\":" H("bb"))
	                    META("FH", "2", "2", DEF("bb", "/b")) "]";

	expect_selected(ONE(in), "y",
	                "[\n" META("HH", "1", "1", "\"hhash\":" H("aa") "," DEF("aa", "host"))
	                    META("FH", "1", "1", DEF("bb", "/b"))
	                        CALL("y", "1", "1", "\"hhash\":" H("aa") ",\"fhash\":" H("bb")) "]",
	                "1 of 2 events selected");
}

/* The second text of a hash too: an event uses the last one before it. */
Test(dftracer_write_select, hashes_that_are_defined_again)
{
	static const char in[] = META("FH", "1", "1", DEF("ba", "/a")) META("FH", "1", "1", DEF("ba", "/a"))
	    META("FH", "1", "1", DEF("ba", "/b")) CALL("x", "1", "1", "\"fhash\":" H("ba"))
	        CALL("y", "1", "1", "");

	expect_selected(ONE(in), "x",
	                META("FH", "1", "1", DEF("ba", "/a")) META("FH", "1", "1", DEF("ba", "/b"))
	                    CALL("x", "1", "1", "\"fhash\":" H("ba")),
	                NULL);
}

/* Hashes of 16 bits are those of their process. */
Test(dftracer_write_select, narrow_hashes)
{
	static const char in[] = META("FH", "1", "1", "\"name\":\"/a\",\"value\":7")
	    META("FH", "2", "2", "\"name\":\"/b\",\"value\":7") CALL("x", "1", "1", "\"fhash\":7")
	        CALL("y", "2", "2", "\"fhash\":7");

	expect_selected(
	    ONE(in), "y",
	    META("FH", "2", "2", "\"name\":\"/b\",\"value\":7") CALL("y", "2", "2", "\"fhash\":7"), NULL);
}

Test(dftracer_write_select, processes_and_threads)
{
	static const char in[] = META("CM", "1", "1", "\"name\":\"time_metric\",\"value\":\"NS\"")
	    META("CM", "2", "2", "\"name\":\"time_metric\",\"value\":\"NS\"")
	        META("process_name", "1", "1", "\"name\":\"one\",\"value\":\"process_name\"")
	            META("thread_name", "1", "1", "\"name\":\"first\",\"value\":\"thread_name\"")
	                META("thread_name", "1", "8", "\"name\":\"other\",\"value\":\"thread_name\"")
	                    CALL("x", "1", "1", "") CALL("y", "1", "8", "") CALL("y", "2", "2", "");

	expect_selected(ONE(in), "x",
	                META("CM", "1", "1", "\"name\":\"time_metric\",\"value\":\"NS\"")
	                    META("process_name", "1", "1", "\"name\":\"one\",\"value\":\"process_name\"")
	                        META("thread_name", "1", "1", "\"name\":\"first\",\"value\":\"thread_name\"")
	                            CALL("x", "1", "1", ""),
	                NULL);
}

#define ENTITY(n, type) "\"id\":" H(n) ",\"type\":\"" type "\",\"store\":1,\"uri\":\"file:///a\""

Test(dftracer_write_select, entities)
{
	static const char in[] = META("ET", "1", "1", "\"type\":\"file\",\"role\":1")
	    META("ET", "1", "1", "\"type\":\"set\",\"role\":1") META("EH", "1", "1", ENTITY("ea", "file"))
	        META("EH", "1", "1", ENTITY("eb", "set"))
	            META("ER", "1", "1", "\"relation\":16,\"subject\":" H("ea") ",\"object\":" H("eb"))
	                CALL("x", "1", "1", "\"relations\":{\"used\":[" H("ea") "]}") CALL("y", "1", "1", "");

	expect_selected(ONE(in), "x",
	                META("ET", "1", "1", "\"type\":\"file\",\"role\":1")
	                    META("EH", "1", "1", ENTITY("ea", "file"))
	                        CALL("x", "1", "1", "\"relations\":{\"used\":[" H("ea") "]}"),
	                NULL);
}

/* An end record would count what was left out. */
Test(dftracer_write_select, start_and_end)
{
	static const char start[] =
	    "{\"id\":1,\"name\":\"start\",\"cat\":\"dftracer\",\"pid\":1,\"tid\":1,\"ts\":1,"
	    "\"dur\":0,\"ph\":\"X\",\"args\":{}}\n";
	char in[1000];

	snprintf(in, sizeof in, "%s%s%s", start, CALL("sx", "1", "1", ""), CALL("y", "1", "1", ""));
	expect_selected(ONE(in), "*", in, NULL);
	expect_selected(ONE(in), "s*", CALL("sx", "1", "1", ""),
	                "start records of a selection, left out: 1; the first at input offset 0 "
	                "[dftracer/start-left-out]");
}

/* ---- between records ---- */

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

/* ---- samples ---- */

/* Each line of the output is one of the input. */
static void expect_lines(const char *path, const struct ran *r, const char *whole)
{
	for (const char *p = r->out; *p != '\0'; p += *p == '\n') {
		p += strspn(p, " ");
		const size_t n = strcspn(p, "\r\n");
		const char *at = whole;
		while (n > 2 && (at = strstr(at, "{\"")) != NULL && strncmp(at, p, n) != 0)
			at++;
		cr_expect_not_null(at, "%s: %.*s", path, (int)n, p);
		p += strcspn(p, "\n");
	}
}

/* No finding of a rule that the input has none of. */
static void expect_no_new_finding(const char *path, const struct ran *r)
{
	struct ran before = run_tool((const char *const[]){ "validate", path, NULL }, NULL, 0);
	struct ran after =
	    run_tool((const char *const[]){ "validate", "--from=dftracer", "-", NULL }, r->out, r->out_n);

	for (const char *p = after.out; (p = strstr(p, "[dftracer/")) != NULL; p++) {
		char rule[64];
		snprintf(rule, sizeof rule, "%.*s", (int)strcspn(p, "\n"), p);
		cr_expect_not_null(strstr(before.out, rule), "%s: %s", path, after.out);
	}
	ran_free(&before);
	ran_free(&after);
}

static void expect_selection(const char *path, const char *option, const char *value)
{
	size_t n;
	struct ran r = run_tool(
	    (const char *const[]){ "convert", "-q", "--to=dftracer", option, value, path, "-", NULL }, NULL,
	    0);
	char *const whole = read_whole(path, &n);

	cr_assert_not_null(whole);
	cr_expect_eq(r.status, 0, "%s: %s", path, r.err);
	expect_lines(path, &r, whole);
	if (strchr(r.out, '{') != NULL)
		expect_no_new_finding(path, &r);
	free(whole);
	ran_free(&r);
}

Test(dftracer_write_select, good_samples)
{
	char **const names = list_folder(GOOD, ".pfw");
	char path[1024];

	for (size_t i = 0; names[i] != NULL; i++) {
		snprintf(path, sizeof path, GOOD "/%s", names[i]);
		expect_selection(path, "--name", "*e*");
		expect_selection(path, "--category", "POSIX");
	}
	list_free(names);
}
