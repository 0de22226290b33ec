/* Histogram of durations with logarithmic buckets, and its percentiles. */
#include "stats/measures.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/memory.h"

void histogram_pool_free(struct histogram_pool *pool)
{
	free(pool->buckets);
	*pool = (struct histogram_pool){ 0 };
}

const char *histogram_note(uint64_t n, char to[HISTOGRAM_NOTE])
{
	(void)snprintf(to, HISTOGRAM_NOTE,
	               "%" PRIu64 " duration%s of too many names %s not exact to 1 %% in percentiles", n,
	               n == 1 ? "" : "s", n == 1 ? "is" : "are");
	return to;
}

/* Ensures space for n more blocks.  Returns false if the pool is full, or on OOM. */
static bool pool_reserve(struct histogram_pool *pool, uint32_t n)
{
	if (pool->n == 0)
		n++; /* block 0 means none */
	if (n > HISTOGRAM_POOL_BLOCKS - pool->n)
		return false;
	if (n <= pool->cap - pool->n)
		return true;
	uint32_t cap = pool->cap * 2 > pool->n + n ? pool->cap * 2 : pool->n + n;
	if (cap > HISTOGRAM_POOL_BLOCKS)
		cap = HISTOGRAM_POOL_BLOCKS;
	if (note_failure(&pool->failed,
	                 !array_resize(&pool->buckets, cap, HISTOGRAM_BUCKETS * sizeof *pool->buckets)))
		return false;
	pool->cap = cap;
	return true;
}

/* Returns a new block, which the caller has reserved. */
static uint16_t pool_add_block(struct histogram_pool *pool)
{
	if (pool->n == 0)
		pool->n = 1;
	memset(pool->buckets + (size_t)pool->n * HISTOGRAM_BUCKETS, 0,
	       HISTOGRAM_BUCKETS * sizeof *pool->buckets);
	return (uint16_t)pool->n++;
}

static void count_one(struct histogram *h, struct histogram_pool *pool, uint64_t v)
{
	const uint32_t bucket = histogram_bucket_of(v);
	uint16_t *const block = &h->blocks[bucket / HISTOGRAM_BUCKETS];

	if (*block == 0)
		*block = pool_add_block(pool);
	pool->buckets[histogram_slot(h, bucket)]++;
}

/* Moves the retained numbers into blocks.  Returns false if too few blocks are free. */
static bool spread_kept(struct histogram *h, struct histogram_pool *pool)
{
	uint64_t kept[HISTOGRAM_KEPT];
	uint64_t needed = 0;

	for (uint32_t i = 0; i < HISTOGRAM_KEPT; i++)
		needed |= UINT64_C(1) << histogram_bucket_of(h->kept[i]) / HISTOGRAM_BUCKETS;
	if (!pool_reserve(pool, bit_count(needed)))
		return false;
	memcpy(kept, h->kept, sizeof kept);
	memset(h->blocks, 0, sizeof h->blocks);
	h->spread = true;
	for (uint32_t i = 0; i < HISTOGRAM_KEPT; i++)
		count_one(h, pool, kept[i]);
	return true;
}

/* Counts v n times in the closest bucket of the nearest allocated block. */
static void count_nearest(struct histogram *h, struct histogram_pool *pool, uint64_t v, uint64_t n)
{
	const uint32_t block = histogram_bucket_of(v) / HISTOGRAM_BUCKETS;

	for (uint32_t d = 1; d < HISTOGRAM_BLOCKS; d++) {
		size_t to = 0, end = 0;
		if (d <= block && h->blocks[block - d] != 0) {
			to = h->blocks[block - d];
			end = HISTOGRAM_BUCKETS - 1;
		} else if (block + d < HISTOGRAM_BLOCKS) {
			to = h->blocks[block + d];
		}
		if (to != 0) {
			pool->buckets[to * HISTOGRAM_BUCKETS + end] += n;
			h->count += n;
			return;
		}
	}
}

void histogram_spread(struct histogram *h, struct histogram_pool *pool, uint64_t v)
{
	if (!h->spread && !spread_kept(h, pool)) {
		pool->coarse++;
		return;
	}
	if (histogram_slot(h, histogram_bucket_of(v)) < HISTOGRAM_BUCKETS && !pool_reserve(pool, 1)) {
		pool->coarse++;
		count_nearest(h, pool, v, 1);
		return;
	}
	count_one(h, pool, v);
	h->count++;
}

static uint64_t bucket_width(uint32_t bucket)
{
	return bucket < 2 * HISTOGRAM_BUCKETS ? 1 : UINT64_C(1) << (bucket / HISTOGRAM_BUCKETS - 1);
}

uint64_t histogram_bucket_low(uint32_t bucket)
{
	if (bucket < 2 * HISTOGRAM_BUCKETS)
		return bucket;
	return (uint64_t)(64 + bucket % HISTOGRAM_BUCKETS) << (bucket / HISTOGRAM_BUCKETS - 1);
}

