#ifndef EVENT_BATCH_H
#define EVENT_BATCH_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "event/event.h"
#include "input/input.h"

struct track;
struct class;
struct findings;

/*
 * Memory of a reader that several batches point into (a string pool of a
 * segment, say).  Whoever holds a reference keeps it; the last one to let go
 * destroys it, on whatever thread that happens.  Texts in it must not move or
 * change while it is held; more may be added.
 */
struct shared_memory {
	atomic_uint refs;
	void (*destroy)(struct shared_memory *m);
};

/* One reference, the caller's. */
void shared_memory_init(struct shared_memory *m, void (*destroy)(struct shared_memory *));
void shared_memory_drop(struct shared_memory *m); /* NULL is fine */

/* The start of a block from malloc that a batch frees when it is released. */
struct batch_block {
	struct batch_block *next;
};

/*
 * A run of events, in the order of the trace, with their fields.
 *
 * It owns, or holds a reference to, everything that its events point to, but
 * for classes, tracks and the text they name, which live as long as the trace.
 * So several batches may be alive at once, on different threads.
 */
struct batch {
	struct event *events;
	uint32_t n, cap;
	struct field *fields;
	uint32_t nfields, fields_cap;
	struct slice *bytes;  /* the records themselves, one for each event; only when WANT_BYTES was asked */
	struct arena scratch; /* for values that do not lie in the input */
	struct input_holds holds;
	struct batch_block *blocks;    /* its own */
	struct shared_memory **shared; /* one reference each */
	uint32_t nshared, shared_cap;
	/* What is new in this batch; an event's class and track are in this one or an earlier one. */
	struct track *const *tracks;
	struct class *const *classes;
	uint32_t ntracks, nclasses;
	/* For the stages: whom findings about an event are reported to. */
	struct findings *findings;              /* those of the input that all events are of */
	struct findings *const *input_findings; /* where they are of several ... */
	const uint32_t *inputs;                 /* ... the number of each event's; NULL: they are of one */
	struct batch_pool *pool;                /* where batch_release() puts it */
	struct batch *next;                     /* in a list of whoever has it */
};

/* Room for `cap` events; false: no memory. */
bool batch_init(struct batch *b, uint32_t cap, bool with_bytes);
void batch_free(struct batch *b);

/* Empties it: lets go of all that its events pointed to. */
void batch_recycle(struct batch *b);

/* What the events of a batch point to, for others to hold; the batch itself has nothing of it then, and goes
 * on. One reference, the caller's.  NULL: no memory. */
struct shared_memory *batch_share_memory(struct batch *b);

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

/* From any thread; b is the caller's no more.  NULL is fine. */
void batch_release(struct batch *b);

/* Takes over a block that events of the batch point into. */
static inline void
batch_own(struct batch *b, struct batch_block *block)
{
	block->next = b->blocks;
	b->blocks = block;
}

/* Keeps the memory until the batch is released; asking again for the one asked for last costs nothing. false:
 * no memory. */
bool batch_hold(struct batch *b, struct shared_memory *m);

bool batch_grow_fields(struct batch *b, uint32_t n);

/* A place for n fields behind those in use; the caller adds to b->nfields what it filled.  NULL: no memory.
 * Fields may move: keep indexes. */
static inline struct field *
batch_fields(struct batch *b, uint32_t n)
{
	if (n > b->fields_cap - b->nfields && !batch_grow_fields(b, n))
		return NULL;
	return b->fields + b->nfields;
}

#endif
