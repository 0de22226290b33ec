/* Passes: runs of their own over the inputs of a job, before the run that the job asks for.  They find the
 * range of times that a window counts from, the records that a selection consists of, and the parts of a
 * split.
 *
 * pass_job() lists what a pass takes over from the job: the inputs.  So it has no order, lanes, time shift,
 * pseudonyms or hooks unless it is given some.  Its findings are not reported, as the run that follows finds
 * them again; the first that is a failure is the reason why the pass failed. */
#include <stdio.h>
#include <stdlib.h>

#include "run/choose/route.h"
#include "run/engine_losses.h"
#include "run/pipeline.h"
#include "run/read/reading.h"

struct pipeline_job pass_job(const struct pipeline_job *of)
{
	struct pipeline_job job = {
		.in = of->in,
		.read = { .interpret = of->read.interpret },
		.adjust = { .max_repeat = of->adjust.max_repeat },
	};

	/* the operand's list or opened input is only for the first pass */
	job.in.operand = NULL;
	job.in.input = NULL;
	return job;
}

/* A pass over the inputs of a pipeline before its first event. */
static struct pipeline_job pass_before(struct pipeline *p, struct pipeline_why *why)
{
	struct pipeline_job job = pass_job(p->job);

	job.in.operands = &p->reading->operands;
	job.in.vocabularies = p->context.vocabularies;
	job.read.want = WANT_TIMES | (p->job->read.want & WANT_ORDER);
	job.to.sink = pipeline_note_why;
	job.to.ctx = why;
	return job;
}

/* ---- the range of times ---- */

bool pass_find_range(struct pipeline *of, struct select_range *r)
{
	struct pipeline_why why = { "" };
	struct pipeline_job job = pass_before(of, &why);
	enum stage_status status = STAGE_BAD;
	struct batch *b;
	struct pipeline *const p = malloc(sizeof *p);

	*r = (struct select_range){ .first = UINT64_MAX };
	if (p == NULL) {
		pipeline_no_memory(of);
		return false;
	}
	job.read.want |= WANT_ORDER;
	if (pipeline_open(p, &job))
		while ((status = pipeline_next(p, &b)) == STAGE_MORE) {
			select_range_extend(r, b);
			batch_release(b);
		}
	pipeline_end(p);
	r->epoch_known = p->trace.epoch_known;
	r->epoch = p->trace.epoch_ns;
	const bool failed = pipeline_pass_failed(p, status);
	pipeline_close(p);
	free(p);
	if (failed)
		pipeline_failed(of, pipeline_why_text(&why));
	return !failed;
}

/* ---- marks of records ---- */

/* The first input that can be read tells whether records are copied at all. */
static bool is_copied(void *ctx, const struct source *s)
{
	struct record_marks *const m = ctx;

	if (m->format == NULL || s->format == m->format)
		return true;
	m->state = MARKS_NOT;
	return false;
}

/* Notes all that is selected.  false: it failed. */
static bool gather_marks(struct pipeline *p, struct pipeline *first, const struct pipeline_job *job)
{
	struct record_marks *const m = &p->marks;
	const struct loss *const lost = &engine_losses[ENGINE_LOSS_TOO_MANY_OPEN];
	const enum stage_status status = pipeline_open(first, job) ? pipeline_drain(first) : STAGE_BAD;

	pipeline_end(first);
	const bool ok = !pipeline_pass_failed(first, status);
	const struct ledger *const l = interpret_ledger(&first->interpret);
	for (size_t i = 0; i < l->n; i++)
		if (l->rows[i].loss == lost)
			ledger_add(&p->ledger, lost,
			           l->rows[i].first_offset & ((UINT64_C(1) << m->shift) - 1),
			           l->rows[i].count);
	m->found = first->select.found;
	first->select.found = NULL;
	memcpy(p->context.refused, first->context.refused, sizeof p->context.refused);
	pipeline_close(first);
	if (m->state != MARKS_GATHERING) {
		select_found_free(m->found); /* of a part of the trace */
		m->found = NULL;
		return true;
	}
	return ok && record_marks_finish(m, p->job->choice.scope != NULL);
}

static bool refuse(struct pipeline *p)
{
	pipeline_failed(p, "the input can be read only once, and to tell what is in the scope it has to be "
	                   "read twice: read it from a file");
	return false;
}

