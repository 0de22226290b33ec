/* A run of several passes over an input that changes between them fails, and reports it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/rules.h"
#include "cmd/test/cli_test_util.h"
#include "format/registry.h"
#include "run/join.h"
#include "run/private.h"
#include "run/read/operands.h"

#define SAMPLE "testdata/htdump/good/equal-starts.htdump"

struct place {
	char *dir, *bytes;
	size_t n;
	char path[300];
	const char *paths[1];
	struct input_files files;
	int left; /* until the file is changed: so many times it is opened again */
	bool removed;
	bool told;
};

/* Replaces the file before it is opened again. */
static void change(void *ctx, const char *path)
{
	struct place *const p = ctx;

	if (strcmp(path, p->path) != 0 || p->left-- > 0)
		return;
	if (p->removed)
		cr_assert_eq(unlink(path), 0);
	else
		cr_assert(write_whole(path, p->bytes, p->n / 2));
}

static void begin(struct place *p, int left)
{
	*p = (struct place){ .dir = make_folder(), .left = left };
	snprintf(p->path, sizeof p->path, "%s/a.htdump", p->dir);
	p->paths[0] = p->path;
	p->bytes = read_whole(SAMPLE, &p->n);
	cr_assert(write_whole(p->path, p->bytes, p->n));
	p->files = (struct input_files){ .lock = PTHREAD_MUTEX_INITIALIZER,
		                         .nopen = INPUT_FILES_OPEN, /* none stays open */
		                         .before_again = change,
		                         .ctx = p };
}

static void end(struct place *p)
{
	input_files_free(&p->files);
	free(p->bytes);
	remove_folder(p->dir);
}

static void take_finding(void *ctx, const struct findings *j, const struct finding *f)
{
	struct place *const p = ctx;

	(void)j;
	p->told |= input_rule_is_failure(f->rule);
}

static struct pipeline_job job_of(struct place *p)
{
	return (struct pipeline_job){ .in.paths = p->paths,
		                      .in.npaths = 1,
		                      .in.files = &p->files,
		                      .read.want = WANT_TIMES | WANT_ORDER,
		                      .read.interpret = INTERPRET_SPANS,
		                      .to.sink = take_finding,
		                      .to.ctx = p };
}

/* Expects events, unless a pass failed; then a finding, and no events. */
static void expect_failed(struct place *p, const struct pipeline_job *job, bool failed)
{
	struct pipeline *pipeline;
	struct batch *b;
	uint64_t n = 0;
	enum stage_status status = STAGE_BAD;

	if (pipeline_open(&pipeline, job))
		while ((status = pipeline_next(pipeline, &b)) == STAGE_MORE) {
			n += b->n;
			batch_release(b);
		}
	pipeline_end(pipeline);
	cr_expect_eq(pipeline_pass_failed(pipeline, status), failed);
	cr_expect_eq(p->told, failed);
	if (job->adjust.join == NULL || !failed)
		cr_expect_eq(n == 0, failed, "%llu events", (unsigned long long)n);
	pipeline_close(pipeline);
}

static const struct select quarter = { .since = { .kind = SELECT_FRACTION, .v = SELECT_WHOLE / 4 },
	                               .edges = SELECT_CLIP };
static const struct select some = { .since = { .kind = SELECT_AT, .v = 20000 }, .edges = SELECT_CLIP };

Test(passes, each_sees_the_same_file)
{
	static const struct {
		const struct select *select, *scope;
		bool rebase, copies, drops;
		int passes; /* before the last one */
	} rows[] = {
		{ .select = &quarter, .passes = 1 },
		{ .scope = &some, .passes = 1 },
		{ .rebase = true, .passes = 1 },
		{ .select = &some, .copies = true, .passes = 0 },
		{ .select = &quarter, .copies = true, .passes = 1 },
		{ .select = &some, .copies = true, .drops = true, .passes = 1 },
		{ .select = &quarter, .copies = true, .drops = true, .passes = 2 },
	};

	for (size_t i = 0; i < 4 * sizeof rows / sizeof *rows; i++) {
		const int left = (int)(i / 2 % 2), row = (int)(i / 4);
		struct place p;
		begin(&p, left);
		p.removed = i % 2 == 1;
		struct pipeline_job job = job_of(&p);
		job.choice.select = rows[row].select;
		job.choice.scope = rows[row].scope;
		job.choice.drops = rows[row].drops;
		job.adjust.rebase = rows[row].rebase;
		job.read.as = rows[row].copies ? READ_COPY : READ_MEANING;
		job.read.copy_of = rows[row].copies ? format_by_name("htdump") : NULL;
		expect_failed(&p, &job, left < rows[row].passes);
		end(&p);
	}
}

static uint64_t count_events(const struct pipeline_job *job)
{
	struct pipeline *p;
	struct batch *b;
	uint64_t n = 0;

	if (pipeline_open(&p, job))
		while (pipeline_next(p, &b) == STAGE_MORE) {
			n += b->n;
			batch_release(b);
		}
	pipeline_close(p);
	return n;
}

/* A window that refers to the range of the trace selects the same events if times are shifted afterwards. */
Test(passes, a_range_is_not_shifted)
{
	const struct anonymise shifted = { .shift = UINT64_C(1) << 40 };
	struct place place;

	begin(&place, 9);
	struct pipeline_job job = job_of(&place);
	job.choice.select = &quarter;
	const uint64_t n = count_events(&job);
	cr_expect_gt(n, 0);
	job.adjust.anonymise = &shifted;
	cr_expect_eq(count_events(&job), n);
	end(&place);
}

Test(passes, of_parts_that_are_merged)
{
	for (int left = 0; left < 2; left++) {
		struct place p;
		struct join j;
		struct trace_groups traces;
		begin(&p, left);
		const char *const both[] = { SAMPLE, p.path };
		struct pipeline_job job = job_of(&p);
		cr_assert(trace_groups_init(&traces, both, 2, NULL) && join_init(&j, &traces));
		cr_assert(join_look(&j, &job, 1));
		cr_assert(join_by_start(&j));
		job.in.paths = both;
		job.in.npaths = 2;
		job.adjust.join = &j;
		job.arrange.order = ORDER_TIME;
		p.left = left;
		expect_failed(&p, &job, left == 0);
		join_free(&j);
		trace_groups_free(&traces);
		end(&p);
	}
}

/* The first pass over a part could not be read to its end. */
Test(passes, of_a_part_that_fails)
{
	struct place p;
	struct join j;
	struct trace_groups traces;

	begin(&p, 0);
	const char *const both[] = { p.path, p.path };
	const struct pipeline_job job = job_of(&p);
	cr_assert(trace_groups_init(&traces, both, 2, NULL) && join_init(&j, &traces));
	cr_expect_not(join_look(&j, &job, 1));
	cr_expect_str_eq(j.failed_path, p.path);
	cr_expect_not_null(strstr(j.why.text, "changed while it was read"), "%s", j.why.text);
	join_free(&j);
	trace_groups_free(&traces);
	end(&p);
}

/* The plan of a split: the least time, the parts. */
Test(passes, of_a_split)
{
	for (int left = 0; left < 2; left++) {
		struct place p;
		const struct select all = { .edges = SELECT_CLIP };
		struct split s = { .by = SPLIT_TIME, .step = 10000 };
		begin(&p, left);
		struct pipeline_job job = job_of(&p);
		job.choice.select = &all;
		cr_expect_eq(split_plan(&s, &job), left > 0, "%s", s.why);
		if (left == 0)
			cr_expect_not_null(strstr(s.why, "changed while it was read"), "%s", s.why);
		split_free(&s);
		end(&p);
	}
}
