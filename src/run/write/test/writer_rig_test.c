#include "run/write/test/writer_rig_test.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/registry.h"
#include "run/private.h"
#include "run/read/reading.h"

/* ---- what goes in ---- */

/* The first stage, which replaces the one that reads. */
struct rig_stage {
	struct stage stage;
	struct writer_rig *rig;
};

static enum stage_status next(struct stage *st, struct batch **out)
{
	struct writer_rig *const r = ((struct rig_stage *)st)->rig;
	struct batch *const b = batch_pool_take(r->pipeline->pool);

	cr_assert_not_null(b);
	*out = NULL;
	/* once: a track that is made at the end is in a further batch, after which the pipeline asks again */
	r->ended = r->ended || !r->job->fill(r->job->ctx, &r->pipeline->trace, b, r->next++);
	if (r->ended) {
		batch_release(b);
		return STAGE_END;
	}
	*out = b;
	return STAGE_MORE;
}

static void keep_finding(void *ctx, const struct findings *j, const struct finding *f)
{
	struct writer_rig *const r = ctx;

	(void)j;
	if (r->finding[0] == '\0')
		(void)snprintf(r->finding, sizeof r->finding, "%s [%s]", f->message, f->rule->id);
}

struct event *writer_rig_event(struct batch *b, const struct class *cls, const struct track *track,
                               uint64_t ts, struct slice name)
{
	cr_assert_lt(b->n, b->cap);
	struct event *const e = &b->events[b->n++];
	*e = (struct event){ .ts = ts,
		             .name = name,
		             .cls = cls,
		             .track = track,
		             .offset = ts,
		             .first_field = b->nfields,
		             .phase = PHASE_INSTANT };
	return e;
}

void writer_rig_field(struct batch *b, struct slice name, struct value value)
{
	struct field *const f = batch_fields(b, 1);

	cr_assert_not_null(f);
	*f = (struct field){ name, value };
	b->nfields++;
	b->events[b->n - 1].nfields++;
}

/* ---- what comes out ---- */

static struct writer_rig_file *find_file(const struct writer_rig *r, const char *name)
{
	for (uint32_t i = 0; i < r->nfiles; i++) {
		const char *const other = r->files[i].name;
		if (name == NULL ? other == NULL : other != NULL && strcmp(name, other) == 0)
			return &r->files[i];
	}
	return NULL;
}

static bool put(void *ctx, const char *file, const char *p, size_t n)
{
	struct writer_rig *const r = ctx;
	struct writer_rig_file *f = find_file(r, file);

	r->puts_after_failure += r->fail_after > 0 && r->bytes >= r->fail_after;
	if (f == NULL) {
		if (!array_reserve(&r->files, r->nfiles, &r->files_cap, sizeof *r->files))
			abort();
		f = &r->files[r->nfiles++];
		*f = (struct writer_rig_file){ file != NULL ? strdup(file) : NULL, { .p = NULL } };
	}
	text_add(&f->text, p, n);
	r->bytes += n;
	return r->fail_after == 0 || r->bytes < r->fail_after;
}

uint64_t writer_rig_lost(const struct writer_rig *r, const char *id)
{
	for (size_t i = 0; i < r->losses.n; i++)
		if (strcmp(r->losses.rows[i].loss->id, id) == 0)
			return r->losses.rows[i].count;
	return 0;
}

const char *writer_rig_text(const struct writer_rig *r, const char *file)
{
	struct writer_rig_file *const f = find_file(r, file);

	if (f == NULL)
		return NULL;
	if (text_reserve(&f->text, 1) == NULL)
		abort();
	f->text.p[f->text.n] = '\0';
	return f->text.p;
}

/* ---- the run ---- */

static void write_all(struct writer_rig *r, struct writing *w)
{
	const struct writing_options options = { .values = r->job->options,
		                                 .tool = "rig",
		                                 .threads = r->job->threads };
	enum stage_status status = STAGE_BAD;
	struct batch *b;

	if (!writing_begin(w, r->pipeline, r->job->to, (struct writing_output){ put, r }, &options))
		return;
	while ((status = pipeline_next(r->pipeline, &b)) == STAGE_MORE)
		if (!writing_put(w, b))
			return;
	r->written = status == STAGE_END && writing_end(w);
}

