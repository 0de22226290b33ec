#include "flow/flow.h"

#include <stdlib.h>

#include "check/input_rules.h"
#include "format/registry.h"

/* Small enough that events, fields and the text made of them stay in the second-level cache. */
#define BATCH_EVENTS 1024

static bool
is_shrunk(void *in)
{
	return input_shrunk(in);
}

static void
say_fault(struct flow *f)
{
	const struct rule *rule = input_fault_rule(f->in->fault);

	if (rule == NULL)
		return;
	f->judge.muted = NULL; /* the bytes are not to be trusted; this sentence about them is */
	finding_add(&f->judge, rule, f->in->fault_offset, 0, "%s%s", strncmp(f->in->fault_text, "is ", 3) == 0 ? "the input " : "",
	            f->in->fault_text);
	if (rule->level == LEVEL_ERROR)
		f->unreadable = true;
}

void
flow_no_memory(struct flow *f)
{
	finding_add(&f->judge, &input_rules[INPUT_RULE_NO_MEMORY], f->in != NULL ? input_offset(f->in, f->in->p) : 0, 0,
	            "the system gives no more memory");
	f->unreadable = true;
}

static bool
reader_begin(struct reader *r, const struct format *format)
{
	r->state = calloc(1, format->reader->state_size);
	return r->state != NULL && format->reader->open(r);
}

static void
reader_end(struct reader *r, const struct format *format)
{
	if (r->state != NULL && format->reader->close != NULL)
		format->reader->close(r);
	free(r->state);
	r->state = NULL;
}

/* The least time of all events, by a quiet pass of its own.  false: the input cannot be read twice, or holds no event. */
static bool
earliest_time(const struct flow *f, uint64_t *ts)
{
	struct trace trace;
	struct batch b = { .cap = 0 };
	struct reader r = { .want = WANT_TIMES, .dialect = f->job->dialect, .options = f->job->options, .trace = &trace };
	enum fill fill = FILL_MORE;
	bool found = false;

	if (!input_can_reopen(f->in) || (r.in = input_reopen(f->in)) == NULL)
		return false;
	trace_init(&trace);
	if (reader_begin(&r, f->format) && batch_init(&b, BATCH_EVENTS, false))
		while (fill == FILL_MORE) {
			batch_recycle(&b);
			input_hold(r.in, &b.holds);
			fill = f->format->reader->fill(&r, &b);
			for (uint32_t i = 0; i < b.n; i++)
				if (!found || b.events[i].ts < *ts) {
					*ts = b.events[i].ts;
					found = true;
				}
			input_behind(r.in);
		}
	batch_free(&b);
	reader_end(&r, f->format);
	trace_free(&trace);
	input_close(r.in);
	return found;
}

static void
rebase(struct flow *f, struct batch *b)
{
	if (b->n == 0)
		return;
	if (!f->rebased) {
		if (!earliest_time(f, &f->rebase_ns))
			f->rebase_ns = b->events[0].ts;
		f->rebased = true;
	}
	for (uint32_t i = 0; i < b->n; i++)
		b->events[i].ts -= f->rebase_ns; /* earlier ones wrap; writers read ts as signed then */
}

static bool
has_dialect(const struct format *format, const char *name)
{
	for (const char *const *d = format->dialects; d != NULL && *d != NULL; d++)
		if (strcmp(*d, name) == 0)
			return true;
	return false;
}

/* The format, by name or by content; false after a finding. */
static bool
find_format(struct flow *f)
{
	const size_t head = (size_t)(f->in->end - f->in->p);
	const size_t looked = head < 65536 ? head : 65536;

	f->format = f->job->from != NULL ? f->job->from : format_probe(slice_of(f->in->p, looked), looked == head && f->in->last);
	if (f->format == NULL) {
		finding_add(&f->judge, &input_rules[INPUT_RULE_UNKNOWN_FORMAT], 0, 0,
		            "none of the formats recognises the first %zu bytes", looked);
	} else if (f->job->dialect != NULL && !has_dialect(f->format, f->job->dialect)) {
		finding_add(&f->judge, &input_rules[INPUT_RULE_WRONG_DIALECT], 0, 0, "the input is in format %s, which has no dialect %s",
		            f->format->name, f->job->dialect);
	} else {
		f->trace.format = f->format->name;
		return true;
	}
	f->unreadable = true;
	say_fault(f);
	return false;
}

bool
flow_open(struct flow *f, const struct flow_job *job)
{
	return flow_open_input(f, job, input_open(job->path));
}

bool
flow_open_input(struct flow *f, const struct flow_job *job, struct input *in)
{
	*f = (struct flow){ .job = job, .in = in };
	trace_init(&f->trace);
	judge_init(&f->judge, job->path, job->sink, job->ctx);
	if (f->in == NULL) {
		flow_no_memory(f);
		return false;
	}
	if (f->in->p == f->in->end) {
		say_fault(f);
		return false;
	}
	if (!find_format(f))
		return false;
	f->judge.muted = is_shrunk;
	f->judge.muted_ctx = f->in;
	f->reader = (struct reader){
		.in = f->in,
		.trace = &f->trace,
		.judge = &f->judge,
		.want = job->want,
		.dialect = job->dialect,
		.options = job->options,
	};
	if (!batch_init(&f->batch, BATCH_EVENTS, (job->want & WANT_BYTES) != 0)) {
		flow_no_memory(f);
		return false;
	}
	f->open = reader_begin(&f->reader, f->format);
	if (!f->open) {
		f->unreadable = true;
		if (f->judge.levels[LEVEL_ERROR] == 0)
			flow_no_memory(f);
	}
	return f->open;
}

bool
flow_run(struct flow *f, flow_taker *taker, void *ctx)
{
	struct batch *const b = &f->batch;
	enum fill fill = FILL_MORE;
	bool wanted = true;

	while (fill == FILL_MORE && wanted) {
		batch_recycle(b);
		input_hold(f->in, &b->holds);
		fill = f->format->reader->fill(&f->reader, b);
		if (input_shrunk(f->in))
			break; /* what is in this batch may be made of zeros */
		if (f->job->rebase)
			rebase(f, b);
		b->end_track = f->trace.ntracks;
		b->end_class = f->trace.nclasses;
		if (taker != NULL)
			wanted = taker(ctx, f, b);
		input_behind(f->in);
		if (f->job->progress != NULL)
			f->job->progress(f->job->progress_ctx, f->in);
	}
	f->complete = fill == FILL_END;
	if (fill == FILL_NO_MEMORY)
		flow_no_memory(f);
	if (wanted)
		say_fault(f);
	return wanted;
}

void
flow_close(struct flow *f)
{
	if (f->format != NULL)
		reader_end(&f->reader, f->format);
	batch_free(&f->batch);
	judge_free(&f->judge);
	trace_free(&f->trace);
	input_close(f->in);
	f->in = NULL;
}
