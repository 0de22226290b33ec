#include "flow/flow.h"

#include <stdlib.h>

#include "check/input_rules.h"
#include "format/registry.h"
#include "input/input_tree.h"

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
	f->unreadable = f->failed = true;
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

/* NULL: no memory, or mistakes in the user's files, which were told. */
static const struct vocabulary *
vocabulary_of(struct flow *f, const struct format *format)
{
	return meanings_of(f->job->meanings != NULL ? f->job->meanings : &f->meanings, f->job, format);
}

/* Lowers *ts to the least time of all events of an input, by a quiet pass of its own; takes over `in`. */
static void
earliest_time(struct flow *f, const struct format *format, struct input *in, bool *found, uint64_t *ts)
{
	const struct flow_job *const job = f->job;
	struct trace trace;
	struct batch b = { .cap = 0 };
	struct reader r = { .in = in, .want = WANT_TIMES, .dialect = job->dialect, .options = job->options, .trace = &trace };
	enum fill fill = FILL_MORE;

	trace_init(&trace);
	trace.vocabulary = vocabulary_of(f, format);
	r.shared = format->reader->shared_size > 0 ? calloc(1, format->reader->shared_size) : NULL;
	if ((r.shared != NULL || format->reader->shared_size == 0) && reader_begin(&r, format) && batch_init(&b, BATCH_EVENTS, false))
		while (fill == FILL_MORE) {
			batch_recycle(&b);
			input_hold(r.in, &b.holds);
			fill = format->reader->fill(&r, &b);
			for (uint32_t i = 0; i < b.n; i++)
				if (!*found || b.events[i].ts < *ts) {
					*ts = b.events[i].ts;
					*found = true;
				}
			input_behind(r.in);
		}
	batch_free(&b);
	reader_end(&r, format);
	if (r.shared != NULL && format->reader->shared_close != NULL)
		format->reader->shared_close(r.shared);
	free(r.shared);
	trace_free(&trace);
	input_close(r.in);
}

static void
rebase(struct flow *f, struct batch *b)
{
	if (b->n == 0)
		return;
	if (!f->rebased) {
		struct input *const again = f->in != NULL && input_can_reopen(f->in) ? input_reopen(f->in) : NULL;
		if (again != NULL)
			earliest_time(f, f->format, again, &f->rebased, &f->rebase_ns);
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

/* The format, by name or by content; false after a finding. */
static bool
find_format(struct flow *f)
{
	const size_t head = (size_t)(f->in->end - f->in->p);
	const size_t looked = head < 65536 ? head : 65536;
	const struct format *const before = f->trace.format[0] != '\0' ? f->format : NULL;

	f->format = f->job->from != NULL ? f->job->from : format_probe(slice_of(f->in->p, looked), looked == head && f->in->last);
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
		return true;
	}
	f->unreadable = true;
	say_fault(f);
	return false;
}

/* ---- one input ---- */

static void
flow_init(struct flow *f, const struct flow_job *job)
{
	*f = (struct flow){ .job = job };
	trace_init(&f->trace);
	interpret_init(&f->interpret, &f->trace, job->interpret, job->want);
}

/* What the format's readers share, made when the first of them is opened. */
static bool
have_shared(struct flow *f)
{
	const size_t size = f->format->reader->shared_size;

	if (size == 0 || f->shared != NULL)
		return true;
	f->shared = calloc(1, size);
	f->shared_format = f->format;
	return f->shared != NULL;
}

static bool
open_reader(struct flow *f)
{
	const char *const dialect = f->trace.dialect;

	f->reader = (struct reader){
		.in = f->in,
		.trace = &f->trace,
		.judge = &f->judge,
		.want = f->job->want,
		.dialect = f->job->dialect,
		.options = f->job->options,
	};
	f->trace.vocabulary = vocabulary_of(f, f->format);
	if (f->trace.vocabulary == NULL) {
		f->unreadable = true;
		return false;
	}
	if (!have_shared(f) ||
	    (f->batch.events == NULL && !batch_init(&f->batch, BATCH_EVENTS, (f->job->want & WANT_BYTES) != 0))) {
		flow_no_memory(f);
		return false;
	}
	f->reader.shared = f->shared;
	f->reader.in_folder = f->in_folder;
	f->open = reader_begin(&f->reader, f->format);
	if (!f->open) {
		f->unreadable = true;
		if (f->judge.levels[LEVEL_ERROR] == 0)
			flow_no_memory(f);
	}
	if (dialect[0] != '\0' && strcmp(dialect, f->trace.dialect) != 0)
		f->trace.dialect = "mixed";
	return f->open;
}

/* Opens the next input of the trace; `in` is taken over, NULL: there was no memory for it. */
static bool
enter(struct flow *f, const char *path, struct input *in)
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
		say_fault(f);
		return false;
	}
	if (!find_format(f))
		return false;
	f->judge.muted = is_shrunk;
	f->judge.muted_ctx = in;
	return open_reader(f);
}

