#include <stdlib.h>

#include "format/registry.h"
#include "pipeline/pipeline_parts.h"

/* A second, quiet pass over an input that a reader asks for while it reads. */

#define BATCH_EVENTS 1024

/* The format whose reader this is: r does not say. */
static enum look_ahead
run(const struct format *format, struct reader *r)
{
	struct batch b;
	enum read_status status = READ_NO_MEMORY;

	if (!batch_init(&b, BATCH_EVENTS, false))
		return LOOK_AHEAD_NO_MEMORY;
	if (pipeline_reader_begin(r, format)) {
		status = READ_MORE;
		while (status == READ_MORE) {
			batch_recycle(&b);
			input_hold(r->in, &b.holds);
			status = format->reader->next(r, &b);
			input_behind(r->in);
		}
	}
	pipeline_reader_end(r, format);
	batch_free(&b);
	return status == READ_NO_MEMORY ? LOOK_AHEAD_NO_MEMORY : LOOK_AHEAD_DONE;
}

enum look_ahead
reader_look_ahead(struct reader *asking)
{
	const struct format *const format = asking->format;
	const struct trace_ops *const ops = format_trace_ops(format);
	struct trace trace;
	struct reader r = { .format = format,
		            .trace = &trace,
		            .want = WANT_FINDINGS,
		            .dialect = asking->dialect,
		            .options = asking->options,
		            .ahead_of = asking->state };
	enum look_ahead result = LOOK_AHEAD_NO_MEMORY;

	if (!input_can_reopen(asking->in))
		return LOOK_AHEAD_ONE_PASS;
	r.in = input_reopen(asking->in);
	if (r.in == NULL)
		return LOOK_AHEAD_NO_MEMORY;
	trace_init(&trace);
	trace.vocabulary = asking->trace->vocabulary;
	r.shared = ops->shared_size > 0 ? calloc(1, ops->shared_size) : NULL;
	if (ops->shared_size == 0 || r.shared != NULL)
		result = run(format, &r);
	if (r.shared != NULL && ops->close != NULL)
		ops->close(r.shared);
	free(r.shared);
	trace_free(&trace);
	input_close(r.in);
	return result;
}
