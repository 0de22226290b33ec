/*
 * Reads the files of a trace apart: each on one core, with a trace of its own.
 *
 * The result equals that of reading one file after another if the files are independent (format/claims.h).
 * Whether they are is known only when they are read, so messages wait for the end.  If they are not, the
 * trace is to be read as a whole.  Both depend on the files alone, not on the number of threads.
 */
#include "cli/apart.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/workers.h"
#include "cli/say.h"

/* Facts of a trace that all files must have in common. */
struct facts {
	const char *format;
	char dialect[64], clock[64];
	uint64_t epoch_ns, zero_ns;
	bool epoch_known;
};

struct apart {
	struct trace_slot *trace;
	const struct apart_ops *ops;
	void *ctx;
	const struct operand *files;
	struct finding_log *logs;
	struct apart_file *slots;
	atomic_bool refused;  /* the files are not independent, or one cannot be read */
	atomic_uint joined;   /* number of files */
	struct claims claims; /* of these */
	struct facts facts;
};

/* ---- one file ---- */

static void file_closed(void *ctx, const struct source *s)
{
	struct apart_file *const f = ctx;
	const struct file_record what = source_record(s);

	finding_log_close(f->log, &what, &s->findings);
	if (!s->open || s->context->system_failed || s->context->refused[0] != '\0')
		atomic_store(&f->of->refused, true);
}

static void file_progress(void *ctx, const struct input *in)
{
	const struct apart_file *const f = ctx;

	if (f->number == atomic_load(&f->of->joined)) /* no other thread shows its progress */
		options_progress(&f->of->trace->run->options, in);
}

static bool read_file(struct apart_file *f)
{
	const struct apart *const a = f->of;
	enum stage_status status = STAGE_MORE;
	struct batch *b;

	if (!a->ops->begin(f) || !pipeline_open(&f->pipeline, &f->job))
		return false;
	while (!atomic_load(&a->refused) && (status = pipeline_next(f->pipeline, &b)) == STAGE_MORE)
		if (a->ops->take == NULL)
			batch_release(b);
		else if (!a->ops->take(f, b))
			return false;
	return status == STAGE_END;
}

static void run_slot(void *ctx, size_t index)
{
	struct apart *const a = ctx;
	struct apart_file *const f = &a->slots[index];

	finding_log_init(f->log);
	memset(f->state, 0, a->ops->state_size);
	f->pipeline = NULL;
	f->job = options_job(&a->trace->run->options, NULL, NULL);
	f->job.in.paths = &f->path;
	f->job.in.npaths = 1;
	f->job.in.vocabularies = &f->vocabularies;
	f->job.to.list = &f->log->open;
	f->job.to.hooks =
	    (struct pipeline_hooks){ .closed = file_closed, .progress = file_progress, .ctx = f };
	if (!read_file(f))
		atomic_store(&a->refused, true);
	pipeline_end(f->pipeline);
}

/* ---- joining ---- */

static struct facts facts_of(const struct trace *t)
{
	struct facts f = { .format = t->format,
		           .epoch_ns = t->epoch_ns,
		           .zero_ns = t->zero_ns,
		           .epoch_known = t->epoch_known };

	snprintf(f.dialect, sizeof f.dialect, "%s", t->dialect);
	snprintf(f.clock, sizeof f.clock, "%s", t->clock);
	return f;
}

static bool is_same(const struct facts *a, const struct facts *b)
{
	return a->format == b->format && strcmp(a->dialect, b->dialect) == 0 &&
	       strcmp(a->clock, b->clock) == 0 && a->epoch_known == b->epoch_known &&
	       a->epoch_ns == b->epoch_ns && a->zero_ns == b->zero_ns;
}

bool apart_claim_text(struct apart_file *f, struct slice text)
{
	struct claims *const c = &f->of->claims;

	return claims_put(c, CLAIM_OF_COMMAND, hash_bytes(text.p, text.n, hash_seed()), c->input, 0);
}

