/* A second, quiet pass over an input that a reader asks for while it reads. */
#include "format/registry.h"
#include "pipeline/pipeline.h"

#define BATCH_EVENTS 1024

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
		result = s.status == READ_NO_MEMORY ? LOOK_AHEAD_NO_MEMORY : LOOK_AHEAD_DONE;
	}
	source_close(&s);
	trace_context_free(&context);
	trace_free(&trace);
	return result;
}
