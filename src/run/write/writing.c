/* The writing end of a pipeline: renders batches on worker threads, or copies records with the structure that
 * they need (closure.h), and outputs the bytes in order. */
#include "run/write/writing.h"

#include <stdlib.h>

#include "base/compiler.h"
#include "base/workers.h"
#include "model/event_traits.h"
#include "run/read/operands.h"
#include "run/write/closure.h"

/* Bytes of text in the events that are rendered together, and of output that is passed on early. */
#define PIECE_BYTES (256U << 10)
#define JOBS_A_THREAD 3 /* so that a thread has work while rendered batches wait for their turn */
#define JOBS_MIN 16     /* a thread is woken for half of them: waking costs as much as rendering one */

struct writing_job {
	struct writing *w;
	struct batch *batch;
	int128 rebased_by; /* known with the first event */
	bool lent;
	struct chunk chunk;
};

/* ---- chunks ---- */

static bool pass_bytes(struct writing *w, const char *file, const char *p, size_t n)
{
	w->any |= n > 0;
	if (!w->out.put(w->out.ctx, file, p, n))
		atomic_store(&w->failed, true);
	return !atomic_load(&w->failed);
}

/* Writes borrowed bytes of the batch and the text between. */
static void output_borrowed(struct writing *w, const struct chunk *c)
{
	const struct chunk_borrowed *const b = c->borrowed;
	size_t from = 0;

	for (uint32_t i = 0; i < c->nborrowed; i++) {
		if (b[i].at > from && !pass_bytes(w, NULL, c->text.p + from, b[i].at - from))
			return;
		from = b[i].at;
		if (!pass_bytes(w, NULL, b[i].bytes.p, b[i].bytes.n))
			return;
	}
	if (c->text.n > from)
		pass_bytes(w, NULL, c->text.p + from, c->text.n - from);
}

/* Outputs the parts of a chunk.  Empty files of a folder are created too. */
static void output_text(struct writing *w, const struct chunk *c)
{
	const struct chunk_part *const parts = c->parts;
	const size_t first = c->nparts > 0 ? parts[0].at : c->text.n;

	if (c->nborrowed > 0) {
		output_borrowed(w, c);
		return;
	}
	if (first > 0 && !pass_bytes(w, NULL, c->text.p, first))
		return;
	for (uint32_t i = 0; i < c->nparts; i++) {
		const size_t end = i + 1 < c->nparts ? parts[i + 1].at : c->text.n;
		if (!pass_bytes(w, parts[i].name, c->text.p != NULL ? c->text.p + parts[i].at : "",
		                end - parts[i].at))
			return;
	}
}

static bool is_ok(const struct writing *w)
{
	return !atomic_load(&w->no_memory) && !atomic_load(&w->failed);
}

/* Outputs a chunk; called in order, by one thread at a time. */
static bool output_chunk(struct writing *w, struct chunk *c)
{
	ledger_merge(&w->total, &c->ledger);
	if (c->text.failed || c->ledger.failed || w->total.failed)
		atomic_store(&w->no_memory, true);
	if (c->failed != NULL && w->failure == NULL) {
		w->failure = c->failed;
		atomic_store(&w->failed, true);
	}
	if (is_ok(w))
		output_text(w, c);
	chunk_clear(c);
	return is_ok(w);
}

static bool flush(void *ctx, struct chunk *c)
{
	return output_chunk(ctx, c);
}

/* ---- copying ---- */

/* Whether a record is the first of an input.  A record without bytes is inside the record before it. */
static bool begins_input(struct writing *w, const struct event *e, struct slice bytes)
{
	const bool begins = w->input == 0 || e->offset == 0 || e->offset < w->offset ||
	                    (e->offset == w->offset && bytes.n > 0);

	w->input += begins;
	w->offset = e->offset;
	return begins;
}

