#ifndef STATS_STATS_H
#define STATS_STATS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/open_spans.h"
#include "base/table.h"
#include "model/batch.h"
#include "model/batch_pool.h"
#include "model/trace_engine.h"
#include "output/text_visible.h"
#include "run/choose/select.h"
#include "stats/tables/longest.h"

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

/* Adds v after the first 16. */
void histogram_spread(struct histogram *h, struct histogram_pool *pool, uint64_t v);

static inline void histogram_place(uint64_t v, uint32_t *block, uint32_t *bucket)
{
	uint32_t log = v < 64 ? 6 : 63 - (uint32_t)__builtin_clzll(v);

	*block = v < 64 ? 0 : log - 5;
	*bucket = (uint32_t)(v >> (log - 6)) & 63;
}

/* Never fails: on OOM precision is lost and counted in pool->coarse. */
static inline void histogram_add(struct histogram *h, struct histogram_pool *pool, uint64_t v)
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

/* Adds n numbers of the bucket with this index: block * HISTOGRAM_BUCKETS + bucket.  min and max become those
 * of its middle. */
void histogram_add_bucket(struct histogram *h, struct histogram_pool *pool, uint32_t index, uint64_t n);

static inline uint32_t histogram_bucket_of(uint64_t v)
{
	uint32_t block, bucket;

	histogram_place(v, &block, &bucket);
	return block * HISTOGRAM_BUCKETS + bucket;
}

/* Smallest and largest number of that bucket. */
uint64_t histogram_bucket_low(uint32_t index);
uint64_t histogram_bucket_high(uint32_t index);

/* Adds another histogram, with the pool `of`: the result is that of adding its numbers, in any order. */
void histogram_merge(struct histogram *h, struct histogram_pool *pool, const struct histogram *from,
                     const struct histogram_pool *of);

/* Nearest rank: the ceil(part * count)-th smallest number, or the middle of its bucket, within [min, max].
 * part: in millionths, 1 .. 1000000.  Returns 0 for an empty histogram. */
uint64_t histogram_quantile(const struct histogram *h, const struct histogram_pool *pool, uint32_t part);

/* Bounds of the rank-th smallest number, 1 <= rank <= count: of its bucket, within [min, max]. */
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
 * look-up for both, as it is done for each event.  Bounded in number and in bytes: further names share
 * NAMES_OTHER.
 */
#define NAMES_MAX 65536
#define NAMES_MAX_BYTES (6 << 20) /* of one arena */
#define NAMES_OTHER UINT32_MAX    /* beyond the limits */
#define NAMES_FAILED (UINT32_MAX - 1)

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

static inline struct slice names_text(const struct names *t, uint32_t index)
{
	return slice_of(t->names[index].p, t->names[index].n);
}

/* ---- total ---- */

/* A 128-bit sum in two halves: compilers keep __int128 in memory. */
struct total {
	uint64_t low, high;
};

static inline void total_add(struct total *t, uint64_t v)
{
	t->high += __builtin_add_overflow(t->low, v, &t->low);
}

static inline void total_subtract(struct total *t, uint64_t v)
{
	t->high -= __builtin_sub_overflow(t->low, v, &t->low);
}

static inline unsigned __int128 total_of(struct total t)
{
	return (unsigned __int128)t.high << 64 | t.low;
}

/* ---- self times ---- */

/*
 * Time of the spans of each name on all tracks: `self`, not covered by spans of the track inside them, and
 * `total`, the union of the spans of the name, so that recursive spans count once.  Of two equal spans the
 * later contains the earlier.
 *
 * Spans are collected and evaluated together when the capacity of their track is used up, or at the end:
 * exact for tracks of at most SELF_ROOM spans, in any order.  On longer tracks those that end first are
 * counted and dropped, except for the time that they cover, in blocks.  A later span that begins inside a
 * block is counted as inexact.  If all tracks together need more than SELF_TOTAL_ROOM, the capacity of each
 * is reduced.
 *
 * Spans in order of start or end cost least; others are sorted.  Partial overlaps cost little unless a span
 * is inside more than SELF_RUNS spans that overlap in part: then a track is evaluated in O(log n) per span.
 */