bool pass_mark_records(struct pipeline *p)
{
	struct record_marks *const m = &p->marks;
	const struct select *const scope = p->job->choice.scope;
	char why[512];

	*m = (struct record_marks){ .state = MARKS_READ_ONCE, .drops = p->job->choice.drops };
	m->format = p->job->read.copy_of;
	m->set.temp_near = m->extents.temp_near = p->job->arrange.temp_near;
	m->set.pages = true;
	if (!pipeline_reads_twice(p->job))
		return scope == NULL || refuse(p);
	m->shift = record_marks_shift(p->reading->inputs);
	struct pipeline *const first = malloc(sizeof *first);
	m->others = calloc(PIPELINE_BATCH_EVENTS, sizeof *m->others);
	m->state = MARKS_GATHERING;
	struct pipeline_job job = pass_before(p, &m->why);
	job.read.interpret = INTERPRET_SPANS;
	job.choice.marks = m;
	job.choice.select = scope != NULL ? scope : p->job->choice.select;
	job.read.want |= WANT_STRUCTURE | (scope != NULL ? (unsigned)WANT_BYTES : 0);
	job.to.hooks = (struct pipeline_hooks){ .opened = is_copied, .ctx = m };
	if (first != NULL && m->others != NULL && gather_marks(p, first, &job)) {
		if (m->state == MARKS_GATHERING)
			m->state = scope != NULL ? MARKS_SCOPE : MARKS_MADE;
		free(first);
		return true;
	}
	free(first);
	if (p->context.refused[0] != '\0') {
		memcpy(why, p->context.refused, sizeof why);
		pipeline_refused(p, "%s", why);
		return false;
	}
	record_marks_reason(m, why, sizeof why);
	pipeline_failed(p, why);
	return false;
}

void pass_use_split(struct pipeline *p)
{
	struct split *const s = p->job->choice.split;

	p->marks = (struct record_marks){ .state = s->copies ? MARKS_MADE : MARKS_NOT,
		                          .has_parts = true,
		                          .selects = s->selects,
		                          .planned = &s->marks.set,
		                          .part = p->job->choice.part,
		                          .end = p->job->choice.part_end,
		                          .format = s->marks.format,
		                          .shift = s->marks.shift,
		                          .drops = p->job->choice.drops };
}

bool record_marks_survey(struct pipeline *p, void (*take)(void *ctx, const struct batch *b), void *ctx)
{
	struct pipeline_job job = pass_before(p, &p->marks.why);
	struct pipeline *const pass = malloc(sizeof *pass);
	enum stage_status status = STAGE_BAD;
	struct batch *b;
	char why[512];

	job.choice.marks = &p->marks;
	job.read.want = p->job->read.want;
	job.read.interpret = INTERPRET_NOT;
	job.read.as = p->job->read.as;
	job.read.copy_of = p->job->read.copy_of;
	p->marks.why.text[0] = '\0';
	if (pass != NULL && pipeline_open(pass, &job))
		while ((status = stage_next(pass->last, &b)) == STAGE_MORE) {
			take(ctx, b);
			batch_release(b);
		}
	bool ok = false;
	if (pass != NULL) {
		pipeline_end(pass);
		ok = !pipeline_pass_failed(pass, status);
		pipeline_close(pass);
	}
	free(pass);
	if (ok)
		return true;
	record_marks_reason(&p->marks, why, sizeof why);
	pipeline_failed(p, why);
	return false;
}

/* ---- the plan of a split ---- */

/* The first input that can be read tells whether records are copied. */
static bool is_opened(void *ctx, const struct source *s)
{
	struct split *const split = ctx;
	struct record_marks *const m = &split->marks;

	split->copies = m->state == MARKS_GATHERING && (m->format == NULL || s->format == m->format);
	if (split->copies)
		return true;
	m->state = MARKS_NOT;
	if (split->by != SPLIT_STREAM && split->by != SPLIT_SIZE)
		return true;
	split->is_refused = true;
	(void)snprintf(
	    split->why, sizeof split->why,
	    "--split by=stream and size= copy records, so the output has to be in the input's format, %s; "
	    "outputs named .d are in parts of their own",
	    s->format->name);
	return false;
}

static void note_units(void *ctx, const struct batch *b, uint64_t input)
{
	split_note(ctx, b, input);
}

