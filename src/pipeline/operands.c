#include <stdlib.h>

#include "check/input_rules.h"
#include "pipeline/pipeline_parts.h"
#include "format/registry.h"
#include "input/input_tree.h"

/* Operands: files, and folders with all that is in them. */

/* A stream that is to be merged with others, but cannot be. */
struct deferred_input {
	struct deferred_input *next;
	const char *path; /* of the operands */
	const char *operand;
	bool in_folder;
};

/* false: no memory. */
static bool
put_off(struct pipeline *f, const char *path)
{
	struct deferred_input *const l = malloc(sizeof *l), **end = &f->later;

	if (l == NULL)
		return false;
	while (*end != NULL)
		end = &(*end)->next;
	*l = (struct deferred_input){ NULL, path, f->operand, f->in_folder };
	*end = l;
	return true;
}

/* Reads the present input (pipeline_enter) alone. */
static bool
read_alone(struct pipeline *f, const struct pipeline_hooks *hooks, void *ctx)
{
	return !pipeline_open_present(f) ||
	       ((hooks->opened == NULL || hooks->opened(ctx, f)) && pipeline_run(f, hooks->take, ctx));
}

/* n: how many inputs there are at most. */
static bool
each_input(struct pipeline *f, const char *path, size_t n, const struct pipeline_hooks *hooks, void *ctx)
{
	bool go_on = true;

	if (pipeline_enter(f, path, f->piece > 0 ? input_open_pieces(path, f->piece) : input_open(path))) {
		if (!streams_wanted(f))
			go_on = read_alone(f, hooks, ctx);
		else if (!streams_full(f))
			return streams_add(f, n, hooks, ctx);
		else if (put_off(f, path))
			return true;
		else
			pipeline_no_memory(f);
	}
	if (hooks->done != NULL)
		hooks->done(ctx, f);
	return go_on;
}

/* Those that were put off, one by one. */
static bool
each_deferred(struct pipeline *f, bool go_on, const struct pipeline_hooks *hooks, void *ctx)
{
	for (struct deferred_input *l = f->later, *next; l != NULL; l = next) {
		next = l->next;
		f->operand = l->operand;
		f->in_folder = l->in_folder;
		if (go_on && pipeline_enter(f, l->path, input_open(l->path))) {
			finding_add(&f->findings, &input_rules[INPUT_RULE_NOT_MERGED], 0, 0,
			            "the input is packed, and eight packed streams were merged already");
			go_on = read_alone(f, hooks, ctx);
			if (hooks->done != NULL)
				hooks->done(ctx, f);
		}
		pipeline_leave(f);
		free(l);
	}
	f->later = NULL;
	return go_on;
}

/* Something in a folder that cannot be read, as a finding of its own. */
static void
each_problem(struct pipeline *f, const char *path, enum input_fault fault, const char *text,
             const struct pipeline_hooks *hooks, void *ctx)
{
	findings_init(&f->findings, path, f->job->sink, f->job->ctx);
	finding_add(&f->findings, input_fault_rule(fault), 0, 0, "%s", text);
	f->open = f->complete = false;
	f->unreadable = true;
	if (hooks->done != NULL)
		hooks->done(ctx, f);
	pipeline_leave(f);
}

static bool
wants_name(void *format, const char *name)
{
	return format_wants_name(format, name) || format_of_sidecar(format, name) != NULL;
}

