#ifndef FORMAT_CLAIMS_H
#define FORMAT_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"

/*
 * Whether the inputs of a trace can be read apart: each on its own core, with a shared state of its own. Each
 * claims what its state has that records of other inputs may use or change: processes, definitions.  Inputs
 * are independent if no key is claimed with two values.
 */

#define CLAIM_KINDS 10     /* at most: those of a format ... */
#define CLAIM_OF_COMMAND 9 /* ... and of a command */

/* Zero-initialise, and set `input`. */
struct claims {
	uint64_t input; /* number of the claiming input, from 1: the value for what no other may have */
	uint64_t keys[CLAIM_KINDS];    /* different keys by kind ... */
	uint64_t weights[CLAIM_KINDS]; /* ... and the sum of their weights, for limits of the whole trace */
	struct table64 index;          /* kind and key -> values[] */
	uint64_t *values;              /* claimed value + 1; 0: none yet */
	uint32_t n, cap;
};

void claims_free(struct claims *c);

/* Claims a key.  weight: for example bytes.  Returns false if an input claimed it with another value, or on
 * OOM. */
bool claims_put(struct claims *c, unsigned kind, uint64_t key, uint64_t value, uint64_t weight);

#endif
