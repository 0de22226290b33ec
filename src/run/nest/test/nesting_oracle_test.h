#ifndef RUN_NEST_NESTING_ORACLE_TEST_H
#define RUN_NEST_NESTING_ORACLE_TEST_H

#include "run/nest/nesting.h"

/* Spans of one track, what nesting.h says of them, and what a slow way says that looks at all pairs. */

struct nest_case {
	uint64_t start, end;
	uint64_t self; /* ns: its duration, less what covers it, less what came late */
	struct nest_result r;
};

uint64_t nest_random(uint64_t *state);

/* Gives all spans to a track, in order; limit: how many may be remembered. */
void nest_run(struct nest_case *c, size_t n, uint32_t limit);

/* The self time of c[i], from all spans that lie within it; of two equal ones the later is the outer one. */
uint64_t nest_oracle_self(const struct nest_case *c, size_t n, size_t i);

/* Nothing is inexact, no two spans of a lane overlap in part only, each is in the first lane where that holds
 * for those before it, and all self times are those of the oracle. */
void nest_expect_exact(const struct nest_case *c, size_t n);

/* Two spans of one lane overlap in part only if one of them is inexact or dropped.  No self time is less than
 * the oracle's. */
void nest_expect_counted(const struct nest_case *c, size_t n);

/* Sorts by end, the inner first; by start, the outer first. */
void nest_sort_by_end(struct nest_case *c, size_t n);
void nest_sort_by_start(struct nest_case *c, size_t n);

/* Moves each by up to `far` places. */
void nest_shuffle(struct nest_case *c, size_t n, size_t far, uint64_t *seed);

#endif
