/* Builds the stages of a run, in the order of run/pipeline.h, and lists new tracks and classes in the batches
 * of the last one.  Faults of stages become findings of the input that is being read; without one, or at the
 * end, of `rest`, a source without an input. */

#include <stdio.h>
#include <stdlib.h>

#include "check/rules.h"
#include "base/compiler.h"
#include "input/open.h"
#include "run/choose/route.h"
#include "run/join.h"
#include "run/private.h"
#include "run/read/reading.h"

/* ---- faults ---- */

static void report_closed(struct source *s)
{
	const struct pipeline_hooks *const hooks = &s->context->job->to.hooks;

	if (hooks->closed != NULL)
		hooks->closed(hooks->ctx, s);
	source_close(s);
}

/* The source that a fault is reported for. */
static struct source *faulty_source(struct pipeline *p)
{
	ahead_stop(p->ahead);
	struct source *const current = p->reading != NULL ? reading_present(p->reading) : NULL;

	if (current == NULL && !p->rest_begun)
		p->rest = source_of_findings(&p->context, p->job->in.paths[0]);
	p->rest_begun |= current == NULL;
	return current != NULL ? current : &p->rest;
}

bool pipeline_no_memory(struct pipeline *p)
{
	if (p != NULL)
		source_no_memory(faulty_source(p));
	return false;
}

/* Reports that there is no memory for a pipeline. */
static void report_no_pipeline(const struct pipeline_job *job)
{
	struct trace trace;
	struct trace_context c;

	trace_init(&trace);
	trace_context_init(&c, job, &trace, job->in.vocabularies, 0);
	struct source s = source_of_findings(&c, job->in.paths[0]);
	source_no_memory(&s);
	report_closed(&s);
	trace_context_free(&c);
	input_close(job->in.input);
}

bool pipeline_failed(struct pipeline *p, const char *why)
{
	struct source *const s = faulty_source(p);

	finding_add(&s->findings, &input_rules[INPUT_RULE_SYSTEM], 0, 0, "%s", why);
	s->unreadable = p->context.system_failed = true;
	return false;
}

void pipeline_refused(struct pipeline *p, const char *why)
{
	struct source *const s = faulty_source(p);

	if (why != p->context.refused) /* why may be context.refused itself, for another source */
		snprintf(p->context.refused, sizeof p->context.refused, "%s", why);
	s->unreadable = p->context.system_failed = true;
}

enum stage_status pipeline_stop_no_memory(struct pipeline *p, struct batch *b)
{
	pipeline_no_memory(p);
	batch_release(b);
	return STAGE_BAD;
}

/* ---- traces ---- */

static struct trace *out_trace(struct pipeline *p)
{
	return p->rebinding.p != NULL ? &p->rebound : &p->trace;
}

const struct trace *pipeline_trace(struct pipeline *p)
{
	static const struct trace none = { .format = "", .dialect = "", .clock = "unknown" };

	if (p == NULL)
		return &none;
	if (p->rebinding.p != NULL)
		rebind_facts(&p->rebind, &p->trace);
	return out_trace(p);
}

bool pipeline_join_lanes(struct pipeline *p, const struct lanes *later)
{
	return lanes_join(&p->lanes, out_trace(p)) && lanes_join(later, out_trace(p));
}

/* ---- building the stages ---- */

static void add_stage(struct pipeline *p, struct stage *st,
                      enum stage_status (*next)(struct stage *, struct batch **))
{
	st->next = next;
	st->from = p->last;
	p->last = st;
}

static void add_short_stage(struct pipeline *p, struct short_stage *st,
                            enum stage_status (*next)(struct stage *, struct batch **))
{
	st->p = p;
	add_stage(p, &st->stage, next);
}

