#include "stats/stats.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * UINT64_C(0x2545f4914f6cdd1d);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sorts; all percentiles against the exact ones. */
static void expect_percentiles(uint64_t *v, size_t n)
{
	struct histogram_pool pool = { 0 };
	struct histogram h = { 0 };

	for (size_t i = 0; i < n; i++)
		histogram_add(&h, &pool, v[i]);
	qsort(v, n, sizeof *v, by_value);
	for (unsigned p = 1; p <= 100; p++) {
		uint64_t want = v[(p * n + 99) / 100 - 1], got = histogram_percentile(&h, &pool, p);
		uint64_t off = want > got ? want - got : got - want;
		cr_assert(off <= want / 100, "n %zu, p%u: %lu, exactly %lu", n, p, (unsigned long)got,
		          (unsigned long)want);
		if (n <= HISTOGRAM_KEPT || want < 128)
			cr_assert_eq(got, want);
	}
	cr_assert_eq(h.count, n);
	cr_assert_eq(h.min, v[0]);
	cr_assert_eq(h.max, v[n - 1]);
	cr_assert_eq(pool.coarse, 0);
	histogram_pool_free(&pool);
}

Test(histogram, near_the_exact_percentiles)
{
	uint64_t seed = 99, *v = malloc(100000 * sizeof *v);
	static const size_t counts[] = { 1, 2, 3, 15, 16, 17, 18, 100, 101, 9999, 100000 };

	for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
		for (unsigned bits = 1; bits <= 64; bits += 7) {
			for (size_t i = 0; i < counts[c]; i++) {
				unsigned width = 1 + (unsigned)(next_random(&seed) % bits);
				v[i] = next_random(&seed) >> (64 - width);
			}
			expect_percentiles(v, counts[c]);
		}
	free(v);
}

Test(histogram, borders_of_buckets)
{
	enum { N = 65 * 3 * 20 };
	static uint64_t v[N];
	size_t n = 0;

	for (unsigned bit = 0; bit < 64; bit++)
		for (unsigned times = 0; times < 20; times++) {
			v[n++] = (UINT64_C(1) << bit) - 1;
			v[n++] = UINT64_C(1) << bit;
			v[n++] = (UINT64_C(1) << bit) + 1;
		}
	v[n++] = UINT64_MAX;
	expect_percentiles(v, n);
}

Test(histogram, one_value)
{
	uint64_t v[1000];

	for (unsigned i = 0; i < 1000; i++)
		v[i] = 987654321;
	struct histogram_pool pool = { 0 };
	struct histogram h = { 0 };
	cr_assert_eq(histogram_percentile(&h, &pool, 50), 0, "empty");
	for (unsigned i = 0; i < 1000; i++)
		histogram_add(&h, &pool, v[i]);
	cr_assert_eq(histogram_percentile(&h, &pool, 50), 987654321, "within [min, max]");
	cr_assert_eq(histogram_percentile(&h, &pool, 100), 987654321);
	histogram_pool_free(&pool);
}

/* More histograms than the pool has blocks: results remain within bounds, and the loss of precision is
 * counted. */
Test(histogram, pool_ends)
{
	enum { MANY = 6000 };
	struct histogram *h = calloc(MANY, sizeof *h);
	struct histogram_pool pool = { 0 };
	uint64_t added = 0, known = 0;

	for (unsigned i = 0; i < MANY; i++)
		for (unsigned bit = 10; bit < 40; bit++, added++)
			histogram_add(&h[i], &pool, UINT64_C(1) << bit);
	cr_assert_gt(pool.coarse, 0);
	cr_assert_leq(pool.n, HISTOGRAM_POOL_BLOCKS);
	for (unsigned i = 0; i < MANY; i++) {
		uint64_t p50 = histogram_percentile(&h[i], &pool, 50),
		         p99 = histogram_percentile(&h[i], &pool, 99);
		known += h[i].count;
		cr_assert(h[i].min == 1 << 10 && h[i].max == UINT64_C(1) << 39);
		cr_assert(p50 >= h[i].min && p50 <= p99 && p99 <= h[i].max);
	}
	cr_assert_geq(known + pool.coarse, added);
	cr_assert_eq(histogram_percentile(&h[0], &pool, 50), (1 << 24) + (1 << 17),
	             "the first are as good as ever");
	histogram_pool_free(&pool);
	free(h);
}

/* Adding numbers to many histograms in turn gives the same as one by one, also when the pool is full. */
Test(histogram, late_numbers)
{
	enum { MANY = 3000 };
	struct histogram *h[2] = { calloc(MANY, sizeof **h), calloc(MANY, sizeof **h) };
	struct histogram_pool pool[2] = { { 0 }, { 0 } };
	struct histogram_late late = { { 0 }, 0 };
	uint64_t seed = 7;

	for (unsigned i = 0; i < 100 * MANY; i++) {
		const uint64_t v = next_random(&seed) >> (24 + next_random(&seed) % 40);
		const unsigned which = (unsigned)(next_random(&seed) % MANY);
		histogram_add(&h[0][which], &pool[0], v);
		histogram_add_late(&h[1][which], &pool[1], &late, v);
	}
	histogram_settle(&pool[1], &late);
	cr_assert(pool[0].coarse > 0 && pool[0].coarse == pool[1].coarse && pool[0].n == pool[1].n);
	cr_assert_eq(memcmp(h[0], h[1], MANY * sizeof **h), 0);
	cr_assert_eq(memcmp(pool[0].buckets + HISTOGRAM_BUCKETS, pool[1].buckets + HISTOGRAM_BUCKETS,
	                    (pool[0].n - 1) * (size_t)HISTOGRAM_BUCKETS * sizeof *pool[0].buckets),
	             0);
	for (int i = 0; i < 2; i++) {
		histogram_pool_free(&pool[i]);
		free(h[i]);
	}
}
