/* Intervals of quantiles and the rank test, compared with exact counts and with tables of the literature. */
#include <criterion/criterion.h>
#include <math.h>

#include "stats/change/change.h"
#include "test/support/splitmix.h"

static double choose(unsigned n, unsigned k)
{
	double c = 1;

	for (unsigned i = 1; i <= k; i++)
		c = c * (n - k + i) / i;
	return c;
}

static double below(unsigned n, unsigned k, double q)
{
	double p = 0;

	for (unsigned i = 0; i < k; i++)
		p += choose(n, i) * pow(q, i) * pow(1 - q, n - i);
	return p;
}

Test(noise, ranks_are_those_of_the_binomial_distribution)
{
	static const uint32_t parts[] = { 500000, 900000, 990000, 10000 };

	for (unsigned n = 1; n <= 120; n++)
		for (size_t i = 0; i < 4; i++) {
			const double q = parts[i] / 1e6, alpha = 0.005;
			uint64_t low, high;
			noise_ranks(n, parts[i], alpha, &low, &high);
			cr_assert(low <= n && high >= 1 && high <= n + 1 && low < high);
			cr_assert_leq(below(n, (unsigned)low, q), alpha + 1e-12);
			cr_assert(low == n || below(n, (unsigned)low + 1, q) > alpha - 1e-12);
			cr_assert_leq(1 - below(n, (unsigned)high, q), alpha + 1e-12);
			cr_assert(high == 1 || 1 - below(n, (unsigned)high - 1, q) > alpha - 1e-12);
		}
}

/* The approximation for large numbers is close to the exact results for smaller ones. */
Test(noise, ranks_of_many_values)
{
	uint64_t exact[2], near[2];

	noise_ranks(1000000, 990000, 0.005, &exact[0], &exact[1]);
	noise_ranks(1000001, 990000, 0.005, &near[0], &near[1]);
	cr_assert(fabs((double)exact[0] - (double)near[0]) < 5 &&
	          fabs((double)exact[1] - (double)near[1]) < 5);
	noise_ranks(UINT64_MAX, 500000, 0.005, &near[0], &near[1]);
	cr_assert(near[0] < UINT64_MAX / 2 && near[1] > UINT64_MAX / 2);
	noise_ranks(0, 500000, 0.005, &near[0], &near[1]);
	cr_assert(near[0] == 0 && near[1] == 1);
}

/* Share of all divisions of the values into n and m whose rank sum of the m is at least that of b. */
static double slow_test(const double *all, unsigned n, unsigned m)
{
	double rank[16];
	unsigned total = 0, as_large = 0;
	double observed = 0;

	for (unsigned i = 0; i < n + m; i++) {
		double less = 0, equal = 0;
		for (unsigned k = 0; k < n + m; k++) {
			less += all[k] < all[i];
			equal += !(all[k] < all[i]) && !(all[k] > all[i]);
		}
		rank[i] = less + (equal + 1) / 2;
		observed += i >= n ? rank[i] : 0;
	}
	for (unsigned mask = 0; mask < 1U << (n + m); mask++) {
		double sum = 0;
		if ((unsigned)__builtin_popcount(mask) != m)
			continue;
		for (unsigned i = 0; i < n + m; i++)
			sum += (mask >> i & 1) != 0 ? rank[i] : 0;
		total++;
		as_large += sum > observed - 1e-9;
	}
	return (double)as_large / total;
}

Test(noise, rank_test_counts_all_divisions)
{
	uint64_t seed = 801;

	for (int round = 0; round < 200; round++) {
		const unsigned n = 1 + (unsigned)(splitmix_next(&seed) % 6),
		               m = 1 + (unsigned)(splitmix_next(&seed) % 6);
		double all[16];
		for (unsigned i = 0; i < n + m; i++)
			all[i] = (double)(splitmix_next(&seed) % 8); /* with ties */
		cr_assert_float_eq(noise_rank_test(all, n, all + n, m), slow_test(all, n, m), 1e-9);
	}
}

Test(noise, rank_test_known_values)
{
	const double low[3] = { 1, 2, 3 }, high[3] = { 4, 5, 6 }, same[3] = { 7, 7, 7 };
	double a[CHANGE_RUNS_MAX], b[CHANGE_RUNS_MAX];

	cr_assert_float_eq(noise_rank_test(low, 3, high, 3), 0.05, 1e-12); /* 1 of 20 */
	cr_assert_float_eq(noise_rank_test(high, 3, low, 3), 1, 1e-12);
	cr_assert_float_eq(noise_rank_test(same, 3, same, 3), 1, 1e-12);
	/* The approximation, near the exact value: 12 and 12 against 13 and 12. */
	for (int i = 0; i < CHANGE_RUNS_MAX; i++) {
		a[i] = 2 * i;
		b[i] = 2 * i + 5;
	}
	cr_assert_float_eq(noise_rank_test(a, 12, b, 12), noise_rank_test(a, 13, b, 12), 0.15);
	cr_assert(noise_rank_test(a, CHANGE_RUNS_MAX, b, CHANGE_RUNS_MAX) > 0.05);
	for (int i = 0; i < CHANGE_RUNS_MAX; i++)
		b[i] += 1000;
	cr_assert(noise_rank_test(a, CHANGE_RUNS_MAX, b, CHANGE_RUNS_MAX) < 1e-10);
	cr_assert(noise_rank_test(same, 3, a, 0 + 1) > 0); /* one value */
}