/* The marks of a selection of raw events; or, in the pass that finds them, those to fill. */
static bool begin_marks(struct pipeline *p)
{
	const struct pipeline_job *const job = p->job;

	const bool copies = job->choice.select != NULL && job->read.as != READ_MEANING;

	if (job->choice.marks == NULL && job->choice.split != NULL)
		pass_use_split(p);
	else if (job->choice.marks == NULL && (copies || job->choice.scope != NULL) && !pass_mark_records(p))
		return false;
	p->context.marks = job->choice.marks != NULL ? job->choice.marks : &p->marks;
	p->interpret.others = job->choice.marks != NULL ? job->choice.marks->others : NULL;
	return true;
}

/* false after a finding. */
static bool begin_select(struct pipeline *p)
{
	struct select_range r;

	if (!select_stage_begin(&p->select, &p->job->choice, p->job->read.want, &p->trace, &p->faults))
		return false;
	if (!select_needs_range(p->job->choice.select) || p->select.waits || !pipeline_reads_twice(p->job))
		return true;
	if (pass_find_range(p, &r))
		return select_stage_set_range(&p->select, &r);
	select_stage_select_none(&p->select);
	return true;
}

/* Adds the stage that reads several traces.  Returns false after a finding. */
static bool begin_joining(struct pipeline *p)
{
	if ((p->joining = joining_new(p)) == NULL)
		return pipeline_no_memory(p);
	p->last = joining_stage(p->joining);
	p->trace.zero_ns = p->job->adjust.rebase ? 0 : p->job->adjust.join->zero_ns;
	p->rebase.signed_time = p->job->adjust.from_zero && p->trace.zero_ns > 0;
	if (p->job->adjust.from_zero && !p->job->adjust.rebase)
		add_short_stage(p, &p->zeroing, short_zero);
	return true;
}

/* Stages that limit texts and move times. */
static void add_limits(struct pipeline *p)
{
	if ((p->job->read.want & WANT_TIMES) != 0 && !p->job->read.unnamed) {
		p->read = p->context.read;
		repeats_init(&p->repeats, &p->trace, p->job->adjust.max_repeat, &p->cuts,
		             p->job->adjust.anonymise);
		add_short_stage(p, &p->repeating, short_repeats);
	}
	if (p->job->adjust.rebase)
		add_short_stage(p, &p->rebasing, short_rebase);
	else if (p->job->adjust.from_zero)
		add_short_stage(p, &p->zeroing, short_zero);
}

/* Finds the least time, if the input can be read twice.  false after a finding. */
static bool begin_rebase(struct pipeline *p)
{
	const struct min_time m = min_time_find(p->job, &p->reading->operands, p->context.vocabularies);

	if (m.failed && m.why[0] != '\0')
		pipeline_failed(p, m.why);
	else if (m.failed)
		pipeline_no_memory(p);
	p->rebase.known = m.known;
	p->rebase.by = m.ns;
	p->rebase.signed_time = !m.complete;
	return !m.failed;
}

/* Whether reading may be worth a thread.  If the first input can be read again, it is a file, and reading it
 * does not wait for other programs. */
static bool reads_ahead(const struct pipeline *p)
{
	const struct pipeline_job *const job = p->job;
	const struct record_marks *const marks = p->context.marks;

	return job->read.ahead >= READ_AHEAD_IF_IDLE &&
	       (job->read.as == READ_MEANING || job->read.copy_of != NULL) && job->adjust.anonymise == NULL &&
	       job->choice.split == NULL &&
	       (marks->state == MARKS_NOT || marks->state == MARKS_MADE ||
	        (marks->state == MARKS_GATHERING && marks->note == NULL)) &&
	       pipeline_reads_twice(job);
}

static bool begin_ahead(struct pipeline *p)
{
	const bool if_worth = !job_reads_ahead(p->job);
	const struct ahead_rule rule = { &p->context.raw, p->context.marks->state == MARKS_MADE,
		                         if_worth && p->job->read.ahead == READ_AHEAD_IF_SLOW,
		                         if_worth && p->job->read.ahead == READ_AHEAD_IF_IDLE };

	if ((p->ahead = ahead_new(p->last, rule)) == NULL)
		return pipeline_no_memory(p);
	p->trace.arena.gate = p->context.gate = ahead_gate(p->ahead);
	p->last = ahead_stage(p->ahead);
	return true;
}