#define SELF_ROOM 65536U
#define SELF_TOTAL_ROOM (3U << 18)
#define SELF_RUNS 32U
#define SELF_BLOCKS 4096U          /* of one track */
#define SELF_ALL_BLOCKS (1U << 19) /* of all tracks; beyond it each has 16 */
#define SELF_PIECES (1U << 17)
#define SELF_NOBODY (UINT32_MAX >> 1) /* a span without a name: it only covers others */
#define SELF_OTHER (SELF_NOBODY - 1)  /* spans of different names, added up */

struct self_name {
	struct total self, total; /* ns */
	struct total waiting;     /* ns; of `self`, in spans that are waiting */
	uint64_t recursive;       /* spans inside another one of the same name and track */
	uint64_t until;           /* latest end of the name in the current evaluation */
	uint32_t look;            /* the evaluation that `until` belongs to */
	uint32_t piece_track;     /* track of `piece` */
	uint32_t piece;           /* index + 1; 0: none */
};

struct self_span {
	uint64_t start, end; /* start < end */
	uint32_t who : 31, waiting : 1;
	uint32_t number; /* in order of arrival */
};

/* Time covered by dropped spans; blocks do not overlap. */
struct self_block {
	uint64_t start, end, covered;
};

struct self_track {
	struct self_span *spans;
	uint32_t n, cap;
	uint32_t number;
	bool by_start, by_end; /* the spans are in this order */
	struct self_block *blocks;
	uint32_t nblocks, blocks_cap, blocks_counted;
};

struct self_item;
struct self_piece;

struct self_times {
	struct self_track *tracks; /* by index */
	uint32_t ntracks;
	struct self_name *names; /* by who */
	uint32_t nnames;
	struct self_name other;
	uint64_t inexact; /* spans */
	uint32_t limit, space, blocks_cap;
	uint32_t look;
	struct self_piece *pieces;
	uint32_t npieces, pieces_cap;
	struct table64 piece_of; /* track << 32 | who */
	/* scratch of an evaluation */
	struct self_item *items;
	uint32_t items_cap;
	struct covered_spans open; /* `what` is self_item.index */
	uint64_t *self;
	uint32_t self_cap;
	bool failed; /* OOM: the results are invalid */
};

void self_times_init(struct self_times *t);
void self_times_free(struct self_times *t);

/* Capacity for one more span of the track. */
bool self_times_reserve(struct self_times *t, uint32_t track);

/* Sum of the self times of all names without waiting, of evaluated spans, ns. */
unsigned __int128 self_times_busy(const struct self_times *t);

/* Evaluates all spans; later ones are independent of them. */
void self_times_end(struct self_times *t);

/* The times of a name, of evaluated spans. */
const struct self_name *self_times_of(const struct self_times *t, uint32_t who);

/* The same, to add times of tracks that are not in t; NULL on OOM.  Valid until the next call. */
struct self_name *self_times_name(struct self_times *t, uint32_t who);

/* Adds a span; who: small numbers from 0, or one of the above.  Ends saturate at 2^64 - 1. */
static inline void self_times_add(struct self_times *t, uint32_t track, uint64_t start, uint64_t dur,
                                  uint32_t who, bool waiting)
{
	const uint64_t end = dur > UINT64_MAX - start ? UINT64_MAX : start + dur;

	if (start == end)
		return;
	if ((track >= t->ntracks || t->tracks[track].n == t->tracks[track].cap) &&
	    !self_times_reserve(t, track))
		return;
	struct self_track *const k = &t->tracks[track];
	struct self_span *const to = k->spans + k->n;
	if (k->n > 0) {
		const struct self_span *const last = to - 1;
		k->by_start &= start > last->start || (start == last->start && end < last->end);
		k->by_end &= end > last->end || (end == last->end && start <= last->start);
	}
	*to = (struct self_span){ start, end, who & SELF_NOBODY, waiting, k->number++ };
	k->n++;
}

/* ---- series ---- */

/*
 * The values of counters, by series: a numeric field of a counter, with a value of its own on each track.
 * Values are doubles; NaN and infinities are not counted.
 *
 * Percentiles are by nearest rank of the values, not weighted by time, with a relative error of at most 0.8
 * %; integers below 256 are exact.  Memory is bounded: SERIES_STEPS in all series, beyond which values are
 * counted at the nearest known one, and SERIES_STATES pairs of series and track, beyond which there is no
 * mean over time.
 */
#define SERIES_STEPS (1U << 19)
#define SERIES_STATES (1U << 18)

/* Number of values with equal sign, exponent and first 7 bits. */
struct series_step {
	int32_t key; /* in the order of the values */
	uint32_t count;
};