static bool is_well(const struct split *s)
{
	return !s->no_memory && !s->too_many && s->why[0] == '\0';
}

static bool find_first(struct split *s, struct pipeline *p)
{
	if (s->by != SPLIT_TIME)
		return true;
	const struct min_time m = min_time_find(p->job, &s->operands, p->context.vocabularies);
	s->first = m.known ? m.ns : 0;
	if (m.failed)
		(void)snprintf(s->why, sizeof s->why, "%s",
		               m.why[0] != '\0' ? m.why : "the system gives no more memory");
	return !m.failed;
}

static bool gather_parts(struct split *s, struct pipeline *p, const struct pipeline_job *job)
{
	enum stage_status status = STAGE_BAD;
	struct batch *b;

	if (pipeline_open(p, job) && find_first(s, p))
		while (is_well(s) && (status = pipeline_next(p, &b)) == STAGE_MORE)
			batch_release(b);
	pipeline_end(p);
	const bool ok = is_well(s) && !pipeline_pass_failed(p, status);
	s->bytes = p->context.bytes;
	s->found = p->select.found;
	p->select.found = NULL;
	if (p->context.refused[0] != '\0') {
		s->is_refused = true;
		memcpy(s->why, p->context.refused, sizeof s->why);
	}
	pipeline_close(p);
	return ok && record_marks_finish(&s->marks, false);
}

static void set_reason(struct split *s)
{
	if (s->too_many)
		(void)snprintf(s->why, sizeof s->why,
		               "the trace would be divided into more than %d parts, which is as many as "
		               "there may be",
		               SPLIT_MAX_PARTS);
	else if (s->why[0] == '\0' && s->no_memory)
		(void)snprintf(s->why, sizeof s->why, "the system gives no more memory");
	else if (s->why[0] == '\0')
		record_marks_reason(&s->marks, s->why, sizeof s->why);
}

bool split_plan(struct split *s, const struct pipeline_job *of)
{
	struct pipeline *const p = malloc(sizeof *p);
	struct pipeline_job job = pass_job(of);

	job.in.operands = &s->operands;
	job.read.want = WANT_TIMES | WANT_STRUCTURE | (of->read.want & WANT_ORDER);
	job.read.interpret = INTERPRET_SPANS;
	job.to.sink = pipeline_note_why;
	job.to.ctx = &s->marks.why;
	job.choice.select = of->choice.select;
	job.choice.split = s;
	job.choice.marks = &s->marks;
	job.to.hooks = (struct pipeline_hooks){ .opened = is_opened, .ctx = s };
	s->selects = !select_is_any(of->choice.select);
	s->marks =
	    (struct record_marks){ .state = MARKS_GATHERING, .has_parts = true, .planned = &s->marks.set };
	s->marks.note = s->by == SPLIT_SIZE ? note_units : NULL;
	s->marks.note_ctx = s;
	s->marks.format = of->read.copy_of;
	s->marks.set.temp_near = of->arrange.temp_near;
	s->marks.others = calloc(PIPELINE_BATCH_EVENTS, sizeof *s->marks.others);
	if (of->read.as == READ_MEANING)
		s->marks.state = MARKS_NOT;
	bool ok = p != NULL && s->marks.others != NULL &&
	          operands_init(&s->operands, of->in.paths, of->in.npaths, of->in.from);
	s->no_memory = !ok;
	if (ok) {
		s->marks.shift = record_marks_shift(operands_count(&s->operands)) - SPLIT_BITS;
		ok = gather_parts(s, p, &job);
	}
	free(p);
	ok = ok && split_finish(s);
	if (!ok)
		set_reason(s);
	s->planned = true;
	return ok;
}

/* ---- the parts of a split, read at once ---- */

bool split_route_fill(struct split_route *r, struct pipeline *p)
{
	enum stage_status status = STAGE_BAD;
	struct batch *b;
	bool ok = split_route_begin(r, &p->job->arrange, &p->faults);

	while (ok && (status = pipeline_next(p, &b)) == STAGE_MORE) {
		ok = split_route_add(r, b, &p->faults);
		batch_release(b);
	}
	return ok && status == STAGE_END && split_route_end(r, &p->faults);
}

struct stage *split_route_part(struct split_route *r, struct pipeline *to, uint32_t part)
{
	return split_route_stage(r, part, &to->pool, &to->select, &to->faults);
}
