#include "run/nest/test/nesting_oracle_test.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum order { BY_END, BY_START, SHUFFLED, NEARLY, ORDERS };

static void put_in_order(struct nest_case *c, size_t n, enum order order, uint64_t *seed)
{
	if (order == BY_START)
		nest_sort_by_start(c, n);
	else
		nest_sort_by_end(c, n);
	if (order == SHUFFLED || order == NEARLY)
		nest_shuffle(c, n, order == NEARLY ? 8 : n, seed);
}

/* Nested calls in the order of their ends; returns the end. */
static uint64_t call_tree(uint64_t *seed, uint64_t now, int depth, struct nest_case *c, size_t *n, size_t max)
{
	const uint64_t start = now;
	const uint64_t children = depth < 7 ? nest_random(seed) % 5 : 0;

	for (uint64_t i = 0; i < children && *n < max; i++)
		now = call_tree(seed, now + nest_random(seed) % 3, depth + 1, c, n, max);
	now += nest_random(seed) % 4;
	if (*n < max)
		c[(*n)++] = (struct nest_case){ .start = start, .end = now };
	return now;
}

/* Spans with equal starts or ends, equal spans, and spans of length 0. */
Test(nesting, call_trees_in_any_order)
{
	enum { MAX = 600 };
	static struct nest_case c[MAX];
	uint64_t seed = 11;

	for (unsigned round = 0; round < 12; round++)
		for (enum order order = 0; order < ORDERS; order++) {
			uint64_t now = 7;
			size_t n = 0;
			while (n < MAX)
				now = call_tree(&seed, now, 0, c, &n, MAX);
			put_in_order(c, n, order, &seed);
			nest_run(c, n, NEST_TRACK_ROOM);
			nest_expect_exact(c, n);
			for (size_t i = 0; i < n; i++)
				cr_assert_eq(c[i].r.lane, 0);
		}
}

/* Returns the largest number of spans that overlap at one moment. */
static size_t most_at_once(const struct nest_case *c, size_t n)
{
	size_t most = 0;

	for (size_t i = 0; i < n; i++) {
		size_t at_once = 0;
		for (size_t j = 0; j < n; j++)
			at_once += c[j].start <= c[i].start && c[i].start < c[j].end;
		most = at_once > most ? at_once : most;
	}
	return most;
}

Test(nesting, overlaps_in_any_order)
{
	enum { MAX = 300 };
	static struct nest_case c[MAX];
	uint64_t seed = 42;

	for (unsigned round = 0; round < 60; round++)
		for (enum order order = 0; order < ORDERS; order++) {
			const uint64_t range = 400 + round * 100, longest = 1 + nest_random(&seed) % 60;
			for (size_t i = 0; i < MAX; i++) {
				c[i].start = nest_random(&seed) % range;
				c[i].end = c[i].start + nest_random(&seed) % longest;
				if (i % 50 == 0)
					c[i].end += nest_random(&seed) % (range / 4);
			}
			if (most_at_once(c, MAX) > 20)
				continue; /* more lanes than there may be */
			put_in_order(c, MAX, order, &seed);
			nest_run(c, MAX, NEST_TRACK_ROOM);
			nest_expect_exact(c, MAX);
		}
}

/* Many more spans than the limit: spans that arrive out of order within the window are exact. */
Test(nesting, long_runs_within_the_window)
{
	enum { MAX = 5000, FAR = 400, TIMES = 6 };
	static struct nest_case c[MAX];
	uint64_t seed = 4711;

	for (enum order order = 0; order < ORDERS; order++) {
		struct nesting nest;
		nesting_init(&nest);
		/* spans before, so that all limits of memory are reached */
		for (uint64_t i = 0; i < 3 * NEST_TRACK_ROOM; i++) {
			struct nest_result r;
			nesting_span(&nest, 0, 10 * i, 7, &r);
			cr_assert(!r.inexact);
		}
		uint64_t now = 30 * (uint64_t)NEST_TRACK_ROOM;
		for (unsigned times = 0; times < TIMES; times++) {
			size_t n = 0;
			while (n < FAR)
				now = call_tree(&seed, now, 3, c + 0, &n, FAR);
			put_in_order(c, n, order, &seed);
			for (size_t i = 0; i < n; i++) {
				nesting_span(&nest, 0, c[i].start, c[i].end - c[i].start, &c[i].r);
			}
			nest_expect_exact(c, n);
		}
		nesting_free(&nest);
	}
}

