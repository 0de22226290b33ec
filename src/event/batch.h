#ifndef EVENT_BATCH_H
#define EVENT_BATCH_H

#include <stdatomic.h>

#include "base/arena.h"
#include "event/event.h"
#include "input/input.h"

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
	uint32_t first_track, end_track; /* trace.tracks[first .. end) are new in this batch */
	uint32_t first_class, end_class; /* trace.classes likewise */
};

/* Room for `cap` events; false: no memory. */
bool batch_init(struct batch *b, uint32_t cap, bool with_bytes);
void batch_free(struct batch *b);

/* Empties it for the next next: gives back the input buffers it held. */
void batch_recycle(struct batch *b);

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
