#ifndef RUN_PIPELINE_H
#define RUN_PIPELINE_H

#include "base/compiler.h"
#include "model/trace.h"
#include "run/job.h"
#include "run/read/source.h"

/*
 * One run over a trace: builds the stages that a job needs and requests batches from the last one.  All
 * commands use it.
 *
 * inputs -> sources -> (merge by clock) -> interpret -> (select) -> repeats -> (rebase) -> (anonymise) ->
 * (lanes, order) -> consumer
 *
 * It is above its stages, none of which includes this header.  A pipeline is NULL if there was no memory for
 * it, which pipeline_open() reports: the functions for the next batch, the end and the facts accept NULL.
 */

struct claims;
struct lanes;
struct ledger;
struct pipeline;
struct split_route;
struct tabletext;

/* Current facts of a run; valid until pipeline_close(). */
struct run_report {
	const struct pipeline_job *job;
	const struct format *format;      /* of the trace; NULL: none was recognised */
	const struct trace *trace;        /* pipeline_trace() */
	const struct operands *operands;  /* the inputs, for another run; NULL: they are several traces */
	uint64_t bytes;                   /* of the inputs, unpacked */
	bool raw;                         /* events are unmodified records; valid when an input is open */
	bool marked;                      /* raw events that are not selected have EVENT_LEFT_OUT */
	bool failed;                      /* OOM, a read error or a shrunk file: events may be missing */
	const char *refused;              /* why the request cannot be met for the trace; or "" */
	bool signed_time;                 /* after rebasing, times before 0 may exist */
	int128 rebased_by;                /* ns; below 0: the trace begins before 0 */
	uint64_t unpaired;                /* ends without a begin, and begins without an end */
	const struct ledger *pairs;       /* losses of interpretation */
	const struct ledger *cut;         /* losses by max_repeat */
	const struct tabletext *readable; /* names that pseudonyms do not hide, numbered from 0; or NULL */
	/* Statistics of the selection, from the pass that made it; NULL: no selection, or not ended yet. */
	const struct select_found *found;
};

struct run_report pipeline_report(struct pipeline *p);

/* After pipeline_end(), for an input that was read apart: trace_ops.claims. */
bool pipeline_claims(const struct pipeline *p, struct claims *c);

/* Whether the inputs can be read more than once: none is a pipe or standard input. */
bool pipeline_reads_twice(const struct pipeline_job *job);

/* Runs passes that the job needs, and builds the stages; opens no input for them yet.  Returns false after a
 * finding.  pipeline_close() must always be called. */
bool pipeline_open(struct pipeline **p, const struct pipeline_job *job);

/* The next batch, to be released with batch_release().  Streams that are merged (trace_ops.merges,
 * WANT_ORDER) are all opened first; their events are in the order of (time, path, offset).  STAGE_BAD if it
 * is not open. */
enum stage_status pipeline_next(struct pipeline *p, struct batch **out);

/* Reads and releases all batches. */
enum stage_status pipeline_drain(struct pipeline *p);

/* Ends reading, at the end or before: closes open sources and calls the hooks.  The facts of the trace remain
 * valid. */
void pipeline_end(struct pipeline *p);

void pipeline_close(struct pipeline *p);

/* Reports OOM, as a finding of the input that is being read.  Returns false. */
bool pipeline_no_memory(struct pipeline *p);

/* The trace of the events of pipeline_next(), with its current facts. */
const struct trace *pipeline_trace(struct pipeline *p);

/* After the last batch: adds lanes to the tracks of the trace: those of the pipeline, and `later` ones.
 * Returns false on OOM. */
bool pipeline_join_lanes(struct pipeline *p, const struct lanes *later);

/* Losses of the stages: pairs, arrows, lanes. */
void pipeline_losses(const struct pipeline *p, struct ledger *into);

/* Moves run_report.found of a pass to the caller, who frees it with select_found_free(). */
struct select_found *pipeline_take_found(struct pipeline *p);

/* ---- copies of selected records ---- */

/* For marked records: passes each batch of raw events to `take` (false: stop).  false after a finding. */
bool record_marks_survey(struct pipeline *p, bool (*take)(void *ctx, const struct batch *b), void *ctx);

/* The part of each raw event of the last batch, or SPLIT_NONE. */
const uint32_t *pipeline_parts(const struct pipeline *p);

/* ---- parts of a split ---- */

/* Computes the parts of the output of a job, from the events that it selects (job->choice.select is not
 * NULL).  At least one part.  Returns false with the reason in s->why.  split_free() must always be
 * called. */
bool split_plan(struct split *s, const struct pipeline_job *job);

/* Reads the pipeline, whose job has the planned split and the part SPLIT_ALL, to its end.  Zero-initialise
 * *r.  Returns false after a finding; split_route_free() must always be called. */
bool split_route_fill(struct split_route *r, struct pipeline *p);

/* Like pipeline_open(), for a part of a filled route, in ascending order; `of` was read, and stays open.  *p
 * borrows its trace until pipeline_close_part(), which must be called even if this fails. */
bool pipeline_open_part(struct pipeline **p, const struct pipeline_job *job, struct pipeline *of,
                        struct split_route *r, uint32_t part);
void pipeline_close_part(struct pipeline *p, struct pipeline *of);

#endif
