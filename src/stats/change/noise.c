/* Differences that chance explains.  Quantiles: by binomial order statistics, exact up to EXACT values, in
 * O(sqrt(n)) steps; beyond by the normal approximation of the binomial distribution.  Runs: by the rank test
 * of Mann and Whitney; dynamic programming over the values counts the exact distribution of the rank sum,
 * with ties. */
#include "stats/change/change.h"

#include <math.h>
#include <stdlib.h>

#define EXACT 1000000 /* values, with which the binomial sum is computed */

/* ---- quantiles ---- */

/* The probability of k successes of n. */
static double binomial(double n, double k, double q)
{
	return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(q) + (n - k) * log1p(-q));
}

/* The normal quantile for alpha in one tail, to 0.0005 (Abramowitz and Stegun 26.2.23). */
static double normal_bound(double alpha)
{
	const double t = sqrt(-2 * log(alpha));

	return t - (2.515517 + t * (0.802853 + t * 0.010328)) /
	               (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

/* The largest k with P(B < k) <= alpha; 0: none.  The sum begins far below the mean; the terms before are
 * negligible. */
static uint64_t lower_rank(uint64_t n, double q, double alpha)
{
	const double mean = (double)n * q, far = 12 * sqrt(mean * (1 - q)) + 12;
	uint64_t k = mean > far ? (uint64_t)(mean - far) : 0;
	double below = 0, p = binomial((double)n, (double)k, q);

	for (; k < n && below + p <= alpha; k++) {
		below += p;
		p *= (double)(n - k) / (double)(k + 1) * (q / (1 - q));
	}
	return k;
}

void noise_ranks(uint64_t n, uint32_t quantile, double alpha, uint64_t *low, uint64_t *high)
{
	const double q = quantile / 1e6;

	if (n <= EXACT) {
		/* B < low, and n - B <= n - high, are as rare as alpha allows. */
		*low = lower_rank(n, q, alpha);
		*high = n - lower_rank(n, 1 - q, alpha) + 1;
		return;
	}
	const double mean = (double)n * q, off = normal_bound(alpha) * sqrt(mean * (1 - q)) + 1;
	*low = mean > off ? (uint64_t)(mean - off) : 0;
	*high = mean + off < (double)n ? (uint64_t)(mean + off) + 1 : n + 1;
}

/* ---- runs ---- */

/* A value, and twice its rank among all: the mean of the ranks of equal values. */
struct ranked {
	double v;
	bool is_b;
	uint32_t rank;
};

static int by_value(const void *a, const void *b)
{
	const double x = ((const struct ranked *)a)->v, y = ((const struct ranked *)b)->v;

	return ORDER(x, y);
}

/* Sets the ranks; returns the sum of t^3 - t over all groups of t equal values. */
static double set_ranks(struct ranked *list, uint32_t n)
{
	double ties = 0;

	qsort(list, n, sizeof *list, by_value);
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && list[end].v <= list[i].v; end++)
			;
		for (uint32_t k = i; k < end; k++)
			list[k].rank = i + 1 + end;
		const double t = end - i;
		ties += t * t * t - t;
	}
	return ties;
}

/* Returns the share of all choices of m of the n values whose ranks sum to at least `sum`. */
static double exact_share(const struct ranked *list, uint32_t n, uint32_t m, uint32_t sum)
{
	enum { SUMS = NOISE_EXACT * (NOISE_EXACT + 1) + 1 };
	double ways[NOISE_EXACT + 1][SUMS] = { { 1 } };
	double all = 0, part = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = i + 1 < m ? i + 1 : m; k > 0; k--)
			for (uint32_t s = SUMS - 1; s >= list[i].rank; s--)
				ways[k][s] += ways[k - 1][s - list[i].rank];
	for (uint32_t s = 0; s < SUMS; s++) {
		all += ways[m][s];
		part += s >= sum ? ways[m][s] : 0;
	}
	return part / all;
}

double noise_rank_test(const double *a, size_t n, const double *b, size_t m)
{
	struct ranked list[2 * CHANGE_RUNS_MAX];
	const uint32_t all = (uint32_t)(n + m);
	uint32_t sum = 0;

	for (size_t i = 0; i < n; i++)
		list[i] = (struct ranked){ .v = a[i] };
	for (size_t i = 0; i < m; i++)
		list[n + i] = (struct ranked){ .v = b[i], .is_b = true };
	const double ties = set_ranks(list, all);
	for (uint32_t i = 0; i < all; i++)
		sum += list[i].is_b ? list[i].rank : 0;
	if (all <= NOISE_EXACT)
		return exact_share(list, all, (uint32_t)m, sum);
	const double N = all, mean = (double)m * (N + 1) / 2;
	const double variance = (double)n * (double)m / 12 * (N + 1 - ties / (N * (N - 1)));
	if (variance <= 0)
		return 1; /* all values are equal */
	return erfc((sum / 2.0 - mean - 0.5) / sqrt(2 * variance)) / 2;
}
