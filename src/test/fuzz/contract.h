#ifndef FUZZ_CONTRACT_H
#define FUZZ_CONTRACT_H

#include "run/pipeline.h"
#include "test/fuzz/fuzz_check.h"

/*
 * Checks the promises of event.h, batch.h and trace.h on the batches of one pass, and reads every byte that
 * can be reached.
 */
struct contract {
	struct fuzz_result *result;
	const char *p; /* the whole input */
	size_t n;
	uint64_t at, end;         /* of the last record: the next one starts at `end` or later */
	uint64_t shown;           /* records in batches */
	uint64_t events;          /* records that are not structure */
	uint64_t hash;            /* of all events, in order */
	uint32_t tracks, classes; /* announced by batches */
	bool repeats;             /* fields of an event may have one name */
	const char *dialect;      /* after opening */
};

/* Implement fuzz_pass.begin, .take and .end; ctx is a struct contract, the pass wants everything.  Return
 * false after noting a broken promise. */
bool contract_begin(void *ctx, struct pipeline *f);

bool contract_take(void *ctx, struct pipeline *f, struct batch *b);

bool contract_end(void *ctx, struct pipeline *f);

#endif
