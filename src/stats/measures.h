#ifndef STATS_MEASURES_H
#define STATS_MEASURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/memory.h"
#include "base/open_spans.h"
#include "base/table.h"
#include "model/batch.h"

/*
 * What statistics measure, without groups and reports:
 *
 *   histogram.c    percentiles of 64-bit numbers
 *   names.c        numbers for names
 *   self_times.c   time of spans that no other span of their track covers
 *   self_tree.c    the same, if many spans overlap in part
 *   series.c       values of counters
 */

/* ---- histogram ---- */

/*
 * Percentiles of 64-bit numbers with a relative error of at most 1 %.
 *
 * A log-linear histogram: each power of two has 64 buckets of equal width, so the middle of a bucket differs
 * from its numbers by at most 1/128 (0.8 %); numbers below 128 are exact.  The first 16 numbers are stored
 * exactly; then blocks of buckets are allocated, one for each power of two that occurs, from a bounded pool
 * that is shared by many histograms.
 */
#define HISTOGRAM_KEPT 16
#define HISTOGRAM_BLOCKS 59         /* 0 .. 63, 64 .. 127, 128 .. 255, ..., 2^63 .. 2^64 - 1 */
#define HISTOGRAM_BUCKETS 64        /* of a block */
#define HISTOGRAM_POOL_BLOCKS 24576 /* of 512 bytes: 12 MiB */

/* Zero-initialise to start. */
struct histogram_pool {
	uint64_t *buckets; /* block 0 is not used */
	uint32_t n, cap;   /* blocks */
	uint64_t coarse;   /* numbers without a block: counted in the nearest block of their histogram, or
	                      not at all if it has none */
	bool failed;       /* OOM: numbers lost precision although the pool is not full */
};

/* Zero-initialise; owns nothing. */
struct histogram {
	uint64_t count; /* numbers in the percentiles */
	uint64_t min, max;
	bool spread; /* blocks are in use */
	union {
		uint64_t kept[HISTOGRAM_KEPT];
		uint16_t blocks[HISTOGRAM_BLOCKS]; /* in the pool; 0: none */
	};
};

void histogram_pool_free(struct histogram_pool *pool);

#define HISTOGRAM_NOTE 96 /* bytes */

/* Writes the note for reports that n durations are coarse. */
const char *histogram_note(uint64_t n, char to[HISTOGRAM_NOTE]);

/* The part of histogram_add() that may allocate: call histogram_add(). */
void histogram_spread(struct histogram *h, struct histogram_pool *pool, uint64_t v);

/* Returns the bucket of a number, counted over all blocks. */
static inline uint32_t histogram_bucket_of(uint64_t v)
{
	const uint32_t log = v < 64 ? 6 : high_bit(v);
	const uint32_t block = v < 64 ? 0 : log - 5;

	return block * HISTOGRAM_BUCKETS + ((uint32_t)(v >> (log - 6)) & 63);
}

/* Returns the index of a bucket in the pool; below HISTOGRAM_BUCKETS: it has no block.  h->spread. */
static inline size_t histogram_slot(const struct histogram *h, uint32_t bucket)
{
	return h->blocks[bucket / HISTOGRAM_BUCKETS] * (size_t)HISTOGRAM_BUCKETS + bucket % HISTOGRAM_BUCKETS;
}

/* Never fails: if the pool is full, or on OOM, precision is lost and counted in pool->coarse. */
static inline void histogram_add(struct histogram *h, struct histogram_pool *pool, uint64_t v)
{
	if (v < h->min || h->count == 0)
		h->min = v;
	if (v > h->max)
		h->max = v;
	if (h->spread) {
		const size_t slot = histogram_slot(h, histogram_bucket_of(v));
		if (slot >= HISTOGRAM_BUCKETS) {
			pool->buckets[slot]++;
			h->count++;
			return;
		}
	} else if (h->count < HISTOGRAM_KEPT) {
		h->kept[h->count++] = v;
		return;
	}
	histogram_spread(h, pool, v);
}

/* Buckets to count later: they are rarely in the CPU cache, so each is prefetched while the next numbers are
 * added.  Zero-initialise to start; call histogram_settle() before the pool is used otherwise. */