/* Finds the zero of the times if it must be known before the inputs are read: several inputs share it. */
static void find_zero(struct pipeline *p)
{
	const struct pipeline_job *const job = p->job;
	const bool from_zero = job->adjust.from_zero && !job->adjust.rebase;

	if (!from_zero && p->reading->inputs <= 1)
		return;
	if (from_zero)
		reading_open_first(p->reading);
	p->trace.zero_ns = zero_time_find(job, &p->reading->operands, p->reading->first);
	p->rebase.signed_time = from_zero && p->trace.zero_ns > 0;
}

/* Adds the stages for the inputs of one trace, up to the selection.  Returns false after a finding. */
static bool begin_reading(struct pipeline *p)
{
	const struct pipeline_job *const job = p->job;

	if ((p->reading = reading_new(&p->context, p->pool)) == NULL)
		return pipeline_no_memory(p);
	find_zero(p);
	if (!begin_marks(p))
		return false;
	p->last = &p->reading->stage;
	if (reads_ahead(p) && !begin_ahead(p))
		return false;
	if (job->read.interpret != INTERPRET_NOT) {
		p->finishing = job->read.interpret == INTERPRET_SPANS;
		add_short_stage(p, &p->interpreting, short_interpret);
	}
	if (job->choice.select != NULL && p->marks.state != MARKS_MADE) {
		if (!begin_select(p))
			return false;
		p->select.chosen = p->marks.state == MARKS_WHILE_READING ? &p->context.raw : NULL;
		add_stage(p, &p->select.stage, select_stage_next);
	}
	if (job->adjust.rebase && !begin_rebase(p))
		return false;
	if (job->choice.split == NULL || job->choice.part != SPLIT_ALL) /* else for each part */
		add_limits(p);
	return true;
}

/* Stages that sort events, including lanes. */
static void add_order(struct pipeline *p)
{
	const struct pipeline_job *const job = p->job;

	p->lanes.bias = (uint64_t)p->rebase.signed_time << 63;
	if (job->arrange.lanes != LANES_NONE && job->arrange.order == ORDER_TRACK_TIME)
		add_short_stage(p, &p->laning, short_lanes); /* lanes are tracks */
	if (job->arrange.order != ORDER_FILE) {
		p->order.arrange = &job->arrange;
		p->order.raw = &p->context.raw;
		p->order.trace = out_trace(p);
		p->order.pool = p->pool;
		p->order.faults = &p->faults;
		p->order.signed_time = p->rebase.signed_time;
		add_stage(p, &p->order.stage, order_stage_next);
	}
}

bool pipeline_reads_twice(const struct pipeline_job *job)
{
	for (size_t i = 0; i < job->in.npaths; i++)
		if (!input_is_named(job->in.paths[i]))
			return false;
	return job->in.input == NULL;
}

static void report_fault(void *ctx, enum stage_fault fault, const char *why)
{
	struct pipeline *const p = ctx;

	if (fault == STAGE_NO_MEMORY)
		pipeline_no_memory(p);
	else if (fault == STAGE_FAILED)
		pipeline_failed(p, why);
	else
		pipeline_refused(p, why);
}

/* A pipeline without stages; NULL: OOM. */
static struct pipeline *new_pipeline(const struct pipeline_job *job, unsigned want)
{
	struct pipeline *const p = malloc(sizeof *p);

