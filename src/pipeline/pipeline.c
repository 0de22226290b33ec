#include "pipeline/pipeline.h"

#include <stdlib.h>

#include "check/input_rules.h"
#include "pipeline/pipeline_parts.h"
#include "format/registry.h"

/* Small enough that events, fields and the text made of them stay in the second-level cache. */
#define BATCH_EVENTS 1024

/* So much of a first window must speak for the format of the files before it. */
#define SURE_BITS 32

static bool
is_shrunk(void *in)
{
	return input_shrunk(in);
}

bool
pipeline_say_fault(struct findings *j, const struct input *in)
{
	const struct rule *rule = input_fault_rule(in->fault);

	if (rule == NULL)
		return false;
	j->muted = NULL; /* the bytes are not to be trusted; this sentence about them is */
	finding_add(j, rule, in->fault_offset, 0, "%s%s",
	            strncmp(in->fault_text, "is ", 3) == 0 ? "the input " : "", in->fault_text);
	return rule->level == LEVEL_ERROR;
}

void
pipeline_say_no_memory(struct findings *j, const struct input *in)
{
	finding_add(j, &input_rules[INPUT_RULE_NO_MEMORY], in != NULL ? input_offset(in, in->p) : 0, 0,
	            "the system gives no more memory");
}

void
pipeline_no_memory(struct pipeline *f)
{
	pipeline_say_no_memory(&f->findings, f->in);
	f->unreadable = f->failed = true;
}

bool
pipeline_reader_begin(struct reader *r, const struct format *format)
{
	r->state = calloc(1, format->reader->state_size);
	return r->state != NULL && format->reader->open(r);
}

void
pipeline_reader_end(struct reader *r, const struct format *format)
{
	if (r->state != NULL && format->reader->close != NULL)
		format->reader->close(r);
	free(r->state);
	r->state = NULL;
}