#define HISTOGRAM_LATE 16U
struct histogram_late {
	uint32_t at[HISTOGRAM_LATE]; /* index in the pool; 0: none, as block 0 is not used */
	uint32_t n;
};

/* Like histogram_add(), but faster if many histograms get numbers in turn. */
static inline void histogram_add_late(struct histogram *h, struct histogram_pool *pool,
                                      struct histogram_late *late, uint64_t v)
{
	const size_t slot = h->spread ? histogram_slot(h, histogram_bucket_of(v)) : 0;

	if (slot < HISTOGRAM_BUCKETS) {
		histogram_add(h, pool, v);
		return;
	}
	h->min = v < h->min ? v : h->min;
	h->max = v > h->max ? v : h->max;
	h->count++;
	uint32_t *const at = &late->at[late->n++ % HISTOGRAM_LATE];
	pool->buckets[*at]++;
	*at = (uint32_t)slot;
	PREFETCH_WRITE(&pool->buckets[*at]);
}

static inline void histogram_settle(struct histogram_pool *pool, struct histogram_late *late)
{
	for (uint32_t i = 0; i < HISTOGRAM_LATE; i++)
		if (late->at[i] != 0)
			pool->buckets[late->at[i]]++;
	*late = (struct histogram_late){ 0 };
}

/* Adds the middle of a bucket n times, also to min and max. */
void histogram_add_bucket(struct histogram *h, struct histogram_pool *pool, uint32_t bucket, uint64_t n);

/* Return the smallest and the largest number of a bucket. */
uint64_t histogram_bucket_low(uint32_t bucket);
uint64_t histogram_bucket_high(uint32_t bucket);

/* Adds another histogram, whose pool is `of`.  The result equals adding its numbers, in any order. */
void histogram_merge(struct histogram *h, struct histogram_pool *pool, const struct histogram *from,
                     const struct histogram_pool *of);

/* Gets the numbers of a histogram without blocks, sorted. */
void histogram_kept(const struct histogram *h, uint64_t kept[HISTOGRAM_KEPT]);

/* Nearest rank: the ceil(quantile * count)-th smallest number, or the middle of its bucket, within [min,
 * max]. quantile: in millionths, 1 .. 1000000.  Returns 0 for an empty histogram. */
uint64_t histogram_quantile(const struct histogram *h, const struct histogram_pool *pool, uint32_t quantile);

/* Gets the bounds of the rank-th smallest number, 1 <= rank <= count: of its bucket, within [min, max]. */
void histogram_rank(const struct histogram *h, const struct histogram_pool *pool, uint64_t rank,
                    uint64_t *low, uint64_t *high);

static inline uint64_t histogram_percentile(const struct histogram *h, const struct histogram_pool *pool,
                                            unsigned percent)
{
	return histogram_quantile(h, pool, percent * 10000);
}

/* ---- names ---- */

/*
 * Numbers for names, 0, 1, 2, ... in order of arrival.  A key is a text and a small number (a category): one
 * look-up for both, since each event needs it.  Bounded in number and in bytes: further names share
 * NAMES_OTHER.
 */
#define NAMES_MAX 65536
#define NAMES_MAX_BYTES (6 << 20) /* of one arena */
#define NAMES_OTHER UINT32_MAX    /* beyond the limits */
#define NAMES_FAILED (UINT32_MAX - 1)
#define NAMES_OTHER_TEXT "(other names)"

struct name {
	const char *p; /* in the arena */
	uint32_t n;
	uint32_t with; /* the small number */
};

struct names_slot {
	uint32_t tag;  /* the upper half of the hash */
	uint32_t next; /* index + 1 of the name; 0: empty */
};

struct names {
	struct arena *text; /* may be shared */
	struct name *names;
	uint32_t n, cap;
	struct names_slot *slots;
	size_t mask;
	uint64_t seed;
};

void names_init(struct names *t, struct arena *text);
void names_free(struct names *t); /* does not free the arena */

/* Adds a new name: returns its number, NAMES_OTHER, or NAMES_FAILED on OOM. */
uint32_t names_add(struct names *t, struct slice name, uint32_t with, uint64_t hash);