	if (p == NULL)
		return NULL;
	*p = (struct pipeline){ .job = job, .faults = { report_fault, p } };
	lanes_init(&p->lanes, job->arrange.lanes == LANES_COUNT);
	trace_init(&p->trace);
	p->trace.wants_stacks = (want & WANT_STACKS) != 0;
	trace_context_init(&p->context, job, &p->trace,
	                   job->in.vocabularies != NULL ? job->in.vocabularies : &p->vocabularies, want);
	interpret_init(&p->interpret, &p->trace, job->read.interpret, want);
	p->interpret.unnamed = job->read.unnamed;
	p->interpret.no_arrows |= job->read.no_arrows;
	return p;
}

/* Uses batches of its own. */
static bool begin_pool(struct pipeline *p, bool with_bytes)
{
	p->pool = &p->own_pool;
	return batch_pool_init(&p->own_pool, PIPELINE_BATCH_EVENTS, with_bytes) || pipeline_no_memory(p);
}

bool pipeline_open(struct pipeline **out, const struct pipeline_job *job)
{
	const unsigned want =
	    job->read.want | (job->choice.select != NULL ? select_wants(job->choice.select) : 0);
	struct pipeline *const p = *out = new_pipeline(job, want);

	if (p == NULL) {
		report_no_pipeline(job);
		return false;
	}
	p->pool = job->in.batches;
	if (p->pool == NULL && !begin_pool(p, (job->read.want & WANT_BYTES) != 0))
		return false;
	if (!(job->adjust.join != NULL ? begin_joining(p) : begin_reading(p)))
		return false;
	if (job->adjust.anonymise != NULL) {
		trace_init(&p->rebound);
		rebind_init(&p->rebind, &p->rebound);
		p->rebind.anonymise = job->adjust.anonymise;
		p->rebind.bias = (uint64_t)p->rebase.signed_time << 63;
		add_short_stage(p, &p->rebinding, short_rebind);
	}
	add_order(p);
	p->opened = true;
	return true;
}

bool pipeline_open_part(struct pipeline **out, const struct pipeline_job *job, struct pipeline *of,
                        struct split_route *r, uint32_t part)
{
	struct pipeline *const p = *out = new_pipeline(job, job->read.want);

	if (p == NULL)
		return false;
	p->trace = of->trace;
	p->lent_tracks = of->trace.ntracks;
	trace_init(&of->trace);
	p->context.read = of->context.read;
	for (uint32_t i = 0; i < p->trace.ntracks; i++) { /* set by the writer of another part */
		p->trace.tracks[i]->declared = NULL;
		p->trace.tracks[i]->hidden = false;
	}
	for (uint32_t i = 0; i < p->trace.nclasses; i++)
		p->trace.classes[i]->declared = NULL;
	if (!begin_pool(p, false))
		return false;
	p->select.choice = &job->choice;
	p->select.trace = &p->trace;
	p->rebase = of->rebase;
	p->last = split_route_stage(r, part, p->pool, &p->select, &p->faults);
	add_limits(p);
	add_order(p);
	p->opened = true;
	return true;
}

void pipeline_close_part(struct pipeline *p, struct pipeline *of)
{
	if (p == NULL)
		return;
	pipeline_end(p);
	of->trace = p->trace;
	of->trace.ntracks = p->lent_tracks;
	trace_init(&p->trace);
	pipeline_close(p);
}

/* Whether the select stage knows the tracks of the selected events. */
static bool knows_selected(const struct pipeline *p)
{
	return p->select.choice != NULL && (p->select.chosen == NULL || !*p->select.chosen);
}

/* Whether only tracks with selected events are listed; a trace of pseudonyms has no others. */
static bool shows_selected(const struct pipeline *p)
{
	return knows_selected(p) && p->rebinding.p == NULL;
}