/* Joins a file to the earlier ones.  Returns false if it depends on them, or on OOM. */
static bool join_file(struct apart *a, struct apart_file *f)
{
	const struct run_report run = pipeline_report(f->pipeline);
	const struct facts facts = facts_of(run.trace);

	if (f->number == 0)
		a->facts = facts;
	a->claims.input = f->number + (uint64_t)1;
	return !run.failed && run.unpaired == 0 && run.pairs->n == 0 && run.cut->n == 0 &&
	       run.trace->parts == 0 && run.format == a->trace->trace->format && is_same(&facts, &a->facts) &&
	       !finding_log_failed(f->log) && pipeline_claims(f->pipeline, &a->claims) &&
	       (a->ops->join == NULL || a->ops->join(f, &run));
}

static void finish_slot(void *ctx, size_t index)
{
	struct apart *const a = ctx;
	struct apart_file *const f = &a->slots[index];

	if (!atomic_load(&a->refused) && !join_file(a, f))
		atomic_store(&a->refused, true);
	if (a->ops->end != NULL)
		a->ops->end(f);
	pipeline_close(f->pipeline);
	atomic_fetch_add(&a->joined, 1);
}

/* ---- all files ---- */

/* Mean size, in bytes, from which files are read apart: the states of a reader take 50 us. */
#ifndef APART_BYTES
#define APART_BYTES (256U << 10)
#endif

static bool are_large(const struct input_tree *files)
{
	struct stat st;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < files->n; i++) {
		if (stat(files->paths[i], &st) != 0 || !S_ISREG(st.st_mode)) /* a pipe is read only once */
			return false;
		bytes += (uint64_t)st.st_size;
	}
	return bytes / files->n >= APART_BYTES;
}

bool apart_is_possible(const struct trace_slot *t)
{
	const struct operand *const o = &t->trace->operand;
	const struct format *const format = t->trace->format;
	const struct select_options *const select = &t->run->options.select;

	return format != NULL && format_trace_ops(format)->claims != NULL && o->folder &&
	       o->archive == NULL && o->tree.n > 1 && o->tree.nproblems == 0 && !o->problems_only &&
	       t->run->options.nschemas == 0 && select_is_any(&select->select) && !select->fail_on_empty &&
	       are_large(&o->tree);
}

/* Returns false on OOM. */
static bool allocate(struct apart *a, size_t slots)
{
	a->logs = calloc(a->files->tree.n, sizeof *a->logs);
	a->slots = calloc(slots, sizeof *a->slots);
	for (size_t i = 0; a->slots != NULL && i < slots; i++) {
		a->slots[i].of = a;
		a->slots[i].ctx = a->ctx;
		if ((a->slots[i].state = malloc(a->ops->state_size > 0 ? a->ops->state_size : 1)) == NULL)
			return false;
	}
	return a->logs != NULL && a->slots != NULL;
}

bool apart_read(struct trace_slot *t, const struct apart_ops *ops, void *ctx)
{
	static const struct workers_ops work = { .run = run_slot, .finish = finish_slot };
	const size_t n = t->trace->operand.tree.n, threads = t->helpers + 1 < n ? t->helpers + 1 : n;
	const size_t slots = threads == 1 ? 1 : 2 * threads;
	struct apart a = { .trace = t, .ops = ops, .ctx = ctx, .files = &t->trace->operand };
	struct workers *const w = allocate(&a, slots) ? workers_new(slots, threads - 1, &work, &a) : NULL;
	uint32_t begun = 0;

	for (; w != NULL && begun < n && !atomic_load(&a.refused); begun++) {
		struct apart_file *const f = &a.slots[workers_slot(w)];
		f->number = begun;
		f->path = a.files->tree.paths[begun];
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
	}
	for (uint32_t i = 0; i < begun; i++)
		finding_log_free(&a.logs[i]);
	for (size_t i = 0; a.slots != NULL && i < slots; i++) {
		vocabularies_free(&a.slots[i].vocabularies);
		free(a.slots[i].state);
	}
	claims_free(&a.claims);
	free(a.logs);
	free(a.slots);
	return ok;
}
