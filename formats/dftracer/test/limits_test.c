/*
 * Hostile inputs: too large (sent through a pipe), small but expensive, and damaged.  Cost must be in
 * proportion to the size of the input; the promises of the headers must be kept.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "format/registry.h"
#include "output/text.h"
#include "test/fuzz/fuzz_check.h"
#include "test/properties/cost_test_util.h"

/* ---- large inputs ---- */

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
	char *const p = text_reserve(t, n);

	cr_assert_not_null(p);
	memset(p, c, n);
	t->n += n;
}

static void put_long(struct text *t)
{
	text_str(t, RECORD "{\"id\":2,\"name\":\"");
	fill(t, 'x', 20000000);
	text_str(t, "\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":8,\"ts\":1,\"dur\":1,\"ph\":\"X\","
	            "\"args\":{\"hhash\":1}}\n" RECORD);
}

/* It is read whole; above --max-record the next line is still read, and copies have it. */
Test(dftracer_limits, a_record_of_20_MB)
{
	static const char *const small[] = { "validate", "--max-record=8M", "-", NULL },
	                         *const recover[] = { "recover", "--max-record=8M", "-", "-", NULL },
	                         *const copy[] = { "convert",  "--max-record=8M",
		                                   "--raw",    "--to",
		                                   "dftracer", "-",
		                                   "-",        NULL };
	struct text t = { .p = NULL };

	put_long(&t);
	expect(&t, 0, ", 3 records");
	put_long(&t);
	struct ran r = run_tool(small, t.p, t.n);
	cr_expect(r.status == 0 &&
	              strstr(r.out, ":2:1:@96: limit: a record of 20000091 bytes was not checked") != NULL,
	          "%s", r.out);
	cr_expect_not_null(strstr(r.out, "valid as far as it was read: dftracer (d2a), 3 records"), "%s",
	                   r.out);
	ran_free(&r);
	r = run_tool(recover, t.p, t.n);
	cr_expect(r.out_n == t.n && memcmp(r.out, t.p, t.n) == 0, "%zu: %s", r.out_n, r.err);
	ran_free(&r);
	r = run_tool(copy, t.p, t.n);
	cr_expect(r.out_n == t.n && memcmp(r.out, t.p, t.n) == 0, "%zu: %s", r.out_n, r.err);
	ran_free(&r);
	text_free(&t);
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

/* The limit is not the room that the table of arguments happens to have. */
Test(dftracer_limits, too_many_args)
{
	for (unsigned n = 60000; n <= 70000; n += 10000) {
		struct text t = { .p = NULL };
		text_str(
		    &t,
		    "{\"id\":1,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":8,\"ts\":1,\"dur\":1,"
		    "\"ph\":\"X\",\"args\":{\"a\":1");
		for (unsigned i = 0; i < n; i++)
			text_printf(&t, ",\"k%u\":%u", i, i);
		text_str(&t, "}}\n");
		expect(&t, 0, "[dftracer/limit]");
	}
}

Test(dftracer_limits, facts_of_the_trace)
{
	static const char *const info[] = { "info", "--report=text=/dev/stderr", "-", NULL };

	for (unsigned n = 64; n <= 65; n++) {
		struct text t = { .p = NULL };
		for (unsigned i = 0; i < n; i++)
			text_printf(
			    &t,
			    "{\"id\":%u,\"name\":\"CM\",\"cat\":\"d\",\"pid\":7,\"tid\":7,\"ph\":\"M\","
			    "\"args\":{\"name\":\"fact %u\",\"value\":\"v\"}}\n",
			    i, i);
		struct ran r = run_tool(info, t.p, t.n);
		cr_expect_eq(strstr(r.err, "more than 64 facts of the trace") != NULL, n > 64, "%u: %s", n,
		             r.err);
		ran_free(&r);
		text_free(&t);
	}
}

/* Names are cut at a character; that of 254 bytes with one of two after them loses this one. */
Test(dftracer_limits, a_name_of_a_process)
{
	static const char *const tracks[] = {
		"info", "--tracks", "--format=json", "--report=text=/dev/stderr", "-", NULL
	};

	for (int n = 253; n <= 255; n++) {
		struct text t = { .p = NULL };
		char name[300];
		snprintf(name, sizeof name, "%0*d", n, 7);
		text_printf(
		    &t,
		    "{\"id\":0,\"name\":\"process_name\",\"cat\":\"d\",\"pid\":7,\"tid\":8,\"ph\":\"M\","
		    "\"args\":{\"name\":\"%s\u00e4\"}}\n" RECORD,
		    name);
		struct ran r = run_tool(tracks, t.p, t.n);
		strcat(name, n == 253 ? "\u00e4" : "");
		cr_expect_not_null(strstr(r.out, name), "%d: %s", n, r.out);
		cr_expect_null(strstr(r.out, "\xef\xbf\xbd"), "%d: %s", n, r.out);
		cr_expect_eq(strstr(r.err, "more than 255 bytes") != NULL, n > 253, "%d: %s", n, r.err);
		ran_free(&r);
		text_free(&t);
	}
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

/* ---- expensive inputs ---- */

#define EVENT_BYTES 200

struct lines {
	char *p;
	size_t n;
};

static void begin_lines(struct lines *l, size_t space)
{
	*l = (struct lines){ .p = malloc(space) };
	cr_assert_not_null(l->p);
	l->n = (size_t)sprintf(l->p, "[\n");
}

/* Adds a definition of a file name. */
static void add_definition(struct lines *l, unsigned hash, const char *name)
{
	l->n += (size_t)sprintf(l->p + l->n,
	                        "{\"id\":1,\"name\":\"FH\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,"
	                        "\"ph\":\"M\",\"args\":{\"name\":\"%s\",\"value\":\"%016x\"}}\n",
	                        name, hash);
}

static void add_use(struct lines *l, unsigned hash, unsigned ts)
{
	l->n += (size_t)sprintf(l->p + l->n,
	                        "{\"id\":2,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":7,\"ts\":%u,"
	                        "\"dur\":1,\"ph\":\"X\",\"args\":{\"fhash\":\"%016x\"}}\n",
	                        ts, hash);
}

/* 10,000 events refer to a name of 2 MiB. */
Test(dftracer_cost, long_name)
{
	const size_t n = 2 << 20;
	char *const name = malloc(n + 1);
	struct lines l;

	cr_assert_not_null(name);
	memset(name, 'x', n);
	name[n] = '\0';
	begin_lines(&l, n + 10002 * EVENT_BYTES);
	add_definition(&l, 0xabcdef, name);
	for (unsigned i = 0; i < 10000; i++)
		add_use(&l, 0xabcdef, 10 * i);
	expect_in_proportion("convert --to chrome - -", l.p, l.n, "[repeats/text-cut]");
	cr_expect_leq(cost_of("stats --format json -", l.p, l.n, NULL), 1e6);
	free(name);
	free(l.p);
}

/* 30,000 names, each used once, before its definition. */
Test(dftracer_cost, many_names)
{
	const unsigned n = 30000;
	char name[24];
	struct lines l;

	begin_lines(&l, 2 * (size_t)n * EVENT_BYTES);
	for (unsigned i = 0; i < n; i++)
		add_use(&l, 1000 + i, 10 * i);
	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof name, "/tmp/file.%u", i);
		add_definition(&l, 1000 + i, name);
	}
	cr_expect_leq(cost_of("convert --to chrome --lanes off - -", l.p, l.n, NULL), 5.0 * (double)l.n);
	cr_expect_leq(cost_of("stats --format json -", l.p, l.n, NULL), 1e6);
	free(l.p);
}

