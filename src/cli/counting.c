/* Counts the events of a trace: of several traces, each is read by one thread; of a single one, a thread
 * reads and another one counts. */

#include "cli/say.h"
#include "cli/traces.h"

static void settle(void *ctx)
{
	const struct trace_slot *const t = ctx;
	struct trace_counted *const s = t->state;

	(void)stats_thread_settle(&s->thread);
}

/* Returns false if the trace could not be read; a finding says why. */
static bool count_events(struct trace_counted *s, struct pipeline *p)
{
	enum stage_status status;
	struct batch *b;

	while ((status = pipeline_next(p, &b)) == STAGE_MORE)
		if (!stats_thread_put(&s->thread, b))
			break;
	if (!stats_thread_settle(&s->thread) || !stats_end(&s->stats)) {
		pipeline_no_memory(p);
		return false;
	}
	return status == STAGE_END;
}

enum exit_status trace_slot_count(struct trace_slot *t, const struct trace_counting *how)
{
	struct trace_counted *const s = t->state;
	struct trace_run *const r = t->run;
	struct pipeline_job job = trace_slot_job(t);
	struct pipeline *p;

	job.read.interpret = INTERPRET_SPANS;
	job.read.want = WANT_TIMES | WANT_ORDER;
	if (group_by_needs_fields(how->by) || how->sum_of.n > 0 || how->examples.n > 0)
		job.read.want |= WANT_FIELDS;
	job.read.no_arrows = how->tables == NULL || !how->tables->flows;
	job.adjust.max_repeat = how->max_repeat;
	job.choice.keeps = true; /* spans of the whole trace nest */
	const bool tables = how->tables != NULL && stats_tables_count(how->tables) > 0;
	if (tables) {
		job.read.want |= WANT_FIELDS;
		job.arrange.order = ORDER_TIME;
	}
	job.to.hooks.settle = settle;
	const bool ok =
	    stats_init(&s->stats) && stats_group(&s->stats, how->by, how->sum_of) &&
	    stats_thread_begin(&s->thread, &s->stats, r->groups.n == 1 ? options_threads(how->threads) : 1);
	if (tables) {
		stats_tables_begin(&s->tables, how->tables);
		s->stats.tables = &s->tables;
	}
	s->stats.file = slice_str(t->path);
	s->stats.examples = how->examples;
	s->stats.hist = how->tables != NULL && how->tables->hist && how->tables->every == 0;
	const bool counted = pipeline_open(&p, &job) && ok && count_events(s, p);
	stats_thread_end(&s->thread);
	pipeline_end(p);
	trace_slot_turn(t);
	r->out.no_memory |= !ok;
	const struct run_report run = pipeline_report(p);
	if (counted && t->is_read) {
		s->stats.unpaired = run.unpaired;
		stats_describe(&s->stats, t->path, run.bytes, run.trace, run.found);
		how->report(t, &s->stats);
	}
	if (!r->options.quiet)
		say_losses(t->path, run.cut, false);
	stats_free(&s->stats);
	stats_tables_free(&s->tables);
	const enum exit_status status = say_selected(&r->options, t->path, run.found);
	pipeline_close(p);
	return status;
}
