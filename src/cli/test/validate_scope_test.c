/* validate --scope: findings of the events that were selected. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"

/* Events named a, b, a at 1, 2 and 3 ms, each with a value that is none; a line between them that is no
 * event.
 */
static const char trace[] = "[\n"
                            "{\"id\":1,\"name\":\"HH\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ph\":\"M\","
                            "\"args\":{\"name\":\"n\",\"value\":"
                            "5692}}\n"
                            "{\"id\":2,\"name\":\"a\",\"cat\":\"x\",\"pid\":7,\"tid\":8,\"ts\":1000,\"dur\":"
                            "20,\"ph\":\"X\",\"args\":{\"hhash\":"
                            "5692,\"v\":001}}\n"
                            "{\"id\":3,\"name\":\"b\",\"cat\":\"x\",\"pid\":7,\"tid\":9,\"ts\":2000,\"dur\":"
                            "20,\"ph\":\"X\",\"args\":{\"hhash\":"
                            "5692,\"v\":002}}\n"
                            "{\"id\":6,\"name\":\"x\" \"cat\":1}\n"
                            "{\"id\":4,\"name\":\"a\",\"cat\":\"x\",\"pid\":7,\"tid\":8,\"ts\":3000,\"dur\":"
                            "20,\"ph\":\"X\",\"args\":{\"hhash\":"
                            "5692,\"v\":003}}\n"
                            "]";

static char *dir, path[300], other[300];

static void begin(void)
{
	dir = make_folder();
	snprintf(path, sizeof path, "%s/run-a.pfw", dir);
	snprintf(other, sizeof other, "%s/run-b.pfw", dir);
	cr_assert(write_whole(path, trace, sizeof trace - 1));
	cr_assert(write_whole(other, trace, sizeof trace - 1));
}

static void end(void)
{
	remove_folder(dir);
}

TestSuite(validate_scope, .init = begin, .fini = end);

static struct ran validate(const char *const *args, const char *input)
{
	const char *argv[16] = { "validate", "--no-config", "--scope" };
	size_t n = 3;

	while (*args != NULL)
		argv[n++] = *args++;
	argv[n++] = input;
	argv[n] = NULL;
	return run_tool(argv, NULL, 0);
}

/* The lines of the findings: "3 5 ". */
static void expect_lines(const char *const *args, const char *input, int status, const char *want,
                         const char *left)
{
	struct ran r = validate(args, input);
	char got[200] = "";

	cr_expect_eq(r.status, status, "%s %s: status %d: %s%s", args[0], args[1], r.status, r.out, r.err);
	for (const char *p = strstr(r.out, ".pfw:"); p != NULL; p = strstr(p + 1, ".pfw:"))
		if (p[5] >= '0' && p[5] <= '9')
			snprintf(got + strlen(got), sizeof got - strlen(got), "%d ", atoi(p + 5));
	cr_expect_str_eq(got, want, "%s %s: %s", args[0], args[1], r.out);
	cr_expect_not_null(strstr(r.err, left), "%s %s: %s", args[0], args[1], r.err);
	ran_free(&r);
}

#define SCOPE(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Line 5 is no event. */
Test(validate_scope, events_and_what_is_none)
{
	expect_lines(SCOPE("--name", "*"), path, 1, "3 4 5 6 ", "");
	expect_lines(SCOPE("--name", "a"), path, 1, "3 5 6 ", ": 1 finding is outside of");
	expect_lines(SCOPE("--not", "--name", "a"), path, 1, "4 5 ", ": 2 findings are outside");
	expect_lines(SCOPE("--until", "1500us"), path, 1, "3 5 ", ": 2 findings are outside");
	expect_lines(SCOPE("--since", "80%"), path, 1, "5 6 ", ": 2 findings");
	expect_lines(SCOPE("--tid", "9"), path, 1, "4 5 ", ": 2 findings");
	expect_lines(SCOPE("--name", "a", "--ignore-rules", "*/broken-json"), path, 1, "3 6 ",
	             ": 1 finding is");
}

Test(validate_scope, nothing_is_left)
{
	struct ran r = validate(SCOPE("--name", "none", "--ignore-rules", "*/broken-json"), path);

	cr_expect_eq(r.status, 0, "%s", r.out);
	cr_expect_not_null(strstr(r.out, "a.pfw: valid"), "%s", r.out);
	cr_expect_not_null(strstr(r.err, ": 3 findings are outside of the scope"), "%s", r.err);
	ran_free(&r);
}

/* In each file the same offsets. */
Test(validate_scope, several_files)
{
	expect_lines(SCOPE("--name", "b"), dir, 1, "4 5 4 5 2 ", ": 4 findings");
	expect_lines(SCOPE("--name", "b", other), path, 1, "4 5 4 5 ", ": 2 findings");
}

/* What is behind an event that is not selected is not taken for a part of it. */
Test(validate_scope, a_trace_that_is_cut)
{
	size_t n;
	char *const p = read_whole("testdata/htdump/good/overlapping.htdump", &n), cut[300];

	snprintf(cut, sizeof cut, "%s/cut.htdump", dir);
	cr_assert(write_whole(cut, p, n - 3));
	struct ran r = validate(SCOPE("--name", "none"), cut);
	cr_expect_eq(r.status, 1, "%s%s", r.out, r.err);
	cr_expect_not_null(strstr(r.out, "error: "), "%s", r.out);
	ran_free(&r);
	free(p);
}

static void expect_mistake(const char *const *args, const char *words)
{
	struct ran r = run_tool(args, NULL, 0);

	cr_expect_eq(r.status, 3, "%s", r.err);
	cr_expect_not_null(strstr(r.err, words), "%s", r.err);
	ran_free(&r);
}

Test(validate_scope, mistakes)
{
	expect_mistake(SCOPE("validate", "--name", "a", path),
	               "with --scope, findings are those of the events");
	expect_mistake(SCOPE("validate", "--scope", path), "--scope needs --since, --name or another option");
	expect_mistake(SCOPE("validate", "--scope", "--name", "a", "--init", path), "--init");
	struct ran r = run_tool(SCOPE("validate", "--scope", "--name", "a", "-"), trace, sizeof trace - 1);
	cr_expect_eq(r.status, 2, "%s", r.err);
	cr_expect_not_null(strstr(r.out, "has to be read twice: read it from a file"), "%s%s", r.out, r.err);
	ran_free(&r);
}
