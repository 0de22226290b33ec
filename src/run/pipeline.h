#ifndef PIPELINE_PIPELINE_H
#define PIPELINE_PIPELINE_H

#include "model/trace_engine.h"
#include "run/meaning/interpret.h"
#include "run/nest/lanes.h"
#include "run/sort/sorter.h"
#include "run/choose/split.h"
#include "run/adjust/anonymise.h"
#include "run/adjust/repeats.h"
#include "run/choose/select.h"
#include "run/read/source.h"
#include "run/job.h"

/*
 * Inputs -> sources -> (merge by clock) -> interpret -> (select) -> repeats -> (rebase) -> (anonymise) ->
 * (order) -> (lanes)
 * -> whoever asks.
 * All commands run it; `validate` releases what it gets.
 */

struct join;
struct joining;
struct reading;
struct split;

struct pipeline {
	const struct pipeline_job *job;
	struct trace trace;
	uint32_t lent_tracks; /* of the trace, if it is lent: without those of lanes */
	struct trace_context context;
	struct stage_faults faults;       /* what its stages report */
	struct vocabularies vocabularies; /* unless the job has them */
	struct batch_pool pool;
	struct reading *reading; /* the first stage; NULL where ... */
	struct joining *joining; /* ... traces are joined */
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
		struct ledger ledger; /* of it alone: others may be used by another thread */
	} repeats;
	struct rebase_stage {
		struct stage stage;
		bool known;       /* by is */
		bool signed_time; /* a time may have been less than that */
		uint64_t by;      /* ns, what is subtracted */
	} rebase;
	struct rehome_stage {
		struct stage stage;
		struct pipeline *p; /* NULL: events stay in the trace */
		struct rehome rehome;
		struct trace trace; /* that they get */
	} rehome;
	struct order_stage order;
	struct lanes_stage {
		struct stage stage;
		struct pipeline *p;
		struct lanes lanes;
	} lanes;
	struct stage *last;
	struct source rest; /* findings that are of no input: what is open at the end */
	bool rest_begun;
	uint32_t shown_tracks, shown_classes; /* of the trace, in batches so far */
	bool ended, rest_rehomed;
	bool late_lanes;      /* they are what pipeline_late() does */
	struct ledger ledger; /* of lanes */
};

/* Whether the inputs can be read more than once: none is a descriptor. */
bool pipeline_reads_twice(const struct pipeline_job *job);

/* As pipeline_open() of one part of a split: events of the trace of `of`, which was read and stays open, from
 * this stage on.  They were selected; the rest is as the job says.  Until pipeline_close_part(), which is
 * also to be called if this fails, the trace is lent to p. */
bool pipeline_open_part(struct pipeline *p, const struct pipeline_job *job, struct pipeline *of,
                        struct stage *first);
void pipeline_close_part(struct pipeline *p, struct pipeline *of);

/* Whether a pass over the inputs that was read until this status, and ended, has not seen all that the pass
 * sees whose findings are reported: memory or the system failed, or a file changed.  What it found is of no
 * use then. */
bool pipeline_pass_failed(const struct pipeline *pass, enum stage_status status);

/* A finding_sink of such a pass, whose ctx is a struct pipeline_why: keeps the first reason for that. */
void pipeline_note_why(void *ctx, const struct findings *j, const struct finding *f);

/* Opens nothing yet.  false: no memory, which a finding says.  In any case end with pipeline_close. */
bool pipeline_open(struct pipeline *p, const struct pipeline_job *job);

/* The next batch, to be released with batch_release().  Streams that are to be merged (trace_ops.merges,
 * WANT_ORDER) are all opened first; their events come in the order of (time, path, offset). */
enum stage_status pipeline_next(struct pipeline *p, struct batch **out);

/* What job.late left to do with each batch that pipeline_next() gave, in that order, before its events and
 * new tracks are looked at.  It may run on another thread than pipeline_next(), beside it.  false: no memory.
 */
bool pipeline_late(struct pipeline *p, struct batch *b);

/* After the last batch: the lanes become tracks of the trace like others.  false: no memory. */
bool pipeline_join_lanes(struct pipeline *p);

/* Asks for all batches and releases them. */
enum stage_status pipeline_drain(struct pipeline *p);

/* Ends the reading, at its end or before: sources that are open are closed, the hooks told.  What the trace
 * is known for stays. */
void pipeline_end(struct pipeline *p);

void pipeline_close(struct pipeline *p);

/* Reports that memory ran out, as a finding of the input that is read. */
void pipeline_no_memory(struct pipeline *p);

/* Reports what the system failed to do (one line), likewise. */
void pipeline_failed(struct pipeline *p, const char *why);

/* Says that what was asked for makes no sense for this trace (one line): the hooks are told of an input that
 * has context->refused. */
void pipeline_refused(struct pipeline *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What the selection found, by whichever pass it was made; NULL: nothing was selected. */
const struct select_found *pipeline_found(struct pipeline *p);

/* What was lost on the way: pairs, arrows, lanes. */
void pipeline_losses(const struct pipeline *p, struct ledger *into);

/* The trace that the events are of which come out, and what is known of it so far. */
const struct trace *pipeline_trace(struct pipeline *p);

/* ---- passes of their own over the inputs of a pipeline (passes.c) ---- */

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

/* Finds the parts of what the job would write, of the events that it selects (job->select is not NULL).  At
 * least one part.  false: s->why says why.  In any case end with split_free(). */
bool split_plan(struct split *s, const struct pipeline_job *job);

/* Reads the pipeline, whose job has the planned split and the part SPLIT_ALL, to its end.  Zero-initialise
 * *r. false after a finding; call split_route_free() in any case. */
bool split_route_fill(struct split_route *r, struct pipeline *p);

/* For pipeline_open_part(): the stage that gives the events of a part.  Parts are asked for in ascending
 * order. */
struct stage *split_route_part(struct split_route *r, struct pipeline *to, uint32_t part);

/* ---- */

/* The format that the trace turned out to have; NULL: none was recognised. */
static inline const struct format *pipeline_format(const struct pipeline *p)
{
	return p->context.format;
}

#endif
