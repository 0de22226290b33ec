/* Runs a format's recovery over one input: keeps intact records, and drops the bytes between them.  Findings
 * of the format are passed to the list of changes, faults of the input to the sink. */
#include "run/write/writing.h"

#include <stdlib.h>

#include "check/rules.h"
#include "model/trace_engine.h"
#include "run/read/source.h"

#define NEXT_BYTES (1U << 20) /* of records, between two writes */

/* Passes findings of the format to the recovery log, those of the input itself to the sink of the job. */
static void pass_finding(void *ctx, const struct findings *j, const struct finding *f)
{
	struct recover_run *const run = ctx;

	if (f->rule == &input_rules[INPUT_RULE_CUT] || f->rule == &input_rules[INPUT_RULE_CORRUPT])
		run->packed_damage = true;
	const bool of_input = strncmp(f->rule->id, "input/", 6) == 0;
	run->not_repaired += !of_input && run->recovery.r == NULL && f->rule->level == LEVEL_ERROR;
	if (of_input || run->recovery.r == NULL)
		run->job.to.sink(run->job.to.ctx, j, f);
	else
		recover_finding(&run->recovery, f);
}

/* The record before in->p; n: records that were counted with it. */
static void take_record(struct recovery *rc, const struct record *rec, uint64_t n)
{
	if (rec->role == RECORD_IS_LONG) {
		rc->records += n;
		return;
	}
	if (rec->role == RECORD_IS_SKIPPED) {
		recover_keep(rc, rec->p);
		recover_drop(rc, rec->end);
		return;
	}
	rc->records += rec->role < RECORD_IS_GAP;
	if (rc->ops->record != NULL)
		rc->ops->record(rc, rec);
}

/* Reads intact records until the window, or NEXT_BYTES, ends. */
static enum record_status read_records(struct recovery *rc)
{
	struct reader *const r = rc->r;
	const struct reader_ops *const ops = r->format->reader;
	struct input *const in = r->in;
	const size_t n = (size_t)(in->end - in->p);
	const uint64_t from = input_offset(in, in->p), limit = from + (n < NEXT_BYTES ? n : NEXT_BYTES);
	enum record_status status = RECORD_DONE;
	struct record rec;

	do {
		uint64_t before = r->records, at = input_offset(in, in->p);
		if (ops->run != NULL && before > 0)
			(void)ops->run(r, in->p + (limit - at), NULL);
		rc->records += r->records - before;
		before = r->records;
		at = input_offset(in, in->p);
		if ((at < limit || at == from) && (status = records_check(r, &rec)) == RECORD_DONE)
			take_record(rc, &rec, r->records - before);
	} while (status == RECORD_DONE && input_offset(in, in->p) < limit && !r->no_memory);
	return status;
}

/* Returns false after the last byte, or with r->no_memory. */
static bool next_records(struct recovery *rc)
{
	const struct recover_ops *const ops = rc->ops;
	struct input *const in = rc->r->in;
	enum record_status status = RECORD_DONE;

	for (const uint64_t start = rc->at; rc->at - start < NEXT_BYTES && status != RECORD_END;) {
		if (rc->lost) {
			rc->lost = !ops->resync(rc);
			recover_drop(rc, in->p);
			status = rc->lost && in->p == in->end && in->last ? RECORD_END : RECORD_DONE;
		} else {
			status = read_records(rc);
			if (status == RECORD_BAD && rc->r->in->p == rc->r->in->end)
				status = RECORD_END; /* the reader itself has skipped the rest */
		}
		if (rc->r->no_memory)
			return false;
		if (!rc->lost || status == RECORD_END) {
			if (ops->keep == NULL || ops->keep(rc, status))
				recover_keep(rc, in->p);
		}
		if (status == RECORD_MORE)
			records_more(in, (size_t)(input_offset(in, in->p) - rc->at));
		if (status == RECORD_BAD && !rc->lost) {
			/* a start that was just found may be false: skip one byte */
			rc->lost = true;
			recover_drop(rc, ++in->p);
		}
	}
	return status != RECORD_END;
}

static enum read_status read_some(struct recover_run *run, struct input_pins *pins)
{
	struct input *const in = run->source.in;
	struct recovery *const rc = &run->recovery;

	input_pin(in, pins); /* bytes are borrowed until recover_flush() */
	const bool more = rc->ops->next != NULL ? rc->ops->next(rc) : next_records(rc);
	recover_flush(rc);
	input_pin(in, NULL);
	input_unpin(pins);
	input_release_read(in);
	if (input_shrunk(in))
		return READ_BAD;
	if (rc->r->no_memory || trace_failed(run->source.context->trace))
		return READ_NO_MEMORY;
	if (run->progress != NULL)
		run->progress(run->ctx, in);
	return more ? READ_MORE : READ_END;
}

static void read_all(struct recover_run *run)
{
	struct input_pins pins = { 0 };
	struct source *const s = &run->source;

	do
		s->status = read_some(run, &pins);
	while (s->status == READ_MORE && !run->recovery.failed);
	recover_end(&run->recovery);
	input_pins_free(&pins);
}

static bool begin(struct recover_run *run)
{
	const struct recover_ops *const ops = run->source.format->recover;

	run->recovery = (struct recovery){
		.ops = ops,
		.sort = run->sort,
		.put = run->put,
		.list = run->list,
		.ctx = run->ctx,
		.r = &run->source.reader,
		.state = calloc(1, ops->state_size > 0 ? ops->state_size : 1),
	};
	if (run->recovery.state == NULL)
		source_no_memory(&run->source);
	return run->recovery.state != NULL;
}

bool recover_run(struct recover_run *run, struct input *in)
{
	struct source *const s = &run->source;
	struct pipeline_job job = run->job;
	struct trace_context context;
	struct trace trace;

	job.to.sink = pass_finding;
	job.to.ctx = run;
	trace_init(&trace);
	trace_context_init(&context, &job, &trace, NULL, WANT_FINDINGS);
	context.recovers = true;
	bool ok = source_begin(s, &context, run->location, in) && source_start(s) &&
	          run->opened(run->ctx, s) && begin(run);
	if (ok)
		read_all(run);
	source_end(s);
	run->dialect = trace.dialect;
	run->unreadable = s->unreadable || context.system_failed;
	ok = ok && !run->unreadable && !run->recovery.failed;
	source_close(s);
	trace_context_free(&context);
	if (run->recovery.state != NULL && run->recovery.ops->close != NULL)
		run->recovery.ops->close(&run->recovery);
	free(run->recovery.state);
	run->recovery.state = NULL;
	trace_free(&trace);
	return ok;
}
