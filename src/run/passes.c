/* Passes: separate runs over the inputs of a job, before the requested run.  They find the range of times
 * that a window counts from, the records of a selection, and the parts of a split.  Findings of a pass are
 * not reported, as the requested run finds them again; the first failure is the reason why the pass
 * failed. */
#include <stdio.h>
#include <stdlib.h>

#include "run/choose/route.h"
#include "run/engine_losses.h"
#include "run/private.h"
#include "run/read/reading.h"

/* Findings about the bytes recur in the reporting pass; faults of the system may not. */
static void note_why(void *ctx, const struct findings *j, const struct finding *f)
{
	struct pipeline_why *const why = ctx;

	(void)j;
	if (why->text[0] == '\0' && input_rule_is_failure(f->rule))
		(void)snprintf(why->text, sizeof why->text, "%s", f->message);
}

bool pipeline_pass_failed(const struct pipeline *pass, enum stage_status status)
{
	const struct input_files *const files = pass->job->in.files;

	return status != STAGE_END || pass->context.system_failed || pass->context.incomplete ||
	       (files != NULL && atomic_load(&files->changed));
}

struct trace_input pass_inputs(const struct pipeline_job *of)
{
	struct trace_input in = of->in;

	/* the operand's list or opened input is only for the first pass */
	in.operand = NULL;
	in.input = NULL;
	in.batches = NULL; /* those of a pass may have other members */
	return in;
}

bool pipeline_pass(const struct pass *pass)
{
	const struct pipeline_job job = {
		.in = pass->in,
		.read = pass->read,
		.choice = pass->choice,
		.adjust = { .max_repeat = pass->max_repeat },
		.to = { .sink = note_why, .ctx = pass->why, .hooks = pass->hooks },
	};
	enum stage_status status = STAGE_BAD;
	struct pipeline *p;
	struct batch *b;
	bool more = true;

	if (pipeline_open(&p, &job))
		while (more && (status = pipeline_next(p, &b)) == STAGE_MORE) {
			more = pass->take == NULL || pass->take(pass->ctx, b);
			batch_release(b);
		}
	pipeline_end(p);
	const bool ok = p != NULL && !pipeline_pass_failed(p, status);
	if (!ok && p != NULL && pass->why != NULL && pass->why->text[0] == '\0') {
		const struct input_files *const files = pass->in.files;
		const bool changed = files != NULL && atomic_load(&files->changed);
		(void)snprintf(pass->why->text, sizeof pass->why->text, "%s",
		               p->context.why[0] == '\0' && changed ? files->changed_why : p->context.why);
	}
	if (p != NULL && pass->ended != NULL)
		pass->ended(pass->ctx, p);
	pipeline_close(p);
	return ok;
}

/* A pass over the inputs of a pipeline before its first event. */
static struct pass pass_before(struct pipeline *p, struct pipeline_why *why)
{
	struct pass pass = {
		.in = pass_inputs(p->job),
		.read = { .want = WANT_TIMES | (p->job->read.want & WANT_ORDER),
		          .interpret = p->job->read.interpret,
		          .unreported = true,
		          .ahead = p->job->read.ahead },
		.max_repeat = p->job->adjust.max_repeat,
		.why = why,
	};

	pass.in.operands = &p->reading->operands;
	pass.in.vocabularies = p->context.vocabularies;
	return pass;
}

/* ---- the range of times ---- */

static bool extend_range(void *ctx, const struct batch *b)
{
	select_range_extend(ctx, b);
	return true;
}

static void note_epoch(void *ctx, struct pipeline *p)
{
	struct select_range *const r = ctx;

	r->epoch_known = p->trace.epoch_known;
	r->epoch = p->trace.epoch_ns;
	r->zero = p->trace.zero_ns;
}

bool pass_find_range(struct pipeline *of, struct select_range *r)
{
	struct pipeline_why why = { "" };
	struct reader_range read = { .first = UINT64_MAX };
	struct pass pass = pass_before(of, &why);

	*r = (struct select_range){ .first = UINT64_MAX };
	pass.read.want &= ~(unsigned)WANT_ORDER; /* streams have the same times in any order */
	pass.read.unnamed = pass.read.unplaced = true;
	pass.take = extend_range;
	pass.ended = note_epoch;
	pass.ctx = r;
	pass.read.range = of->job->in.nschemas == 0 ? &read : NULL;
	const bool ok = pipeline_pass(&pass);
	if (read.first <= read.last) {
		r->known = true;
		r->first = read.first < r->first ? read.first : r->first;
		r->last = read.last > r->last ? read.last : r->last;
	}
	return ok || pipeline_failed(of, pipeline_why_text(&why));
}

/* ---- marks of records ---- */

/* The first input that can be read shows whether records are copied at all. */
static bool is_copied(void *ctx, const struct source *s)
{
	struct record_marks *const m = ctx;

	if (m->format == NULL || s->format == m->format)
		return true;
	m->state = MARKS_NOT;
	return false;
}