/* In order of starts, one span around all others remains stored, however many follow. */
Test(nesting, outermost_first_stays_known)
{
	const uint64_t count = 3 * NEST_TRACK_ROOM;
	struct nesting n;
	struct nest_result r;

	nesting_init(&n);
	nesting_span(&n, 0, 0, 10 * count, &r);
	for (uint64_t i = 0; i < count; i++) {
		nesting_span(&n, 0, 10 * i, 7, &r);
		cr_assert(!r.inexact && r.lane == 0);
	}
	nesting_free(&n);
}

/* The window overflows: results that are not marked as inexact are right. */
Test(nesting, beyond_the_window_is_marked)
{
	enum { MAX = 5000 };
	static struct nest_case c[MAX];
	uint64_t seed = 77;
	size_t inexact = 0;

	for (unsigned round = 0; round < 3; round++) {
		for (size_t i = 0; i < MAX; i++) {
			c[i].start = nest_random(&seed) % 100000;
			c[i].end = c[i].start + 1 + nest_random(&seed) % (10 + 30 * round);
			if (i % 100 == 0)
				c[i].end += 1000;
		}
		nest_run(c, MAX, 512);
		nest_expect_disjoint(c, MAX);
		for (size_t i = 0; i < MAX; i++)
			inexact += c[i].r.inexact;
	}
	cr_assert_gt(inexact, 1000);
}

static struct nest_result put(struct nesting *n, uint32_t track, uint64_t start, uint64_t end)
{
	struct nest_result r = { 0 };

	nesting_span(n, track, start, end - start, &r);
	return r;
}

Test(nesting, borders)
{
	static const struct {
		uint32_t track;
		uint64_t start, end;
		uint16_t lane;
		const char *why;
	} spans[] = {
		{ 0, 10, 20, 0, "the first" },
		{ 0, 20, 30, 0, "ends that touch" },
		{ 0, 10, 30, 0, "around both" },
		{ 0, 10, 30, 0, "equal spans nest" },
		{ 0, 15, 30, 1, "overlaps the first in part" },
		{ 0, 12, 13, 0, "inside the first" },
		{ 0, 29, 31, 2, "overlaps spans of both lanes" },
		{ 0, 10, 31, 0, "around all" },
		{ 1, 15, 31, 0, "another track" },
		{ 2, UINT64_MAX, UINT64_MAX, 0, "no length" },
		{ 2, UINT64_MAX - 10, UINT64_MAX, 0, "to the end of time" },
		{ 2, UINT64_MAX - 20, UINT64_MAX, 0, "around it" },
		{ 2, UINT64_MAX - 5, UINT64_MAX, 0, "inside it" },
		{ 2, UINT64_MAX - 30, UINT64_MAX - 15, 1, "overlaps the end of time in part" },
		{ 2, 0, UINT64_MAX, 0, "all of time" },
	};
	struct nesting n;

	nesting_init(&n);
	for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
		cr_assert_eq(put(&n, spans[i].track, spans[i].start, spans[i].end).lane, spans[i].lane, "%s",
		             spans[i].why);
	nesting_free(&n);
}

Test(nesting, end_saturates)
{
	struct nesting n;
	struct nest_result r;

	nesting_init(&n);
	nesting_span(&n, 0, UINT64_MAX - 10, 100, &r);
	nesting_span(&n, 0, UINT64_MAX - 5, UINT64_MAX, &r);
	cr_assert(r.lane == 0 && !r.inexact);
	nesting_free(&n);
}

Test(nesting, no_length)
{
	struct nesting n;

	nesting_init(&n);
	put(&n, 0, 10, 20);
	for (uint64_t at = 0; at < 40; at += 5) {
		struct nest_result r = put(&n, 0, at, at);
		cr_assert(r.lane == 0 && !r.dropped && !r.inexact);
	}
	cr_assert_eq(n.capacity, 4, "they are not kept");
	nesting_free(&n);
}
