/* For tests of formats whose traces are read apart. */
#include "cli/test/apart_test_util.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "cmd/test/cli_test_util.h"

static bool begin(struct apart_portion *f)
{
	f->job.read.want = WANT_FINDINGS;
	return true;
}

static bool join(struct apart_portion *f, const struct run_report *run)
{
	struct apart_seen *const s = f->ctx;

	cr_expect_eq(f->number, s->joined);
	s->joined++;
	s->records += run->trace->records;
	return true;
}

static void report(struct trace_slot *t, void *ctx, struct finding_log *logs, uint32_t n)
{
	struct apart_seen *const s = ctx;

	(void)t;
	s->reported = n;
	for (uint32_t i = 0; i < s->joined; i++)
		cr_expect_not_null(logs[i].first);
}

static void read_one(struct trace_slot *t)
{
	static const struct apart_ops ops = { .begin = begin, .join = join, .report = report };
	struct apart_seen *const s = (struct apart_seen *)t->run;

	s->possible = apart_is_possible(t, &ops);
	s->apart = s->possible && apart_read(t, &ops, s);
}

struct apart_seen apart_see(const char *dir, uint64_t threads)
{
	char command[] = "stats", quiet[] = "-q", folder[300];
	char *argv[] = { command, quiet, folder, NULL };
	struct apart_seen s = { .joined = 0 };

	snprintf(folder, sizeof folder, "%s", dir);
	options_init(&s.run.options, &stats_command, 3, argv);
	s.run.options.in = (const char *const[]){ folder };
	s.run.options.nin = 1;
	if (options_traces(&s.run.options, &s.run.groups))
		traces_each(&s.run, threads, 0, read_one);
	(void)traces_end(&s.run);
	return s;
}

void expect_same_output(const char *const *args, const char *const *other, const char *what)
{
	struct ran a = run_tool(args, NULL, 0), b = run_tool(other, NULL, 0);

	cr_expect(b.status < 2 && b.out_n > 100, "%s %s: status %d", args[0], what, b.status);
	cr_expect_eq(a.status, b.status, "%s %s: status %d, expected %d", args[0], what, a.status, b.status);
	cr_expect_str_eq(a.out, b.out, "%s %s", args[0], what);
	cr_expect_str_eq(a.err, b.err, "%s %s", args[0], what);
	ran_free(&a);
	ran_free(&b);
}
