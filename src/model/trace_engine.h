#ifndef MODEL_TRACE_ENGINE_H
#define MODEL_TRACE_ENGINE_H

#include <pthread.h>

#include "model/batch_fill.h"
#include "model/trace.h"

/* Operations on traces and batches that only the engine uses. */

/* ---- traces ---- */

void trace_init(struct trace *t);
void trace_free(struct trace *t);

/* Whether memory ran out for a part of the trace. */
static inline bool trace_failed(const struct trace *t)
{
	return t->arena.failed || t->definitions.failed;
}

/* The same while the trace is read.  With a gate, interpretation changes the definitions at the same time,
 * and checks them itself. */
static inline bool trace_reading_failed(const struct trace *t)
{
	return t->arena.gate != NULL ? t->arena.failed : trace_failed(t);
}

/* At the end of the trace: plans the classes without events. */
bool trace_plan_rest(struct trace *t);

/* A new class equal to `like` in all members, even if others of the name are, too.  Its texts are copied, but
 * not those of its fields. */
struct class *trace_copy_class(struct trace *t, const struct class *like);

/* Records of all classes of a name, by its first class. */
uint64_t trace_class_records(const struct class *first);

/* Finds or creates the track named "NAME: WHAT" below that of a thread or process. */
const struct track *trace_child_track(struct trace *t, const struct track *track, struct slice what);

/* Makes a track a child of another one. */
static inline void track_put_below(struct track *t, const struct track *parent)
{
	t->parent = parent;
	t->process = track_process(parent);
	t->depth = (uint16_t)(parent->depth + 1);
}

/* ---- batches: made, emptied and used again ---- */

/* Capacity of `cap` events. */
bool batch_init(struct batch *b, uint32_t cap, bool with_bytes);
void batch_free(struct batch *b);

/* Empties it and releases the memory that its events pointed to. */
void batch_recycle(struct batch *b);

/* Appends an event of another batch, with its fields, which still point into memory of that batch.  `from`
 * has bytes if `to` has. */
bool batch_copy_event(struct batch *to, const struct batch *from, uint32_t i);

/* Detaches the memory that the events of a batch point to, as one reference of the caller; the batch is left
 * without it, and usable.  NULL on OOM: the batch is unchanged. */
struct shared_memory *batch_share_memory(struct batch *b);

static inline void batch_own(struct batch *b, struct batch_block *block)
{
	block->next = b->engine.blocks;
	b->engine.blocks = block;
}

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

/* An empty batch; NULL: OOM. */
struct batch *batch_pool_take(struct batch_pool *p);

/* Returns a batch to its pool, from any thread; accepts NULL.  It is emptied when it is taken again, by the
 * thread that allocated its memory: this avoids contention in malloc. */
void batch_release(struct batch *b);

#endif
