/* The first stage: opens the inputs of all operands in order, and reads them one after the other or passes
 * them to the merge (streams.c).  Calls the hooks of the job.  A packed stream beyond the limit of concurrent
 * ones is read after the merge. */
#include "run/read/reading.h"

#include <stdlib.h>

#include "check/rules.h"
#include "format/trace_ops.h"
#include "input/open.h"
#include "model/trace_engine.h"

static const struct pipeline_hooks *hooks_of(const struct reading *r)
{
	return &r->context->job->to.hooks;
}

void reading_report(struct reading *r, struct source *s)
{
	const struct pipeline_hooks *const h = hooks_of(r);

	gate_pass(r->context->gate);
	if (s->in != NULL && h->settle != NULL)
		h->settle(h->ctx);
	source_end(s);
	r->context->lacks_inputs |= s->unreadable;
	if (h->closed != NULL)
		h->closed(h->ctx, s);
	source_close(s);
}

/* A finding without an open input. */
static void report_problem(struct reading *r, const char *path, enum input_fault fault, const char *text)
{
	struct source s = source_of_findings(r->context, path);

	s.unreadable = !input_fault_is_warning(fault);
	finding_add(&s.findings, input_fault_rule(fault), 0, 0, "%s", text);
	reading_report(r, &s);
}

/* Checks a file of a trace without events. */
static void check_sidecar(struct reading *r, const struct format *format, const struct operand *o,
                          const char *path)
{
	struct trace_context *const c = r->context;

	if (format_trace_ops(format)->check_sidecar == NULL)
		return;
	struct source s = source_of_findings(c, path);
	s.location.operand = o->path;
	s.location.in_folder = true;
	s.format = format;
	s.dialect = "";
	s.open = s.is_sidecar = true;
	s.location.archive = o->archive;
	s.reader = source_reader(&s, &s.findings);
	format_trace_ops(format)->check_sidecar(&s.reader);
	s.unreadable = s.reader.unreadable[0] != '\0';
	c->lacks_inputs |= s.findings.levels[LEVEL_ERROR] > 0;
	r->has_error |= s.findings.levels[LEVEL_ERROR] > 0;
	if (s.findings.ncounts > 0)
		reading_report(r, &s);
	else
		source_close(&s);
}

/* ---- opening an input ---- */

/* Starts reading the current source, not merged.  Returns false if a hook stops the run. */
static bool read_alone(struct reading *r)
{
	const struct pipeline_hooks *const h = hooks_of(r);
	struct source *const s = &r->source;

	r->has_source = source_start(s);
	const bool go_on = !r->has_source || h->opened == NULL || h->opened(h->ctx, s);
	if (!r->has_source || r->context->job->in.portion == PORTION_FRAME) {
		r->has_source = false;
		reading_report(r, s);
	}
	return go_on;
}

static struct input *open_input(struct reading *r, const struct source_location *location)
{
	struct input *const first = r->first;
	struct input_files *const files = r->context->job->in.files;

	r->first = NULL;
	if (first != NULL)
		return first;
	if (r->context->job->in.input != NULL)
		return r->context->job->in.input;

	return r->piece > 0 && location->archive == NULL
	           ? input_open_pieces(files, location->path, r->piece)
	           : input_open_in(files, location->archive, location->path);
}

static bool defer(struct reading *r, struct source *s)
{
	struct deferred_input *const d = malloc(sizeof *d);

	if (d == NULL) {
		source_no_memory(s);
		return false;
	}
	*d = (struct deferred_input){ NULL, s->location };
	*r->deferred_end = d;
	r->deferred_end = &d->next;
	return true;
}

/* Opens an input.  Returns false if a hook stops the run. */
static bool open_next(struct reading *r, struct source_location location)
{
	struct source *const s = &r->source;

	if (!source_begin(s, r->context, location, open_input(r, &location))) {
		reading_report(r, s);
		return true;
	}
	if (!streams_wanted(s) || r->context->job->in.portion == PORTION_FRAME)
		return read_alone(r);
	if (!streams_full(r, s))
		return streams_add(r, s);
	if (defer(r, s))
		source_close(s);
	else
		reading_report(r, s);
	return true;
}

