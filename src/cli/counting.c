/* Counts the events of a trace, for commands that make a table of them. */
#include <stdlib.h>

#include "cli/apart.h"
#include "cli/say.h"
#include "input/open.h"

static void ask_for(struct pipeline_job *job, const struct options *o, const struct trace_counting *how)
{
	const struct stats_tables_asked *const asked = how->tables;
	const unsigned ntables = asked != NULL ? stats_tables_count(asked) : 0;
	const bool flows = asked != NULL && asked->flows;

	job->read.interpret = INTERPRET_SPANS;
	job->read.want = WANT_TIMES | WANT_ORDER | group_by_wants(how->by) | options_want_sizes(o);
	if (how->sum_of.n > 0 || how->examples.n > 0)
		job->read.want |= WANT_FIELDS;
	job->read.no_arrows = !flows;
	job->adjust.max_repeat = how->max_repeat;
	job->choice.keeps = true;         /* spans of the whole trace must nest */
	job->choice.keeps_arrows = flows; /* their partners may be selected */
	if (ntables > 0)
		job->read.want |= WANT_NAMES | (flows ? (unsigned)WANT_ARROWS : 0);
	if (ntables > (asked != NULL && asked->imbalance != IMBALANCE_NOT)) /* that one needs no order */
		job->arrange.order = ORDER_TIME;
	job->arrange.bare = (job->read.want & WANT_FIELDS) == 0;
	job->arrange.arrows_alone = flows && ntables == 1;
}

/* Whether groups of spans have decades; else those of intervals have. */
static bool asks_decades(const struct stats_tables_asked *asked)
{
	return asked != NULL && asked->hist && asked->every == 0;
}

/* Returns false on OOM. */
static bool begin_counting(struct trace_counted *s, const struct trace_slot *t,
                           const struct trace_counting *how, unsigned threads)
{
	stats_init(&s->stats);
	s->stats.file = slice_str(t->path);
	s->stats.joins_tracks = how->joined;
	s->stats.hist = asks_decades(how->tables);
	return stats_group(&s->stats, how->by, how->sum_of) &&
	       stats_thread_begin(&s->thread, &s->stats, threads);
}

/* ---- portions that are counted apart ---- */

struct counted_apart {
	struct trace_slot *trace;
	const struct trace_counting *how;
	struct stats sum;
};

static bool begin_portion(struct apart_portion *f)
{
	const struct counted_apart *const c = f->ctx;

	ask_for(&f->job, &c->trace->run->options, c->how);
	return begin_counting(f->state, c->trace, c->how, 1);
}

static bool count_portion(struct apart_portion *f, struct batch *b)
{
	struct trace_counted *const s = f->state;

	return stats_thread_put(&s->thread, b);
}

/* Whether sums depend on the order of all values: those of counters, and of fields with floats. */
static bool has_ordered_sums(const struct stats *s)
{
	const struct span_table *const tables[] = { &s->spans, &s->async };
	bool found = s->counters.names.n > 0;

	for (unsigned i = 0; i < 2; i++) {
		found |= tables[i]->other.field.real > 0;
		for (uint32_t k = 0; k < tables[i]->cap; k++)
			found |= tables[i]->groups[k].field.real > 0;
	}
	return found;
}

static bool join_portion(struct apart_portion *f, const struct run_report *run)
{
	struct counted_apart *const c = f->ctx;
	struct stats *const s = &((struct trace_counted *)f->state)->stats;

	if (!stats_end(s) || has_ordered_sums(s))
		return false;
	if (!c->how->joined && !apart_claim_labels(f, s))
		return false;
	stats_describe(s, f->path, run->bytes, run->trace, run->found);
	return stats_merge(&c->sum, s) && apart_sum_is_exact(&c->sum);
}

static void end_portion(struct apart_portion *f)
{
	struct trace_counted *const s = f->state;

	stats_thread_end(&s->thread);
	stats_free(&s->stats);
}

static void report_sum(struct trace_slot *t, void *ctx, struct finding_log *logs, uint32_t n)
{
	struct counted_apart *const c = ctx;

	apart_say(t, logs, n);
	c->sum.origin.traces = 1;
	c->sum.origin.path = slice_str(t->path);
	t->run->out.no_memory |= !stats_end(&c->sum);
	c->how->report(t, &c->sum);
}

