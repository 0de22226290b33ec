#include "run/nest/test/nesting_oracle_test.h"

#include <criterion/criterion.h>

/* The limits on memory and work. */

static struct nest_result put(struct nesting *n, uint32_t track, uint64_t start, uint64_t end)
{
	struct nest_result r = { 0 };

	nesting_span(n, track, start, end - start, &r);
	return r;
}

static void expect_bounds(const struct nesting *n)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < n->ntracks; i++) {
		const struct nest_track *t = &n->tracks[i];
		uint64_t space = t->first.cap;
		cr_assert_leq(t->first.n, t->first.cap);
		for (uint32_t j = 0; j < t->nmore; j++) {
			cr_assert_leq(t->more[j].n, t->more[j].cap);
			space += t->more[j].cap;
		}
		cr_assert_eq(space, t->capacity);
		cr_assert_leq(space, NEST_TRACK_ROOM);
		total += space;
	}
	cr_assert_eq(total, n->capacity);
	cr_assert_leq(total, NEST_TOTAL_ROOM);
}

Test(nest_room, lanes_end)
{
	struct nesting n;

	nesting_init(&n);
	for (uint64_t i = 0; i < 2 * NEST_LANES; i++) {
		struct nest_result r = put(&n, 0, i, i + 1000);
		cr_assert_eq(r.lane, i < NEST_LANES ? i : NEST_LANES - 1);
		cr_assert_eq(r.dropped, i >= NEST_LANES);
	}
	cr_assert_eq(put(&n, 0, 0, 2000).lane, 0);
	expect_bounds(&n);
	nesting_free(&n);
}

/* A full track retains its newest spans: one that overlaps these in part gets another lane. */
Test(nest_room, track_is_full)
{
	const uint64_t count = 5 * NEST_TRACK_ROOM + 77;
	struct nesting n;

	nesting_init(&n);
	for (uint64_t i = 0; i < count; i++)
		put(&n, 0, 10 * i, 10 * i + 7);
	expect_bounds(&n);
	struct nest_result r = put(&n, 0, 10 * (count - 1000) + 3, 10 * count);
	cr_assert(r.lane == 1 && !r.inexact);
	r = put(&n, 0, 0, 10 * count);
	cr_assert(r.lane == 0 && r.inexact, "spans from then are forgotten");
	nesting_free(&n);
}

Test(nest_room, full_lane_leaves_room_for_the_others)
{
	struct nesting n;

	nesting_init(&n);
	for (uint64_t i = 0; i < 2 * NEST_TRACK_ROOM; i++) {
		cr_assert_eq(put(&n, 0, 10 * i, 10 * i + 6).lane, 0);
		cr_assert_eq(put(&n, 0, 10 * i + 5, 10 * i + 9).lane, 1);
	}
	expect_bounds(&n);
	nesting_free(&n);
}

Test(nest_room, tracks_are_many)
{
	enum { TRACKS = 100000, ROUNDS = 18 };
	struct nesting n;

	nesting_init(&n);
	for (uint64_t i = 0; i < ROUNDS; i++)
		for (uint32_t track = 0; track < TRACKS; track++)
			put(&n, track, 10 * i, 10 * i + 5);
	expect_bounds(&n);
	for (uint32_t track = 0; track < TRACKS; track++)
		cr_assert_eq(put(&n, track, 10 * (ROUNDS - 2) + 3, 10 * ROUNDS).lane, 1,
		             "the last two are still there");
	expect_bounds(&n);
	nesting_free(&n);
}

/* Busy tracks use up the total capacity one after the other: the last one still gets its share. */
Test(nest_room, tracks_share)
{
	struct nesting n;

	nesting_init(&n);
	for (uint32_t track = 0; track < 24; track++)
		for (uint64_t i = 0; i < NEST_TRACK_ROOM; i++)
			put(&n, track, 10 * i, 10 * i + 5);
	expect_bounds(&n);
	for (uint32_t track = 0; track < 24; track++)
		cr_assert_eq(put(&n, track, 10 * (NEST_TRACK_ROOM - 8192) + 3, 10 * NEST_TRACK_ROOM).lane, 1);
	nesting_free(&n);
}

/* Spans far below the newest are inserted as long as there is credit; each costs little. */
Test(nest_room, far_out_of_order)
{
	struct nesting n;
	uint32_t inexact = 0;

	nesting_init(&n);
	for (uint64_t i = 1; i <= 8 * NEST_WINDOW; i++)
		put(&n, 0, 10 * i, 10 * i + 5);
	struct nest_result r = put(&n, 0, 5, 8);
	cr_assert(r.lane == 0 && !r.inexact);
	r = put(&n, 0, 6, 9);
	cr_assert(r.lane == 1 && !r.inexact, "the one before was kept");
	for (uint64_t i = 0; i < 20000; i++) {
		r = put(&n, 0, 10, 10 * NEST_WINDOW * 7 - i);
		inexact += r.inexact;
	}
	cr_assert_gt(inexact, 0, "more than may be looked at");
	expect_bounds(&n);
	nesting_free(&n);
}

/* Spans in order of their starts, each inside the one before, deeper than the limit of moves. */
Test(nest_room, deep_from_outside)
{
	struct nesting n;
	uint32_t inexact = 0;

	nesting_init(&n);
	for (uint64_t i = 0; i < 100000; i++) {
		struct nest_result r = put(&n, 0, i, 1000000 - i);
		cr_assert(r.inexact || r.lane == 0);
		inexact += r.inexact;
	}
	cr_assert_gt(inexact, 0);
	expect_bounds(&n);
	nesting_free(&n);
}

/* Worst case: full lanes, and spans that are compared with all of their spans.  A span is never added to a
 * lane that it does not fit, even if the credit for comparisons is used up. */
Test(nest_room, exhausted_credit_fits_no_lane)
{
	uint64_t inexact = 0;
	struct nesting n;

	nesting_init(&n);
	for (uint64_t i = 0; i < 600; i++)
		for (uint64_t lane = 0; lane < 60; lane++)
			put(&n, 0, 1000 * i + lane + 1, 1000 * i + lane + 500);
	for (uint64_t i = 0; i < 20000; i++) {
		const struct nest_result r = put(&n, 0, 250, 600000 + i);
		cr_assert_geq(r.lane, 60, "span %d in lane %u", (int)i, r.lane);
		inexact += r.inexact;
	}
	cr_expect_gt(inexact, 0);
	expect_bounds(&n);
	nesting_free(&n);
}

Test(nest_room, same_answers_each_time)
{
	uint64_t sums[2] = { 0, 0 };

	for (int run = 0; run < 2; run++) {
		uint64_t seed = 5;
		struct nesting n;
		nesting_init(&n);
		for (int i = 0; i < 100000; i++) {
			uint64_t start = nest_random(&seed) % 1000000;
			struct nest_result r = put(&n, (uint32_t)(nest_random(&seed) % 3), start,
			                           start + nest_random(&seed) % 900);
			sums[run] = sums[run] * 31 + r.lane + r.inexact * 3u + r.dropped * 5u;
		}
		expect_bounds(&n);
		nesting_free(&n);
	}
	cr_assert_eq(sums[0], sums[1]);
}