static const char *
last_name(const char *path)
{
	const char *const slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* A file that belongs to traces of a format but holds no events.  false: it is none. */
static bool
each_sidecar(struct pipeline *f, const char *path, const struct pipeline_hooks *hooks, void *ctx)
{
	const struct format *const format = format_of_sidecar(f->job->from, last_name(path)), *const before =
	                                                                                          f->format;

	if (format == NULL)
		return false;
	if (format_trace_ops(format)->check_sidecar == NULL)
		return true;
	findings_init(&f->findings, path, f->job->sink, f->job->ctx);
	f->format = format;
	f->open = true;
	f->unreadable = f->complete = false;
	f->reader = (struct reader){ .format = f->format,
		                     .trace = &f->trace,
		                     .findings = &f->findings,
		                     .want = f->want,
		                     .options = f->job->options };
	format_trace_ops(format)->check_sidecar(&f->reader);
	if (f->findings.ncounts > 0 && hooks->done != NULL)
		hooks->done(ctx, f);
	findings_free(&f->findings);
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
list_operand(struct operand *o, const struct pipeline_job *job, const char *path)
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
rebase_file(struct pipeline *f, struct min_time *e, const char *path)
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
		min_time_input(e, format, in);
	else
		input_close(in);
}

static void
rebase_operands(struct pipeline *f, const struct operand *operands, size_t n)
{
	struct min_time e;

	f->operand = operands[0].path;
	min_time_begin(&e, f);
	for (size_t k = 0; k < n; k++) {
		const struct operand *const o = &operands[k];
		f->in_folder = o->folder;
		if (!o->folder)
			rebase_file(f, &e, o->path);
		for (size_t i = 0; i < o->tree.n; i++)
			if (format_of_sidecar(f->job->from, last_name(o->tree.paths[i])) == NULL)
				rebase_file(f, &e, o->tree.paths[i]);
	}
	min_time_end(&e);
}

/* How many inputs there are at most. */
static size_t
count_inputs(const struct pipeline *f, const struct operand *operands, size_t n)
{
	size_t inputs = 0;

	for (size_t k = 0; k < n; k++) {
		inputs += !operands[k].folder;
		for (size_t i = 0; i < operands[k].tree.n; i++)
			inputs +=
			    format_of_sidecar(f->job->from, last_name(operands[k].tree.paths[i])) == NULL;
	}
	return inputs;
}

static bool
each_of_operand(struct pipeline *f, const struct operand *o, size_t n, const struct pipeline_hooks *hooks,
                void *ctx)
{
	const struct input_tree *const t = &o->tree;
	bool go_on = true;

	f->in_folder = o->folder;
	f->operand = o->path;
	if (!o->folder) {
		go_on = each_input(f, o->path, n, hooks, ctx);
		pipeline_leave(f);
	}
	for (size_t i = 0; i < t->nproblems; i++)
		each_problem(f, t->problems[i].path, t->problems[i].fault, t->problems[i].text, hooks, ctx);
	if (t->no_memory)
		each_problem(f, o->path, INPUT_SYSTEM, "the system gives no more memory", hooks, ctx);
	else if (o->folder && t->n == 0 && t->nproblems == 0)
		each_problem(f, o->path, INPUT_NOT_A_FILE,
		             "the input is a directory without files that are named like traces (tracetool "
		             "formats lists the suffixes)",
		             hooks, ctx);
	for (size_t i = 0; i < t->n && go_on; i++) {
		if (each_sidecar(f, t->paths[i], hooks, ctx))
			continue;
		go_on = each_input(f, t->paths[i], n, hooks, ctx);
		pipeline_leave(f);
	}
	return go_on;
}

/* After the last input: what was found in the trace as a whole, and (all) what only the whole shows. */
static void
check_trace(struct pipeline *f, bool all, const struct pipeline_hooks *hooks, void *ctx)
{
	if (f->trace_findings.path == NULL)
		return;
	const struct trace_ops *const ops = format_trace_ops(f->shared_format);
	f->findings = f->trace_findings;
	f->trace_findings = (struct findings){ .path = NULL };
	f->findings.sink = f->job->sink;
	f->findings.ctx = f->job->ctx;
	findings_report(&f->trace_deferred, &f->findings, f->job->sink, f->job->ctx);
	f->format = f->shared_format;
	f->open = true;
	f->unreadable = f->trace_unreadable;
	f->complete = false;
	f->reader = (struct reader){
		.format = f->format,
		.trace = &f->trace,
		.findings = &f->findings,
		.want = f->want,
		.options = f->job->options,
		.shared = f->shared,
	};
	if (all && f->shared != NULL && ops->check != NULL)
		ops->check(&f->reader);
	f->whole = true;
	if ((f->findings.ncounts > 0 || f->unreadable) && hooks->done != NULL)
		hooks->done(ctx, f);
	f->whole = false;
	findings_free(&f->findings);
}

/* After the last input: the spans that are still open. */
static bool
each_rest(struct pipeline *f, const char *path, const struct pipeline_hooks *hooks, void *ctx)
{
	findings_init(&f->findings, path, f->job->sink, f->job->ctx);
	f->unreadable = f->complete = false;
	const bool go_on = pipeline_hand_on_rest(f, hooks->take, ctx);
	if ((!go_on || f->findings.ncounts > 0) && hooks->done != NULL)
		hooks->done(ctx, f);
	findings_free(&f->findings);
	return go_on;
}

static bool
each_operand(struct pipeline *f, const struct operand *o, size_t n, const struct pipeline_hooks *hooks,
             void *ctx)
{
	const size_t inputs = count_inputs(f, o, n);
	bool go_on = true;

	/* one input that can be read twice is looked at when its first event comes */
	if (f->job->rebase && (n > 1 || o[0].folder))
		rebase_operands(f, o, n);
	for (size_t i = 0; i < n && go_on; i++)
		go_on = each_of_operand(f, &o[i], inputs, hooks, ctx);
	go_on = streams_run(f, go_on, hooks, ctx);
	go_on = each_deferred(f, go_on, hooks, ctx);
	go_on = go_on && each_rest(f, o[0].path, hooks, ctx);
	check_trace(f, go_on, hooks, ctx);
	return go_on;
}

bool
pipeline_each(struct pipeline *f, const struct pipeline_job *job, const struct pipeline_hooks *hooks,
              void *ctx)
{
	const char *const *const paths = job->paths != NULL ? job->paths : &job->path;
	const size_t n = job->paths != NULL ? job->npaths : 1;
	struct operand *const o = calloc(n, sizeof *o);

	pipeline_init(f, job);
	if (o == NULL) {
		each_problem(f, paths[0], INPUT_SYSTEM, "the system gives no more memory", hooks, ctx);
		return true;
	}
	for (size_t i = 0; i < n; i++)
		list_operand(&o[i], job, paths[i]);
	const bool go_on = each_operand(f, o, n, hooks, ctx);
	for (size_t i = 0; i < n; i++)
		input_tree_free(&o[i].tree);
	free(o);
	return go_on;
}
