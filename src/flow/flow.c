#include "flow/flow.h"

#include <stdlib.h>

#include "check/input_rules.h"
#include "flow/flow_parts.h"
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
flow_say_fault(struct judge *j, const struct input *in)
{
	const struct rule *rule = input_fault_rule(in->fault);

	if (rule == NULL)
		return false;
	j->muted = NULL; /* the bytes are not to be trusted; this sentence about them is */
	finding_add(j, rule, in->fault_offset, 0, "%s%s", strncmp(in->fault_text, "is ", 3) == 0 ? "the input " : "", in->fault_text);
	return rule->level == LEVEL_ERROR;
}

void
flow_say_no_memory(struct judge *j, const struct input *in)
{
	finding_add(j, &input_rules[INPUT_RULE_NO_MEMORY], in != NULL ? input_offset(in, in->p) : 0, 0, "the system gives no more memory");
}

void
flow_no_memory(struct flow *f)
{
	flow_say_no_memory(&f->judge, f->in);
	f->unreadable = f->failed = true;
}

bool
flow_reader_begin(struct reader *r, const struct format *format)
{
	r->state = calloc(1, format->reader->state_size);
	return r->state != NULL && format->reader->open(r);
}

void
flow_reader_end(struct reader *r, const struct format *format)
{
	if (r->state != NULL && format->reader->close != NULL)
		format->reader->close(r);
	free(r->state);
	r->state = NULL;
}

