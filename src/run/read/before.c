/* Passes over inputs before the first event, without a pipeline: the look-ahead of a reader, the least time
 * of all events, and time 0 of a trace. */
#include <stdio.h>

#include "format/reader_modes.h"
#include "format/registry.h"
#include "input/open.h"
#include "run/read/reading.h"

/* ---- look ahead ---- */

/* Copies a fault of the second input to the first, except damage that the first will find itself.  Returns
 * false if there is none. */
static bool copy_fault(struct input *to, const struct source *s, bool started)
{
	const struct input *const from = s->in;

	if (from == NULL || from->fault == INPUT_OK || (started && !source_is_failure(from->fault)))
		return false;
	to->fault = from->fault;
	to->fault_offset = from->fault_offset;
	memcpy(to->fault_text, from->fault_text, sizeof to->fault_text);
	return true;
}

enum look_ahead reader_look_ahead(struct reader *asking)
{
	struct trace trace;
	struct trace_context context;
	struct source s;
	struct batch b;
	const struct pipeline_job job = { .in.dialect = asking->dialect,
		                          .in.max_record = asking->max_record,
		                          .in.options = asking->options,
		                          .in.from = asking->format,
		                          .in.files = asking->files,
		                          .in.helpers = asking->helpers };
	bool started, done = false;

	if (!input_can_reopen(asking->in))
		return LOOK_AHEAD_ONE_PASS;
	trace_init(&trace);
	trace_context_init(&context, &job, &trace, NULL, WANT_FINDINGS);
	context.quiet = true;
	context.vocabulary = asking->trace->vocabulary;
	context.ahead_of = asking->state;
	started = source_begin(&s, &context, (struct source_location){ .path = asking->in->path },
	                       input_reopen(asking->in)) &&
	          source_start(&s);
	if (started && batch_init(&b, PIPELINE_BATCH_EVENTS, false)) {
		while (s.status == READ_MORE) {
			batch_recycle(&b);
			source_next(&s, &b);
		}
		batch_free(&b);
		done = s.status != READ_NO_MEMORY;
	}
	done &= !copy_fault(asking->in, &s, started);
	source_close(&s);
	trace_context_free(&context);
	trace_free(&trace);
	return done ? LOOK_AHEAD_DONE : LOOK_AHEAD_FAILED;
}

/* ---- min time ---- */

/* Takes over the input; NULL: it cannot be read twice. */
static void read_times(struct min_time *m, struct trace_context *c, struct source_location location,
                       struct input *in)
{
	struct source s;
	struct batch b;

	if (in == NULL || !input_can_reopen(in)) {
		m->complete &= in != NULL && in->p == in->end; /* an empty input is irrelevant */
		if (in != NULL && (in->fault == INPUT_SYSTEM || in->fault == INPUT_CHANGED)) {
			snprintf(m->why, sizeof m->why, "%s", in->fault_text);
			m->failed = true;
		}
		input_close(in);
		return;
	}
	if (source_begin(&s, c, location, in) && source_start(&s)) {
		m->failed |= !batch_init(&b, PIPELINE_BATCH_EVENTS, false);
		while (!m->failed && s.status == READ_MORE) {
			batch_recycle(&b);
			source_next(&s, &b);
			for (uint32_t i = 0; i < b.n; i++)
				if (!m->known || b.events[i].ts < m->ns) {
					m->ns = b.events[i].ts;
					m->known = true;
				}
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

/* A pipe can be read only once; its times may precede all others. */
static struct input *open_again(struct min_time *m, const struct pipeline_job *job,
                                const struct source_location *at)
{
	struct input *in = NULL;

	if (job->in.input != NULL ? input_can_reopen(job->in.input) : input_is_named(at->path)) {
		in = job->in.input != NULL ? input_reopen(job->in.input)
		                           : input_open_in(job->in.files, at->archive, at->path);
		m->failed |= in == NULL;
	}
	return in;
}

struct min_time min_time_find(const struct pipeline_job *job, const struct operands *operands,
                              struct vocabularies *vocabularies)
{
	struct min_time m = { .complete = true };
	struct trace trace;
	struct trace_context c;

	trace_init(&trace);
	trace.zero_ns = operands_count(operands) > 1 ? zero_time_find(job, operands, NULL) : 0;
	trace_context_init(&c, job, &trace, vocabularies,
	                   WANT_TIMES | (job->read.as != READ_MEANING ? (unsigned)WANT_LEAST : 0U));
	c.quiet = true;
	for (size_t k = 0; k < operands->n; k++) {
		const struct operand *const o = &operands->list[k];
		struct source_location location = { o->path, o->path, o->folder, 0, o->archive };
		if (!o->folder)
			read_times(&m, &c, location, open_again(&m, job, &location));
		for (size_t i = 0; i < o->tree.n; i++) {
			location.path = o->tree.paths[i];
			if (operands_sidecar(operands, location.path) == NULL)
				read_times(&m, &c, location, open_again(&m, job, &location));
		}
	}
	trace_context_free(&c);
	trace_free(&trace);
	return m;
}

/* ---- time 0 ---- */

/* The search for trace.zero_ns in the files of a trace, which are of one format. */
struct zero_search {
	const struct format *format; /* NULL: not known yet */
	uint64_t zero;
	bool ended; /* found, or the times of the format are never before 0 */
};

static void search_zero(struct zero_search *z, struct input *in)
{
	bool no_memory;

	if (z->format == NULL)
		z->format = format_of_input(in, &no_memory);
	if (z->format == NULL)
		return;
	const bool searches = z->format->reader != NULL && z->format->reader->zero != NULL;
	z->zero = searches ? z->format->reader->zero(in) : 0;
	z->ended = !searches || z->zero > 0;
}

uint64_t zero_time_find(const struct pipeline_job *job, const struct operands *operands, struct input *first)
{
	struct zero_search z = { .format = job->in.from };

	if (job->in.input != NULL || first != NULL)
		search_zero(&z, first != NULL ? first : job->in.input);
	z.ended |= job->in.input != NULL && first == NULL;
	for (size_t k = 0; k < operands->n; k++) {
		const struct operand *const o = &operands->list[k];
		for (size_t i = 0; i < (o->folder ? o->tree.n : 1) && !z.ended; i++) {
			const char *const path = o->folder ? o->tree.paths[i] : o->path;
			if (!input_is_named(path) || (o->folder && operands_sidecar(operands, path) != NULL))
				continue;
			/* Not one of the run's files: its faults are reported when it is read. */
			struct input *const in = input_open_in(NULL, o->archive, path);
			if (in != NULL)
				search_zero(&z, in);
			input_close(in);
		}
	}
	return z.zero;
}
