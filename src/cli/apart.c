/*
 * Reads the portions of a trace apart: each on one core, with a trace of its own.  A portion is a file, or
 * the files with a common state.
 *
 * The result equals that of reading one file after another if the portions are independent (format/claims.h).
 * This is known only when they are read, so messages wait for the end.  If portions depend on each other, the
 * caller reads the trace as a whole.  Whether they do follows from the files, not from the number of threads.
 *
 * If portions have several files, the checks of the whole trace are a portion of their own, the frame: it
 * opens all files, but reads no records.  It must find the same on opening them as the other portions.
 */
#include "cli/apart.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/workers.h"
#include "cli/say.h"
#include "format/registry.h"

struct apart {
	struct trace_slot *trace;
	const struct apart_ops *ops;
	void *ctx;
	const struct operand *files;
	struct portion_files {
		uint32_t first, n; /* index in files->tree, number of files */
	} * list;
	uint32_t nportions; /* portions of `list`; the frame is one more */
	const struct trace_ops *format;
	struct finding_log *logs;
	struct apart_portion *slots;
	uint64_t opened;            /* sum of apart_portion.opened */
	atomic_bool refused;        /* the portions are not independent, or a file cannot be read */
	atomic_uint joined;         /* number of joined portions */
	struct claims claims;       /* of the joined portions */
	struct select_found *found; /* in these; NULL: no selection */
	uint64_t facts;             /* facts_of() the first portion */
};

/* ---- one portion ---- */

static bool is_frame(const struct apart_portion *f)
{
	return f->number == f->of->nportions;
}

/* Adds a hash of the findings of opening the file.  Refuses a packed stream that is to be merged: only a few
 * are merged at a time (input/not-merged), and a portion may have fewer of them than the trace. */
static bool file_opened(void *ctx, const struct source *s)
{
	struct apart_portion *const f = ctx;
	uint64_t hash = hash_bytes(s->location.path, strlen(s->location.path), hash_seed());

	for (int level = 0; level < LEVEL_COUNT; level++)
		hash = hash_u64(s->findings.levels[level], hash);
	f->opened += hash;
	return !f->of->format->merges || s->in->packing == INPUT_PLAIN;
}

static void file_closed(void *ctx, const struct source *s)
{
	struct apart_portion *const f = ctx;
	const struct file_record what = source_record(s);

	finding_log_close(f->log, &what, &s->findings);
	if (is_frame(f) && !s->as_whole) /* the portion of the file has them, too */
		finding_log_clear(f->log);
	if (!s->open || s->context->system_failed || s->context->refused[0] != '\0')
		atomic_store(&f->of->refused, true);
}

static void file_progress(void *ctx, const struct input *in)
{
	const struct apart_portion *const f = ctx;

	if (f->number == atomic_load(&f->of->joined)) /* no other thread shows its progress */
		options_progress(&f->of->trace->run->options, in);
}

static bool read_portion(struct apart_portion *f)
{
	const struct apart *const a = f->of;
	enum stage_status status = STAGE_MORE;
	struct batch *b;

	if ((!is_frame(f) && !a->ops->begin(f)) || !pipeline_open(&f->pipeline, &f->job))
		return false;
	while (!atomic_load(&a->refused) && (status = pipeline_next(f->pipeline, &b)) == STAGE_MORE)
		if (a->ops->take == NULL || is_frame(f))
			batch_release(b);
		else if (!a->ops->take(f, b))
			return false;
	return status == STAGE_END;
}

static struct trace_input input_of(struct apart_portion *f, struct trace_input in)
{
	const struct apart *const a = f->of;

	in.npaths = 1;
	in.vocabularies = &f->vocabularies;
	in.expected = a->trace->trace->format;
	if (a->format->apart_length == NULL) {
		in.paths = &f->path;
		return in;
	}
	in.paths = &a->files->path;
	in.operand = a->files;
	in.portion = is_frame(f) ? PORTION_FRAME : PORTION_FILES;
	if (!is_frame(f)) {
		in.first_file = a->list[f->number].first;
		in.nfiles = a->list[f->number].n;
	}
	return in;
}

static void run_slot(void *ctx, size_t index)
{
	struct apart *const a = ctx;
	struct apart_portion *const f = &a->slots[index];

	finding_log_init(f->log);
	memset(f->state, 0, a->ops->state_size);
	f->pipeline = NULL;
	f->job = options_job(&a->trace->run->options, NULL, NULL);
	f->job.in = input_of(f, f->job.in);
	f->job.to.list = &f->log->open;
	f->job.to.hooks = (struct pipeline_hooks){
		.opened = file_opened, .closed = file_closed, .progress = file_progress, .ctx = f
	};
	f->opened = 0;
	if (!read_portion(f))
		atomic_store(&a->refused, true);
	pipeline_end(f->pipeline);
}

/* ---- joining ---- */

