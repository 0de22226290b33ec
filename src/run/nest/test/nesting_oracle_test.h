#ifndef RUN_NEST_NESTING_ORACLE_TEST_H
#define RUN_NEST_NESTING_ORACLE_TEST_H

#include "run/nest/lanes.h"

/* Spans of one track, what lanes.h says of them, and what a slow way says that looks at all pairs. */

struct nest_case {
	uint64_t start, end;
	struct nest_result r;
};

uint64_t nest_random(uint64_t *state);

/* Gives all spans to a track, in order; limit: how many may be remembered. */
void nest_run(struct nest_case *c, size_t n, uint32_t limit);

/* Nothing is inexact, no two spans of a lane overlap in part only, and each is in the first lane where that
 * holds for those before it. */
void nest_expect_exact(const struct nest_case *c, size_t n);

/* Two spans of one lane overlap in part only if one of them is inexact or dropped. */
void nest_expect_disjoint(const struct nest_case *c, size_t n);

/* Sorts by end, the inner first; by start, the outer first. */
void nest_sort_by_end(struct nest_case *c, size_t n);
void nest_sort_by_start(struct nest_case *c, size_t n);

/* Moves each by up to `far` places. */
void nest_shuffle(struct nest_case *c, size_t n, size_t far, uint64_t *seed);

#endif
