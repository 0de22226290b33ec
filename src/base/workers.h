#ifndef BASE_WORKERS_H
#define BASE_WORKERS_H

#include <stddef.h>

/*
 * Jobs that run on several threads and are finished in the order of workers_put().  The caller's thread works
 * while it waits.
 */
struct workers;

struct workers_ops {
	/* First; called for one slot at a time, in order, on any thread.  May be NULL. */
	void (*prepare)(void *ctx, size_t slot);
	/* Second; called for several slots concurrently, on any thread.  May be NULL. */
	void (*run)(void *ctx, size_t slot);
	/* Last; called for one slot at a time, in order, on any thread.  May be NULL. */
	void (*finish)(void *ctx, size_t slot);
};

/* Creates workers for at most `slots` jobs that wait or run, on `threads` threads besides the caller's; on
 * fewer if the system refuses more. */
struct workers *workers_new(size_t slots, size_t threads, const struct workers_ops *ops, void *ctx);

/* Returns a free slot for the caller to fill and put; works until there is one. */
size_t workers_slot(struct workers *w);
void workers_put(struct workers *w);

/* Called in run: waits until all earlier jobs are finished, so that run may do the work of finish. */
void workers_turn(struct workers *w, size_t slot);

/* Works until all jobs are finished. */
void workers_settle(struct workers *w);

/* Called after workers_settle(); accepts NULL. */
void workers_free(struct workers *w);

#endif