static void
rebase(struct flow *f, struct batch *b)
{
	if (b->n == 0)
		return;
	if (!f->rebased) {
		struct input *const again = f->in != NULL && input_can_reopen(f->in) ? input_reopen(f->in) : NULL;
		struct earliest e;
		earliest_begin(&e, f);
		if (again != NULL)
			earliest_input(&e, f->format, again);
		earliest_end(&e);
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
say_unused_options(struct flow *f)
{
	for (const struct option_value *v = f->job->options; v != NULL; v = v->next)
		for (const struct format *const *other = formats; *other != NULL && !has_option(f->format, v->name); other++)
			if ((*other)->reader != NULL && has_option(*other, v->name))
				finding_add(&f->judge, &input_rules[INPUT_RULE_OPTION_UNUSED], 0, 0, "the input is in format %s, --%s is for %s",
				            f->format->name, v->name, (*other)->name);
}

/* The format, by name or by content; false after a finding. */
static bool
find_format(struct flow *f)
{
	const size_t head = (size_t)(f->in->end - f->in->p);
	const size_t looked = head < 65536 ? head : 65536;
	const struct format *const before = f->trace.format[0] != '\0' ? f->format : NULL;

	f->format = f->job->from;
	if (f->format == NULL && before != NULL && before->reader->probe(slice_of(f->in->p, looked), looked == head && f->in->last) >= SURE_BITS)
		f->format = before; /* of thousands of streams one may happen to look like something else, too */
	if (f->format == NULL)
		f->format = format_probe(slice_of(f->in->p, looked), looked == head && f->in->last);
	if (f->format == NULL) {
		finding_add(&f->judge, &input_rules[INPUT_RULE_UNKNOWN_FORMAT], 0, 0,
		            "none of the formats recognises the first %zu bytes", looked);
		f->format = before; /* that of the trace, if it has one already */
	} else if (f->job->dialect != NULL && !has_dialect(f->format, f->job->dialect)) {
		finding_add(&f->judge, &input_rules[INPUT_RULE_WRONG_DIALECT], 0, 0, "the input is in format %s, which has no dialect %s",
		            f->format->name, f->job->dialect);
	} else if (before != NULL && f->format != before) {
		finding_add(&f->judge, &input_rules[INPUT_RULE_OTHER_FORMAT], 0, 0, "the input is in format %s, the files before it are in %s",
		            f->format->name, before->name);
		f->format = before;
	} else {
		f->trace.format = f->format->name;
		say_unused_options(f);
		return true;
	}
	f->unreadable = true;
	flow_say_fault(&f->judge, f->in);
	return false;
}

/* ---- one input ---- */

void
flow_init(struct flow *f, const struct flow_job *job)
{
	*f = (struct flow){ .job = job, .want = job->want, .operand = job->path, .kept_room = KEPT_ROOM };
	trace_init(&f->trace);
	interpret_init(&f->interpret, &f->trace, job->interpret, job->want);
}

const struct vocabulary *
flow_vocabulary(struct flow *f, const struct format *format)
{
	return meanings_of(f->job->meanings != NULL ? f->job->meanings : &f->meanings, f->job, format);
}

/* What belongs to all inputs of the trace; its findings are said at the end. */
static bool
open_trace(struct flow *f)
{
	const struct reader_ops *const ops = f->format->reader;

	f->trace_kept = (struct kept_findings){ .room = &f->kept_room };
	judge_init(&f->trace_judge, f->operand, findings_keep, &f->trace_kept);
	f->judging = ops->judge_event != NULL && ops->judges_order != NULL && ops->judges_order(f->job->options);
	f->want |= f->judging ? WANT_TIMES | WANT_FIELDS : 0U;
	if (ops->open_trace == NULL)
		return true;
	struct reader r = {
		.trace = &f->trace,
		.judge = &f->trace_judge,
		.want = f->want,
		.options = f->job->options,
		.shared = f->shared,
		.in_folder = f->in_folder,
	};
	f->trace_unreadable = !ops->open_trace(&r);
	return !f->trace_unreadable || f->trace_judge.levels[LEVEL_ERROR] > 0;
}

/* What the format's readers share, made when the first of them is opened.  false: no memory. */
static bool
have_shared(struct flow *f)
{
	const size_t size = f->format->reader->shared_size;

	if (f->shared_format != NULL)
		return size == 0 || f->shared != NULL;
	if (size > 0 && (f->shared = calloc(1, size)) == NULL)
		return false;
	f->shared_format = f->format;
	return open_trace(f);
}

bool
flow_open_reader(struct flow *f, struct reader *r, struct judge *j)
{
	const char *const dialect = f->trace.dialect;

	*r = (struct reader){ .in = NULL };
	f->trace.vocabulary = flow_vocabulary(f, f->format);
	if (f->trace.vocabulary == NULL) {
		f->unreadable = true;
		return false;
	}
	bool ok = have_shared(f);
	*r = (struct reader){
		.in = f->in,
		.trace = &f->trace,
		.judge = j,
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
	ok = ok && flow_reader_begin(r, f->format);
	if (!ok) {
		f->unreadable = true;
		f->failed |= j->levels[LEVEL_ERROR] == 0;
		if (j->levels[LEVEL_ERROR] == 0)
			flow_say_no_memory(j, f->in);
	}
	if (dialect[0] != '\0' && strcmp(dialect, f->trace.dialect) != 0)
		f->trace.dialect = "mixed";
	return ok;
}

bool
flow_open_present(struct flow *f)
{
	f->open = flow_open_reader(f, &f->reader, &f->judge);
	if (f->open && f->batch.events == NULL && !batch_init(&f->batch, BATCH_EVENTS, (f->want & WANT_BYTES) != 0)) {
		f->open = false;
		flow_no_memory(f);
	}
	return f->open;
}

/* The next input of the trace; `in` is taken over, NULL: there was no memory for it. */
bool
flow_enter(struct flow *f, const char *path, struct input *in)
{
	f->in = in;
	f->open = f->unreadable = f->complete = false;
	judge_init(&f->judge, path, f->job->sink, f->job->ctx);
	f->judge.records_before = f->trace.records;
	if (in == NULL) {
		flow_no_memory(f);
		return false;
	}
	if (in->p == in->end) {
		f->unreadable |= flow_say_fault(&f->judge, in);
		return false;
	}
	if (!find_format(f))
		return false;
	f->judge.muted = is_shrunk;
	f->judge.muted_ctx = in;
	return true;
}

void
flow_leave(struct flow *f)
{
	if (f->format != NULL)
		flow_reader_end(&f->reader, f->format);
	f->reader = (struct reader){ .in = NULL }; /* the next input may not get as far as to have one */
	batch_recycle(&f->batch);
	judge_free(&f->judge);
	input_close(f->in);
	f->in = NULL;
}

bool
flow_open(struct flow *f, const struct flow_job *job)
{
	flow_init(f, job);
	return flow_enter(f, job->path, input_open(job->path)) && flow_open_present(f);
}

bool
flow_open_input(struct flow *f, const struct flow_job *job, struct input *in)
{
	flow_init(f, job);
	return flow_enter(f, job->path, in) && flow_open_present(f);
}

static bool
hand_on(struct flow *f, struct batch *b, flow_taker *taker, void *ctx)
{
	if (f->job->rebase)
		rebase(f, b);
	/* Inputs and what is left at the end come in batches of their own: what is new is counted here, not there. */
	b->first_track = f->shown_tracks;
	b->first_class = f->shown_classes;
	b->end_track = f->trace.ntracks;
	b->end_class = f->trace.nclasses;
	const bool wanted = taker == NULL || taker(ctx, f, b);
	f->shown_tracks = b->end_track; /* with the lanes that the taker made */
	f->shown_classes = b->end_class;
	return wanted;
}

static bool
more_arrows(struct flow *f, struct batch *b)
{
	if (f->job->interpret != INTERPRET_SPANS)
		return false;
	batch_recycle(b);
	return interpret_more(&f->interpret, b);
}

bool
flow_hand_on(struct flow *f, struct batch *b, flow_taker *taker, void *ctx)
{
	if (f->job->interpret != INTERPRET_NOT && !interpret_batch(&f->interpret, f->format, &f->judge, b)) {
		flow_no_memory(f);
		return false;
	}
	bool wanted = hand_on(f, b, taker, ctx);
	while (wanted && more_arrows(f, b))
		wanted = hand_on(f, b, taker, ctx);
	return wanted;
}

bool
flow_hand_on_rest(struct flow *f, flow_taker *taker, void *ctx)
{
	struct batch *const b = &f->batch;
	bool more = f->job->interpret == INTERPRET_SPANS && f->format != NULL, wanted = true;

	if (more && b->events == NULL && !batch_init(b, BATCH_EVENTS, (f->want & WANT_BYTES) != 0)) {
		flow_no_memory(f);
		return false;
	}
	while (more && wanted) {
		batch_recycle(b);
		wanted = interpret_finish(&f->interpret, b, &more);
		if (!wanted)
			flow_no_memory(f);
		else if (b->n > 0)
			wanted = hand_on(f, b, taker, ctx);
	}
	batch_recycle(b);
	return wanted;
}

void
flow_judge_events(const struct flow *f, struct reader *r, const struct batch *b)
{
	if (f->judging)
		for (uint32_t i = 0; i < b->n; i++)
			f->format->reader->judge_event(r, b, &b->events[i]);
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
		flow_judge_events(f, &f->reader, b);
		wanted = flow_hand_on(f, b, taker, ctx);
		input_behind(f->in);
		if (f->job->progress != NULL)
			f->job->progress(f->job->progress_ctx, f->in);
	}
	input_shrunk(f->in); /* what was taken since the last look may be made of zeros too */
	f->complete = fill == FILL_END;
	if (fill == FILL_NO_MEMORY)
		flow_no_memory(f);
	if (wanted)
		f->unreadable |= flow_say_fault(&f->judge, f->in);
	f->bytes += input_offset(f->in, f->in->p);
	f->failed |= f->in->fault == INPUT_SHRUNK || f->in->fault == INPUT_SYSTEM;
	return wanted;
}

void
flow_close(struct flow *f)
{
	flow_leave(f);
	batch_free(&f->batch);
	if (f->shared != NULL && f->shared_format->reader->shared_close != NULL)
		f->shared_format->reader->shared_close(f->shared);
	free(f->shared);
	findings_say(&f->trace_kept, &f->trace_judge, NULL, NULL);
	judge_free(&f->trace_judge);
	interpret_free(&f->interpret);
	trace_free(&f->trace);
	meanings_free(&f->meanings);
}