static void take_selection(void *ctx, struct pipeline *pass)
{
	struct pipeline *const p = ctx;
	const struct loss *const lost = &engine_losses[ENGINE_LOSS_TOO_MANY_OPEN];
	const struct ledger *const l = &pass->interpret.pairing.ledger;

	for (size_t i = 0; i < l->n; i++)
		if (l->rows[i].loss == lost)
			ledger_add(&p->ledger, lost,
			           l->rows[i].first_offset & ((UINT64_C(1) << p->marks.shift) - 1),
			           l->rows[i].count);
	p->marks.found = pass->select.found;
	pass->select.found = NULL;
	memcpy(p->context.refused, pass->context.refused, sizeof p->context.refused);
}

/* Notes all selected records.  false: it failed. */
static bool gather_marks(struct pipeline *p, const struct pass *pass)
{
	struct record_marks *const m = &p->marks;
	const bool ok = pipeline_pass(pass);

	if (m->state != MARKS_GATHERING) {
		select_found_free(m->found); /* of a part of the trace */
		m->found = NULL;
		return true;
	}
	return ok && record_marks_finish(m, p->job->choice.scope != NULL);
}

/* Reports why the pass for the marks failed. */
static bool fail_marks(struct pipeline *p)
{
	char why[512];

	record_marks_reason(&p->marks, why, sizeof why);
	return pipeline_failed(p, why);
}

static void begin_set(struct pipeline *p)
{
	struct record_marks *const m = &p->marks;

	mark_set_free(&m->set);
	mark_set_free(&m->ends);
	m->set.temp_near = m->extents.temp_near = m->ends.temp_near = p->job->arrange.temp_near;
	m->set.pages = true;
	m->shift = record_marks_shift(p->reading->inputs);
}

/* Makes the marks.  false: it failed; record_marks_reason() and context.refused give the reason. */
static bool make_marks(struct pipeline *p)
{
	struct record_marks *const m = &p->marks;
	const struct select *const scope = p->job->choice.scope;

	begin_set(p);
	m->others = calloc(PIPELINE_BATCH_EVENTS, sizeof *m->others);
	m->state = MARKS_GATHERING;
	struct pass pass = pass_before(p, &m->why);
	pass.read.interpret = INTERPRET_SPANS;
	pass.read.want |= WANT_STRUCTURE | (scope != NULL ? (unsigned)WANT_BYTES : 0);
	pass.choice = (struct choice){ .marks = m, .select = scope != NULL ? scope : p->job->choice.select };
	pass.read.unnamed = !select_reads_names(pass.choice.select);
	pass.read.unplaced = !select_reads_tracks(pass.choice.select);
	pass.hooks = (struct pipeline_hooks){ .opened = is_copied, .ctx = m };
	pass.ended = take_selection;
	pass.ctx = p;
	if (m->others == NULL || !gather_marks(p, &pass))
		return false;
	if (m->state == MARKS_GATHERING)
		m->state = scope != NULL ? MARKS_SCOPE : MARKS_MADE;
	return true;
}

/* Selects records of a copy as they are read; marks are made at the first one that needs them. */
static bool choose(void *ctx, struct batch *b)
{
	struct pipeline *const p = ctx;

	return !p->context.raw || select_stage_choose(&p->select, b) || make_marks(p);
}

/* Whether the selection reads only properties that the records contain. */
static bool selects_records(const struct pipeline_job *job)
{
	const struct format *const of = job->read.copy_of;

	return of != NULL && job->read.as == READ_COPY && (of->copier->modes & COPIER_WHOLE) != 0 &&
	       job->choice.scope == NULL && !job->choice.drops && select_wants(job->choice.select) == 0;
}