/* Lists new tracks and classes in memory of the batch, as the arrays of the trace may move. */
static bool list_new(struct pipeline *p, struct batch *b)
{
	const struct trace *const t = out_trace(p);
	struct track *const *const all = shows_selected(p) ? p->select.tracks : t->tracks;
	const uint32_t all_tracks = shows_selected(p) ? p->select.ntracks : t->ntracks,
	               tracks = all_tracks - p->shown_tracks, classes = t->nplanned - p->shown_classes;

	if (tracks + classes == 0)
		return true;
	struct track **const k = arena_alloc(&b->scratch, tracks * sizeof *k);
	struct class **const c = arena_alloc(&b->scratch, classes * sizeof *c);
	if (k == NULL || c == NULL)
		return false;
	if (tracks > 0)
		memcpy(k, all + p->shown_tracks, tracks * sizeof *k);
	if (classes > 0)
		memcpy(c, t->planned + p->shown_classes, classes * sizeof *c);
	b->tracks = k;
	b->classes = c;
	b->ntracks = tracks;
	b->nclasses = classes;
	p->shown_tracks = all_tracks;
	p->shown_classes = t->nplanned;
	return true;
}

/* At the end: a batch that lists tracks and classes without events. */
static enum stage_status list_rest(struct pipeline *p, struct batch **out)
{
	*out = NULL;
	if (!trace_plan_rest(&p->trace))
		return pipeline_stop_no_memory(p, NULL);
	if (knows_selected(p))
		select_stage_hide(&p->select);
	if (p->rebinding.p != NULL && !p->rest_rebound) {
		p->rest_rebound = true;
		if (!rebind_rest(&p->rebind, &p->trace))
			return pipeline_stop_no_memory(p, NULL);
	}
	const struct trace *const t = out_trace(p);
	if (p->shown_tracks == (shows_selected(p) ? p->select.ntracks : t->ntracks) &&
	    p->shown_classes == t->nclasses)
		return STAGE_END;
	*out = batch_pool_take(p->pool);
	return *out != NULL && list_new(p, *out) ? STAGE_MORE : pipeline_stop_no_memory(p, *out);
}

/* ---- running ---- */

enum stage_status pipeline_next(struct pipeline *p, struct batch **out)
{
	if (p == NULL || !p->opened)
		return STAGE_BAD;
	const enum stage_status status = stage_next(p->last, out);
	if (status == STAGE_END && p->job->read.want != WANT_FINDINGS)
		return list_rest(p, out);
	if (status != STAGE_MORE)
		return status;
	if (!list_new(p, *out) || !lanes_list(&p->lanes, *out))
		return pipeline_stop_no_memory(p, *out);
	return status;
}

enum stage_status pipeline_drain(struct pipeline *p)
{
	enum stage_status status;
	struct batch *b;

	while ((status = pipeline_next(p, &b)) == STAGE_MORE)
		batch_release(b);
	return status;
}

/* After the last input: reports findings of the whole trace, and runs its checks if all of it was read. */
static void check_trace(struct pipeline *p)
{
	struct trace_context *const c = &p->context;
	struct source s = {
		.context = c, .format = c->format, .dialect = p->trace.dialect, .open = true, .as_whole = true
	};

	if (c->findings.path == NULL || p->job->in.portion == PORTION_FILES)
		return;
	s.findings = c->findings;
	s.findings.list = p->job->to.list;
	c->findings = (struct findings){ .path = NULL };
	findings_pass_all(&s.findings, &c->deferred);
	s.location.path = s.location.operand = s.findings.path;
	s.location.in_folder = p->reading->operands.list[0].folder;
	s.unreadable = c->unreadable || c->incomplete;
	s.reader = source_reader(&s, &s.findings);
	if (c->lacks_inputs)
		snprintf(s.reader.unreadable, sizeof s.reader.unreadable, "an input cannot be read");
	if (p->reading->ended == STAGE_END && c->shared != NULL && format_trace_ops(c->format)->check != NULL)
		format_trace_ops(c->format)->check(&s.reader);
	if (s.findings.ncounts > 0 || s.unreadable)
		report_closed(&s);
	else
		source_close(&s);
}