static void
leave(struct flow *f)
{
	if (f->format != NULL)
		reader_end(&f->reader, f->format);
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
	return enter(f, job->path, input_open(job->path));
}

bool
flow_open_input(struct flow *f, const struct flow_job *job, struct input *in)
{
	flow_init(f, job);
	return enter(f, job->path, in);
}

static bool
hand_over(struct flow *f, flow_taker *taker, void *ctx)
{
	struct batch *const b = &f->batch;

	if (f->job->rebase)
		rebase(f, b);
	b->end_track = f->trace.ntracks;
	b->end_class = f->trace.nclasses;
	return taker == NULL || taker(ctx, f, b);
}

static bool
more_arrows(struct flow *f)
{
	if (f->job->interpret != INTERPRET_SPANS)
		return false;
	batch_recycle(&f->batch);
	return interpret_more(&f->interpret, &f->batch);
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
		if (f->job->interpret != INTERPRET_NOT && !interpret_batch(&f->interpret, f->format, &f->judge, b)) {
			fill = FILL_NO_MEMORY;
			break;
		}
		wanted = hand_over(f, taker, ctx);
		while (wanted && more_arrows(f))
			wanted = hand_over(f, taker, ctx);
		input_behind(f->in);
		if (f->job->progress != NULL)
			f->job->progress(f->job->progress_ctx, f->in);
	}
	input_shrunk(f->in); /* what was taken since the last look may be made of zeros too */
	f->complete = fill == FILL_END;
	if (fill == FILL_NO_MEMORY)
		flow_no_memory(f);
	if (wanted)
		say_fault(f);
	f->bytes += input_offset(f->in, f->in->p);
	f->failed |= f->in->fault == INPUT_SHRUNK || f->in->fault == INPUT_SYSTEM;
	return wanted;
}

void
flow_close(struct flow *f)
{
	leave(f);
	batch_free(&f->batch);
	if (f->shared != NULL && f->shared_format->reader->shared_close != NULL)
		f->shared_format->reader->shared_close(f->shared);
	free(f->shared);
	interpret_free(&f->interpret);
	trace_free(&f->trace);
	meanings_free(&f->meanings);
}

/* ---- an operand ---- */

static bool
each_input(struct flow *f, const char *path, const struct flow_hooks *hooks, void *ctx)
{
	bool go_on = true;

	if (enter(f, path, input_open(path)))
		go_on = (hooks->opened == NULL || hooks->opened(ctx, f)) && flow_run(f, hooks->take, ctx);
	if (hooks->done != NULL)
		hooks->done(ctx, f);
	return go_on;
}

/* Something in a folder that cannot be read, as a finding of its own. */
static void
each_problem(struct flow *f, const char *path, enum input_fault fault, const char *text, const struct flow_hooks *hooks, void *ctx)
{
	judge_init(&f->judge, path, f->job->sink, f->job->ctx);
	finding_add(&f->judge, input_fault_rule(fault), 0, 0, "%s", text);
	f->open = f->complete = false;
	f->unreadable = true;
	if (hooks->done != NULL)
		hooks->done(ctx, f);
	leave(f);
}

static bool
wants_name(void *format, const char *name)
{
	return format_wants_name(format, name) || format_of_companion(format, name) != NULL;
}

