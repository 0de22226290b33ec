#ifndef PIPELINE_WORKERS_H
#define PIPELINE_WORKERS_H

#include <stdbool.h>
#include <stddef.h>

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
