/* Runs a format's recovery over one input: the loop around recover_ops.next(), with findings of the format
 * passed to the list of changes and faults of the input to the sink. */
#include "run/write/recover.h"

#include <stdlib.h>

#include "check/rules.h"
#include "model/trace_engine.h"

/* Passes findings of the format to the recovery log, those of the input itself to the sink of the job. */
static void found(void *ctx, const struct findings *j, const struct finding *f)
{
	struct recover_run *const run = ctx;

	if (f->rule == &input_rules[INPUT_RULE_CUT] || f->rule == &input_rules[INPUT_RULE_CORRUPT])
		run->packed_damage = true;
	const bool of_input = strncmp(f->rule->id, "input/", 6) == 0;
	run->not_repaired += !of_input && run->recovery.r == NULL && f->rule->level == LEVEL_ERROR;
	if (of_input || run->recovery.r == NULL)
		run->job.to.sink(run->job.to.ctx, j, f);
	else
		recover_finding(&run->recovery, f);
}

static enum read_status read_some(struct recover_run *run, struct input_pins *pins)
{
	struct input *const in = run->source.in;

	input_pin(in, pins); /* next() borrows bytes until recover_flush() */
	const enum read_status status = run->recovery.ops->next(&run->recovery);
	recover_flush(&run->recovery);
	input_pin(in, NULL);
	input_unpin(pins);
	input_release_read(in);
	if (input_shrunk(in))
		return READ_BAD;
	if (trace_failed(run->source.context->trace))
		return READ_NO_MEMORY;
	if (run->progress != NULL)
		run->progress(run->ctx, in);
	return status;
}

static void read_all(struct recover_run *run)
{
	struct input_pins pins = { 0 };
	struct source *const s = &run->source;

	do
		s->status = read_some(run, &pins);
	while (s->status == READ_MORE && !run->recovery.failed);
	recover_end(&run->recovery);
	input_pins_free(&pins);
}

static bool begin(struct recover_run *run)
{
	const struct recover_ops *const ops = run->source.format->recover;

	run->recovery = (struct recovery){
		.ops = ops,
		.sort = run->sort,
		.put = run->put,
		.list = run->list,
		.ctx = run->ctx,
		.r = &run->source.reader,
		.state = calloc(1, ops->state_size > 0 ? ops->state_size : 1),
	};
	if (run->recovery.state == NULL)
		source_no_memory(&run->source);
	return run->recovery.state != NULL;
}

bool recover_run(struct recover_run *run, struct input *in)
{
	struct source *const s = &run->source;
	struct pipeline_job job = run->job;
	struct trace_context context;
	struct trace trace;

	job.to.sink = found;
	job.to.ctx = run;
	trace_init(&trace);
	trace_context_init(&context, &job, &trace, NULL, WANT_FINDINGS);
	bool ok = source_begin(s, &context, run->location, in) && source_start(s) &&
	          run->opened(run->ctx, s) && begin(run);
	if (ok)
		read_all(run);
	source_end(s);
	run->unreadable = s->unreadable || context.system_failed;
	ok = ok && !run->unreadable && !run->recovery.failed;
	source_close(s);
	trace_context_free(&context);
	if (run->recovery.state != NULL && run->recovery.ops->close != NULL)
		run->recovery.ops->close(&run->recovery);
	free(run->recovery.state);
	run->recovery.state = NULL;
	trace_free(&trace);
	return ok;
}
