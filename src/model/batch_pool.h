#ifndef EVENT_BATCH_POOL_H
#define EVENT_BATCH_POOL_H

#include <pthread.h>

#include "model/batch_fill.h"

/* How the engine makes batches, empties them and hands them out again. */

/* Room for `cap` events; false: no memory. */
bool batch_init(struct batch *b, uint32_t cap, bool with_bytes);
void batch_free(struct batch *b);

/* Empties it: lets go of all that its events pointed to. */
void batch_recycle(struct batch *b);

/* What the events of a batch point to, for others to hold; the batch itself has nothing of it then, and goes
 * on. One reference, the caller's.  NULL: no memory. */
struct shared_memory *batch_share_memory(struct batch *b);

/* Whether memory ran out for it some time: its events may lack parts. */
static inline bool batch_failed(const struct batch *b)
{
	return b->engine.failed || b->scratch.failed;
}

/* Batches that are given back, from any thread, and handed out again. */
struct batch_pool {
	pthread_mutex_t lock;
	struct batch *idle;
	uint32_t cap; /* events of a batch */
	bool with_bytes;
};

bool batch_pool_init(struct batch_pool *p, uint32_t cap, bool with_bytes);

/* All batches must have been released.  Harmless on one that is zeroed. */
void batch_pool_free(struct batch_pool *p);

/* An empty batch; NULL: no memory. */
struct batch *batch_pool_take(struct batch_pool *p);

/* Gives a batch of a pool back, from any thread.  NULL is fine.  It is emptied when it is taken again, by the
 * thread that made what it owns: memory goes back to where it came from without contention. */
void batch_release(struct batch *b);

#endif