uint64_t histogram_bucket_high(uint32_t bucket)
{
	return histogram_bucket_low(bucket) + (bucket_width(bucket) - 1);
}

static uint64_t bucket_middle(uint32_t bucket)
{
	return histogram_bucket_low(bucket) + bucket_width(bucket) / 2;
}

/* Adds a number n times, at constant cost even without a free block. */
static void add_times(struct histogram *h, struct histogram_pool *pool, uint64_t v, uint64_t n)
{
	for (; n > 0 && !h->spread && h->count < HISTOGRAM_KEPT; n--)
		histogram_add(h, pool, v);
	if (n == 0)
		return;
	histogram_add(h, pool, v); /* allocates the block of v */
	n--;
	const size_t slot = h->spread ? histogram_slot(h, histogram_bucket_of(v)) : 0;
	if (slot >= HISTOGRAM_BUCKETS) {
		pool->buckets[slot] += n;
		h->count += n;
		return;
	}
	pool->coarse += n;
	if (h->spread)
		count_nearest(h, pool, v, n);
}

void histogram_add_bucket(struct histogram *h, struct histogram_pool *pool, uint32_t bucket, uint64_t n)
{
	add_times(h, pool, bucket_middle(bucket), n);
}

static void add_block(struct histogram *h, uint64_t *to, const uint64_t *counts)
{
	uint64_t sum = 0;

	for (uint32_t j = 0; j < HISTOGRAM_BUCKETS; j++) {
		to[j] += counts[j];
		sum += counts[j];
	}
	h->count += sum;
}

void histogram_merge(struct histogram *h, struct histogram_pool *pool, const struct histogram *from,
                     const struct histogram_pool *of)
{
	const uint64_t min = h->count == 0 || from->min < h->min ? from->min : h->min;
	const uint64_t max = h->count == 0 || from->max > h->max ? from->max : h->max;

	if (from->count == 0)
		return;
	for (uint32_t i = 0; !from->spread && i < from->count; i++)
		histogram_add(h, pool, from->kept[i]);
	for (uint32_t i = 0; from->spread && i < HISTOGRAM_BLOCKS; i++) {
		const uint64_t *const counts = &of->buckets[(size_t)from->blocks[i] * HISTOGRAM_BUCKETS];
		if (from->blocks[i] == 0)
			continue;
		if (h->spread && h->blocks[i] != 0) {
			add_block(h, &pool->buckets[(size_t)h->blocks[i] * HISTOGRAM_BUCKETS], counts);
			continue;
		}
		for (uint32_t j = 0; j < HISTOGRAM_BUCKETS; j++)
			add_times(h, pool, bucket_middle(i * HISTOGRAM_BUCKETS + j), counts[j]);
	}
	h->min = min; /* the middle of a bucket may be outside */
	h->max = max;
}

/* Returns the bucket of the rank-th smallest number of a spread histogram. */
static uint32_t bucket_of_rank(const struct histogram *h, const struct histogram_pool *pool, uint64_t rank)
{
	uint64_t below = 0;

	for (uint32_t i = 0; i < HISTOGRAM_BLOCKS; i++)
		for (uint32_t j = 0; h->blocks[i] != 0 && j < HISTOGRAM_BUCKETS; j++) {
			below += pool->buckets[(size_t)h->blocks[i] * HISTOGRAM_BUCKETS + j];
			if (below >= rank)
				return i * HISTOGRAM_BUCKETS + j;
		}
	return HISTOGRAM_BLOCKS * HISTOGRAM_BUCKETS - 1; /* unreachable: the buckets sum to count */
}

void histogram_kept(const struct histogram *h, uint64_t kept[HISTOGRAM_KEPT])
{
	memcpy(kept, h->kept, sizeof h->kept);
	qsort(kept, h->count, sizeof *kept, compare_u64);
}

static uint64_t kept_rank(const struct histogram *h, uint64_t rank)
{
	uint64_t kept[HISTOGRAM_KEPT];

	histogram_kept(h, kept);
	return kept[rank - 1];
}

static uint64_t within(const struct histogram *h, uint64_t v)
{
	return v < h->min ? h->min : v > h->max ? h->max : v;
}

void histogram_rank(const struct histogram *h, const struct histogram_pool *pool, uint64_t rank,
                    uint64_t *low, uint64_t *high)
{
	if (!h->spread) {
		*low = *high = kept_rank(h, rank);
		return;
	}
	const uint32_t bucket = bucket_of_rank(h, pool, rank);
	*low = within(h, histogram_bucket_low(bucket));
	*high = within(h, histogram_bucket_high(bucket));
}

uint64_t histogram_quantile(const struct histogram *h, const struct histogram_pool *pool, uint32_t quantile)
{
	if (h->count == 0)
		return 0;
	const uint64_t rank = (uint64_t)(((uint128)h->count * quantile + 999999) / 1000000);
	if (!h->spread)
		return kept_rank(h, rank);
	return within(h, bucket_middle(bucket_of_rank(h, pool, rank)));
}
