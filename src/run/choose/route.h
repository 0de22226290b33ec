#ifndef RUN_CHOOSE_ROUTE_H
#define RUN_CHOOSE_ROUTE_H

#include "run/choose/select.h"
#include "run/sort/sorter.h"

/*
 * Events of all parts of a split, read in one pass and put in the order of their parts: each part is then a
 * pipeline of its own, one after the other.  So the cost grows with the trace, not with the trace and the
 * number of parts.  For events that are interpreted; records that are copied are read for each part.
 *
 * Memory and disk: those of a sorter (run/sort/sorter.h), besides the one that a part may need.
 */
struct split_route {
	struct stage stage; /* the first one of the part's pipeline */
	struct sorter sorter;
	struct batch_pool pool;
	/* of the part's pipeline; borrowed */
	struct batch_pool *out_pool;
	struct select_stage *out_select;
	const struct stage_faults *out_faults;
	struct batch *held;           /* what the sorter gave last; NULL: nothing */
	uint32_t at;                  /* its first event that was not handed on */
	struct shared_memory *memory; /* of held; NULL: nobody holds it yet */
	uint32_t part;
	bool begun, ended;
};

/* Zero-initialise *r; call split_route_free() in any case.  All: false after a finding. */
bool split_route_begin(struct split_route *r, const struct pipeline_job *job,
                       const struct stage_faults *faults);

/* Adds the next batch of a pipeline whose job has the planned split and the part SPLIT_ALL. */
bool split_route_add(struct split_route *r, const struct batch *b, const struct stage_faults *faults);
bool split_route_end(struct split_route *r, const struct stage_faults *faults);

/* The stage that gives the events of a part, for a pipeline with these.  Parts are asked for in ascending
 * order. */
struct stage *split_route_stage(struct split_route *r, uint32_t part, struct batch_pool *pool,
                                struct select_stage *select, const struct stage_faults *faults);
void split_route_free(struct split_route *r);

#endif