/* Opens the next deferred stream.  Returns false if a hook stops the run. */
static bool open_deferred(struct reading *r)
{
	struct deferred_input *const d = r->deferred;
	const struct source_location location = d->location;

	gate_pass(r->context->gate);
	r->deferred = d->next;
	free(d);
	if (!source_begin(&r->source, r->context, location,
	                  input_open_in(r->context->job->in.files, location.archive, location.path))) {
		reading_report(r, &r->source); /* it was readable before */
		return true;
	}
	finding_add(&r->source.findings, &input_rules[INPUT_RULE_NOT_MERGED], 0, 0,
	            "a compressed stream beyond the eight that are merged");
	return read_alone(r);
}

/* ---- operands ---- */

/* Whether a folder has no files to be read, and no error gives the reason.  The warnings of the folder and
 * the error that it has no files are then findings of one input. */
static bool is_without_input(const struct operand *o)
{
	const struct input_tree *const t = &o->tree;
	bool errors = t->no_memory;

	for (size_t i = 0; i < t->nproblems; i++)
		errors |= !input_fault_is_warning(t->problems[i].fault);
	return o->folder && !o->problems_only && t->n == 0 && !errors;
}

/* Reports problems of listing a folder. */
static void report_problems(struct reading *r, const struct operand *o)
{
	const struct input_tree *const t = &o->tree;
	const size_t n = is_without_input(o) ? 0 : t->nproblems;

	r->has_error = t->no_memory;
	for (size_t i = 0; i < n; i++) {
		report_problem(r, t->problems[i].path, t->problems[i].fault, t->problems[i].text);
		r->has_error |= !input_fault_is_warning(t->problems[i].fault);
	}
	if (t->no_memory)
		report_problem(r, o->path, INPUT_SYSTEM, "out of memory");
}

static void report_empty_folder(struct reading *r, const struct operand *o)
{
	const struct input_tree *const t = &o->tree;
	struct source s = source_of_findings(r->context, o->path);

	s.unreadable = true;
	for (size_t i = 0; i < t->nproblems; i++)
		finding_add(&s.findings, input_fault_rule(t->problems[i].fault), 0, 0, "%s",
		            t->problems[i].text);
	finding_add(&s.findings, &input_rules[INPUT_RULE_NOT_A_FILE], 0, 0,
	            "%s no files with the suffix of a format (tracetool formats lists them)",
	            o->archive != NULL ? "the archive has" : "the directory has");
	reading_report(r, &s);
}

/* Reports a folder without inputs, unless an error was reported. */
static void report_no_input(struct reading *r, const struct operand *o)
{
	if (r->context->job->in.portion == PORTION_FILES)
		return;
	if (is_without_input(o))
		report_empty_folder(r, o);
	else if (o->folder && !o->problems_only && !r->has_input && !r->has_error)
		report_problem(r, o->path, INPUT_NOT_A_FILE,
		               "the directory has no trace: the files with the suffix of a format hold "
		               "no events");
}

/* Moves to the next input or operand.  Returns false if a hook stops the run. */
static bool advance(struct reading *r)
{
	const struct operand *const o = &r->operands.list[r->operand];

	gate_pass(r->context->gate);
	if (!r->problems_reported) {
		report_problems(r, o);
		r->problems_reported = true;
		r->has_input = false;
	}
	const struct trace_input *const in = &r->context->job->in;
	const size_t end = !o->folder                     ? 1
	                   : in->portion == PORTION_FILES ? in->first_file + in->nfiles
	                                                  : o->tree.n;
	if (r->file == end) {
		report_no_input(r, o);
		r->operand++;
		r->file = 0;
		r->problems_reported = false;
		return true;
	}
	const char *const path = o->folder ? o->tree.paths[r->file] : o->path;
	const struct format *const sidecar = o->folder ? operands_sidecar(&r->operands, path) : NULL;
	r->file++;
	if (sidecar != NULL) {
		check_sidecar(r, sidecar, o, path);
		return true;
	}
	r->has_input = true;
	return open_next(r, (struct source_location){ path, o->path, o->folder, r->number++, o->archive });
}

