#ifndef CLI_APART_H
#define CLI_APART_H

#include "cli/traces.h"

struct apart;

/* A file of a trace that is read apart from the others. */
struct apart_file {
	struct apart *of;
	void *ctx;       /* of apart_read() */
	void *state;     /* state of the command; zeroed before each file */
	uint32_t number; /* in the order of the files, from 0 */
	const char *path;
	struct pipeline_job job;
	struct pipeline *pipeline;
	struct finding_log *log;
	struct vocabularies vocabularies; /* kept from one file to the next */
};

struct apart_ops {
	size_t state_size; /* of a file */
	/* Completes f->job.  Called for several files concurrently, like `take`.  Both return false on OOM.
	 */
	bool (*begin)(struct apart_file *f);
	/* Takes over a batch.  NULL: it is released. */
	bool (*take)(struct apart_file *f, struct batch *b);
	/* Adds a file to the earlier ones; called for one file at a time, in order.  Returns false on OOM, or
	 * if it cannot be added.  May be NULL, like `end`. */
	bool (*join)(struct apart_file *f, const struct run_report *run);
	/* Always called after `begin`: frees the state. */
	void (*end)(struct apart_file *f);
	/* Called once all files are joined, in the turn of the trace.  logs: of its n files, in order. */
	void (*report)(struct trace_slot *t, void *ctx, struct finding_log *logs, uint32_t n);
};

/* In `join`: claims a text that must differ from those of other files.  Returns false if it does not, or on
 * OOM. */
bool apart_claim_text(struct apart_file *f, struct slice text);

/* Whether the trace has several files of some size whose format lets them be read apart, and there is no
 * selection, and no vocabulary of the user, whose definitions and tracks may be of the whole trace. */
bool apart_is_possible(const struct trace_slot *t);

/* Reads the files apart, if that is possible.  Returns false, without a report, if the trace must be read as
 * a whole; also on OOM. */
bool apart_read(struct trace_slot *t, const struct apart_ops *ops, void *ctx);

#endif