struct series {
	uint32_t counter; /* of series_add() */
	uint64_t count;
	uint64_t first_ns, last_ns;
	double first, last; /* by time, then by arrival */
	double min, max, sum;
	double held;               /* sum of value * ns until the next value on its track */
	double held_ns;            /* sum of these ns */
	struct series_step *steps; /* by key */
	uint32_t nsteps, steps_cap;
	uint32_t state_track, state; /* of the last value; index + 1 */
};

struct series_state {
	uint64_t ns;
	double value;
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
};

/* text: for names, may be shared. */
void series_init(struct series_set *s, struct arena *text);
void series_free(struct series_set *s);

/* Adds the fields of an event of this counter. */
bool series_add(struct series_set *s, uint32_t counter, const struct batch *b, const struct event *e);

/* Whether a value is a finite number. */
bool series_value(const struct value *v, double *to);

/* percent is 1 .. 100; never more than max. */
double series_percentile(const struct series *s, unsigned percent);

/* The series of a counter's field, with a count of 0 at first.  *to is NULL beyond the limits; returns false
 * on OOM. */
bool series_of(struct series_set *s, uint32_t counter, struct slice field, struct series **to);

/* Adds n values whose step has this key; on OOM sets s->failed.  Returns false if its number overflows. */
bool series_add_step(struct series_set *s, struct series *to, int32_t key, uint64_t n);

/* Adds another series of the same field, of other tracks.  Of equal times, the first value is the smaller one
 * and the last the larger one, so that any order of series gives the same, but for rounded sums.  Returns
 * false if a number overflows. */
bool series_merge(struct series_set *s, struct series *to, const struct series *from);

/* Mean of the values, within min and max. */
double series_mean(const struct series *s);

/* Mean over the time from the first value of each track to its last; without time, of the values. */
double series_time_mean(const struct series *s);

/* ---- groups ---- */

/* What spans and instants are grouped by. */
enum group_key {
	GROUP_BY_NAME,
	GROUP_BY_CATEGORY,
	GROUP_BY_THREAD, /* the process, for events of no thread */
	GROUP_BY_PROCESS,
	GROUP_BY_TRACK,
	GROUP_BY_FILE, /* path of the trace, as given */
	GROUP_BY_ARG,  /* the value of a field, as `cat` shows it */
};

#define GROUP_KEYS_MAX 4
#define GROUP_KEY_MAX 128 /* bytes of a key, "arg:fname" */

struct group_column {
	enum group_key key;
	char head[GROUP_KEY_MAX]; /* the key as given; of a field after "arg:" */
};

/* n 0: spans by name and category, instants by name. */
struct group_by {
	unsigned n;
	struct group_column columns[GROUP_KEYS_MAX];
};

/* Parses "process,name".  Returns false with the reason in `why`, one line. */
bool group_by_parse(struct group_by *by, const char *words, char *why, size_t size);

bool group_by_is_same(const struct group_by *a, const struct group_by *b);

#define GROUP_BY_WORDS (GROUP_KEYS_MAX * GROUP_KEY_MAX)

/* "process,name"; "name,category" if there are no keys. */
void group_by_words(const struct group_by *by, char *to, size_t size);

/* Whether it needs WANT_FIELDS: for values of fields and names of tracks. */
bool group_by_needs_fields(const struct group_by *by);

/* Cache of numbers of names, by the address of their text. */
struct stats_known {
	const char *p;
	const struct class *cls; /* NULL: of any */
	uint32_t n, name;
};

#define STATS_KNOWN 256

static inline struct stats_known *stats_known_slot(struct stats_known *known, struct slice name, uint32_t cls)
{
	const uint64_t key = (uint64_t)(uintptr_t)name.p ^ (uint64_t)cls << 16;

	return &known[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 56];
}

/* Values of a key: numbers of texts, or indices of tracks. */
struct group_values {
	struct names texts;
	struct stats_known known[STATS_KNOWN];
	const struct track **tracks; /* those that are a value, by index */
	struct slice *labels;        /* their names, unique; after groups_label() */
	uint32_t ntracks, nlabels;
};

/* Groups of a table: a number for each combination of values.  Level i maps the number of the values before
 * and the i-th value to a number. */
struct group_set {
	struct table64 levels[GROUP_KEYS_MAX];
	uint32_t *values; /* by.n of each group */
	uint32_t n, cap;
};

