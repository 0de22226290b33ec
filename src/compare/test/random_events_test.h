#ifndef COMPARE_RANDOM_EVENTS_TEST_H
#define COMPARE_RANDOM_EVENTS_TEST_H

#include "model/trace_engine.h"

/*
 * Streams of interpreted events for tests of writers: all phases that the engine passes to writers (no single
 * begins and ends, which it pairs), all types of values, several tracks.  The same seed gives the same
 * stream, also in another trace.  Several cases, of consecutive seeds, share the tracks and the time of the
 * first one, so that they can be written and read as one trace.
 */
struct random_events {
	uint64_t seed; /* of the case */
	uint64_t state;
	uint32_t cases;                     /* left, including the current one */
	uint32_t batches, per_batch, begun; /* of the case: batches, events of each, batches begun */
	uint64_t ts, id;
	const struct class *classes[4];
	const struct track *tracks[6];
	uint32_t ntracks;
	uint64_t open_arrow; /* id of an arrow that has not arrived; 0: none */
};

void random_events_begin(struct random_events *r, uint64_t seed, uint32_t cases);

/* Implements writer_rig_job.fill: adds the events of a batch, in order of time.  ctx: struct random_events.
 * Returns false after the last batch. */
bool random_events_fill(void *ctx, struct trace *trace, struct batch *b, uint32_t number);

#endif
