/* A second, quiet pass over an input that a reader asks for while it reads. */
#include "check/input_rules.h"
#include "format/registry.h"
#include "run/pipeline.h"

#define BATCH_EVENTS 1024

/* Hands on what kept the second input from being read, other than damage that the first will meet itself.
 * false: nothing did. */
static bool
take_fault(struct input *to, const struct source *s, bool started)
{
	const struct input *const from = s->in;

	if (from == NULL || from->fault == INPUT_OK ||
	    (started && from->fault != INPUT_SYSTEM && from->fault != INPUT_SHRUNK &&
	     from->fault != INPUT_CHANGED))
		return false;
	to->fault = from->fault;
	to->fault_offset = from->fault_offset;
	memcpy(to->fault_text, from->fault_text, sizeof to->fault_text);
	return true;
}

enum look_ahead
reader_look_ahead(struct reader *asking)
{
	struct trace trace;
	struct trace_context context;
	struct source s;
	struct batch b;
	const struct pipeline_job job = { .dialect = asking->dialect,
		                          .options = asking->options,
		                          .from = asking->format,
		                          .files = asking->files };
	bool started, done = false;

	if (!input_can_reopen(asking->in))
		return LOOK_AHEAD_ONE_PASS;
	trace_init(&trace);
	trace_context_init(&context, &job, &trace, NULL, WANT_FINDINGS);
	context.quiet = true;
	context.vocabulary = asking->trace->vocabulary;
	context.ahead_of = asking->state;
	started = source_begin(&s, &context, (struct source_place){ .path = asking->in->path },
	                       input_reopen(asking->in)) &&
	          source_start(&s);
	if (started && batch_init(&b, BATCH_EVENTS, false)) {
		while (s.status == READ_MORE) {
			batch_recycle(&b);
			source_next(&s, &b);
		}
		batch_free(&b);
		done = s.status != READ_NO_MEMORY;
	}
	done &= !take_fault(asking->in, &s, started);
	source_close(&s);
	trace_context_free(&context);
	trace_free(&trace);
	return done ? LOOK_AHEAD_DONE : LOOK_AHEAD_FAILED;
}