/* ---- stats ---- */

/*
 * Statistics of the events of a trace, or of several.  Memory is bounded for any input (below 40 MiB, plus
 * self times): beyond 65,536 groups of a kind, or some MiB of names, events are counted as "(other names)".
 */

/* Spans of one name and category. */
struct span_group {
	struct total sum; /* ns */
	uint64_t count;
	uint64_t first_ns, last_ns; /* the earliest start, the latest end */
	struct histogram durations; /* also least and largest */
	/* the longest span, the first of several */
	uint64_t longest_offset, longest_ns; /* of its record; its start */
	const struct track *longest_track;   /* lives as long as the trace */
};

/* Rounded to the nearest integer, halves up.  count > 0. */
static inline uint64_t span_mean(const struct span_group *g)
{
	return (uint64_t)((total_of(g->sum) + g->count / 2) / g->count);
}

/* Decades of durations: below 1 us, 10 us, ..., 10 s, and the rest. */
#define SPAN_DECADES 9

static inline unsigned span_decade(uint64_t ns)
{
	unsigned i = 0;

	for (uint64_t edge = 1000; i < SPAN_DECADES - 1 && ns >= edge; edge *= 10)
		i++;
	return i;
}

/* "<1us", ..., ">=10s" */
const char *span_decade_head(unsigned i);

/* Sum of a numeric field over the spans of a group.  Negative values are not added: they are error codes of
 * calls that return a size. */
struct span_sum {
	struct total whole; /* integers */
	double real;        /* the others */
	uint64_t values, negative;
};

/* Instants or counters by name. */
struct tally {
	struct names names;
	struct stats_known known[STATS_KNOWN];
	const struct stats *grouped; /* NULL: by name */
	struct group_set set;        /* instead of names */
	uint64_t *counts;            /* by number of the name or group */
	uint32_t cap;
	uint64_t other; /* events of NAMES_OTHER */
};

/* Spans by name and category, or as stats.by says. */
struct span_table {
	struct names names;
	struct stats_known known[STATS_KNOWN];
	struct group_set set;      /* instead of names, with stats.by */
	struct span_group *groups; /* by number of the name or group */
	uint32_t cap;
	struct span_group other;
	uint64_t (*decades)[SPAN_DECADES]; /* likewise, with stats.hist */
	uint32_t ndecades;
	uint64_t other_decades[SPAN_DECADES];
	struct span_sum *sums; /* likewise, with stats.sum_of */
	uint32_t nsums;
	struct span_sum other_sum;
	struct longest longest; /* likewise, with stats.examples */
};

#define STATS_EXAMPLES_MAX 1000

/* The slowest spans of each group: how many, and what writes their fields. */
struct stats_examples {
	uint32_t n; /* 0: none */
	struct slice (*fields)(const void *ctx, struct text *t, const struct batch *b, const struct event *e);
	const void *ctx;
	struct text text; /* of the fields of one */
};

struct stats_tables; /* tables/tables.h */

/* What a table is of.  Texts are borrowed from the trace, or in the arena of the statistics. */
struct stats_origin {
	uint64_t traces;
	struct slice path;            /* of the trace, of one of several */
	struct slice format, dialect; /* no bytes: none, not known, or not the same in all traces */
	uint64_t bytes;               /* of the unpacked traces */
	uint64_t records, events;     /* events: selected ones, if there is a selection */
	uint64_t left_out;            /* events that are not selected */
	uint64_t epoch_ns;
	bool epoch_known; /* and the same in all traces */
	bool selected;    /* there is a selection */
};

struct stats {
	struct stats_origin origin;  /* after stats_describe() */
	const struct trace *trace;   /* of one trace: the classes are its own; else NULL */
	struct tally classes;        /* of several: records by class */
	bool joint;                  /* of several traces: all values of keys are texts */
	bool overflowed;             /* joint: a count or a sum is too large, and stays at its limit */
	struct stats_tables *tables; /* borrowed; NULL: none */
	uint64_t events;
	uint64_t first_ns, last_ns; /* only if events > 0; last_ns is the latest end */
	uint64_t tracks;            /* threads that have events */
	uint64_t unpaired;          /* BEGIN without END and END without BEGIN; set by the caller */
	struct group_by by;
	struct stats_examples examples; /* set before the first batch */
	struct slice file;              /* of GROUP_BY_FILE; borrowed */
	bool hist;                      /* count durations by decade; set before the first batch */
	struct slice sum_of;            /* the field whose values are added up; no bytes: none */
	uint64_t summed;                /* events that have it */
	struct group_values *values;    /* by.n */

