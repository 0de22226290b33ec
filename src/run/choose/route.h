#ifndef RUN_CHOOSE_ROUTE_H
#define RUN_CHOOSE_ROUTE_H

#include "run/choose/select.h"
#include "run/sort/sorter.h"

/*
 * Sorts the events of all parts of a split by part in one pass; then each part in turn is written by a
 * pipeline of its own.  So the cost grows with the trace, not with trace times parts.  For interpreted
 * events only: copied records are read again for each part.
 *
 * Memory and disk: those of a sorter (run/sort/sorter.h), besides the sorter of a part.
 */
struct split_route {
	struct stage stage; /* the first one of the part's pipeline */
	struct sorter sorter;
	struct batch_pool pool;
	/* of the part's pipeline; borrowed */
	struct batch_pool *out_pool;
	struct select_stage *out_select;
	const struct stage_faults *out_faults;
	struct batch *held;           /* the last batch of the sorter; NULL: none */
	uint32_t at;                  /* its first event that is not passed on yet */
	struct shared_memory *memory; /* of held; NULL: not shared yet */
	uint32_t part;
	bool begun, ended;
};

/* Zero-initialise *r; split_route_free() must always be called.  All functions: false after a finding. */
bool split_route_begin(struct split_route *r, const struct arrangement *arrange,
                       const struct stage_faults *faults);

/* Adds the next batch of a pipeline whose job has the planned split and the part SPLIT_ALL. */
bool split_route_add(struct split_route *r, const struct batch *b, const struct stage_faults *faults);
bool split_route_end(struct split_route *r, const struct stage_faults *faults);

/* The stage that returns the events of a part, for a pipeline with this pool and these faults.  Parts must be
 * requested in ascending order. */
struct stage *split_route_stage(struct split_route *r, uint32_t part, struct batch_pool *pool,
                                struct select_stage *select, const struct stage_faults *faults);
void split_route_free(struct split_route *r);

#endif