/* Returns false, without a report, if the trace must be counted as a whole. */
static bool count_apart(struct trace_slot *t, const struct trace_counting *how)
{
	static const struct apart_ops ops = { sizeof(struct trace_counted),
		                              begin_portion,
		                              count_portion,
		                              join_portion,
		                              end_portion,
		                              report_sum };
	const bool spans = how->tables == NULL || stats_tables_count(how->tables) == 0;
	struct counted_apart c = { .trace = t, .how = how };

	/* each portion would have the repeats that --max-repeat leaves free */
	if (!spans || how->examples.n > 0 || how->max_repeat > 0 || !apart_is_possible(t, &ops))
		return false;
	stats_init(&c.sum);
	c.sum.of_portions = true;
	c.sum.hist = asks_decades(how->tables);
	const bool ok = stats_group(&c.sum, how->by, how->sum_of) && apart_read(t, &ops, &c);
	stats_free(&c.sum);
	return ok;
}

/* ---- a trace as a whole ---- */

static void settle(void *ctx)
{
	const struct trace_slot *const t = ctx;
	struct trace_counted *const s = t->state;

	(void)stats_thread_settle(&s->thread);
}

/* Counts all events.  Returns false if the trace could not be read; a finding states the reason. */
static bool count_events(struct trace_counted *s, struct pipeline *p)
{
	enum stage_status status;
	struct batch *b;

	while ((status = pipeline_next(p, &b)) == STAGE_MORE)
		if (!stats_thread_put(&s->thread, b))
			break;
	if (!stats_thread_settle(&s->thread) || !stats_end(&s->stats))
		return pipeline_no_memory(p);
	return status == STAGE_END;
}

enum exit_status trace_slot_count(struct trace_slot *t, const struct trace_counting *how)
{
	struct trace_counted *const s = t->state;
	struct trace_run *const r = t->run;
	struct pipeline_job job = trace_slot_job(t);
	struct pipeline *p;

	if (count_apart(t, how))
		return STATUS_CLEAN;
	ask_for(&job, &r->options, how);
	job.read.ahead = read_ahead_beside(t->helpers + 1);
	job.to.hooks.settle = settle;
	const bool ok = begin_counting(s, t, how, t->helpers + 1);
	if (how->tables != NULL && stats_tables_count(how->tables) > 0) {
		stats_tables_begin(&s->tables, how->tables);
		s->stats.tables = &s->tables;
	}
	s->stats.examples = how->examples;
	const bool counted = pipeline_open(&p, &job) && ok && count_events(s, p);
	stats_thread_end(&s->thread);
	pipeline_end(p);
	trace_slot_turn(t);
	r->out.no_memory |= !ok;
	const struct run_report run = pipeline_report(p);
	if (counted && t->is_read) {
		s->stats.unpaired = run.unpaired;
		stats_describe(&s->stats, t->path, run.bytes, run.trace, run.found);
		job_parts_add(&r->parts, run.trace);
		how->report(t, &s->stats);
	}
	if (!r->options.quiet)
		say_losses(t->path, run.cut, false);
	stats_free(&s->stats);
	stats_tables_free(&s->tables);
	const enum exit_status status = say_selected(&r->options, t->path, run.found, run.trace);
	pipeline_close(p);
	return status;
}

bool table_file_read(struct stats_file *f, const char *path, bool *no_memory)
{
	struct input_whole w;
	struct shown_path why;

	*no_memory = false;
	if (!input_read_unpacked(&w, path, STATS_FILE_MAX))
		return say_of(path, "%s",
		              w.no_memory   ? "out of memory"
		              : w.too_large ? "is too large for a file of stats --full"
		                            : w.why);
	f->text = slice_of(w.p, w.n);
	const bool ok = stats_read(f);
	free(w.p);
	*no_memory = !ok && f->why[0] == '\0';
	if (!ok && !*no_memory)
		say_of(path, "%s", show_path(&why, f->why));
	return ok;
}