static inline uint64_t names_hash(const struct names *t, struct slice name, uint32_t with)
{
	/* A different seed for each `with`; `seed` is secret. */
	return hash_bytes(name.p, name.n, t->seed + with * UINT64_C(0x9e3779b97f4a7c15));
}

/* Finds or adds a name: returns its number, NAMES_OTHER, or NAMES_FAILED on OOM. */
static inline uint32_t names_index(struct names *t, struct slice name, uint32_t with)
{
	uint64_t hash = names_hash(t, name, with);

	if (t->slots == NULL)
		return names_add(t, name, with, hash);
	for (size_t i = hash & t->mask; t->slots[i].next != 0; i = (i + 1) & t->mask) {
		if (t->slots[i].tag != (uint32_t)(hash >> 32))
			continue;
		const struct name *k = &t->names[t->slots[i].next - 1];
		if (k->with == with && k->n == name.n && (name.n == 0 || memcmp(k->p, name.p, name.n) == 0))
			return t->slots[i].next - 1;
	}
	return names_add(t, name, with, hash);
}

/* The same for a name whose small number is that of another name, such as its category. */
static inline uint32_t names_index_of(struct names *t, struct slice name, struct names *categories,
                                      struct slice category)
{
	const uint32_t with = names_index(categories, category, 0);

	return with < NAMES_FAILED ? names_index(t, name, with) : with;
}

static inline struct slice names_text(const struct names *t, uint32_t index)
{
	return slice_of(t->names[index].p, t->names[index].n);
}

/* ---- total ---- */

/* A 128-bit sum in two halves: compilers keep int128 in memory. */
struct total {
	uint64_t low, high;
};

static inline void total_add(struct total *t, uint64_t v)
{
	t->high += ckd_add(&t->low, t->low, v);
}

static inline void total_subtract(struct total *t, uint64_t v)
{
	t->high -= ckd_sub(&t->low, t->low, v);
}

static inline uint128 total_of(struct total t)
{
	return (uint128)t.high << 64 | t.low;
}

/* Returns sum / n, rounded to the nearest integer, halves up.  n > 0. */
static inline uint128 rounded_mean(uint128 sum, uint64_t n)
{
	return (sum + n / 2) / n;
}

/* Returns v / of in millionths, rounded; 0 if `of` is 0. */
static inline uint128 millionths(uint128 v, uint128 of)
{
	return of > 0 ? (v * 1000000 + of / 2) / of : 0;
}

/* ---- self times ---- */

/*
 * Times of the spans of each name on all tracks: `self`, not covered by spans of the track inside them, and
 * `total`, the union of the spans of the name, so that recursive spans count once.  Of two equal spans the
 * later contains the earlier, unless it is marked as `inner` (EVENT_INNER).
 *
 * Spans are collected, and evaluated together when the capacity of their track is used up, or at the end.
 * Times are exact for tracks of at most SELF_ROOM spans, in any order.  On longer tracks, spans that end
 * first are counted and dropped; blocks keep the time that they cover.  A later span that begins inside a
 * block is counted as inexact.  If all tracks together need more than SELF_TOTAL_ROOM, the capacity of each
 * is reduced.
 *
 * Nested spans in order of start or end cost least; other spans are sorted.  Partial overlaps cost little
 * unless a span is inside more than SELF_RUNS spans that overlap in part: then a track is evaluated in O(log
 * n) per span.
 */
#define SELF_ROOM 65536U
#define SELF_TOTAL_ROOM (3U << 18)
#define SELF_RUNS 32U
#define SELF_BLOCKS 65536U           /* of one track */
#define SELF_FEW_BLOCKS 4096U        /* of one track, when all have half of SELF_ALL_BLOCKS */
#define SELF_ALL_BLOCKS (1U << 19)   /* of all tracks; beyond it each has 16 */
#define SELF_SPARE_BLOCKS (1U << 18) /* unused capacity of all tracks */
#define SELF_PIECES (1U << 17)
#define SELF_NOBODY (UINT32_MAX >> 1) /* a span without a name: it only covers others */
#define SELF_OTHER (SELF_NOBODY - 1)  /* spans of different names, added up */