	struct arena text; /* all names */
	struct span_table spans;
	struct span_table async; /* those that may overlap: without self time */
	struct tally instants, counters;
	struct series_set series;       /* of the counters, by the number of their name */
	struct slice *counter_category; /* by that number: of the first of them; p NULL: none yet */
	uint32_t ncounter_category;
	struct histogram_pool pool;
	struct names categories;
	uint32_t *class_category; /* by index of the class: number of the category + 1; 0: unknown yet */
	uint32_t nclasses;
	uint8_t *seen; /* by index of the track */
	uint32_t nseen;
	struct self_times times;
	unsigned __int128 busy; /* self times of all spans that are not waiting, ns; after stats_end() */
};

/* Do not move it afterwards. */
bool stats_init(struct stats *s);

struct span_row;

/* Before the first batch: groups by other keys than name and category, and sums of a field.  sum_of is
 * borrowed; no bytes: none. */
bool stats_group(struct stats *s, const struct group_by *by, struct slice sum_of);
void stats_free(struct stats *s);

/* Adds a batch, in the order of the trace.  Events with EVENT_LEFT_OUT are not counted, but their spans
 * reduce the self time of those that contain them. */
bool stats_batch(struct stats *s, const struct batch *b);

/* After the last batch, before the results. */
bool stats_end(struct stats *s);

/* Before a report: what the trace is.  found: of the selection; NULL: all events.  All are borrowed. */
void stats_describe(struct stats *s, const char *path, uint64_t bytes, const struct trace *trace,
                    const struct select_found *found);

/*
 * Adds the statistics of a trace that is described, or of several, to a table over several traces, which had
 * stats_init(), and stats_group() with the same keys and field.  Groups are joined by the texts of their
 * keys. Whatever the order, the result is the same, but for sums of numbers that are no integers.  A count or
 * sum that is too large sets into->overflowed.  stats_end() follows after the last one.  Returns false on
 * OOM.
 */
bool stats_merge(struct stats *into, const struct stats *from);

/* The steps of stats_merge(), also for tables that are read from files: each adds a row.  row: as in results;
 * the histogram of its group is in the pool `of`.  other: names or groups beyond the limits. */
bool stats_add_span(struct stats *s, struct span_table *t, const struct span_row *row,
                    const struct histogram_pool *of);
bool stats_add_count(struct stats *s, struct tally *t, const struct slice *values, bool other,
                     uint64_t count);
bool stats_add_counter(struct stats *s, struct slice name, struct slice category, bool other, uint64_t count,
                       uint32_t *number);
bool stats_add_origin(struct stats *s, const struct stats_origin *o);

/* Events (spans, instants, counters) counted as "(other names)". */
uint64_t stats_other_names(const struct stats *s);

/* ---- groups of a trace (groups.c) ---- */

/* The number of an event's group in a set: NAMES_OTHER beyond NAMES_MAX groups, NAMES_FAILED on OOM. */
uint32_t groups_find(struct stats *s, struct group_set *set, const struct batch *b, const struct event *e);

/* The same for a group whose values are texts. */
uint32_t groups_find_texts(struct stats *s, struct group_set *set, const struct slice *texts);

/* The field of an event with this name; NULL: none. */
const struct field *groups_field(const struct batch *b, const struct event *e, struct slice name);

/* Adds the value of stats.sum_of, if the event has it. */
void groups_sum(struct stats *s, struct span_sum *sum, const struct batch *b, const struct event *e);

/* After the last batch: whether no event has the field of the i-th key, or of stats.sum_of (i == by.n). */
bool groups_lacks_field(const struct stats *s, unsigned i);

/* At the end: makes the names of tracks unique. */
bool groups_label(struct stats *s);

/* The values of a group as texts. */
void groups_values(const struct stats *s, const struct group_set *set, uint32_t number, struct slice *values);

void groups_free(struct stats *s);

/* ---- results, sorted ---- */