/* ---- the stage ---- */

/* Events of the current source; *out NULL: it has ended and is closed. */
static enum stage_status read_source(struct reading *r, struct batch **out)
{
	struct source *const s = &r->source;
	struct batch *const b = batch_pool_take(r->pool);

	*out = NULL;
	if (b == NULL) {
		source_no_memory(s);
		return STAGE_BAD;
	}
	while (s->status == READ_MORE && b->n == 0) {
		source_next(s, b);
		source_check_events(s, b);
		job_progress(r->context->job, s->in);
	}
	if (b->n > 0) {
		b->engine.findings = &s->findings;
		b->engine.read = r->context->read;
		*out = b;
		return STAGE_MORE;
	}
	batch_release(b);
	r->has_source = false;
	reading_report(r, s);
	return STAGE_MORE;
}

static enum stage_status next_events(struct stage *st, struct batch **out)
{
	struct reading *const r = (struct reading *)st;
	enum stage_status status = r->ended;

	*out = NULL;
	while (status == STAGE_MORE && *out == NULL) {
		if (r->has_source)
			status = read_source(r, out);
		else if (r->operand < r->operands.n)
			status = advance(r) ? STAGE_MORE : STAGE_BAD;
		else if (r->streams != NULL)
			status = streams_next(r, out);
		else if (r->deferred != NULL)
			status = open_deferred(r) ? STAGE_MORE : STAGE_BAD;
		else
			status = STAGE_END;
	}
	r->ended = status;
	return status;
}

static bool list_operands(struct operands *o, const struct pipeline_job *job)
{
	if (job->in.operands != NULL)
		return operands_borrow(o, job->in.operands->list, job->in.operands->n, job->in.from);
	return job->in.operand != NULL ? operands_borrow(o, job->in.operand, 1, job->in.from)
	                               : operands_init(o, job->in.paths, job->in.npaths, job->in.from);
}

struct reading *reading_new(struct trace_context *c, struct batch_pool *pool)
{
	struct reading *const r = calloc(1, sizeof *r);
	const struct pipeline_job *const job = c->job;

	if (r == NULL)
		return NULL;
	r->stage.next = next_events;
	r->context = c;
	r->pool = pool;
	r->deferred_end = &r->deferred;
	r->file = job->in.first_file;
	if (!list_operands(&r->operands, job)) {
		free(r);
		return NULL;
	}
	if (job->in.input != NULL)
		r->operands.list[0].folder = false;
	r->inputs = operands_count(&r->operands);
	return r;
}

void reading_open_first(struct reading *r)
{
	if (r->context->job->in.input != NULL || r->operands.n == 0)
		return;
	const struct operand *const o = &r->operands.list[0];
	const struct source_location location = { .path = o->path };
	if (!o->folder && o->archive == NULL && !input_is_named(o->path))
		r->first = open_input(r, &location);
}

struct source *reading_present(struct reading *r)
{
	return r->has_source ? &r->source : streams_present(r);
}

void reading_end(struct reading *r)
{
	if (r->has_source)
		reading_report(r, &r->source);
	r->has_source = false;
	if (r->streams != NULL)
		streams_end(r);
	if (r->ended == STAGE_MORE)
		r->ended = STAGE_BAD;
}

void reading_free(struct reading *r)
{
	if (r == NULL)
		return;
	while (r->deferred != NULL) {
		struct deferred_input *const d = r->deferred;
		r->deferred = d->next;
		free(d);
	}
	input_close(r->first);
	operands_free(&r->operands);
	free(r);
}