/* Passes the records of a batch to the copier, and joins the bytes that it keeps. */
static void copy_records(struct writing *w, const struct batch *b, struct chunk *chunk)
{
	const struct copier_ops *const ops = w->to->copier;
	struct copier *const c = &w->copier;
	/* a record that is too long is not read: its time and its references are not known */
	const bool keeps_long = !c->selected && !c->run->rebased;

	if (!w->copying) { /* the survey ends: its records are read again */
		w->copying = true;
		w->input = 0;
		w->copier.closure = NULL;
		if (w->closure != NULL)
			chunk->text.failed |= !closure_end(w->closure);
	}
	c->chunk = chunk;
	for (uint32_t i = 0; i < b->n && !chunk->text.failed; i++) {
		struct event *const e = &b->events[i];
		const bool begins = begins_input(w, e, b->bytes[i]), is_long = (e->flags & EVENT_LONG) != 0;
		if (!is_long && w->closure != NULL && e->phase == PHASE_STRUCTURE &&
		    !closure_keeps(w->closure, w->input, e->offset))
			e->flags |= EVENT_LEFT_OUT;
		if (begins && ops->input != NULL)
			ops->input(c, b, e, b->bytes[i]);
		if (!is_long)
			ops->record(c, b, e, b->bytes[i]);
		else if (keeps_long && (ops->passed == NULL || ops->passed(c, e, b->bytes[i])))
			copier_keep(c, b->bytes[i]);
	}
	(void)copier_text(c);
}

/* ---- rendering ---- */

/* Whether batches are rendered on several threads. */
static bool in_parallel(const struct writing *w)
{
	return !w->copies && w->to->writer->render != NULL;
}

/* Returns the end of the events from the i-th on that are rendered together: labels of several MiB each must
 * not all be rendered at once. */
static uint32_t piece_end(const struct batch *b, uint32_t i, bool copies)
{
	uint64_t bytes = 0;

	if (!copies && i == 0 && b->engine.texts > 0 && b->engine.texts < PIECE_BYTES)
		return b->n;
	for (; copies && i < b->n && bytes < PIECE_BYTES; i++)
		bytes += b->bytes[i].n;
	for (; i < b->n && bytes < PIECE_BYTES; i++) {
		const struct event *const e = &b->events[i];
		const struct field *f = b->fields + e->first_field, *const end = f + e->nfields;
		bytes += e->name.n;
		for (; f < end; f++)
			bytes += f->name.n + (f->value.type >= VALUE_STRING ? f->value.count : 0);
	}
	return i;
}

/* Renders a batch, on any thread or in order.  Waits for this job's turn before it outputs a chunk early. */
static void render_pieces(struct writing_job *job, size_t slot)
{
	struct writing *const w = job->w;
	const struct writer_ops *const ops = w->to->writer;
	struct batch part = *job->batch;
	uint32_t i = 0;

	do {
		part.events = job->batch->events + i;
		part.bytes = job->batch->bytes != NULL ? job->batch->bytes + i : NULL;
		part.n = piece_end(job->batch, i, w->copies) - i;
		if (w->copies)
			copy_records(w, &part, &job->chunk);
		else if (ops->render != NULL)
			ops->render(w->writer.state, &part, &job->chunk);
		else
			ops->write(w->writer.state, &part, &job->chunk);
		part.ntracks = part.nclasses = 0;
		i += part.n;
		if (i < job->batch->n && job->chunk.text.n >= PIECE_BYTES) {
			if (w->workers != NULL && in_parallel(w))
				workers_turn(w->workers, slot);
			if (!output_chunk(w, &job->chunk))
				return;
		}
	} while (i < job->batch->n);
}

static bool declare(struct writing *w, struct writing_job *job)
{
	const struct writer_ops *const ops = w->to->writer;

	return w->copies || ops->declare == NULL || ops->declare(&w->writer, job->batch, &job->chunk);
}

/* Runs the steps that depend on earlier batches; called in order. */
static void prepare_writing(void *ctx, size_t slot)
{
	struct writing *const w = ctx;
	struct batch *const b = w->jobs[slot].batch;

	if (!is_ok(w))
		return;
	if ((w->has_lanes && (!lanes_batch(&w->lanes, b, &w->lanes_lost) || !lanes_list(&w->lanes, b))) ||
	    (in_parallel(w) && !declare(w, &w->jobs[slot])))
		atomic_store(&w->no_memory, true);
}

