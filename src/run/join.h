#ifndef RUN_ADJUST_JOIN_H
#define RUN_ADJUST_JOIN_H

#include "base/table.h"
#include "run/pipeline.h"

/* ---- join ---- */

/*
 * Several traces, of any formats, as one.  A first pass over each finds out
 * where its times lie and which processes it has; then each is a pipeline of its
 * own, and its events become events of one trace (rehome.h), moved by its
 * offset.
 */

/* One of the traces. */
struct join_part {
	const char *path;              /* what it is called; borrowed */
	const struct operand *operand; /* borrowed */
	/* Found out by join_look(). */
	const char *format, *dialect, *byte_order, *clock; /* in the arena */
	bool epoch_known, any;                             /* any: it has events */
	uint64_t epoch_ns, first_ns, last_ns;
	/* To be set before the second pass. */
	int64_t later;               /* ns that are added to its times */
	const struct select *select; /* instead of that of the whole; NULL: the same; in the arena */
};

struct trace_groups;

struct join {
	struct join_part *parts;
	size_t n;
	bool epoch_known; /* of the whole */
	uint64_t epoch_ns, rebased_by;
	struct arena arena;
	struct table64 ids;     /* of processes -> number of the part, JOIN_SEVERAL */
	struct tabletext names; /* of those without an id, likewise */
	bool failed;            /* join_look() did: */
	struct pipeline_why why;
	const char *failed_path; /* of the part */
};

#define JOIN_SEVERAL (TABLE_NONE - 1)
#define JOIN_MOST_PROCESSES (1U << 20) /* that are told apart */

/* Takes these traces, borrowed.  false: no memory. */
bool join_init(struct join *j, const struct trace_groups *traces);
void join_free(struct join *j);

/* Reads all parts quietly, as `job` says.  false: j->failed_path could not be read as a whole; j->why. */
bool join_look(struct join *j, const struct pipeline_job *job);

/* Offsets of parts; true: they fit into 63 bits. */
bool join_by_epoch(struct join *j); /* all have one */
bool join_by_start(struct join *j);
bool join_rebase(struct join *j); /* the first event is at 0; after one of the others */

/* The time window of the selection, if it has one, for each of the parts, whose offsets are known; before
 * join_rebase().  NULL, or why there is no such window: one line, in the arena. */
const char *join_window(struct join *j, const struct select *s);

/* ---- the first stage of a pipeline with job.join ---- */

struct joining;

/* NULL: no memory. */
struct joining *joining_new(struct pipeline *p);
struct stage *joining_stage(struct joining *g);

/* Closes what is open and tells the hooks. */
void joining_end(struct joining *g);
void joining_losses(const struct joining *g, struct ledger *into);

/* What was selected of all traces; NULL: nothing was asked for, or no memory. */
const struct select_found *joining_found(struct joining *g);
void joining_free(struct joining *g);

#endif
