#ifndef MODEL_BATCH_FILL_H
#define MODEL_BATCH_FILL_H

#include <stdatomic.h>

#include "model/batch.h"
#include "model/value.h"

/* Adds fields, and memory that fields point to, to a batch; for readers and stages. */

bool batch_grow_fields(struct batch *b, uint32_t n);

/* Space for n fields after those in use, to be followed by batch_set_fields().  On OOM returns NULL and sets
 * the batch's failure flag.  Fields may move: keep indexes. */
static inline struct field *batch_fields(struct batch *b, uint32_t n)
{
	if (n > b->fields_cap - b->nfields && !batch_grow_fields(b, n))
		return NULL;
	return b->fields + b->nfields;
}

/* Gives the event the first n of these fields. */
static inline void batch_set_fields(struct batch *b, struct event *e, uint16_t n)
{
	e->first_field = b->nfields;
	e->nfields = n;
	b->nfields += n;
}

/* Both steps: the n fields of an event of the batch, to be filled in.  NULL on OOM. */
static inline struct field *batch_event_fields(struct batch *b, struct event *e, uint16_t n)
{
	struct field *const f = batch_fields(b, n);

	if (f != NULL)
		batch_set_fields(b, e, n);
	return f;
}

/* Memory of a reader that several batches point into (such as a string pool of a segment), with a reference
 * count.  Dropping the last reference calls destroy, on any thread.  Until then its texts must not move or
 * change; texts may be added. */
struct shared_memory {
	atomic_uint refs;
	void (*destroy)(struct shared_memory *m);
};

/* The caller has the first reference. */
void shared_memory_init(struct shared_memory *m, void (*destroy)(struct shared_memory *));
void shared_memory_drop(struct shared_memory *m); /* accepts NULL */

/* Takes a reference until the batch is released; cheap if it is the one taken last. */
bool batch_hold(struct batch *b, struct shared_memory *m);

#endif
