#ifndef RUN_JOIN_H
#define RUN_JOIN_H

#include "base/compiler.h"
#include "base/table.h"
#include "run/pipeline.h"

/*
 * Several traces, of any formats, as one.  A first pass over each finds its range of times and its processes;
 * then each is read by its own pipeline, and its events move to the common trace (run/adjust/adjust.h),
 * shifted by its offset.
 */

/* A trace that is joined with others. */
struct join_trace {
	const char *path;              /* its name; borrowed */
	const struct operand *operand; /* borrowed */
	/* Set by join_look(). */
	const char *format, *dialect, *byte_order, *clock; /* in the arena */
	bool epoch_known;
	bool labelled; /* names of its processes state their file: trace.labelled */
	bool any;      /* it has events */
	uint64_t epoch_ns, zero_ns;
	int128 first_ns, last_ns; /* from join.zero_ns on; the second is the latest end */
	/* Set before the second pass. */
	int64_t offset_ns;           /* added to its times */
	const struct select *select; /* replaces that of the job; in the arena; NULL: that of the job */
};

struct trace_groups;

struct join {
	struct join_trace *traces;
	size_t n;
	uint32_t nparts, max_parts; /* traces that state trace.parts; the largest trace.parts */
	bool epoch_known;           /* of the whole */
	uint64_t epoch_ns;
	int128 rebased_by; /* ns; below 0: the first event is before 0 */
	uint64_t zero_ns;  /* of all traces: trace.zero_ns */
	struct arena arena;
	struct table64 ids;     /* of processes -> number of the trace, or JOIN_SEVERAL */
	struct tabletext names; /* names of processes without an id -> the same */
	/* Set if join_look() failed, or memory ran out in join_window(). */
	bool failed;
	struct pipeline_why why;
	const char *failed_path; /* of the first trace that failed; NULL: memory ran out in join_window() */
};

#define JOIN_SEVERAL (TABLE_NONE - 1) /* instead of the number of a trace: several traces have it */
#define JOIN_MAX_TRACES 10000U        /* each takes about 25 KB until the end, however short it is */
#define JOIN_MAX_PROCESSES (1U << 20) /* further ones are not distinguished */

/* The traces are borrowed. */
bool join_init(struct join *j, const struct trace_groups *traces);
void join_free(struct join *j);

/* Reads all traces, on several threads, without reporting findings.  Returns false if j->failed_path could
 * not be read completely (j->why). */
bool join_look(struct join *j, const struct pipeline_job *job, size_t threads);

/* Set the offsets of traces.  Return false if they exceed 63 bits. */
bool join_by_epoch(struct join *j); /* requires that all have an epoch */
bool join_by_start(struct join *j);
/* Gives all traces a zero_ns if the offsets put events before 0. */
void join_allow_negative(struct join *j);
/* Moves the first event to 0, also from before 0.  To be called after the offsets are set. */
bool join_rebase(struct join *j);

/* Finds traces whose clocks probably differ.  The early traces begin within a year after the first begin;
 * *before is the one that ends last, and *after the first one that begins later.  Returns the ns from the end
 * of *before to the begin of *after if they exceed a year, else 0.  To be called after the offsets are
 * set. */
uint64_t join_gap(const struct join *j, const struct join_trace **before, const struct join_trace **after);

/* Converts the time window of the selection to the clock of each trace.  To be called after the offsets are
 * set, before join_rebase().  Returns NULL, or why the window is invalid: one line, in the arena.
 * On OOM it returns NULL and sets j->failed. */
const char *join_window(struct join *j, const struct select *s);

/* ---- first stage of a pipeline with job.adjust.join ---- */

struct joining;

struct joining *joining_new(struct pipeline *p);
struct stage *joining_stage(struct joining *g);

/* Closes open traces and calls the hooks. */
void joining_end(struct joining *g);
void joining_losses(const struct joining *g, struct ledger *into);

/* Statistics of the selection in all traces; NULL: no selection, or OOM. */
const struct select_found *joining_found(struct joining *g);
void joining_free(struct joining *g);

#endif
