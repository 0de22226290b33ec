#ifndef COMPARE_RANDOM_EVENTS_TEST_H
#define COMPARE_RANDOM_EVENTS_TEST_H

#include "model/batch_pool.h"
#include "model/trace_engine.h"

/*
 * Streams of interpreted events for tests of writers: all phases that the engine hands to writers (no single
 * beginnings and ends, which it pairs), all types of values, several tracks.  The same seed gives the same
 * stream, also in another trace.  Several cases, of seeds in a row, go on with the tracks and the time of the
 * first one: so many are written and read in one trace.
 */
struct random_events {
	uint64_t seed; /* of the case */
	uint64_t state;
	uint32_t cases;                     /* still to come, with this one */
	uint32_t batches, per_batch, begun; /* of the case: how many, their events; so many so far */
	uint64_t ts, id;
	const struct class *classes[4];
	const struct track *tracks[6];
	uint32_t ntracks;
	uint64_t open_arrow; /* an arrow that left and has not arrived; 0: none */
};

void random_events_begin(struct random_events *r, uint64_t seed, uint32_t cases);

/* As writer_rig_job.fill: the events of the number-th batch, in order of time; ctx is the struct
 * random_events.  false: there is no such batch. */
bool random_events_fill(void *ctx, struct trace *trace, struct batch *b, uint32_t number);

#endif
