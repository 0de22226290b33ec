#ifndef RUN_NEST_NESTING_ORACLE_TEST_H
#define RUN_NEST_NESTING_ORACLE_TEST_H

#include "run/nest/lanes.h"

/* Spans of one track, their results by lanes.h, and a slow check that compares all pairs. */

struct nest_case {
	uint64_t start, end;
	struct nest_result r;
};

uint64_t nest_random(uint64_t *state);

/* Adds all spans to a track, in order.  limit: maximum number of stored spans. */
void nest_run(struct nest_case *c, size_t n, uint32_t limit);

/* Expects that no span is inexact, no two spans of a lane overlap in part, and each span is in the first
 * lane in which it does not overlap earlier ones in part. */
void nest_expect_exact(const struct nest_case *c, size_t n);

/* Expects that two spans of one lane overlap in part only if one of them is inexact or dropped. */
void nest_expect_disjoint(const struct nest_case *c, size_t n);

/* Sort by end, the inner span first, or by start, the outer span first. */
void nest_sort_by_end(struct nest_case *c, size_t n);
void nest_sort_by_start(struct nest_case *c, size_t n);

/* Moves each span by up to `far` positions. */
void nest_shuffle(struct nest_case *c, size_t n, size_t far, uint64_t *seed);

#endif