void writer_rig_run(struct writer_rig *r, const struct writer_rig_job *job)
{
	static const char *const paths[] = { "made-up" };
	const struct writer_ops *const ops = job->to->writer;
	struct pipeline *pipeline;
	const struct pipeline_job reads = {
		.in.paths = paths,
		.in.npaths = 1,
		.read.want = WANT_TIMES | WANT_ORDER | format_output_wants(job->to),
		.read.as = job->raw ? READ_FIELDS : READ_MEANING,
		.arrange.order = ops->order,
		.arrange.memory = job->sort_memory,
		.arrange.few_fields = (ops->modes & WRITER_FEW_FIELDS) != 0,
		.arrange.temp_near = job->temp_near,
		.arrange.lanes = ops->nested ? LANES_ASSIGN : LANES_NONE,
		.to.sink = keep_finding,
		.to.ctx = r,
	};
	struct writing writing = { .to = NULL };

	cr_assert(pipeline_open(&pipeline, &reads));
	*r = (struct writer_rig){ .job = job, .pipeline = pipeline, .fail_after = job->fail_after };
	pipeline->context.raw = job->raw;
	pipeline->marks.state = job->selected ? MARKS_MADE : MARKS_NOT;
	pipeline->read = UINT64_C(1) << 40; /* as of an input so long that no text is cut */
	struct rig_stage first = { { .next = next }, r };
	if (pipeline->last == &pipeline->reading->stage)
		pipeline->last = &first.stage;
	for (struct stage *st = pipeline->last; st->from != NULL; st = st->from)
		if (st->from == &pipeline->reading->stage)
			st->from = &first.stage;
	write_all(r, &writing);
	writing_settle(&writing);
	r->no_memory = atomic_load(&writing.no_memory);
	r->failed = atomic_load(&writing.failed);
	ledger_merge(&r->losses, &writing.total);
	pipeline_end(pipeline);
	writing_free(&writing);
	pipeline_close(pipeline);
	r->pipeline = NULL;
}

void writer_rig_free(struct writer_rig *r)
{
	for (uint32_t i = 0; i < r->nfiles; i++) {
		free(r->files[i].name);
		text_free(&r->files[i].text);
	}
	free(r->files);
	ledger_free(&r->losses);
	*r = (struct writer_rig){ .nfiles = 0 };
}

static void expect_same(const struct writer_rig *a, const struct writer_rig *b, unsigned threads)
{
	cr_assert_eq(a->nfiles, b->nfiles, "%u threads: %u files, not %u", threads, b->nfiles, a->nfiles);
	for (uint32_t i = 0; i < a->nfiles; i++) {
		const struct writer_rig_file *const f = &a->files[i], *const g = &b->files[i];
		cr_assert(f->name == NULL ? g->name == NULL : strcmp(f->name, g->name) == 0);
		cr_assert(f->text.n == g->text.n &&
		              (f->text.n == 0 || memcmp(f->text.p, g->text.p, f->text.n) == 0),
		          "%u threads: other bytes", threads);
	}
	cr_assert_eq(a->losses.n, b->losses.n);
	for (size_t i = 0; i < a->losses.n; i++) {
		const struct ledger_row *const x = &a->losses.rows[i], *const y = &b->losses.rows[i];
		cr_assert(x->loss == y->loss && x->count == y->count && x->first_offset == y->first_offset,
		          "%u threads: other losses", threads);
	}
	cr_assert(a->written == b->written && a->no_memory == b->no_memory && a->failed == b->failed);
	cr_assert_str_eq(a->finding, b->finding);
}

void writer_rig_run_all(struct writer_rig *r, const struct writer_rig_job *job)
{
	static const unsigned threads[] = { 1, 2, 7 };

	for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
		struct writer_rig_job one = *job;
		struct writer_rig again;
		one.threads = threads[i];
		writer_rig_run(i == 0 ? r : &again, &one);
		if (i == 0)
			continue;
		expect_same(r, &again, threads[i]);
		writer_rig_free(&again);
	}
}