static void run_job(void *ctx, size_t slot)
{
	struct writing *const w = ctx;

	if (in_parallel(w) && is_ok(w))
		render_pieces(&w->jobs[slot], slot);
}

static void finish_job(void *ctx, size_t slot)
{
	struct writing *const w = ctx;
	struct writing_job *const job = &w->jobs[slot];

	w->run.rebased_by = job->rebased_by;
	if (!in_parallel(w) && is_ok(w)) {
		if (declare(w, job))
			render_pieces(job, slot);
		else
			atomic_store(&w->no_memory, true);
	}
	output_chunk(w, &job->chunk);
	if (!job->lent)
		batch_release(job->batch);
	job->batch = NULL;
}

bool writing_put(struct writing *w, struct batch *b)
{
	const size_t slot = w->workers != NULL ? workers_slot(w->workers) : 0;

	if (!w->begun || !is_ok(w)) { /* not begun: the input could not be read */
		batch_release(b);
		return false;
	}
	w->jobs[slot].batch = b;
	w->jobs[slot].rebased_by = w->run.rebased ? pipeline_report(w->pipeline).rebased_by : 0;
	if (w->workers != NULL) {
		workers_put(w->workers);
	} else {
		prepare_writing(w, slot);
		run_job(w, slot);
		finish_job(w, slot);
	}
	return is_ok(w);
}

bool writing_lend(struct writing *w, struct batch *b)
{
	if (!w->begun || !is_ok(w))
		return false;
	w->jobs[0].lent = true;
	return writing_put(w, b);
}

void writing_settle(struct writing *w)
{
	if (w->workers != NULL)
		workers_settle(w->workers);
}

/* ---- begin and end ---- */

static bool start_jobs(struct writing *w, unsigned asked)
{
	static const struct workers_ops ops = { prepare_writing, run_job, finish_job };
	/* records are copied in less time than it takes to hand them to a thread */
	const unsigned threads = w->copies ? 1 : asked;

	w->njobs = threads > 1 ? (size_t)threads * JOBS_A_THREAD : 1;
	if (threads > 1 && w->njobs < JOBS_MIN)
		w->njobs = JOBS_MIN;
	w->jobs = calloc(w->njobs, sizeof *w->jobs);
	if (w->jobs == NULL)
		return false;
	for (size_t i = 0; i < w->njobs; i++)
		w->jobs[i].w = w;
	if (threads > 1 && (w->workers = workers_new(w->njobs, threads - 1, &ops, w)) == NULL)
		return false;
	return true;
}

bool writing_needs_survey(const struct writing *w)
{
	return w->copies && w->copier.selected && w->to->copier->survey != NULL;
}

bool writing_survey(void *writing, const struct batch *b)
{
	struct writing *const w = writing;
	const struct copier_ops *const ops = w->to->copier;

	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		(void)begins_input(w, e, b->bytes[i]);
		if ((e->flags & EVENT_LONG) != 0)
			continue;
		if (w->closure != NULL)
			closure_record(w->closure, w->input, e->offset, e->phase != PHASE_STRUCTURE,
			               (e->flags & EVENT_LEFT_OUT) == 0);
		ops->survey(&w->copier, b, e, b->bytes[i]);
	}
	return true;
}

bool writing_skips(const struct writing *w, bool surveys, const struct event *e, struct slice bytes)
{
	/* before the first record of the survey or of the copy, the state is that of no record of it */
	const bool begun = w->copying == !surveys && w->input > 0;

	return begun && (e->flags & EVENT_LONG) == 0 && w->to->copier->skips(&w->copier, e, bytes);
}

static bool open_output(struct writing *w)
{
	const struct copier_ops *const copier = w->to->copier;

	if (!w->copies)
		return w->to->writer->open(&w->writer, &w->chunk);
	w->copier.chunk = &w->chunk;
	if (writing_needs_survey(w) && (copier->modes & COPIER_REFERS) != 0 &&
	    (w->copier.closure = w->closure = closure_new()) == NULL)
		return false;
	return copier->open == NULL || copier->open(&w->copier);
}