struct span_row {
	union {
		struct slice values[GROUP_KEYS_MAX]; /* of the keys of stats.by */
		struct {
			struct slice name, category; /* without them */
		};
	};
	const struct span_group *group;
	const struct span_sum *sum;           /* NULL: none */
	const uint64_t *decades;              /* likewise */
	const struct longest_group *examples; /* likewise; the longest first */
	unsigned __int128 total;   /* ns; union of the spans, or, of async ones, sum of durations */
	unsigned __int128 self;    /* ns not covered by spans inside; 0 for async ones */
	unsigned __int128 waiting; /* ns; of self, in spans that are waiting */
	uint64_t recursive;        /* spans inside another one of the same group; 0 for async ones */
	unsigned __int128 rank;    /* by which rows are sorted, then values[first] */
	unsigned first;
	bool other; /* groups beyond the limits */
};

/* Whether all spans of a group are waiting. */
static inline bool span_row_waits(const struct span_row *row)
{
	return row->waiting > 0 && row->waiting == row->self;
}

struct tally_row {
	union {
		struct slice values[GROUP_KEYS_MAX]; /* of the keys of stats.by */
		struct slice name;                   /* without them */
	};
	uint64_t count;
	uint32_t number; /* of the name or group, or NAMES_OTHER */
};

/* ---- columns of spans (span_columns.c) ---- */

enum span_column {
	SPAN_COUNT,
	SPAN_TOTAL,
	SPAN_SELF,
	SPAN_WAITING,   /* of self, in spans that are waiting */
	SPAN_FIELD_SUM, /* of stats.sum_of; NEGATIVE and RATE likewise */
	SPAN_RATE,      /* sum a second of total time */
	SPAN_NEGATIVE,
	SPAN_MEAN,
	SPAN_MIN,
	SPAN_QUANTILE,
	SPAN_MAX,
	SPAN_SHARE, /* total, as a part of the time from the first event to the last */
	SPAN_BUSY,  /* self without waiting, as a part of all such time */
	SPAN_FIRST,
	SPAN_LAST,
	SPAN_DECADE, /* durations of a decade, with stats.hist */
};

#define SPAN_COLUMNS_MAX 12
#define SPAN_SORT_KEYS 64 /* span_columns.sort from here on: a key of the groups */

struct span_columns {
	unsigned n;
	struct span_column_row {
		enum span_column what;
		uint32_t part; /* of SPAN_QUANTILE, in millionths; of SPAN_DECADE its number */
		uint8_t drop;  /* columns.h */
		char head[GROUP_KEY_MAX];
	} list[SPAN_COLUMNS_MAX], sort_by;
	unsigned sort; /* 0: by sort_by; SPAN_SORT_KEYS + i: by the i-th key, ascending */
};

/* The default: count, total, self, waiting, mean, p50, p90, p99, max; sum: also the sum of a field of this
 * name. */
void span_columns_init(struct span_columns *c, const char *sum_of);

/* Parses "99.9" with at most four decimals, more than 0, at most 100, as millionths.  0: it is none. */
uint32_t span_percent(const char *p, size_t n);

/* Parse "count,total,p99.9", "50,95,99.9" and the name of a column or key to sort by.  Return false with the
 * reason in `why`, one line. */
bool span_columns_parse(struct span_columns *c, const char *words, char *why, size_t size);
bool span_columns_percentiles(struct span_columns *c, const char *numbers, char *why, size_t size);
bool span_columns_sort(struct span_columns *c, const struct group_by *by, const char *name, char *why,
                       size_t size);

/* Adds the decades; without `own` columns, the rest is count, total, p99 and max. */
bool span_columns_hist(struct span_columns *c, bool own, char *why, size_t size);

/* Sorted as `order` says, NULL: by descending total; equal ones by the bytes of the values.  Texts and groups
 * are valid until the next batch; the caller frees *rows.  t: one of s. */
bool stats_span_rows(const struct stats *s, const struct span_table *t, const struct span_columns *order,
                     struct span_row **rows, size_t *n);

/* Keys of the rows, and their names. */
unsigned stats_count_keys(const struct stats *s);
const char *stats_key_name(const struct stats *s, unsigned i);

/* A number of a row: ns, or a count.  Shares are in millionths; rates a second. */
unsigned __int128 span_column_value(const struct span_column_row *c, const struct stats *s,
                                    const struct span_row *row);

struct series_row {
	struct slice name;
	const struct series *series;
};

struct counter_row {
	struct slice name, category;
	uint64_t count;
	const struct series_row *series; /* in the list */
	size_t nseries;
	bool other; /* names beyond the limits */
};

