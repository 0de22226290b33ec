#ifndef RUN_CHOOSE_ROUTE_H
#define RUN_CHOOSE_ROUTE_H

#include "run/pipeline.h"

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
	struct pipeline *to;          /* of the part */
	struct batch *held;           /* what the sorter gave last; NULL: nothing */
	uint32_t at;                  /* its first event that was not handed on */
	struct shared_memory *memory; /* of held; NULL: nobody holds it yet */
	uint32_t part;
	bool begun, ended;
};

/* Reads the pipeline `p`, whose job has the planned split and the part SPLIT_ALL, to its end. Zero-initialise
 * *r.  false after a finding; call split_route_free() in any case. */
bool split_route_fill(struct split_route *r, struct pipeline *p);

/* For pipeline_open_part(): the stage that gives the events of a part.  Parts are asked for in ascending
 * order. */
struct stage *split_route_part(struct split_route *r, struct pipeline *to, uint32_t part);
void split_route_free(struct split_route *r);

#endif
