#ifndef DIAL9_RECORD_H
#define DIAL9_RECORD_H

#include "dial9/state.h"

/* Frames and entries as records of the trace: time, counts, events of a batch. */

/* Reports that the time base and a delta do not fit 64 bits. */
void d9_record_overflow(struct d9_state *st, const struct d9_frame *f, uint32_t delta);

/* Moves the time base by the delta of a timed event, to 2^64 - 1 at most. */
static inline void
d9_record_time(struct d9_state *st, const struct d9_frame *f)
{
	const uint32_t delta = load_u32(f->p + 2, false) >> 8;

	if (delta > UINT64_MAX - st->base)
		d9_record_overflow(st, f, delta);
	else
		st->base += delta; /* "then set timestamp_base_ns = timestamp_ns" */
}

/* Counts an event that is complete. */
static inline void
d9_count_event(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f)
{
	st->r->records++;
	st->r->trace->events += !s->structure;
	s->cls->records++;
	st->last_offset = f->offset;
}

/* Counts a frame of another kind, without entries to come. */
void d9_count_frame(struct d9_state *st, enum d9_structure which, const struct d9_frame *f);

/* Counts an entry of the open frame, or the frame if it has none. */
void d9_count_entry(struct d9_state *st);

/* The next event of the batch, at the present time; the caller adds 1 to b->n. */
static inline struct event *
d9_record_event(struct d9_state *st, struct batch *b, const struct d9_frame *f, const struct class *cls)
{
	struct event *const e = &b->events[b->n];

	*e = (struct event){
		.ts = st->base, .name = cls->name, .cls = cls, .offset = f->at, .phase = PHASE_STRUCTURE
	};
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(f->p, (size_t)(f->end - f->p));
	return e;
}

/* Adds the plain events and resets at the start of the window as one event without fields, at the time base
 * before them.  How many events that makes. */
uint32_t d9_record_run(struct d9_state *st, struct batch *b);

/* Adds a structure record with these fields, if it is wanted. */
void d9_record_structure(struct d9_state *st, enum d9_structure which, const struct d9_frame *f,
                         struct batch *b, const struct field *fields, uint32_t n);

#endif
