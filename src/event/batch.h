#ifndef EVENT_BATCH_H
#define EVENT_BATCH_H

#include "base/arena.h"
#include "event/event.h"
#include "input/input.h"

/* A run of events, in the order of the trace, with their fields. */
struct batch {
	struct event *events;
	uint32_t n, cap;
	struct field *fields;
	uint32_t nfields, fields_cap;
	struct slice *bytes;  /* the records themselves, one for each event; only when WANT_BYTES was asked */
	struct arena scratch; /* for values that do not lie in the input */
	struct input_holds holds;
	uint32_t first_track, end_track; /* trace.tracks[first .. end) are new in this batch */
	uint32_t first_class, end_class; /* trace.classes likewise */
};

/* Room for `cap` events; false: no memory. */
bool batch_init(struct batch *b, uint32_t cap, bool with_bytes);
void batch_free(struct batch *b);

/* Empties it for the next next: gives back the input buffers it held. */
void batch_recycle(struct batch *b);

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
