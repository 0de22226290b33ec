#ifndef OVNI_EVENT_H
#define OVNI_EVENT_H

#include "ovni/state.h"

/* Interpreted events: instants named by their code, which the vocabulary then interprets.  For raw events see
 * ovni_raw.h. */

/* Whether the next events may take the fast path: not while a jumbo event is skipped, and not with clocks
 * that an offset makes negative, which must be counted. */
static inline bool
ovni_can_be_fast(const struct ovni_state *st)
{
	return st->skip == 0 && st->last <= INT64_MAX &&
	       (st->offset >= 0 || st->last >= 0 - (uint64_t)st->offset);
}

/* Adds one event to the batch.  false: no memory. */
bool ovni_event_add(struct ovni_state *st, struct batch *b, const struct ovni_record *e, struct class *cls);

/* Adds the next events that take the fast path, `most` at most; how many there were. */
uint32_t ovni_events_add_fast(struct ovni_state *st, struct batch *b, uint32_t most);

#endif