/* A hash of the facts that all portions must have in common. */
static uint64_t facts_of(const struct trace *t)
{
	uint64_t hash = hash_bytes(t->dialect, strlen(t->dialect), hash_seed());

	hash = hash_bytes(t->clock, strlen(t->clock), hash);
	return hash_u64(t->epoch_known, hash_u64(t->epoch_ns, hash_u64(t->zero_ns, hash)));
}

bool apart_claim_labels(struct apart_portion *f, const struct stats *s)
{
	struct claims *const c = &f->of->claims;
	bool ok = true;

	for (unsigned i = 0; ok && i < s->by.n; i++) {
		const struct group_values *const v = &s->values[i];
		for (uint32_t k = 0; ok && v->tracks != NULL && k < v->ntracks; k++)
			ok = v->tracks[k] == NULL ||
			     (slice_equal(v->labels[k], v->tracks[k]->name) &&
			      claims_put(c, CLAIM_OF_COMMAND,
			                 hash_bytes(v->labels[k].p, v->labels[k].n, hash_seed()), c->input,
			                 0));
	}
	return ok;
}

bool apart_sum_is_exact(const struct stats *s)
{
	bool ok = !s->overflowed && s->pool.coarse == 0 && stats_other_names(s) == 0 &&
	          s->classes.other == 0 && s->text.used <= NAMES_MAX_BYTES / 2;

	for (unsigned i = 0; ok && i < s->by.n; i++)
		ok = s->values[i].texts.n < NAMES_MAX;
	return ok;
}

/* Adds the statistics of a selection.  Returns false after the last portion if no event met a condition, as
 * similar texts are those of the whole trace. */
static bool join_found(struct apart *a, const struct apart_portion *f, const struct select_found *found)
{
	if (found == NULL)
		return true;
	if (a->found == NULL) {
		a->found = select_found_new(f->job.choice.select);
		if (a->found == NULL)
			return false;
		a->found->complete = true;
	}
	select_found_add(a->found, found);
	return a->found->unmet == 0 || f->number + 1 < a->nportions;
}

/* Joins a portion to the earlier ones.  Returns false if it depends on them, or on OOM. */
static bool join_portion(struct apart *a, struct apart_portion *f)
{
	const struct run_report run = pipeline_report(f->pipeline);
	const uint64_t facts = facts_of(run.trace);

	if (is_frame(f))
		return !run.failed && !finding_log_failed(f->log) && f->opened == a->opened;
	a->opened += f->opened;
	if (f->number == 0)
		a->facts = facts;
	a->claims.input = f->number + (uint64_t)1;
	return !run.failed && run.unpaired == 0 && run.pairs->n == 0 && run.cut->n == 0 &&
	       run.trace->parts == 0 && run.format == a->trace->trace->format && facts == a->facts &&
	       !finding_log_failed(f->log) && pipeline_claims(f->pipeline, &a->claims) &&
	       (a->ops->join == NULL || a->ops->join(f, &run)) && join_found(a, f, run.found);
}

static void finish_slot(void *ctx, size_t index)
{
	struct apart *const a = ctx;
	struct apart_portion *const f = &a->slots[index];

	if (!atomic_load(&a->refused) && !join_portion(a, f))
		atomic_store(&a->refused, true);
	if (a->ops->end != NULL && !is_frame(f))
		a->ops->end(f);
	pipeline_close(f->pipeline);
	atomic_fetch_add(&a->joined, 1);
}

/* ---- the trace ---- */

/* Mean bytes of files that are read apart: a portion takes 10 us more than a file in its turn. */
#ifndef APART_BYTES
#define APART_BYTES (8U << 10)
#endif

enum {
	UNPACKED_TIMES = 8, /* a packed file is taken for this many times its size: gzip packs JSON to 1/14 */
	FRAME_TIMES = 16    /* the frame opens files once more, which takes as long as checking them */
};

/* checks: there is a frame, and events are not made. */
static bool are_large(const struct input_tree *files, bool checks)
{
	struct stat st;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < files->n; i++) {
		const char *const path = files->paths[i];
		if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) /* a pipe is read only once */
			return false;
		const bool is_packed = format_unpacked_length(path) < strlen(path);
		bytes += (uint64_t)st.st_size * (is_packed ? UNPACKED_TIMES : 1);
	}
	return bytes / files->n >= (uint64_t)APART_BYTES * (checks ? FRAME_TIMES : 1);
}

bool apart_is_possible(const struct trace_slot *t, const struct apart_ops *ops)
{
	const struct operand *const o = &t->trace->operand;
	const struct format *format = t->trace->format;
	const struct trace_ops *const trace_ops = format != NULL ? format_trace_ops(format) : NULL;
	const struct select *const select = &t->run->options.select.select;

	return trace_ops != NULL && trace_ops->claims != NULL && o->folder && o->archive == NULL &&
	       o->tree.n > 1 && o->tree.nproblems == 0 && !o->problems_only &&
	       t->run->options.nschemas == 0 && !select_needs_range(select) &&
	       (!select_is_any(select) || !t->run->options.select.fail_on_empty) &&
	       (trace_ops->checks_order == NULL ||
	        !trace_ops->checks_order(options_values(&t->run->options))) &&
	       are_large(&o->tree, trace_ops->apart_length != NULL && ops->take == NULL);
}