struct self_name {
	struct total self, total; /* ns */
	struct total waiting;     /* ns; of `self`, in spans that are waiting */
	uint64_t recursive;       /* spans inside another one of the same name and track */
	uint64_t until;           /* latest end of the name in the current evaluation */
	uint32_t evaluation;      /* that `until` belongs to */
	uint32_t piece_track;     /* track of `piece` */
	uint32_t piece;           /* index + 1; 0: none */
};

struct self_span {
	uint64_t start, end; /* start < end */
	uint32_t who : 31, waiting : 1;
	uint32_t number : 31, inner : 1; /* number: in order of arrival */
};

/* Time covered by dropped spans; blocks do not overlap. */
struct self_block {
	uint64_t start, end, covered;
};

struct self_track {
	struct self_span *spans;
	uint32_t n, cap;
	uint32_t number;
	uint32_t ordered;      /* spans that by_start and by_end refer to */
	bool by_start, by_end; /* these spans are in this order */
	struct self_block *blocks;
	uint32_t nblocks, blocks_cap;
	uint32_t nblocks_counted, cap_counted; /* both, as added to the sums of self_times */
};

struct self_item;
struct self_piece;

struct self_times {
	struct self_track *tracks; /* by index */
	uint32_t ntracks;
	struct self_name *names; /* by who */
	uint32_t nnames;
	struct self_name other;
	uint64_t inexact;             /* spans */
	uint32_t limit;               /* spans of one track */
	uint32_t space;               /* capacity of all tracks, in spans */
	uint32_t nblocks, blocks_cap; /* of all tracks */
	uint32_t evaluation;          /* number of evaluations of tracks so far */
	struct self_piece *pieces;
	uint32_t npieces, pieces_cap;
	struct table64 piece_of; /* track << 32 | who */
	/* scratch of an evaluation */
	struct self_item *items;
	uint32_t items_cap;
	struct nested_span *nest;
	struct self_block *left; /* blocks after spans are dropped */
	uint32_t nest_cap, left_cap;
	struct covered_spans open; /* `what` is self_item.index */
	uint64_t *self;
	uint32_t self_cap;
	bool failed; /* OOM: the results are invalid */
};

void self_times_init(struct self_times *t);
void self_times_free(struct self_times *t);

/* Ensures capacity for one more span of the track.  Returns false on OOM. */
bool self_times_reserve(struct self_times *t, uint32_t track);

/* Returns the sum of the self times of all evaluated spans that are not waiting, ns. */
uint128 self_times_busy(const struct self_times *t);

/* Evaluates all spans; later ones are independent of them. */
void self_times_end(struct self_times *t);

/* Returns the times of the evaluated spans of a name. */
const struct self_name *self_times_of(const struct self_times *t, uint32_t who);

/* The same, to add times of tracks that are not in t; NULL on OOM.  Valid until the next call. */
struct self_name *self_times_name(struct self_times *t, uint32_t who);

/* Adds a span.  who: number of its name, SELF_NOBODY or SELF_OTHER.  inner: it is within earlier equal ones.
 * Ends saturate at 2^64 - 1. */
static inline void self_times_add(struct self_times *t, uint32_t track, uint64_t start, uint64_t dur,
                                  uint32_t who, bool waiting, bool inner)
{
	const uint64_t end = saturating_add(start, dur);

	if (start == end)
		return;
	if ((track >= t->ntracks || t->tracks[track].n == t->tracks[track].cap) &&
	    !self_times_reserve(t, track))
		return;
	struct self_track *const k = &t->tracks[track];
	struct self_span *const to = k->spans + k->n;
	PREFETCH_WRITE(to + 4); /* the spans of many tracks do not fit in the CPU cache */
	*to = (struct self_span){ start, end, who & SELF_NOBODY, waiting, k->number++ & INT32_MAX, inner };
	k->n++;
}

/* ---- self times of any overlaps ---- */

/* A span of a track, or a block. */
struct self_item {
	uint64_t start, end; /* start < end */
	uint32_t index;      /* of the span; SELF_NOBODY: a block */
};

/*
 * Self times of items with any overlaps, in O(log n) per item: sets self[index] of all items with an index.
 * Items are sorted by start, then by descending end, then the containing one first.  Returns false on OOM.
 */
