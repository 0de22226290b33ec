#ifndef RUN_WRITE_WRITING_H
#define RUN_WRITE_WRITING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "format/chunk.h"
#include "run/pipeline.h"

/* ---- writing ---- */

/*
 * The end of a pipeline that writes: batches are rendered, on several threads
 * if there are, and the chunks handed over in order, with what was lost.
 */

/* Where bytes go.  `file`: which one of a folder, made even if n is 0; NULL: the output is one file.  false:
 * it failed, which it remembers. */
struct writing_output {
	bool (*put)(void *ctx, const char *file, const char *p, size_t n);
	void *ctx;
};

struct writing_options {
	const struct option_value *values;
	const char *tool;
	const char *beside; /* where temporary files of the writer go: a path in that folder; NULL: $TMPDIR */
	unsigned threads;   /* in all; 0 counts as 1 */
	bool surveyed;      /* the caller makes the survey: one pass for several writings */
};

struct writing_job;

struct writing {
	struct pipeline *pipeline;
	const struct format *to;
	struct writing_output out;
	struct writer writer;
	struct chunk chunk; /* of the first and the last bytes */
	struct ledger total;
	bool begun;
	atomic_bool no_memory, failed; /* failed: the output did, or */
	const char *failure;           /* what the writer says of it; NULL: it was the output */
	struct workers *workers;
	struct writing_job *jobs; /* by slot */
	size_t njobs;
};

/* The output's first bytes: when an input of `p` was opened.  false: no memory, or the output failed; so too
 * below. */
bool writing_begin(struct writing *w, struct pipeline *p, const struct format *to, struct writing_output out,
                   const struct writing_options *options);

/* Takes over the batch. */
bool writing_put(struct writing *w, struct batch *b);

/* The same, but the batch stays the caller's.  For one thread. */
bool writing_lend(struct writing *w, struct batch *b);

/* Waits until all batches are written and released. */
void writing_settle(struct writing *w);

/* The end of the output. */
bool writing_end(struct writing *w);
void writing_free(struct writing *w);

/* ---- workers ---- */

/*
 * Jobs that run on several threads and are finished in the order in which they
 * were put.  The caller's thread works too while it waits.
 */
struct workers;

struct workers_ops {
	/* First, unless NULL: one slot at a time, in order, on any thread. */
	void (*prepare)(void *ctx, size_t slot);
	/* Then, unless NULL, the job itself: on any thread, several slots at the same time. */
	void (*run)(void *ctx, size_t slot);
	/* After that: one slot at a time, in order, on any thread. */
	void (*finish)(void *ctx, size_t slot);
};

/* At most `slots` jobs wait or run; `threads` besides the caller's.  Starts fewer threads if the system gives
 * no more, which only takes longer.  NULL: no memory. */
struct workers *workers_new(size_t slots, size_t threads, const struct workers_ops *ops, void *ctx);

/* A slot that nobody uses, for the caller to fill and put; works as long as there is none. */
size_t workers_slot(struct workers *w);
void workers_put(struct workers *w);

/* For run: waits until all jobs before this slot's are finished, so that it may already do what finish does.
 */
void workers_turn(struct workers *w, size_t slot);

/* Works until all jobs are finished. */
void workers_settle(struct workers *w);

/* After workers_settle; NULL is fine. */
void workers_free(struct workers *w);

#endif
