#ifndef EVENT_BATCH_FILL_H
#define EVENT_BATCH_FILL_H

#include <stdatomic.h>

#include "model/batch.h"
#include "model/value.h"

/* How readers and stages put fields, and the memory that fields point to, into a batch. */

bool batch_grow_fields(struct batch *b, uint32_t n);

/* A place for n fields behind those in use; the caller adds to b->nfields what it filled.  NULL: no memory,
 * which the batch remembers.  Fields may move: keep indexes. */
static inline struct field *batch_fields(struct batch *b, uint32_t n)
{
	if (n > b->fields_cap - b->nfields && !batch_grow_fields(b, n))
		return NULL;
	return b->fields + b->nfields;
}

/* Memory of a reader that several batches point into (a string pool of a segment, say).  Whoever has a
 * reference keeps it; giving back the last one calls destroy, on any thread.  Meanwhile its texts must not
 * move or change; texts may be added. */
struct shared_memory {
	atomic_uint refs;
	void (*destroy)(struct shared_memory *m);
};

/* One reference, the caller's. */
void shared_memory_init(struct shared_memory *m, void (*destroy)(struct shared_memory *));
void shared_memory_drop(struct shared_memory *m); /* gives back one reference; NULL is fine */

/* Takes a reference until the batch is released; asking again for the last one is free.  false: no memory. */
bool batch_hold(struct batch *b, struct shared_memory *m);

/* The start of a block from malloc that a batch frees when it is released. */
struct batch_block {
	struct batch_block *next;
};

/* Gives a block to the batch. */
static inline void batch_own(struct batch *b, struct batch_block *block)
{
	block->next = b->engine.blocks;
	b->engine.blocks = block;
}

#endif