/* A rule is reported once per record, but each faulty nested value is invalid JSON. */
/* ---- damaged inputs ---- */

Test(dftracer_damage, the_same_fault_twice)
{
	static const char text[] =
	    "{\"id\":1,\"name\":\"a\x01\",\"cat\":\"c\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"ph\":\"X\","
	    "\"args\":{\"x\":{\"y\":\"b\x01\"},\"z\":[nan],\"u\":[1,nan]}}\n";
	struct fuzz_result r;

	cr_expect(fuzz_check(&r, text, sizeof text - 1, NULL, NULL, FUZZ_ALL), "%s", r.fault);
}

/* Most records follow known paths; with small windows none does. */
Test(dftracer_damage, promises_hold_for_many_records)
{
	static const char *const names[] = { "read", "write", "open", "close" };
	static char p[100000];
	struct fuzz_result r;
	size_t n = 0;

	for (unsigned i = 0; n < sizeof p - 400; i++) {
		n += (size_t)snprintf(p + n, sizeof p - n,
		                      "{\"id\":%u,\"name\":\"%s\",\"cat\":\"POSIX\",\"pid\":%u,\"tid\":%u,"
		                      "\"ts\":%u,\"dur\":%u,\"ph\":\"X\",\"args\":{",
		                      i, names[i * 7 % 4], 7 + i % 3, 7 + i % 5, 1000 * i, i % 97);
		if (i % 3 == 0)
			n += (size_t)snprintf(p + n, sizeof p - n, "\"hhash\":%u,\"ret\":%d", 5692 + i % 2,
			                      i % 5 == 0 ? -1 : (int)i);
		else if (i % 3 == 1)
			n += (size_t)snprintf(p + n, sizeof p - n, "\"ret\":\"%u\",\"x\":%s", i,
			                      i % 2 == 0 ? "[1,\"a\"]" : "0.5");
		n += (size_t)snprintf(p + n, sizeof p - n, "%s\n", i % 50 == 49 ? ",}}" : "}}");
	}
	cr_expect(fuzz_check(&r, p, n, NULL, NULL, FUZZ_ALL & ~(unsigned)FUZZ_SLOW_1), "%s", r.fault);
}
