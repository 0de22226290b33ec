#ifndef RUN_PIPELINE_H
#define RUN_PIPELINE_H

#include "model/trace_engine.h"
#include "run/adjust/anonymise.h"
#include "run/adjust/repeats.h"
#include "run/choose/select.h"
#include "run/choose/split.h"
#include "run/job.h"
#include "run/meaning/interpret.h"
#include "run/nest/lanes.h"
#include "run/read/source.h"
#include "run/sort/sorter.h"

/*
 * One run over a trace: builds the stages that a job needs and asks the last one for batches.  All commands
 * use it.
 *
 * inputs -> sources -> (merge by clock) -> interpret -> (select) -> repeats -> (rebase) -> (anonymise) ->
 * (lanes, order) -> consumer
 *
 * It is above its stages, none of which includes this header.
 */

struct joining;
struct reading;

struct pipeline {
	const struct pipeline_job *job;
	struct trace trace;
	uint32_t lent_tracks; /* of a borrowed trace: its tracks without those of lanes */
	struct trace_context context;
	struct stage_faults faults;       /* for its stages */
	struct vocabularies vocabularies; /* unless the job has them */
	struct batch_pool pool;
	struct reading *reading; /* the first stage, or ... */
	struct joining *joining; /* ... this one, of several traces; the other is NULL */
	struct interpret interpret;
	struct interpret_stage {
		struct stage stage;
		struct pipeline *p;
		bool more, finishing;
	} interpret_stage;
	struct select_stage select;
	struct record_marks marks;
	struct repeats_stage {
		struct stage stage;
		struct pipeline *p;
		struct repeats repeats;
		struct ledger ledger; /* its own: the other ones may be used by another thread */
	} repeats;
	struct rebase_stage {
		struct stage stage;
		bool known;       /* `by` is valid */
		bool signed_time; /* times before `by` may exist */
		uint64_t by;      /* ns, subtracted from all times */
	} rebase;
	struct rebind_stage {
		struct stage stage;
		struct pipeline *p; /* NULL: the stage is not used */
		struct rebind rebind;
		struct trace trace; /* of the events after this stage */
	} rebind;
	struct order_stage order;
	struct lanes_stage {
		struct stage stage;
		struct pipeline *p;
		struct lanes lanes;
	} lanes;
	struct stage *last;
	struct source rest; /* findings that are of no input */
	bool rest_begun;
	uint32_t shown_tracks, shown_classes; /* already listed in batches */
	bool ended, rest_rebound;
	struct ledger ledger; /* of the lanes and of marks */
};

/* Whether the inputs can be read more than once: none is a pipe or standard input. */
bool pipeline_reads_twice(const struct pipeline_job *job);

/* Like pipeline_open(), for one part of a split: `first` gives selected events of the trace of `of`, which
 * was read and stays open.  p borrows the trace until pipeline_close_part(), which must be called even if
 * this fails. */
bool pipeline_open_part(struct pipeline *p, const struct pipeline_job *job, struct pipeline *of,
                        struct stage *first);
void pipeline_close_part(struct pipeline *p, struct pipeline *of);

/* Whether a pass over the inputs that ended with this status may have missed something that the reporting
 * pass will see: memory or a system call failed, or a file changed.  Its results are invalid then. */
bool pipeline_pass_failed(const struct pipeline *pass, enum stage_status status);

/* Listener of such a pass, with a struct pipeline_why as ctx: stores the first reason. */
void pipeline_note_why(void *ctx, const struct findings *j, const struct finding *f);

/* Runs passes that the job needs, and builds the stages; opens no input for them yet.  Returns false after a
 * finding.  Always end with pipeline_close(). */
bool pipeline_open(struct pipeline *p, const struct pipeline_job *job);

/* The next batch, to be released with batch_release().  Streams that are merged (trace_ops.merges,
 * WANT_ORDER) are all opened first; their events are in the order of (time, path, offset). */
enum stage_status pipeline_next(struct pipeline *p, struct batch **out);

/* After the last batch: adds lanes to the tracks of the trace: those of the pipeline, and `later` ones. */
bool pipeline_join_lanes(struct pipeline *p, const struct lanes *later);

/* Reads and releases all batches. */
enum stage_status pipeline_drain(struct pipeline *p);

/* Ends reading, at the end or before: closes open sources and calls the hooks.  The facts of the trace remain
 * valid. */
void pipeline_end(struct pipeline *p);

void pipeline_close(struct pipeline *p);

/* Reports OOM, as a finding of the input that is being read. */
void pipeline_no_memory(struct pipeline *p);

/* Reports a failed system call (one line), likewise. */
void pipeline_failed(struct pipeline *p, const char *why);

/* The request makes no sense for this trace (one line): hooks.closed gets an input with context->refused. */
void pipeline_refused(struct pipeline *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Statistics of the selection, from the pass that made it; NULL: no selection. */
const struct select_found *pipeline_found(struct pipeline *p);

/* Losses of the stages: pairs, arrows, lanes. */
void pipeline_losses(const struct pipeline *p, struct ledger *into);

/* The trace of the events of pipeline_next(), with the facts known by now. */
const struct trace *pipeline_trace(struct pipeline *p);

/* The format of the trace; NULL: none was recognised. */
static inline const struct format *pipeline_format(const struct pipeline *p)
{
	return p->context.format;
}

/* ---- passes over the inputs (passes.c) ---- */

/* A job with the inputs of another one and their interpretation, and nothing else: no choice, order, lanes,
 * hooks. */
struct pipeline_job pass_job(const struct pipeline_job *of);

struct split_route;

/* The first and the last time of all events.  false after a finding: it failed. */
bool pass_find_range(struct pipeline *of, struct select_range *r);

/* The marks of the records that a selection of raw events consists of, or of the scope of findings.  false
 * after a finding. */
bool pass_mark_records(struct pipeline *p);

/* The marks of the part of a planned split that the job writes. */
void pass_use_split(struct pipeline *p);

/* When the marks are made: gives each batch of raw events to `take`.  false after a finding. */
bool record_marks_survey(struct pipeline *p, void (*take)(void *ctx, const struct batch *b), void *ctx);

/* Computes the parts of the output of a job, from the events that it selects (job->choice.select is not
 * NULL).  At least one part.  Returns false with the reason in s->why.  Call split_free() in any case. */
bool split_plan(struct split *s, const struct pipeline_job *job);

/* Reads the pipeline, whose job has the planned split and the part SPLIT_ALL, to its end.  Zero-initialise
 * *r. false after a finding; call split_route_free() in any case. */
bool split_route_fill(struct split_route *r, struct pipeline *p);

/* For pipeline_open_part(): the stage that gives the events of a part.  Parts are asked for in ascending
 * order. */
struct stage *split_route_part(struct split_route *r, struct pipeline *to, uint32_t part);

#endif
