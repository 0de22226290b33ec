#ifndef EVENT_BATCH_ENGINE_H
#define EVENT_BATCH_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

struct batch;
struct batch_block;
struct batch_pool;
struct findings;
struct shared_memory;

/* The part of a batch that only the engine looks at. */
struct batch_engine {
	struct batch_block *blocks;    /* see batch_own() */
	struct shared_memory **shared; /* see batch_hold(): one reference each */
	uint32_t nshared, shared_cap;
	bool failed; /* memory ran out: its events may lack parts */
	/* For the stages: where findings about an event go. */
	struct findings *findings;              /* of the input that all events are of */
	struct findings *const *input_findings; /* if they are of several inputs ... */
	const uint32_t *inputs;                 /* ... the number of each event's; NULL: they are of one */
	struct batch_pool *pool;                /* where batch_release() puts the batch */
	struct batch *next;                     /* in a list of its present owner */
};

#endif
