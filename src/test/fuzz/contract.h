#ifndef FUZZ_CONTRACT_H
#define FUZZ_CONTRACT_H

#include "run/pipeline.h"
#include "test/fuzz/fuzz_check.h"

/*
 * What event.h, batch.h and trace.h promise, held against the batches of one
 * pass.  Every byte that can be reached is read.
 */
struct contract {
	struct fuzz_result *result;
	const char *p; /* the whole input */
	size_t n;
	uint64_t end;             /* of the last record seen: the next one starts here or later */
	uint64_t shown;           /* records seen in batches */
	uint64_t events;          /* those that are not structure */
	uint64_t hash;            /* of all events, in order */
	uint32_t tracks, classes; /* shown in batches so far */
};

/* A pipeline_taker; ctx is the struct contract, the job wants everything.  false: a promise is broken, and
 * noted.
 */
bool contract_take(void *ctx, struct pipeline *f, struct batch *b);

/* When all was read. */
bool contract_end(void *ctx, struct pipeline *f);

#endif
