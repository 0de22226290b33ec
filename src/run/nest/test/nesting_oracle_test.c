#include "run/nest/test/nesting_oracle_test.h"

#include <criterion/criterion.h>
#include <stdlib.h>

uint64_t nest_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}

void nest_run(struct nest_case *c, size_t n, uint32_t limit)
{
	struct nesting nest;

	nesting_init(&nest);
	nest.limit = limit;
	for (size_t i = 0; i < n; i++)
		nesting_span(&nest, 3, c[i].start, c[i].end - c[i].start, &c[i].r);
	nesting_free(&nest);
}

static bool is_within(const struct nest_case *c, size_t a, size_t b)
{
	if (c[a].start == c[b].start && c[a].end == c[b].end)
		return a < b;
	return c[b].start <= c[a].start && c[a].end <= c[b].end;
}

static bool is_crossing(const struct nest_case *c, size_t a, size_t b)
{
	return c[a].start < c[b].end && c[b].start < c[a].end && !is_within(c, a, b) && !is_within(c, b, a);
}

static int by_start(const void *a, const void *b)
{
	const struct nest_case *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end < y->end) - (x->end > y->end);
}

static int by_end(const void *a, const void *b)
{
	const struct nest_case *x = a, *y = b;

	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return (x->start < y->start) - (x->start > y->start);
}

/* The first lane by the rules of lanes.h, by comparison with all earlier spans. */
static uint16_t first_lane(const struct nest_case *c, size_t i)
{
	bool taken[NEST_LANES] = { false };
	uint16_t lane = 0;

	if (c[i].start == c[i].end)
		return 0;
	for (size_t j = 0; j < i; j++)
		if (is_crossing(c, i, j))
			taken[c[j].r.lane] = true;
	while (lane < NEST_LANES && taken[lane])
		lane++;
	return lane;
}

void nest_expect_exact(const struct nest_case *c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		cr_assert(!c[i].r.inexact && !c[i].r.dropped, "span %zu of %zu", i, n);
		const uint16_t lane = first_lane(c, i);
		cr_assert_eq(c[i].r.lane, lane, "span %zu: lane %u, expected %u", i, c[i].r.lane, lane);
	}
}

void nest_expect_disjoint(const struct nest_case *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++) {
			const bool known =
			    !c[i].r.inexact && !c[i].r.dropped && !c[j].r.inexact && !c[j].r.dropped;
			if (known && c[i].r.lane == c[j].r.lane)
				cr_assert_not(is_crossing(c, i, j), "%zu and %zu", i, j);
		}
}

void nest_sort_by_end(struct nest_case *c, size_t n)
{
	qsort(c, n, sizeof *c, by_end);
}

void nest_sort_by_start(struct nest_case *c, size_t n)
{
	qsort(c, n, sizeof *c, by_start);
}

void nest_shuffle(struct nest_case *c, size_t n, size_t far, uint64_t *seed)
{
	for (size_t i = 0; i + 1 < n; i++) {
		const size_t reach = n - i < far + 1 ? n - i : far + 1, j = i + nest_random(seed) % reach;
		const struct nest_case moved = c[i];
		c[i] = c[j];
		c[j] = moved;
	}
}