bool self_tree(const struct self_item *items, uint32_t n, uint64_t *self);

/* ---- series ---- */

/*
 * The values of counters, by series.  A series is a numeric field of a counter; it has a value on each track.
 * Values are doubles; NaN and infinities are not counted.
 *
 * Percentiles are by nearest rank of the values, not weighted by time, with a relative error of at most 0.8
 * %; integers below 256 are exact.  Memory is bounded: SERIES_STEPS in all series, beyond which values are
 * counted at the nearest known one, and SERIES_STATES pairs of series and track, beyond which there is no
 * mean over time.
 *
 * The mean over time is exact for values in any order as long as each lies among the last SERIES_RECENT / 2
 * values of its track, in order of time, or before all of them.  Other values do not change the mean, and are
 * counted as late.
 */
#define SERIES_STEPS (1U << 19)
#define SERIES_STATES (1U << 18)
#define SERIES_RECENT 4096U          /* of a series and track */
#define SERIES_ALL_RECENT (1U << 18) /* 4 MiB */

/* Number of values with equal sign, exponent and first 7 bits. */
struct series_step {
	int32_t key; /* in the order of the values */
	uint64_t count;
};

struct series {
	uint32_t counter; /* of series_add() */
	uint64_t count;
	uint64_t first_ns, last_ns;
	double first, last; /* by time, then by arrival */
	double min, max, sum;
	double held;               /* sum of value * ns until the next value on its track */
	double held_ns;            /* sum of these ns */
	struct series_step *steps; /* two lists by key: the first nold, and a few later ones */
	uint32_t nsteps, steps_cap, nold;
	uint32_t state_track, state; /* of the last value; index + 1 */
};

struct series_point {
	uint64_t ns;
	double value;
};

/* The values of a series on a track. */
struct series_state {
	uint64_t first_ns;
	struct series_point last;    /* in order of time, then of arrival */
	struct series_point *recent; /* those before `last`, in that order */
	uint32_t nrecent, cap;
	bool dropped; /* there are values before `recent` */
};

struct series_set {
	struct names names;  /* of fields, with the number of their counter */
	struct series *list; /* by number of the name */
	uint32_t n;
	uint32_t nsteps;         /* in all */
	bool failed;             /* OOM: a step is missing */
	struct table64 state_of; /* track << 32 | series */
	struct series_state *states;
	uint32_t nstates, states_cap;
	uint32_t nrecent; /* capacity of all states */
	uint64_t late;    /* values that are not in a mean over time */
};

/* text: for names, may be shared. */
void series_init(struct series_set *s, struct arena *text);
void series_free(struct series_set *s);

/* Adds the numeric fields of an event of this counter.  Returns false on OOM. */
bool series_add(struct series_set *s, uint32_t counter, const struct batch *b, const struct event *e);

/* Gets the number of a value.  Returns false if it is not a finite number. */
bool series_value(const struct value *v, double *to);

/* percent: 1 .. 100.  The result is at most max. */
double series_percentile(const struct series *s, unsigned percent);

/* Iterates over the steps by key.  Zero-initialise to start.  Returns NULL at the end. */
struct series_walk {
	uint32_t old, later;
};
const struct series_step *series_next_step(const struct series *s, struct series_walk *w);

/* Finds the series of a counter's field, or adds it with a count of 0.  *to is NULL beyond the limits.
 * Returns false on OOM. */
bool series_of(struct series_set *s, uint32_t counter, struct slice field, struct series **to);

/* Adds n values whose step has this key; on OOM sets s->failed.  Returns false if the count of the step
 * overflows. */
bool series_add_step(struct series_set *s, struct series *to, int32_t key, uint64_t n);

/* Adds another series of the same field, of other tracks.  Of equal times, the first value is the smaller one
 * and the last the larger one, so that the order of series does not matter, except for rounded sums.  Returns
 * false if a number overflows. */
bool series_merge(struct series_set *s, struct series *to, const struct series *from);

/* Mean of the values, within min and max. */
double series_mean(const struct series *s);

/* Mean over the time from the first value of each track to its last; if there is no time, of the values. */
double series_time_mean(const struct series *s);

#endif
