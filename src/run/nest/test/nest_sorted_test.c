#include "run/nest/lanes.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "run/nest/test/nesting_oracle_test.h"

enum { SPANS = 3000 };

/* Makes spans of a few tracks; the shorter `range` is relative to `longest`, the more of them overlap. */
static void compare(uint64_t seed, uint64_t range, uint64_t longest)
{
	struct nest_case *const c = calloc(SPANS, sizeof *c);
	struct nest_sorted sorted = { .ntracks = 0 };
	struct nesting nesting;

	for (size_t i = 0; i < SPANS; i++) {
		c[i].start = nest_random(&seed) % range;
		c[i].end = c[i].start + nest_random(&seed) % longest;
	}
	nest_sort_by_start(c, SPANS);
	nesting_init(&nesting);
	for (size_t i = 0; i < SPANS; i++) {
		const uint32_t track = (uint32_t)(nest_random(&seed) % 3) * 7;
		struct nest_result want, got;
		nesting_span(&nesting, track, c[i].start, c[i].end - c[i].start, &want);
		nest_sorted_span(&sorted, track, c[i].start, c[i].end - c[i].start, &got);
		cr_assert_eq(got.lane, want.lane, "%zu: lane %u, not %u", i, got.lane, want.lane);
		cr_assert_eq(got.inexact, want.inexact, "%zu", i);
		cr_assert_eq(got.dropped, want.dropped, "%zu", i);
	}
	cr_assert_not(sorted.failed);
	nesting_free(&nesting);
	nest_sorted_free(&sorted);
	free(c);
}

/* The lanes are those of lanes.h, also if there are not enough lanes. */
Test(nest_sorted, is_as_nesting)
{
	for (uint64_t seed = 1; seed < 20; seed++) {
		compare(seed, 100000, 50);
		compare(seed, 10000, 100);
		compare(seed, 300, 40);
		compare(seed, 3000, 3000);
		compare(seed, 20, 20);
	}
}

Test(nest_sorted, ends)
{
	static const struct {
		uint64_t start, dur;
		uint16_t lane;
	} spans[] = { { 10, 20, 0 },  { 10, 20, 0 }, { 10, 5, 0 },          { 15, 15, 0 },
		      { 15, 16, 1 },  { 20, 0, 0 },  { 29, 3, 2 },          { 30, 2, 0 },
		      { 31, 40, 1 },  { 50, 9, 0 },  { 60, UINT64_MAX, 0 }, { 65, UINT64_MAX - 65, 0 },
		      { 65, 1000, 0 } };
	struct nest_sorted n = { .ntracks = 0 };

	for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
		struct nest_result r;
		nest_sorted_span(&n, 0, spans[i].start, spans[i].dur, &r);
		cr_assert_eq(r.lane, spans[i].lane, "%zu: lane %u", i, r.lane);
		cr_assert_not(r.inexact || r.dropped);
	}
	nest_sorted_free(&n);
}

/* More open spans than the limit: spans that were not stored are marked, and so are spans that may overlap
 * them. */
Test(nest_sorted, space)
{
	struct nest_sorted n = { .ntracks = 0 };
	uint64_t inexact = 0;
	struct nest_result r;

	for (uint64_t i = 0; i <= NEST_TOTAL_ROOM; i++) {
		nest_sorted_span(&n, 0, i, 4 * (uint64_t)NEST_TOTAL_ROOM - 2 * i, &r);
		cr_assert_eq(r.lane, 0);
		inexact += r.inexact;
	}
	cr_assert_gt(inexact, 0);
	cr_assert_leq(n.capacity, NEST_TOTAL_ROOM);
	cr_assert_not(n.failed);
	nest_sorted_span(&n, 0, 5 * (uint64_t)NEST_TOTAL_ROOM, 10, &r);
	cr_assert_not(r.inexact);
	nest_sorted_free(&n);
}
