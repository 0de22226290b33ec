#ifndef MODEL_BATCH_ENGINE_H
#define MODEL_BATCH_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

struct batch;
struct batch_pool;
struct findings;
struct shared_memory;

/* Header of a block from malloc that a batch frees when it is released. */
struct batch_block {
	struct batch_block *next;
};

/* The part of a batch that only the engine uses. */
struct batch_engine {
	struct batch_block *blocks;    /* batch_own() */
	struct shared_memory **shared; /* batch_hold(): one reference each */
	uint32_t nshared, shared_cap;
	bool failed;    /* memory ran out: its events may lack parts */
	uint64_t read;  /* bytes of all inputs until it was read; 0: made by a stage */
	uint64_t texts; /* its events have at most these bytes of text; 0: unknown */
	/* For the stages: where to report findings about an event. */
	struct findings *findings;              /* of the input that all events are of */
	struct findings *const *input_findings; /* if events are of several inputs ... */
	const uint32_t *inputs;                 /* ... the input of each event; NULL: one input */
	struct batch_pool *pool;                /* to which batch_release() returns the batch */
	struct batch *next;                     /* in a list of its owner */
};

#endif
