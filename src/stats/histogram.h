#ifndef STATS_HISTOGRAM_H
#define STATS_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Percentiles of 64-bit numbers with a relative error of at most 1 %.
 *
 * Log-linear: each power of two is cut into 64 buckets of one width, so a
 * bucket's middle is never further than 1/128 (0.8 %) from what was put in;
 * numbers below 128 are exact.  The first 16 numbers are kept as they are.
 * Only then blocks of buckets are taken, one for each power of two that
 * occurs, from a pool that many histograms share and that has an end.
 */
#define HISTOGRAM_KEPT 16
#define HISTOGRAM_BLOCKS 59         /* 0 .. 63, 64 .. 127, 128 .. 255, ..., 2^63 .. 2^64 - 1 */
#define HISTOGRAM_BUCKETS 64        /* of a block */
#define HISTOGRAM_POOL_BLOCKS 24576 /* of 512 bytes: 12 MiB */

/* Zero-initialise to start. */
struct histogram_pool {
	uint64_t *buckets; /* block 0 is not used */
	uint32_t n, cap;   /* blocks */
	uint64_t coarse;   /* numbers for which there was no block: those are counted in the nearest block
	                      of their histogram, or not at all when it has none */
};

/* Zero-initialise to start; owns nothing. */
struct histogram {
	uint64_t count; /* numbers that percentiles know of */
	uint64_t min, max;
	bool spread; /* blocks are in use */
	union {
		uint64_t kept[HISTOGRAM_KEPT];
		uint16_t blocks[HISTOGRAM_BLOCKS]; /* in the pool; 0: none */
	};
};

void histogram_pool_free(struct histogram_pool *pool);

/* Counts v when it is not among the first 16. */
void histogram_spread(struct histogram *h, struct histogram_pool *pool, uint64_t v);

static inline void
histogram_place(uint64_t v, uint32_t *block, uint32_t *bucket)
{
	uint32_t log = v < 64 ? 6 : 63 - (uint32_t)__builtin_clzll(v);

	*block = v < 64 ? 0 : log - 5;
	*bucket = (uint32_t)(v >> (log - 6)) & 63;
}

/* Never fails: when memory is out, precision is lost, and pool->coarse counts it. */
static inline void
histogram_add(struct histogram *h, struct histogram_pool *pool, uint64_t v)
{
	if (v < h->min || h->count == 0)
		h->min = v;
	if (v > h->max)
		h->max = v;
	if (h->spread) {
		uint32_t block, bucket;
		histogram_place(v, &block, &bucket);
		if (h->blocks[block] != 0) {
			pool->buckets[h->blocks[block] * (size_t)HISTOGRAM_BUCKETS + bucket]++;
			h->count++;
			return;
		}
	} else if (h->count < HISTOGRAM_KEPT) {
		h->kept[h->count++] = v;
		return;
	}
	histogram_spread(h, pool, v);
}

/* Adds all that is in another histogram, whose pool is `of`: with the error that this one adds to its own. */
void histogram_merge(struct histogram *h, struct histogram_pool *pool, const struct histogram *from,
                     const struct histogram_pool *of);

/* By nearest rank: the ceil(percent / 100 * count)-th smallest number, or the middle of the bucket that it is
 * in, within [min, max].  percent is 1 .. 100; an empty histogram gives 0. */
uint64_t histogram_percentile(const struct histogram *h, const struct histogram_pool *pool, unsigned percent);

#endif
