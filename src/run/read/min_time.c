#include "run/read/min_time.h"

#include <stdio.h>

#include "run/pipeline.h"

#define BATCH_EVENTS 1024

static void
take_least(struct min_time *m, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		if (!m->known || b->events[i].ts < m->ns) {
			m->ns = b->events[i].ts;
			m->known = true;
		}
}

/* Takes over the input; NULL: it cannot be read twice. */
static void
look_through(struct min_time *m, struct trace_context *c, struct source_place place, struct input *in)
{
	struct source s;
	struct batch b;

	if (in == NULL || !input_can_reopen(in)) {
		m->complete &= in != NULL && in->p == in->end; /* what holds nothing is no matter */
		if (in != NULL && (in->fault == INPUT_SYSTEM || in->fault == INPUT_CHANGED)) {
			snprintf(m->why, sizeof m->why, "%s", in->fault_text);
			m->failed = true;
		}
		input_close(in);
		return;
	}
	if (source_begin(&s, c, place, in) && source_start(&s)) {
		m->failed |= !batch_init(&b, BATCH_EVENTS, false);
		while (!m->failed && s.status == READ_MORE) {
			batch_recycle(&b);
			source_next(&s, &b);
			take_least(m, &b);
		}
		batch_free(&b);
	}
	if (s.in != NULL && (input_shrunk(s.in) || s.in->fault == INPUT_SYSTEM))
		snprintf(m->why, sizeof m->why, "%s", s.in->fault_text);
	source_close(&s);
	if ((c->system_failed || c->incomplete) && m->why[0] == '\0')
		snprintf(m->why, sizeof m->why, "%s", c->why);
	m->failed |= c->system_failed || m->why[0] != '\0';
}

/* What a descriptor gives can be read once; its times may lie before all others. */
static struct input *
open_again(struct min_time *m, const struct pipeline_job *job, const struct source_place *at)
{
	struct input *in = NULL;

	if (job->input != NULL ? input_can_reopen(job->input) : input_is_named(at->path)) {
		in = job->input != NULL ? input_reopen(job->input)
		                        : input_open_in(job->files, at->archive, at->path);
		m->failed |= in == NULL;
	}
	return in;
}

struct min_time
min_time_find(const struct pipeline_job *job, const struct operands *operands,
              struct vocabularies *vocabularies)
{
	struct min_time m = { .complete = true };
	struct trace trace;
	struct trace_context c;

	trace_init(&trace);
	trace_context_init(&c, job, &trace, vocabularies, WANT_TIMES);
	c.quiet = true;
	for (size_t k = 0; k < operands->n; k++) {
		const struct operand *const o = &operands->list[k];
		struct source_place place = { o->path, o->path, o->folder, 0, o->archive };
		if (!o->folder)
			look_through(&m, &c, place, open_again(&m, job, &place));
		for (size_t i = 0; i < o->tree.n; i++) {
			place.path = o->tree.paths[i];
			if (operands_sidecar(operands, place.path) == NULL)
				look_through(&m, &c, place, open_again(&m, job, &place));
		}
	}
	trace_context_free(&c);
	trace_free(&trace);
	return m;
}
