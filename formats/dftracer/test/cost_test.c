/* Small files that ask for much: what they cost stays in proportion to their size. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"

#define EVENT_BYTES 200

struct lines {
	char *p;
	size_t n;
};

static void begin(struct lines *l, size_t room)
{
	*l = (struct lines){ .p = malloc(room) };
	cr_assert_not_null(l->p);
	l->n = (size_t)sprintf(l->p, "[\n");
}

/* A hash and the name of a file that it stands for. */
static void define(struct lines *l, unsigned hash, const char *name)
{
	l->n += (size_t)sprintf(l->p + l->n,
	                        "{\"id\":1,\"name\":\"FH\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,"
	                        "\"ph\":\"M\",\"args\":{\"name\":\"%s\",\"value\":\"%016x\"}}\n",
	                        name, hash);
}

static void use(struct lines *l, unsigned hash, unsigned ts)
{
	l->n += (size_t)sprintf(l->p + l->n,
	                        "{\"id\":2,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":7,\"ts\":%u,"
	                        "\"dur\":1,\"ph\":\"X\",\"args\":{\"fhash\":\"%016x\"}}\n",
	                        ts, hash);
}

/* What a command writes, in bytes.  CPU seconds are limited to many times what is needed. */
static double bytes_of(const struct lines *l, const char *what, const char *loss)
{
	char command[200];

	snprintf(command, sizeof command, "ulimit -t ${COST_SECONDS:-300}; \"$0\" %s | wc -c", what);
	struct ran r =
	    run_program((const char *const[]){ "sh", "-c", command, tool_path(), NULL }, l->p, l->n);
	const double n = atof(r.out);
	cr_assert_eq(r.status, 0, "%s: status %d: %.500s", what, r.status, r.err);
	cr_expect_gt(n, 0, "%s: %.500s", what, r.err);
	cr_expect(loss == NULL || strstr(r.err, loss) != NULL, "%s: %.500s", what, r.err);
	ran_free(&r);
	return n;
}

/* One name of 2 MiB is referred to by 10,000 events. */
Test(dftracer_cost, long_name)
{
	const size_t n = 2 << 20;
	char *const name = malloc(n + 1);
	struct lines l;

	cr_assert_not_null(name);
	memset(name, 'x', n);
	name[n] = '\0';
	begin(&l, n + 10002 * EVENT_BYTES);
	define(&l, 0xabcdef, name);
	for (unsigned i = 0; i < 10000; i++)
		use(&l, 0xabcdef, 10 * i);
	const double written = bytes_of(&l, "convert --to chrome - -", "[repeats/text-cut]");
	cr_expect_leq(written, 50.0 * (double)l.n + (double)(64 << 20));
	cr_expect_gt(written, (double)(64 << 20));
	cr_expect_leq(bytes_of(&l, "stats --format json -", NULL), 1e6);
	free(name);
	free(l.p);
}

/* 30,000 names, each referred to once, before it is defined. */
Test(dftracer_cost, many_names)
{
	const unsigned n = 30000;
	char name[24];
	struct lines l;

	begin(&l, 2 * (size_t)n * EVENT_BYTES);
	for (unsigned i = 0; i < n; i++)
		use(&l, 1000 + i, 10 * i);
	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof name, "/tmp/file.%u", i);
		define(&l, 1000 + i, name);
	}
	cr_expect_leq(bytes_of(&l, "convert --to chrome --lanes off - -", NULL), 5.0 * (double)l.n);
	cr_expect_leq(bytes_of(&l, "stats --format json -", NULL), 1e6);
	free(l.p);
}
