#ifndef RUN_PRIVATE_H
#define RUN_PRIVATE_H

#include "run/adjust/adjust.h"
#include "run/choose/select.h"
#include "run/choose/split.h"
#include "run/meaning/interpret.h"
#include "run/nest/lanes.h"
#include "run/pipeline.h"
#include "run/sort/sorter.h"

/* The pipeline as pipeline.c, short_stages.c, passes.c and join.c see it. */

struct joining;
struct reading;

struct pipeline {
	const struct pipeline_job *job;
	struct trace trace;
	uint32_t lent_tracks; /* number of tracks of a borrowed trace, without lanes */
	struct trace_context context;
	struct stage_faults faults;        /* for its stages */
	struct vocabularies vocabularies;  /* unless the job has them */
	struct batch_pool own_pool, *pool; /* pool: the one in use */
	struct reading *reading;           /* the first stage, or ... */
	struct joining *joining;           /* ... this one, of several traces; the other is NULL */
	struct ahead *ahead;               /* runs `reading` on a separate thread; or NULL */
	/* The short stages, in any order, and their data. */
	struct short_stage {
		struct stage stage;
		struct pipeline *p; /* NULL: the stage is not used */
	} interpreting, repeating, rebasing, zeroing, rebinding, laning;
	struct interpret interpret;
	bool more_arrows, finishing; /* interpret_more(), interpret_finish() have more */
	struct repeats repeats;
	uint64_t read;      /* bytes of the inputs, until the last batch that was read */
	struct ledger cuts; /* of repeats; separate: another thread may use the other ledgers */
	struct rebase {
		bool known;       /* `by` is valid */
		bool signed_time; /* times before `by` may exist */
		uint64_t by;      /* ns, subtracted from all times */
	} rebase;
	struct rebind rebind;
	struct trace rebound; /* of the events after it */
	struct lanes lanes;
	/* Stages with files of their own. */
	struct select_stage select;
	struct record_marks marks;
	struct order_stage order;
	struct stage *last;
	struct source rest; /* for findings without an input */
	bool rest_begun;
	uint32_t shown_tracks, shown_classes; /* already listed in batches */
	bool opened;                          /* pipeline_open() succeeded */
	bool ended;                           /* by pipeline_end() */
	bool rest_rebound;                    /* tracks without events and facts were moved, too */
	struct ledger ledger;                 /* of the lanes and of marks */
};

/* Reports a failed system call (one line), as pipeline_no_memory(). */
bool pipeline_failed(struct pipeline *p, const char *why);

/* The request cannot be met for this trace (one line): hooks.closed gets an input with context->refused. */
void pipeline_refused(struct pipeline *p, const char *why);

/* Reports OOM, and releases a batch.  Returns STAGE_BAD. */
enum stage_status pipeline_stop_no_memory(struct pipeline *p, struct batch *b);

/* ---- short stages (short_stages.c) ---- */

enum stage_status short_interpret(struct stage *st, struct batch **out);
enum stage_status short_repeats(struct stage *st, struct batch **out); /* limits texts */

/* Subtracts the least time of the trace from all times; without `known`, the time of the first event. */
enum stage_status short_rebase(struct stage *st, struct batch **out);

/* Times before time 0 of the trace become negative. */
enum stage_status short_zero(struct stage *st, struct batch **out);

/* Moves events to a trace of pseudonyms. */
enum stage_status short_rebind(struct stage *st, struct batch **out);
enum stage_status short_lanes(struct stage *st, struct batch **out);

/* ---- passes over the inputs (passes.c) ---- */

/* Whether a pass over the inputs that ended with this status may have missed findings of the reporting pass:
 * memory or a system call failed, or a file changed.  Its results are invalid then. */
bool pipeline_pass_failed(const struct pipeline *pass, enum stage_status status);

/* A pass over the inputs of a job.  It can have no order, lanes, time shift or pseudonyms, and no hooks
 * except those set here. */
struct pass {
	struct trace_input in; /* pass_inputs() */
	struct reading_mode read;
	struct choice choice;
	uint64_t max_repeat;
	struct pipeline_hooks hooks;
	bool (*take)(void *ctx, const struct batch *b); /* false: stop; NULL: events are not needed */
	void (*ended)(void *ctx, struct pipeline *p); /* also of a failed pass, for its results; NULL: none */
	void *ctx;                                    /* argument of take and ended */
	struct pipeline_why *why; /* gets the first reason why it failed; findings are not reported */
};

struct trace_input pass_inputs(const struct pipeline_job *of);

/* false: it failed, or `take` stopped it. */
bool pipeline_pass(const struct pass *pass);

/* The first and the last time of all events.  false after a finding: it failed. */
bool pass_find_range(struct pipeline *of, struct select_range *r);

/* Makes the marks of the records that a selection of raw events, or the scope of findings, consists of.
 * false after a finding. */
bool pass_mark_records(struct pipeline *p);

/* Uses the marks of the part of a planned split that the job writes. */
void pass_use_split(struct pipeline *p);

#endif