static void
rebase(struct pipeline *f, struct batch *b)
{
	if (b->n == 0)
		return;
	if (!f->rebased) {
		struct input *const again =
		    f->in != NULL && input_can_reopen(f->in) ? input_reopen(f->in) : NULL;
		struct min_time e;
		min_time_begin(&e, f);
		if (again != NULL)
			min_time_input(&e, f->format, again);
		min_time_end(&e);
		f->signed_time |= !f->rebased;
		if (!f->rebased)
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

static bool
has_option(const struct format *format, const char *name)
{
	for (const struct format_option *o = format->options; o != NULL && o->name != NULL; o++)
		if (strcmp(o->name, name) == 0)
			return true;
	return false;
}

/* Options of readers of other formats do nothing here. */
static void
say_unused_options(struct pipeline *f)
{
	for (const struct option_value *v = f->job->options; v != NULL; v = v->next)
		for (const struct format *const *other = formats;
		     *other != NULL && !has_option(f->format, v->name); other++)
			if ((*other)->reader != NULL && has_option(*other, v->name))
				finding_add(&f->findings, &input_rules[INPUT_RULE_OPTION_UNUSED], 0, 0,
				            "the input is in format %s, --%s is for %s", f->format->name,
				            v->name, (*other)->name);
}

/* The format, by name or by content; false after a finding. */
static bool
find_format(struct pipeline *f)
{
	const size_t head = (size_t)(f->in->end - f->in->p);
	const size_t looked = head < 65536 ? head : 65536;
	const struct format *const before = f->trace.format[0] != '\0' ? f->format : NULL;

	f->format = f->job->from;
	if (f->format == NULL && before != NULL &&
	    before->reader->probe(slice_of(f->in->p, looked), looked == head && f->in->last) >= SURE_BITS)
		f->format =
		    before; /* of thousands of streams one may happen to look like something else, too */
	if (f->format == NULL)
		f->format = format_probe(slice_of(f->in->p, looked), looked == head && f->in->last);
	if (f->format == NULL) {
		finding_add(&f->findings, &input_rules[INPUT_RULE_UNKNOWN_FORMAT], 0, 0,
		            "none of the formats recognises the first %zu bytes", looked);
		f->format = before; /* that of the trace, if it has one already */
	} else if (f->job->dialect != NULL && !has_dialect(f->format, f->job->dialect)) {
		finding_add(&f->findings, &input_rules[INPUT_RULE_WRONG_DIALECT], 0, 0,
		            "the input is in format %s, which has no dialect %s", f->format->name,
		            f->job->dialect);
	} else if (before != NULL && f->format != before) {
		finding_add(&f->findings, &input_rules[INPUT_RULE_OTHER_FORMAT], 0, 0,
		            "the input is in format %s, the files before it are in %s", f->format->name,
		            before->name);
		f->format = before;
	} else {
		f->trace.format = f->format->name;
		say_unused_options(f);
		return true;
	}
	f->unreadable = true;
	pipeline_say_fault(&f->findings, f->in);
	return false;
}

/* ---- one input ---- */

void
pipeline_init(struct pipeline *f, const struct pipeline_job *job)
{
	*f = (struct pipeline){
		.job = job, .want = job->want, .operand = job->path, .deferred_room = DEFERRED_ROOM
	};
	trace_init(&f->trace);
	interpret_init(&f->interpret, &f->trace, job->interpret, job->want);
}

const struct vocabulary *
pipeline_vocabulary(struct pipeline *f, const struct format *format)
{
	return vocabularies_of(f->job->vocabularies != NULL ? f->job->vocabularies : &f->vocabularies, f->job,
	                       format);
}

/* What belongs to all inputs of the trace; its findings are said at the end. */
static bool
open_trace(struct pipeline *f)
{
	const struct trace_ops *const ops = format_trace_ops(f->format);

	f->trace_deferred = (struct deferred_findings){ .room = &f->deferred_room };
	findings_init(&f->trace_findings, f->operand, findings_defer, &f->trace_deferred);
	f->checking =
	    ops->check_event != NULL && ops->checks_order != NULL && ops->checks_order(f->job->options);
	f->want |= f->checking ? WANT_TIMES | WANT_FIELDS : 0U;
	if (ops->open == NULL)
		return true;
	struct reader r = {
		.format = f->format,
		.trace = &f->trace,
		.findings = &f->trace_findings,
		.want = f->want,
		.options = f->job->options,
		.shared = f->shared,
		.in_folder = f->in_folder,
	};
	f->trace_unreadable = !ops->open(&r);
	return !f->trace_unreadable || f->trace_findings.levels[LEVEL_ERROR] > 0;
}

/* What the format's readers share, made when the first of them is opened.  false: no memory. */
static bool
have_shared(struct pipeline *f)
{
	const size_t size = format_trace_ops(f->format)->shared_size;

	if (f->shared_format != NULL)
		return size == 0 || f->shared != NULL;
	if (size > 0 && (f->shared = calloc(1, size)) == NULL)
		return false;
	f->shared_format = f->format;
	return open_trace(f);
}

bool
pipeline_open_reader(struct pipeline *f, struct reader *r, struct findings *j)
{
	const char *const dialect = f->trace.dialect;

	*r = (struct reader){ .in = NULL };
	f->trace.vocabulary = pipeline_vocabulary(f, f->format);
	if (f->trace.vocabulary == NULL) {
		f->unreadable = true;
		return false;
	}
	bool ok = have_shared(f);
	*r = (struct reader){
		.format = f->format,
		.in = f->in,
		.trace = &f->trace,
		.findings = j,
		.want = f->want,
		.dialect = f->job->dialect,
		.options = f->job->options,
		.shared = f->shared,
		.in_folder = f->in_folder,
	};
	if (ok && f->trace_unreadable) {
		f->unreadable = true; /* it was said of the trace */
		return false;
	}
	ok = ok && pipeline_reader_begin(r, f->format);
	if (!ok) {
		f->unreadable = true;
		f->failed |= j->levels[LEVEL_ERROR] == 0;
		if (j->levels[LEVEL_ERROR] == 0)
			pipeline_say_no_memory(j, f->in);
	}
	if (dialect[0] != '\0' && strcmp(dialect, f->trace.dialect) != 0)
		f->trace.dialect = "mixed";
	return ok;
}

bool
pipeline_open_present(struct pipeline *f)
{
	f->open = pipeline_open_reader(f, &f->reader, &f->findings);
	if (f->open && f->batch.events == NULL &&
	    !batch_init(&f->batch, BATCH_EVENTS, (f->want & WANT_BYTES) != 0)) {
		f->open = false;
		pipeline_no_memory(f);
	}
	return f->open;
}

/* The next input of the trace; `in` is taken over, NULL: there was no memory for it. */
bool
pipeline_enter(struct pipeline *f, const char *path, struct input *in)
{
	f->in = in;
	f->open = f->unreadable = f->complete = false;
	findings_init(&f->findings, path, f->job->sink, f->job->ctx);
	if (in == NULL) {
		pipeline_no_memory(f);
		return false;
	}
	if (in->p == in->end) {
		f->unreadable |= pipeline_say_fault(&f->findings, in);
		return false;
	}
	if (!find_format(f))
		return false;
	f->findings.muted = is_shrunk;
	f->findings.muted_ctx = in;
	return true;
}

void
pipeline_leave(struct pipeline *f)
{
	if (f->format != NULL)
		pipeline_reader_end(&f->reader, f->format);
	f->reader = (struct reader){ .in = NULL }; /* the next input may not get as far as to have one */
	batch_recycle(&f->batch);
	findings_free(&f->findings);
	input_close(f->in);
	f->in = NULL;
}

bool
pipeline_open(struct pipeline *f, const struct pipeline_job *job)
{
	pipeline_init(f, job);
	return pipeline_enter(f, job->path, input_open(job->path)) && pipeline_open_present(f);
}

bool
pipeline_open_input(struct pipeline *f, const struct pipeline_job *job, struct input *in)
{
	pipeline_init(f, job);
	return pipeline_enter(f, job->path, in) && pipeline_open_present(f);
}

static bool
hand_on(struct pipeline *f, struct batch *b, pipeline_sink *sink, void *ctx)
{
	if (f->job->rebase)
		rebase(f, b);
	/* Inputs and what is left at the end come in batches of their own: what is new is counted here, not
	 * there. */
	b->first_track = f->shown_tracks;
	b->first_class = f->shown_classes;
	b->end_track = f->trace.ntracks;
	b->end_class = f->trace.nclasses;
	const bool wanted = sink == NULL || sink(ctx, f, b);
	f->shown_tracks = b->end_track; /* with the lanes that the sink made */
	f->shown_classes = b->end_class;
	return wanted;
}

static bool
more_arrows(struct pipeline *f, struct batch *b)
{
	if (f->job->interpret != INTERPRET_SPANS)
		return false;
	batch_recycle(b);
	return interpret_more(&f->interpret, b);
}

bool
pipeline_hand_on(struct pipeline *f, struct batch *b, pipeline_sink *sink, void *ctx)
{
	if (f->job->interpret != INTERPRET_NOT &&
	    !interpret_batch(&f->interpret, f->format, &f->findings, b)) {
		pipeline_no_memory(f);
		return false;
	}
	bool wanted = hand_on(f, b, sink, ctx);
	while (wanted && more_arrows(f, b))
		wanted = hand_on(f, b, sink, ctx);
	return wanted;
}

bool
pipeline_hand_on_rest(struct pipeline *f, pipeline_sink *sink, void *ctx)
{
	struct batch *const b = &f->batch;
	bool more = f->job->interpret == INTERPRET_SPANS && f->format != NULL, wanted = true;

	if (more && b->events == NULL && !batch_init(b, BATCH_EVENTS, (f->want & WANT_BYTES) != 0)) {
		pipeline_no_memory(f);
		return false;
	}
	while (more && wanted) {
		batch_recycle(b);
		wanted = interpret_finish(&f->interpret, b, &more);
		if (!wanted)
			pipeline_no_memory(f);
		else if (b->n > 0)
			wanted = hand_on(f, b, sink, ctx);
	}
	batch_recycle(b);
	return wanted;
}

void
check_events(const struct pipeline *f, struct reader *r, const struct batch *b)
{
	if (f->checking)
		for (uint32_t i = 0; i < b->n; i++)
			format_trace_ops(f->format)->check_event(r, b, &b->events[i]);
}

bool
pipeline_run(struct pipeline *f, pipeline_sink *sink, void *ctx)
{
	struct batch *const b = &f->batch;
	enum read_status status = READ_MORE;
	bool wanted = true;

	while (status == READ_MORE && wanted) {
		batch_recycle(b);
		input_hold(f->in, &b->holds);
		const uint64_t before = f->reader.records;
		status = f->format->reader->next(&f->reader, b);
		f->trace.records += f->reader.records - before;
		if (input_shrunk(f->in))
			break; /* what is in this batch may be made of zeros */
		check_events(f, &f->reader, b);
		wanted = pipeline_hand_on(f, b, sink, ctx);
		input_behind(f->in);
		if (f->job->progress != NULL)
			f->job->progress(f->job->progress_ctx, f->in);
	}
	input_shrunk(f->in); /* what was taken since the last look may be made of zeros too */
	f->complete = status == READ_END;
	if (status == READ_NO_MEMORY)
		pipeline_no_memory(f);
	if (wanted)
		f->unreadable |= pipeline_say_fault(&f->findings, f->in);
	f->bytes += input_offset(f->in, f->in->p);
	f->failed |= f->in->fault == INPUT_SHRUNK || f->in->fault == INPUT_SYSTEM;
	return wanted;
}

void
pipeline_close(struct pipeline *f)
{
	pipeline_leave(f);
	batch_free(&f->batch);
	if (f->shared != NULL && format_trace_ops(f->shared_format)->close != NULL)
		format_trace_ops(f->shared_format)->close(f->shared);
	free(f->shared);
	findings_report(&f->trace_deferred, &f->trace_findings, NULL, NULL);
	findings_free(&f->trace_findings);
	interpret_free(&f->interpret);
	trace_free(&f->trace);
	vocabularies_free(&f->vocabularies);
}
