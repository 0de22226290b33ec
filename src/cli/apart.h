#ifndef CLI_APART_H
#define CLI_APART_H

#include "cli/traces.h"

struct apart;

/* A portion of a trace that is read apart from the others: a file, or several with a common state; or the
 * checks of the whole trace (apart.c).  The commands use ctx, state, path and job. */
struct apart_portion {
	struct apart *of;
	void *ctx;        /* that of apart_read() */
	void *state;      /* apart_ops.state_size bytes, zeroed before each portion */
	uint32_t number;  /* in the order of the files, from 0 */
	const char *path; /* path of the first file */
	uint64_t opened;  /* sum of hashes of the findings of opening each file */
	struct pipeline_job job;
	struct pipeline *pipeline;
	struct finding_log *log;
	struct vocabularies vocabularies; /* borrows those of the trace */
};

struct apart_ops {
	size_t state_size; /* bytes of the state of a portion */
	/* Completes f->job.  Called for several portions concurrently, like `take`.  Both return false on
	 * OOM.
	 */
	bool (*begin)(struct apart_portion *f);
	/* Takes over a batch.  NULL: batches are released. */
	bool (*take)(struct apart_portion *f, struct batch *b);
	/* Adds a portion to the earlier ones; called for one portion at a time, in order.  Returns false on
	 * OOM, or if the portion cannot be added.  May be NULL, like `end`. */
	bool (*join)(struct apart_portion *f, const struct run_report *run);
	/* Frees the state; called for each portion for which `begin` was called. */
	void (*end)(struct apart_portion *f);
	/* Called in the turn of the trace, when all portions are joined.  logs: those of the n portions, in
	 * order.
	 */
	void (*report)(struct trace_slot *t, void *ctx, struct finding_log *logs, uint32_t n);
};

/* For `join`, if groups are by track: claims the labels of tracks, by which groups of portions are joined.
 * Returns false on OOM, or if a label is not just the name of its track, or another portion has it, too:
 * labels that tell tracks of equal names apart depend on all files. */
bool apart_claim_labels(struct apart_portion *f, const struct stats *s);

/* Whether no limit of tables and percentiles was reached.  What is beyond a limit depends on the order in
 * which names arrive, which is another one if the portions are read apart. */
bool apart_sum_is_exact(const struct stats *s);

/* Whether the trace has several files of some size (larger ones if `ops` takes no events) whose format lets
 * them be read apart, and there is no time window that needs the whole trace (select_needs_range()), no check
 * of the order of all events, and no vocabulary of the user, whose definitions and tracks may be of the whole
 * trace. */
bool apart_is_possible(const struct trace_slot *t, const struct apart_ops *ops);

/* Reads the portions, and prints what was selected.  Returns false, without a report, if the trace must be
 * read as a whole; also on OOM. */
bool apart_read(struct trace_slot *t, const struct apart_ops *ops, void *ctx);

/* For `report`: prints the findings of the portions, as say_finding() and say_record() do. */
void apart_say(struct trace_slot *t, const struct finding_log *logs, uint32_t n);

#endif