void pipeline_end(struct pipeline *p)
{
	if (p == NULL || p->ended)
		return;
	p->ended = true;
	ahead_stop(p->ahead);
	if (p->reading != NULL)
		reading_end(p->reading);
	if (p->joining != NULL)
		joining_end(p->joining);
	if (p->rest_begun)
		report_closed(&p->rest);
	p->rest_begun = false;
	check_trace(p);
	if (p->job->to.list != NULL) /* the list has the deferred findings */
		arena_move(p->job->to.list->arena, &p->context.deferred_arena);
}

void pipeline_close(struct pipeline *p)
{
	if (p == NULL)
		return;
	pipeline_end(p);
	ahead_free(p->ahead);
	reading_free(p->reading);
	joining_free(p->joining);
	trace_context_free(&p->context);
	interpret_free(&p->interpret);
	rebind_free(&p->rebind);
	trace_free(&p->rebound);
	order_stage_free(&p->order);
	select_stage_free(&p->select);
	select_found_free(p->marks.found);
	record_marks_free(&p->marks);
	lanes_free(&p->lanes);
	repeats_free(&p->repeats);
	ledger_free(&p->cuts);
	ledger_free(&p->ledger);
	batch_pool_free(&p->own_pool);
	trace_free(&p->trace);
	vocabularies_free(&p->vocabularies);
	free(p);
}

/* ---- results ---- */

void pipeline_losses(const struct pipeline *p, struct ledger *into)
{
	if (p == NULL)
		return;
	if (p->joining != NULL)
		joining_losses(p->joining, into);
	ledger_merge(into, &p->interpret.pairing.ledger);
	ledger_merge(into, &p->cuts);
	ledger_merge(into, &p->rebind.ledger);
	ledger_merge(into, &p->ledger);
}

static const struct select_found *found_of(struct pipeline *p)
{
	if (p->joining != NULL)
		return joining_found(p->joining);
	if (p->marks.found != NULL)
		return p->marks.found;
	return p->select.choice != NULL ? p->select.found : NULL;
}

struct select_found *pipeline_take_found(struct pipeline *p)
{
	struct select_found *const found = p != NULL ? p->marks.found : NULL;

	if (p != NULL)
		p->marks.found = NULL;
	return found;
}

const uint32_t *pipeline_parts(const struct pipeline *p)
{
	return p->marks.parts;
}

static int128 rebased_by(const struct pipeline *p)
{
	if (p->joining != NULL)
		return p->job->adjust.rebase ? p->job->adjust.join->rebased_by : 0;
	return p->rebase.known ? (int128)p->rebase.by - p->trace.zero_ns : 0;
}

bool pipeline_claims(const struct pipeline *p, struct claims *c)
{
	const struct trace_ops *const ops =
	    p != NULL && p->context.format != NULL ? format_trace_ops(p->context.format) : NULL;

	return ops != NULL && ops->claims != NULL && p->context.shared != NULL &&
	       ops->claims(p->context.shared, &p->trace, c);
}

struct run_report pipeline_report(struct pipeline *p)
{
	static const struct ledger none = { .n = 0 };

	if (p == NULL)
		return (struct run_report){ .trace = pipeline_trace(p),
			                    .failed = true,
			                    .refused = "",
			                    .pairs = &none,
			                    .cut = &none };
	return (struct run_report){
		.job = p->job,
		.format = p->context.format,
		.trace = pipeline_trace(p),
		.operands = p->reading != NULL ? &p->reading->operands : NULL,
		.bytes = p->context.bytes,
		.raw = p->context.raw,
		.marked =
		    p->marks.state == MARKS_MADE || (p->marks.state == MARKS_WHILE_READING && p->context.raw),
		.failed = p->context.system_failed,
		.refused = p->context.refused,
		.signed_time = p->rebase.signed_time,
		.rebased_by = rebased_by(p),
		.unpaired = p->interpret.pairing.unpaired,
		.pairs = &p->interpret.pairing.ledger,
		.cut = &p->cuts,
		.readable = p->rebinding.p != NULL ? &p->rebind.readable : NULL,
		.found = p->ended ? found_of(p) : NULL,
	};
}