static bool close_output(struct writing *w)
{
	const struct copier_ops *const copier = w->to->copier;

	if (!w->copies)
		return w->to->writer->close(&w->writer, &w->chunk);
	w->copier.chunk = &w->chunk;
	if (copier->end != NULL)
		copier->end(&w->copier);
	(void)copier_text(&w->copier);
	if (w->copier.selected && !w->any && w->chunk.text.n == 0 && w->chunk.nborrowed == 0)
		text_slice(&w->chunk.text, copier->empty);
	return true;
}

bool writing_begin(struct writing *w, struct pipeline *p, const struct format *to, struct writing_output out,
                   const struct writing_options *options)
{
	const struct run_report run = pipeline_report(p);
	const struct arrangement *const arrange = &run.job->arrange;

	*w = (struct writing){ .pipeline = p, .to = to, .out = out, .begun = true };
	w->copies = run.raw && to->copier != NULL;
	w->run = (struct run_facts){
		.trace = run.trace,
		.tool = options->tool,
		.raw = run.raw,
		.rebased = run.job->adjust.rebase,
		.signed_time = run.signed_time,
	};
	w->writer =
	    (struct writer){ .run = &w->run, .options = options->values, .temp_near = options->temp_near };
	w->copier = (struct copier){ .run = &w->run,
		                     .options = options->values,
		                     .selected = run.marked,
		                     .joins = run.operands != NULL && operands_count(run.operands) > 1 };
	w->chunk.flush = flush;
	w->chunk.flush_ctx = w;
	w->has_lanes = arrange->lanes != LANES_NONE && !run.raw && arrange->order != ORDER_TRACK_TIME;
	lanes_init(&w->lanes, arrange->lanes == LANES_COUNT);
	w->lanes.sorted = arrange->order == ORDER_TIME || arrange->order == ORDER_NESTING;
	w->lanes.bias = (uint64_t)run.signed_time << 63;
	const size_t state_size = w->copies ? to->copier->state_size : to->writer->state_size;
	w->state = calloc(1, state_size > 0 ? state_size : 1);
	w->writer.state = w->copier.state = w->state;
	if (w->state == NULL || !start_jobs(w, options->threads) || !open_output(w)) {
		atomic_store(&w->no_memory, true);
		return false;
	}
	if (writing_needs_survey(w) && run.job->choice.select != NULL && !options->surveyed &&
	    !record_marks_survey(p, writing_survey, w))
		return false;
	return output_chunk(w, &w->chunk);
}

bool writing_end(struct writing *w)
{
	struct pipeline *const p = w->pipeline;

	writing_settle(w);
	if (!pipeline_join_lanes(p, &w->lanes))
		atomic_store(&w->no_memory, true);
	if (!is_ok(w))
		return false;
	pipeline_trace(p); /* updates facts, which are complete now */
	pipeline_losses(p, &w->total);
	ledger_merge(&w->total, &w->lanes_lost);
	w->run.total = &w->total;
	w->run.rebased_by = pipeline_report(p).rebased_by;
	if (!close_output(w))
		atomic_store(&w->no_memory, true);
	return output_chunk(w, &w->chunk);
}

void writing_free(struct writing *w)
{
	if (!w->begun)
		return;
	writing_settle(w);
	workers_free(w->workers);
	w->workers = NULL; /* later calls of writing_settle() do nothing */
	for (size_t i = 0; w->jobs != NULL && i < w->njobs; i++)
		chunk_free(&w->jobs[i].chunk);
	free(w->jobs);
	w->jobs = NULL;
	void (*const free_state)(void *) = w->copies ? w->to->copier->free : w->to->writer->free;
	if (w->state != NULL && free_state != NULL)
		free_state(w->state);
	free(w->state);
	w->state = NULL;
	closure_free(w->closure);
	w->closure = NULL;
	chunk_free(&w->chunk);
	ledger_free(&w->total);
	ledger_free(&w->lanes_lost);
	lanes_free(&w->lanes);
	w->begun = false;
}
