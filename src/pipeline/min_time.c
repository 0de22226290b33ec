#include <stdlib.h>

#include "pipeline/pipeline_parts.h"

/* A quiet pass that only looks for the least time, so that times can be counted from it. */

#define BATCH_EVENTS 1024

void
min_time_begin(struct min_time *e, struct pipeline *f)
{
	*e = (struct min_time){ .f = f };
	trace_init(&e->trace);
	findings_init(&e->findings, f->operand, NULL, NULL);
}

static bool
have_shared(struct min_time *e, const struct format *format, struct reader *r)
{
	const struct trace_ops *const ops = format_trace_ops(format);

	if (e->format == NULL) {
		e->format = format;
		e->trace.vocabulary = pipeline_vocabulary(e->f, format);
		e->shared = ops->shared_size > 0 ? calloc(1, ops->shared_size) : NULL;
		e->failed = e->trace.vocabulary == NULL || (ops->shared_size > 0 && e->shared == NULL);
		struct reader whole = *r;
		whole.in = NULL;
		whole.findings = &e->findings;
		whole.shared = e->shared;
		e->failed = e->failed || (ops->open != NULL && !ops->open(&whole));
	}
	r->shared = e->shared;
	return !e->failed && e->format == format;
}

static void
least(struct pipeline *f, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		if (!f->rebased || b->events[i].ts < f->rebase_ns) {
			f->rebase_ns = b->events[i].ts;
			f->rebased = true;
		}
}

void
min_time_input(struct min_time *e, const struct format *format, struct input *in)
{
	struct pipeline *const f = e->f;
	struct batch b = { .cap = 0 };
	struct reader r = { .format = format,
		            .in = in,
		            .want = WANT_TIMES,
		            .dialect = f->job->dialect,
		            .options = f->job->options,
		            .trace = &e->trace,
		            .in_folder = f->in_folder };
	enum read_status status = READ_MORE;

	if (have_shared(e, format, &r) && pipeline_reader_begin(&r, format) &&
	    batch_init(&b, BATCH_EVENTS, false))
		while (status == READ_MORE) {
			batch_recycle(&b);
			input_hold(r.in, &b.holds);
			status = format->reader->next(&r, &b);
			least(f, &b);
			input_behind(r.in);
		}
	batch_free(&b);
	pipeline_reader_end(&r, format);
	input_close(r.in);
}

void
min_time_end(struct min_time *e)
{
	if (e->shared != NULL && format_trace_ops(e->format)->close != NULL)
		format_trace_ops(e->format)->close(e->shared);
	free(e->shared);
	findings_free(&e->findings);
	trace_free(&e->trace);
}
