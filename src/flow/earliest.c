#include <stdlib.h>

#include "flow/flow_parts.h"

/* A quiet pass that only looks for the least time, so that times can be counted from it. */

#define BATCH_EVENTS 1024

void
earliest_begin(struct earliest *e, struct flow *f)
{
	*e = (struct earliest){ .f = f };
	trace_init(&e->trace);
	judge_init(&e->judge, f->operand, NULL, NULL);
}

static bool
have_shared(struct earliest *e, const struct format *format, struct reader *r)
{
	const struct reader_ops *const ops = format->reader;

	if (e->format == NULL) {
		e->format = format;
		e->trace.vocabulary = flow_vocabulary(e->f, format);
		e->shared = ops->shared_size > 0 ? calloc(1, ops->shared_size) : NULL;
		e->failed = e->trace.vocabulary == NULL || (ops->shared_size > 0 && e->shared == NULL);
		struct reader whole = *r;
		whole.in = NULL;
		whole.judge = &e->judge;
		whole.shared = e->shared;
		e->failed = e->failed || (ops->open_trace != NULL && !ops->open_trace(&whole));
	}
	r->shared = e->shared;
	return !e->failed && e->format == format;
}

static void
least(struct flow *f, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		if (!f->rebased || b->events[i].ts < f->rebase_ns) {
			f->rebase_ns = b->events[i].ts;
			f->rebased = true;
		}
}

void
earliest_input(struct earliest *e, const struct format *format, struct input *in)
{
	struct flow *const f = e->f;
	struct batch b = { .cap = 0 };
	struct reader r = { .in = in,
		            .want = WANT_TIMES,
		            .dialect = f->job->dialect,
		            .options = f->job->options,
		            .trace = &e->trace,
		            .in_folder = f->in_folder };
	enum fill fill = FILL_MORE;

	if (have_shared(e, format, &r) && flow_reader_begin(&r, format) && batch_init(&b, BATCH_EVENTS, false))
		while (fill == FILL_MORE) {
			batch_recycle(&b);
			input_hold(r.in, &b.holds);
			fill = format->reader->fill(&r, &b);
			least(f, &b);
			input_behind(r.in);
		}
	batch_free(&b);
	flow_reader_end(&r, format);
	input_close(r.in);
}

void
earliest_end(struct earliest *e)
{
	if (e->shared != NULL && e->format->reader->shared_close != NULL)
		e->format->reader->shared_close(e->shared);
	free(e->shared);
	judge_free(&e->judge);
	trace_free(&e->trace);
}
