/* Unfiltered copies, whose records go out many at a time, are the input; with brackets, empty lines, commas
 * and faults between long runs of records, and for several inputs, one trace. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"

#define LINES 900 /* of a run: more than the bytes that are not copied within the program */

struct trace {
	char *p;
	size_t n;
};

static void add(struct trace *t, const char *s)
{
	const size_t n = strlen(s);

	memcpy(t->p + t->n, s, n + 1);
	t->n += n;
}

static void add_lines(struct trace *t, unsigned pid, unsigned from)
{
	char line[200];

	for (unsigned i = from; i < from + LINES; i++) {
		snprintf(line, sizeof line,
		         "{\"id\":%u,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":%u,\"tid\":%u,\"ts\":%u,"
		         "\"dur\":%u,\"ph\":\"X\",\"args\":{\"hhash\":\"00000000000000ab\",\"ret\":%u}}\n",
		         i, pid, pid, 1000000 + i, i % 100, i % 7);
		add(t, line);
	}
}

static struct trace new_trace(void)
{
	struct trace t = { malloc(1 << 20), 0 };

	cr_assert_not_null(t.p);
	return t;
}

static void expect_copy(const char *dir, const struct trace *in, size_t n, const struct trace *wanted,
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
		add(&t, "[\n");
		add_lines(&t, 7, 0);
		add(&t, between[i]);
		add_lines(&t, 7, LINES);
		add(&t, i % 2 == 0 ? "]" : "");
		expect_copy(dir, &t, 1, &t, i % 3 == 0 ? "3" : "1");
		free(t.p);
	}
	remove_folder(dir);
}

/* The first has no line end behind its last record, and no closing bracket; the second has all of its own. */
Test(dftracer_runs, two_inputs_are_one_trace)
{
	char *const dir = make_folder();
	struct trace in[2] = { new_trace(), new_trace() }, wanted = new_trace();

	add(&in[0], "[\n");
	add_lines(&in[0], 7, 0);
	in[0].n--;
	add(&in[1], "[\n");
	add_lines(&in[1], 8, 0);
	add(&in[1], "]");
	add(&wanted, "[\n");
	add_lines(&wanted, 7, 0);
	add_lines(&wanted, 8, 0);
	add(&wanted, "]");
	expect_copy(dir, in, 2, &wanted, "1");
	for (int i = 0; i < 2; i++)
		free(in[i].p);
	free(wanted.p);
	remove_folder(dir);
}