static const char *
last_name(const char *path)
{
	const char *const slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* A file that belongs to traces of a format but holds no events.  false: it is none. */
static bool
each_companion(struct flow *f, const char *path, const struct flow_hooks *hooks, void *ctx)
{
	const struct format *const format = format_of_companion(f->job->from, last_name(path)), *const before = f->format;

	if (format == NULL)
		return false;
	if (format->reader->judge_companion == NULL)
		return true;
	judge_init(&f->judge, path, f->job->sink, f->job->ctx);
	f->judge.records_before = f->trace.records;
	f->format = format;
	f->open = true;
	f->unreadable = f->complete = false;
	f->reader = (struct reader){ .trace = &f->trace, .judge = &f->judge, .want = f->job->want, .options = f->job->options };
	format->reader->judge_companion(&f->reader);
	if (f->judge.ncounts > 0 && hooks->done != NULL)
		hooks->done(ctx, f);
	judge_free(&f->judge);
	f->format = before;
	return true;
}

/* Files to be read, and what stands in their way. */
struct operand {
	const char *path;
	struct input_tree tree; /* of a folder */
	bool folder;
};

static void
list_operand(struct operand *o, const struct flow_job *job, const char *path)
{
	/* the callback takes a plain pointer; the format is only looked at */
	union {
		const struct format *format;
		void *ctx;
	} from = { .format = job->from };

	*o = (struct operand){ .path = path, .folder = input_is_folder(path) };
	if (o->folder)
		input_tree_list(&o->tree, path, wants_name, from.ctx);
}

/* The earliest time of all files, so that none comes before it. */
static void
rebase_file(struct flow *f, const char *path)
{
	/* what a descriptor gives can be read once; its times may lie before all others */
	struct input *const in = input_is_named(path) ? input_open(path) : NULL;
	const size_t head = in != NULL ? (size_t)(in->end - in->p) : 0;
	const size_t looked = head < 65536 ? head : 65536;
	const struct format *format = f->job->from;

	f->signed_time |= !input_is_named(path);
	if (head > 0 && format == NULL)
		format = format_probe(slice_of(in->p, looked), looked == head && in->last);
	if (head > 0 && format != NULL && input_can_reopen(in))
		earliest_time(f, format, in, &f->rebased, &f->rebase_ns);
	else
		input_close(in);
}

static void
rebase_operand(struct flow *f, const struct operand *o)
{
	if (!o->folder)
		rebase_file(f, o->path);
	for (size_t i = 0; i < o->tree.n; i++)
		if (format_of_companion(f->job->from, last_name(o->tree.paths[i])) == NULL)
			rebase_file(f, o->tree.paths[i]);
}

static bool
each_of_operand(struct flow *f, const struct operand *o, const struct flow_hooks *hooks, void *ctx)
{
	const struct input_tree *const t = &o->tree;
	bool go_on = true;

	f->in_folder = o->folder;
	if (!o->folder) {
		go_on = each_input(f, o->path, hooks, ctx);
		leave(f);
	}
	for (size_t i = 0; i < t->nproblems; i++)
		each_problem(f, t->problems[i].path, t->problems[i].fault, t->problems[i].text, hooks, ctx);
	if (t->no_memory)
		each_problem(f, o->path, INPUT_SYSTEM, "the system gives no more memory", hooks, ctx);
	else if (o->folder && t->n == 0 && t->nproblems == 0)
		each_problem(f, o->path, INPUT_NOT_A_FILE,
		             "the input is a directory without files that are named like traces (tracetool formats lists the suffixes)", hooks, ctx);
	for (size_t i = 0; i < t->n && go_on; i++) {
		if (each_companion(f, t->paths[i], hooks, ctx))
			continue;
		go_on = each_input(f, t->paths[i], hooks, ctx);
		leave(f);
	}
	return go_on;
}

/* After the last input: the spans that are still open. */
static bool
hand_over_rest(struct flow *f, const char *path, const struct flow_hooks *hooks, void *ctx)
{
	bool more = f->job->interpret == INTERPRET_SPANS && f->batch.events != NULL, go_on = true;

	judge_init(&f->judge, path, f->job->sink, f->job->ctx);
	f->unreadable = f->complete = false;
	while (more && go_on) {
		batch_recycle(&f->batch);
		go_on = interpret_finish(&f->interpret, &f->batch, &more);
		if (!go_on)
			flow_no_memory(f);
		else if (f->batch.n > 0)
			go_on = hand_over(f, hooks->take, ctx);
	}
	if ((!go_on || f->judge.ncounts > 0) && hooks->done != NULL)
		hooks->done(ctx, f);
	batch_recycle(&f->batch);
	judge_free(&f->judge);
	return go_on;
}

/* After the last input: what only the whole trace shows. */
static void
judge_trace(struct flow *f, const char *path, const struct flow_hooks *hooks, void *ctx)
{
	if (f->shared == NULL || f->shared_format->reader->judge_trace == NULL)
		return;
	judge_init(&f->judge, path, f->job->sink, f->job->ctx);
	f->judge.records_before = f->trace.records;
	f->format = f->shared_format;
	f->open = true;
	f->unreadable = f->complete = false;
	f->reader = (struct reader){
		.trace = &f->trace,
		.judge = &f->judge,
		.want = f->job->want,
		.options = f->job->options,
		.shared = f->shared,
	};
	f->shared_format->reader->judge_trace(&f->reader);
	const bool found = f->judge.ncounts > 0;
	if (found && hooks->done != NULL)
		hooks->done(ctx, f);
	judge_free(&f->judge);
}

bool
flow_each(struct flow *f, const struct flow_job *job, const struct flow_hooks *hooks, void *ctx)
{
	const char *const *const paths = job->paths != NULL ? job->paths : &job->path;
	const size_t n = job->paths != NULL ? job->npaths : 1;
	struct operand *const o = calloc(n, sizeof *o);
	bool go_on = true;

	flow_init(f, job);
	if (o == NULL) {
		each_problem(f, paths[0], INPUT_SYSTEM, "the system gives no more memory", hooks, ctx);
		return true;
	}
	for (size_t i = 0; i < n; i++)
		list_operand(&o[i], job, paths[i]);
	/* one input that can be read twice is looked at when its first event comes */
	for (size_t i = 0; i < n && job->rebase && (n > 1 || o[0].folder); i++)
		rebase_operand(f, &o[i]);
	for (size_t i = 0; i < n && go_on; i++)
		go_on = each_of_operand(f, &o[i], hooks, ctx);
	go_on = go_on && hand_over_rest(f, paths[0], hooks, ctx);
	if (go_on)
		judge_trace(f, paths[0], hooks, ctx);
	for (size_t i = 0; i < n; i++)
		input_tree_free(&o[i].tree);
	free(o);
	return go_on;
}