/* Sorted by descending count, then by the bytes of the name; series of a counter in order of arrival.  The
 * caller frees *rows and *list. */
bool stats_counter_rows(const struct stats *s, struct counter_row **rows, size_t *n,
                        struct series_row **list);

/* Sorted by descending count, then by the bytes of the values. */
bool stats_tally_rows(const struct tally *t, struct tally_row **rows, size_t *n);

struct class_row {
	struct slice name;
	uint64_t records;
};

/* Records by class, without those that have none: of a trace in order of arrival, of several by name.  The
 * caller frees *rows. */
bool stats_class_rows(const struct stats *s, struct class_row **rows, size_t *n);

/* ---- stats thread ---- */

/* Counts batches in order, on a thread of its own if there is one, concurrently with reading. */

#define STATS_SLOTS 8U /* max waiting batches */

struct stats_thread {
	struct stats *stats;     /* borrowed */
	struct workers *workers; /* NULL: no further thread */
	struct batch *slots[STATS_SLOTS];
	atomic_bool no_memory;
};

/* threads: in total.  Always end with stats_thread_end(). */
bool stats_thread_begin(struct stats_thread *t, struct stats *s, unsigned threads);

/* Takes over the batch.  Returns false on OOM, now or before. */
bool stats_thread_put(struct stats_thread *t, struct batch *b);

/* Waits until all batches are counted and released. */
bool stats_thread_settle(struct stats_thread *t);
void stats_thread_end(struct stats_thread *t);

/* ---- stats report ---- */

/* Statistics, after stats_end() and stats_describe(), and what a report shows of them. */
struct stats_view {
	const struct stats *stats;
	bool classes;   /* text also lists classes: of all records, so not with a selection */
	bool markdown;  /* tables of Markdown */
	bool full;      /* JSON has all that stats_merge() needs */
	unsigned width; /* max characters in a line of text; 0: unlimited */
	const struct span_columns *columns;
};

/* The name of what a table is of: the path of a trace, or "3 traces" in `space`. */
struct slice stats_title(const struct stats_origin *o, char space[48]);

/* Comma-separated values: a row for each group, times in ns.  `first`: with the names of the columns. */
bool stats_csv_input(struct text *t, const struct stats_view *v, bool first);

/* The JSON report (schemas/stats.schema.json): begin, one call for each input, end.
 * `first`: this is the first input. */
bool stats_json_input(struct text *t, const struct stats_view *v, bool first);

/* ---- JSON of --full, read (read.c) ---- */

#define STATS_LAYOUT 1 /* changes with what --full writes, and with the meaning of a number */
#define STATS_FILE_MAX ((size_t)256 << 20)

struct stats_file {
	struct slice text;          /* a NUL follows */
	const char *tool;           /* name and version of this program */
	bool any_version;           /* files of other versions with the same layout are read, too */
	struct stats *into;         /* a table over several traces */
	bool grouped;               /* its keys are set: stats_group(); else it gets those of the file */
	struct histogram_pool pool; /* scratch */
	char why[512];              /* why it is refused; "": OOM */
};

/* Adds all inputs of a file with stats_merge().  Returns false with the reason in f->why; `into` is
 * incomplete then. */
bool stats_read(struct stats_file *f);

/* Whether a file begins as one of stats --format json; its first 64 bytes suffice. */
bool stats_file_begins(struct slice start);

/* The report as text.  Names and categories are shortened to fit the width, and to 256 bytes in any case.  At
 * most `top` rows of each table; 0: all. */
#define STATS_TOP 30

bool stats_text(struct text *t, const struct stats_view *v, size_t top);

/* ---- self chmin ---- */

/* A span of a track, or a block. */
struct self_item {
	uint64_t start, end; /* start < end */
	uint32_t index;      /* of the span; SELF_NOBODY: a block */
};

/*
 * Self times of items with any overlaps, in O(log n) per item: sets self[index] of all items with an index.
 * Items are sorted by start, then by descending end, then the containing one first.
 *
 * Goes from the last item to the first, and keeps for each point in time the least end of the items that
 * cover it.  These items begin no earlier than the current one, so a point belongs to the current item unless
 * its least end is inside it. These are the points whose value changes when it is lowered to the current end:
 * one walk over a segment tree of times, in which each node has its largest value, the time with that value,
 * and the next smaller value ("segment tree beats").
 */
bool self_chmin(const struct self_item *items, uint32_t n, uint64_t *self);

#endif
