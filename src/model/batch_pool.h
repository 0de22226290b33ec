#ifndef MODEL_BATCH_POOL_H
#define MODEL_BATCH_POOL_H

#include <pthread.h>

#include "model/batch_fill.h"

/* Creates, empties and reuses batches; for the engine. */

/* Capacity of `cap` events. */
bool batch_init(struct batch *b, uint32_t cap, bool with_bytes);
void batch_free(struct batch *b);

/* Empties it and releases the memory that its events pointed to. */
void batch_recycle(struct batch *b);

/* Detaches the memory that the events of a batch point to, as one reference of the caller; the batch is left
 * without it, and usable. */
struct shared_memory *batch_share_memory(struct batch *b);

/* Whether memory ran out for it: its events may be incomplete. */
static inline bool batch_failed(const struct batch *b)
{
	return b->engine.failed || b->scratch.failed;
}

/* Batches for reuse; released from any thread. */
struct batch_pool {
	pthread_mutex_t lock;
	struct batch *idle;
	uint32_t cap; /* events of a batch */
	bool with_bytes;
};

bool batch_pool_init(struct batch_pool *p, uint32_t cap, bool with_bytes);

/* All batches must have been released.  A zeroed pool is valid. */
void batch_pool_free(struct batch_pool *p);

/* An empty batch. */
struct batch *batch_pool_take(struct batch_pool *p);

/* Returns a batch to its pool, from any thread; accepts NULL.  It is emptied when it is taken again, by the
 * thread that allocated what it owns: this avoids contention in malloc. */
void batch_release(struct batch *b);

#endif
