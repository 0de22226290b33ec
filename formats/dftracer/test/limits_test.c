/* Inputs too large to keep as samples: made here, sent down a pipe. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "output/text.h"

#define RECORD                                                                                               \
	"{\"id\":1,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":8,\"ts\":1,\"dur\":1,\"ph\":\"X\"," \
	"\"args\":{\"hhash\":1}}\n"

static struct ran validate(const struct text *t)
{
	return run_tool((const char *const[]){ "validate", "-", NULL }, t->p, t->n);
}

static void expect(struct text *t, int status, const char *words)
{
	struct ran r = validate(t);

	cr_expect_eq(r.status, status, "exit status %d: %.500s%.500s", r.status, r.out, r.err);
	cr_expect_not_null(strstr(r.out, words), "%s: %.1000s", words, r.out);
	ran_free(&r);
	text_free(t);
}

static void fill(struct text *t, char c, size_t n)
{
	char *const p = text_room(t, n);

	cr_assert_not_null(p);
	memset(p, c, n);
	t->n += n;
}

/* The next line is read all the same. */
Test(dftracer_limits, a_record_of_20_MB)
{
	struct text t = { .p = NULL };

	text_str(&t, RECORD "{\"id\":2,\"name\":\"");
	fill(&t, 'x', 20000000);
	text_str(&t, "\"}\n" RECORD);
	expect(&t, 1, "2 records");
	text_str(&t, RECORD "{\"id\":2,\"name\":\"");
	fill(&t, 'x', 20000000);
	text_str(&t, "\"}\n" RECORD);
	expect(&t, 1, "[dftracer/record-too-long]");
}

Test(dftracer_limits, an_array_of_30_MB_on_a_line)
{
	struct text t = { .p = NULL };
	char want[40];
	unsigned n = 0;

	text_char(&t, '[');
	for (; t.n < 30000000; n++) {
		text_add(&t, RECORD, sizeof RECORD - 2);
		text_char(&t, ',');
	}
	text_add(&t, RECORD, sizeof RECORD - 2);
	text_str(&t, "]");
	snprintf(want, sizeof want, "%u records", n + 1);
	expect(&t, 1, want);
}

Test(dftracer_limits, garbage_without_line_ends)
{
	struct text t = { .p = NULL };

	text_str(&t, RECORD);
	for (unsigned i = 0; i < 2500000; i++)
		text_str(&t, "{\"id\":[");
	expect(&t, 1, "1 record");
}

Test(dftracer_limits, nul_bytes_without_end)
{
	struct text t = { .p = NULL };

	text_str(&t, RECORD);
	fill(&t, '\0', 30000000);
	text_str(&t, RECORD);
	expect(&t, 1, "30000000 NUL bytes");
}

Test(dftracer_limits, too_many_args)
{
	struct text t = { .p = NULL };

	text_str(&t, "{\"id\":1,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":8,\"ts\":1,\"dur\":1,"
	             "\"ph\":\"X\",\"args\":{\"a\":1");
	for (unsigned i = 0; i < 70000; i++)
		text_printf(&t, ",\"k%u\":%u", i, i);
	text_str(&t, "}}\n");
	expect(&t, 0, "[dftracer/limit]");
}

Test(dftracer_limits, too_many_hashes)
{
	struct text t = { .p = NULL };

	for (unsigned i = 0; i < 140000; i++)
		text_printf(&t,
		            "{\"id\":%u,\"name\":\"FH\",\"cat\":\"d\",\"pid\":7,\"tid\":7,\"ph\":\"M\","
		            "\"args\":{\"name\":\"/data/file/%u\",\"value\":%u}}\n",
		            i, i, 70000 + i);
	expect(&t, 0, "[dftracer/limit]");
}

Test(dftracer_limits, too_many_processes)
{
	struct text t = { .p = NULL };

	for (unsigned i = 0; i < 20000; i++)
		text_printf(&t,
		            "{\"id\":%u,\"name\":\"r\",\"cat\":\"d\",\"pid\":%u,\"tid\":7,\"ts\":%u,\"dur\":"
		            "1,\"ph\":\"X\",\"args\":{\"hhash\":1}}\n",
		            i, i, i);
	expect(&t, 0, "[dftracer/limit]");
}

/* Every pid, tid, category and key is new, and the numbers are large. */
Test(dftracer_limits, everything_new_in_every_record)
{
	struct text t = { .p = NULL };
	struct ran r;

	for (uint64_t i = 0; i < 100000; i++)
		text_printf(&t,
		            "{\"id\":%" PRIu64 ",\"name\":\"n%" PRIu64 "\",\"cat\":\"c%" PRIu64
		            "\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64 ",\"ts\":%" PRIu64
		            ",\"dur\":1,\"ph\":\"X\",\"args\":{\"hhash\":\"%016" PRIx64 "\",\"k%" PRIu64
		            "\":1}}\n",
		            i << 40, i, i, i << 44, i, i, i * 77, i);
	r = run_tool((const char *const[]){ "convert", "--to", "chrome", "-", "-", NULL }, t.p, t.n);
	cr_expect_eq(r.status, 0, "exit status %d: %.500s", r.status, r.err);
	cr_expect_not_null(strstr(r.err, "dftracer/limit"), "%.500s", r.err);
	cr_expect_not_null(strstr(r.err, "dftracer/thread-limit"), "%.500s", r.err);
	ran_free(&r);
	text_free(&t);
}