/* Divides the files into portions.  Returns false on OOM. */
static bool divide(struct apart *a)
{
	const struct input_tree *const files = &a->files->tree;
	const char *before = "";
	size_t prefix = 0;

	a->list = calloc(files->n, sizeof *a->list);
	for (uint32_t i = 0; a->list != NULL && i < files->n; i++) {
		const char *const path = files->paths[i];
		const size_t n =
		    a->format->apart_length != NULL ? a->format->apart_length(path) : strlen(path);
		if (a->nportions == 0 || n != prefix || memcmp(path, before, n) != 0)
			a->list[a->nportions++] = (struct portion_files){ .first = i };
		a->list[a->nportions - 1].n++;
		before = path;
		prefix = n;
	}
	return a->list != NULL;
}

/* Returns false on OOM. */
static bool allocate(struct apart *a, size_t portions, size_t slots)
{
	const struct pipeline_job job = options_job(&a->trace->run->options, NULL, NULL);
	const struct format *const format = a->trace->trace->format;
	const struct vocabulary *const v = vocabularies_of(a->trace->vocabularies, &job, format);

	a->logs = calloc(portions, sizeof *a->logs);
	a->slots = calloc(slots, sizeof *a->slots);
	for (size_t i = 0; a->slots != NULL && i < slots; i++) {
		a->slots[i].of = a;
		a->slots[i].ctx = a->ctx;
		a->slots[i].state = malloc(a->ops->state_size > 0 ? a->ops->state_size : 1);
		if (a->slots[i].state == NULL || v == NULL ||
		    !vocabularies_borrow(&a->slots[i].vocabularies, format, v))
			return false;
	}
	return a->logs != NULL && a->slots != NULL;
}

bool apart_read(struct trace_slot *t, const struct apart_ops *ops, void *ctx)
{
	static const struct workers_ops work = { .run = run_slot, .finish = finish_slot };
	struct apart a = { .trace = t,
		           .ops = ops,
		           .ctx = ctx,
		           .files = &t->trace->operand,
		           .format = format_trace_ops(t->trace->format) };
	const bool divided = divide(&a) && a.nportions > 1;
	const size_t n = a.nportions + (a.format->apart_length != NULL ? 1U : 0U);
	const size_t threads = t->helpers + 1 < n ? t->helpers + 1 : n,
	             slots = threads == 1 ? 1 : 2 * threads;
	struct workers *const w =
	    divided && allocate(&a, n, slots) ? workers_new(slots, threads - 1, &work, &a) : NULL;
	uint32_t begun = 0;

	for (; w != NULL && begun < n && !atomic_load(&a.refused); begun++) {
		struct apart_portion *const f = &a.slots[workers_slot(w)];
		f->number = begun;
		f->path = begun < a.nportions ? a.files->tree.paths[a.list[begun].first] : t->path;
		f->log = &a.logs[begun];
		workers_put(w);
	}
	if (w != NULL)
		workers_settle(w);
	workers_free(w);
	const bool ok = w != NULL && !atomic_load(&a.refused);
	if (ok) {
		t->is_read = true;
		trace_slot_turn(t);
		progress_clear(&t->run->options.progress);
		ops->report(t, ctx, a.logs, (uint32_t)n);
		t->run->status =
		    worse(t->run->status, say_selected(&t->run->options, t->path, a.found, NULL));
	}
	for (uint32_t i = 0; i < begun; i++)
		finding_log_free(&a.logs[i]);
	for (size_t i = 0; a.slots != NULL && i < slots; i++) {
		vocabularies_free(&a.slots[i].vocabularies);
		free(a.slots[i].state);
	}
	claims_free(&a.claims);
	select_found_free(a.found);
	free(a.list);
	free(a.logs);
	free(a.slots);
	return ok;
}

/* ---- what was found ---- */

static void say_portion(struct trace_run *r, const struct finding_log *log)
{
	for (const struct file_record *k = log->first; k != NULL; k = k->next) {
		struct file_record what = *k; /* without findings: reports count those that are said */
		what.next = NULL;
		what.findings = NULL;
		what.counts = NULL;
		what.checks = NULL;
		what.nfindings = what.ncounts = what.nchecks = 0;
		const struct findings j = { .path = k->path,
			                    .counts = k->counts,
			                    .ncounts = (uint32_t)k->ncounts };
		const struct finding *f = k->findings;
		for (size_t i = 0; i < k->nfindings; i++, f = f->next)
			say_finding(&r->options, &j, f);
		r->status = worse(r->status, say_record(&r->options, &what, &j));
	}
}

void apart_say(struct trace_slot *t, const struct finding_log *logs, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		say_portion(t->run, &logs[i]);
}
