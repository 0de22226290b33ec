#ifndef CLI_APART_H
#define CLI_APART_H

#include "cli/traces.h"

struct apart;

/* A part of a trace that is read apart from the others: a file, or several with a common state; or the checks
 * of the whole trace (apart.c). */
struct apart_part {
	struct apart *of;
	void *ctx;        /* of apart_read() */
	void *state;      /* state of the command; zeroed before each part */
	uint32_t number;  /* in the order of the files, from 0 */
	const char *path; /* of the first one */
	uint64_t opened;  /* what was found when they were opened */
	struct pipeline_job job;
	struct pipeline *pipeline;
	struct finding_log *log;
	struct vocabularies vocabularies; /* borrows those of the trace */
};

struct apart_ops {
	size_t state_size; /* of a part */
	/* Completes f->job.  Called for several parts concurrently, like `take`.  Both return false on OOM.
	 */
	bool (*begin)(struct apart_part *f);
	/* Takes over a batch.  NULL: it is released. */
	bool (*take)(struct apart_part *f, struct batch *b);
	/* Adds a part to the earlier ones; called for one part at a time, in order.  Returns false on OOM, or
	 * if it cannot be added.  May be NULL, like `end`. */
	bool (*join)(struct apart_part *f, const struct run_report *run);
	/* Always called after `begin`: frees the state. */
	void (*end)(struct apart_part *f);
	/* Called once all parts are joined, in the turn of the trace.  logs: of its n parts, in order. */
	void (*report)(struct trace_slot *t, void *ctx, struct finding_log *logs, uint32_t n);
};

/* In `join`: claims the labels of the tracks in groups, as groups of parts are told apart by texts.  Tracks
 * with equal names have labels with ids, or with numbers that count the tracks of all files, so names must
 * differ in a file and between files.  Returns false if they do not, or on OOM. */
bool apart_claim_labels(struct apart_part *f, const struct stats *s);

/* Whether tables and percentiles are those of all events.  What is beyond a limit depends on the order in
 * which names arrive, and that of parts is another one. */
bool apart_sum_is_exact(const struct stats *s);

/* Whether the trace has several files of some size whose format lets them be read apart, and there is no time
 * window relative to the trace, no check of the order of all events, and no vocabulary of the user, whose
 * definitions and tracks may be of the whole trace. */
bool apart_is_possible(const struct trace_slot *t);

/* Reads the parts, if that is possible, and says what was selected.  Returns false, without a report, if the
 * trace must be read as a whole; also on OOM. */
bool apart_read(struct trace_slot *t, const struct apart_ops *ops, void *ctx);

/* In `report`: says what was found in the parts. */
void apart_say(struct trace_slot *t, const struct finding_log *logs, uint32_t n);

#endif