bool pass_mark_records(struct pipeline *p)
{
	struct record_marks *const m = &p->marks;
	const struct select *const scope = p->job->choice.scope;

	*m = (struct record_marks){ .state = MARKS_READ_ONCE,
		                    .drops = p->job->choice.drops,
		                    .format = p->job->read.copy_of,
		                    .choose = choose,
		                    .choose_ctx = p };
	if (!pipeline_reads_twice(p->job))
		return scope == NULL || pipeline_failed(p, "--scope reads the input twice, and this one can "
		                                           "be read only once: read it from a file");
	if (selects_records(p->job)) {
		m->state = MARKS_WHILE_READING;
		return true;
	}
	if (make_marks(p))
		return true;
	if (p->context.refused[0] == '\0')
		return fail_marks(p);
	pipeline_refused(p, p->context.refused);
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

/* Ends the marks of records that were selected in the survey. */
static bool keep_marks(struct pipeline *p)
{
	p->marks.found = p->select.found;
	p->marks.found->complete = *p->trace.format != '\0';
	p->select.found = NULL;
	p->marks.state = MARKS_MADE;
	p->marks.has_stretches = true;
	return record_marks_finish(&p->marks, false);
}

bool record_marks_survey(struct pipeline *p, bool (*take)(void *ctx, const struct batch *b), void *ctx)
{
	struct pass pass = pass_before(p, &p->marks.why);

	pass.choice.marks = &p->marks;
	pass.read = (struct reading_mode){ .want = p->job->read.want,
		                           .as = p->job->read.as,
		                           .copy_of = p->job->read.copy_of,
		                           .ahead = p->job->read.ahead,
		                           .unreported = true };
	pass.take = take;
	pass.ctx = ctx;
	p->marks.why.text[0] = '\0';
	if (p->marks.state == MARKS_WHILE_READING)
		begin_set(p);
	p->marks.surveying = true;
	const bool ok = pipeline_pass(&pass) && (p->marks.state != MARKS_WHILE_READING || keep_marks(p));
	p->marks.surveying = false;
	return ok || fail_marks(p);
}

/* ---- the plan of a split ---- */

/* The first input that can be read shows whether records are copied, without which some parts cannot be made.
 */
static bool can_divide(void *ctx, const struct source *s)
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
	if (s->format->copier == NULL)
		(void)snprintf(split->why, sizeof split->why,
		               "--split by=stream and size= copy records, which is not possible for %s; "
		               "time= and by=pid are, and outputs named .d are in parts of their own",
		               s->format->name);
	else
		(void)snprintf(split->why, sizeof split->why,
		               "--split by=stream and size= copy records, so the output has to be in the "
		               "input's format, %s; outputs named .d are in parts of their own",
		               s->format->name);
	return false;
}

static bool may_go_on(void *ctx, const struct batch *b)
{
	const struct split *const s = ctx;

	(void)b;
	return !s->no_memory && !s->too_many && s->why[0] == '\0';
}

static bool find_first(struct split *s, const struct pipeline_job *of)
{
	if (s->by != SPLIT_TIME)
		return true;
	struct vocabularies own = { .n = 0 };
	const struct min_time m =
	    min_time_find(of, &s->operands, of->in.vocabularies != NULL ? of->in.vocabularies : &own);
	vocabularies_free(&own);
	s->first = m.known ? m.ns : 0;
	if (m.failed)
		(void)snprintf(s->why, sizeof s->why, "%s", m.why[0] != '\0' ? m.why : "out of memory");
	return !m.failed;
}

static void take_plan(void *ctx, struct pipeline *p)
{
	struct split *const s = ctx;

	s->bytes = p->context.bytes;
	s->found = p->select.found;
	p->select.found = NULL;
	if (p->context.refused[0] != '\0') {
		s->is_refused = true;
		memcpy(s->why, p->context.refused, sizeof s->why);
	}
}

static void set_reason(struct split *s)
{
	if (s->too_many)
		(void)snprintf(
		    s->why, sizeof s->why,
		    "the trace would be divided into more than %d parts, which is as many as there may be",
		    SPLIT_MAX_PARTS);
	else if (s->why[0] == '\0' && s->no_memory)
		(void)snprintf(s->why, sizeof s->why, "out of memory");
	else if (s->why[0] == '\0')
		record_marks_reason(&s->marks, s->why, sizeof s->why);
}

bool split_plan(struct split *s, const struct pipeline_job *of)
{
	struct pass pass = {
		.in = pass_inputs(of),
		.read = { .want = WANT_TIMES | WANT_STRUCTURE | (of->read.want & WANT_ORDER),
		          .interpret = INTERPRET_SPANS,
		          .unreported = true },
		.choice = { .select = of->choice.select, .split = s, .marks = &s->marks },
		.max_repeat = of->adjust.max_repeat,
		.hooks = { .opened = can_divide, .ctx = s },
		.take = may_go_on,
		.ended = take_plan,
		.ctx = s,
		.why = &s->marks.why,
	};

	pass.in.operands = &s->operands;
	s->selects = !select_is_any(of->choice.select);
	s->marks =
	    (struct record_marks){ .state = MARKS_GATHERING, .has_parts = true, .planned = &s->marks.set };
	s->marks.note = s->by == SPLIT_SIZE ? split_note : NULL;
	s->marks.note_ctx = s;
	s->marks.format = of->read.copy_of;
	s->marks.set.temp_near = of->arrange.temp_near;
	s->marks.others = calloc(PIPELINE_BATCH_EVENTS, sizeof *s->marks.others);
	if (of->read.as == READ_MEANING)
		s->marks.state = MARKS_NOT;
	bool ok =
	    s->marks.others != NULL && operands_init(&s->operands, of->in.paths, of->in.npaths, of->in.from);
	s->no_memory = !ok;
	if (ok) {
		s->marks.shift = record_marks_shift(operands_count(&s->operands)) - SPLIT_BITS;
		ok = find_first(s, of) && pipeline_pass(&pass) && may_go_on(s, NULL) &&
		     record_marks_finish(&s->marks, false);
	}
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
