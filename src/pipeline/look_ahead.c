/* A second, quiet pass over an input that a reader asks for while it reads. */
#include "check/input_rules.h"
#include "format/registry.h"
#include "pipeline/pipeline.h"

#define BATCH_EVENTS 1024

/* The pass is quiet, but why it could not be made has to be said. */
static void
say_fault(struct reader *asking, const struct source *s)
{
	if (s->in != NULL && s->in->fault == INPUT_SYSTEM)
		finding_add(asking->findings, &input_rules[INPUT_RULE_SYSTEM], s->in->fault_offset, 0,
		            "cannot be read a second time: %s", s->in->fault_text);
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
		                          .from = asking->format };
	enum look_ahead result = LOOK_AHEAD_NO_MEMORY;

	if (!input_can_reopen(asking->in))
		return LOOK_AHEAD_ONE_PASS;
	trace_init(&trace);
	trace_context_init(&context, &job, &trace, NULL, WANT_FINDINGS);
	context.quiet = true;
	context.vocabulary = asking->trace->vocabulary;
	context.ahead_of = asking->state;
	if (source_begin(&s, &context, (struct source_place){ .path = asking->in->path },
	                 input_reopen(asking->in)) &&
	    source_start(&s) && batch_init(&b, BATCH_EVENTS, false)) {
		while (s.status == READ_MORE) {
			batch_recycle(&b);
			source_next(&s, &b);
		}
		batch_free(&b);
		result = s.status == READ_NO_MEMORY || s.in->fault == INPUT_SYSTEM ? LOOK_AHEAD_NO_MEMORY
		                                                                   : LOOK_AHEAD_DONE;
	}
	if (result == LOOK_AHEAD_NO_MEMORY)
		say_fault(asking, &s);
	source_close(&s);
	trace_context_free(&context);
	trace_free(&trace);
	return result;
}
