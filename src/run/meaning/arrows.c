/* Pairs arrow ends by name and key (run/meaning/interpret.h).  Ends are buffered in a window of bounded size.
 * When it is full, the older half is resolved: its ends are sorted by time (if many are out of order, per
 * hash bucket of name and key), and one pass from last to first finds the nearest in of each out.  O(n log n)
 * per window; O(n) for ends almost in order of time. */
#include "run/meaning/interpret.h"

#include <stdlib.h>

#include "base/memory.h"

#define MAX_ENDS (2 * ARROWS_WINDOW) /* buffered, if resolved ends are not fetched */

/* Start or end of an arrow, and separately the data for finding its other end: 48 and 16 bytes. */
struct arrow_end {
	uint64_t ts, offset;
	uint64_t id; /* outs only */
	const struct track *track;
	const struct class *cls;
	uint32_t name; /* index in arrows.list */
	uint8_t flags; /* enum event_flags */
	bool out;
};

struct arrow_key {
	uint64_t key;
	uint32_t name;
	uint32_t place; /* bucket, by hash of name and key; lowest bit: it is an out */
};

static inline uint32_t bucket_of(const struct arrow_key *k)
{
	return k->place >> 1;
}

static inline bool is_out(const struct arrow_key *k)
{
	return (k->place & 1) != 0;
}

#define NO_END UINT32_MAX
/* The window exceeds most caches, so data of the ends at this distance is prefetched. */
#define AHEAD 16
#define BUCKETS_LOG 18U
#define BUCKETS (1U << BUCKETS_LOG) /* as many as ends in the window; the hash is seeded */

void arrows_init(struct arrows *a)
{
	*a = (struct arrows){ .seed = hash_seed() };
}

void arrows_free(struct arrows *a)
{
	free(a->ends);
	free(a->keys);
	free(a->order);
	free(a->to);
	free(a->buckets);
	free(a->list);
	tabletext_free(&a->names);
	*a = (struct arrows){ .ends = NULL };
}

/* Returns the index of a name, or TABLE_NONE on OOM.  Names are those of the vocabulary, so pointers usually
 * match. */
static uint32_t number_of_name(struct arrows *a, struct slice name)
{
	for (uint32_t i = 0; i < a->nnames && i < 4; i++)
		if (a->list[i].p == name.p && a->list[i].n == name.n)
			return i;
	const uint32_t known = tabletext_get(&a->names, name);

	if (known != TABLE_NONE)
		return known;
	if (!array_resize(&a->list, (uint64_t)a->nnames + 1, sizeof *a->list) ||
	    !tabletext_put(&a->names, name, a->nnames))
		return TABLE_NONE;
	name.flags |= SLICE_STAYS; /* texts of the vocabulary */
	a->list[a->nnames] = name;
	return a->nnames++;
}

static bool grow(struct arrows *a)
{
	const uint32_t cap = a->cap == 0 ? 1024 : a->cap * 2;

	if (a->buckets == NULL && !array_resize(&a->buckets, BUCKETS, sizeof *a->buckets))
		return false;
	if (!array_resize(&a->ends, cap, sizeof *a->ends) || !array_resize(&a->keys, cap, sizeof *a->keys) ||
	    !array_resize(&a->order, cap, sizeof *a->order) || !array_resize(&a->to, cap, sizeof *a->to))
		return false;
	a->cap = cap;
	return true;
}

/* Order by time.  At equal times outs precede ins, so that an arrow may have zero length. */
static inline bool is_before(const struct arrow_end *x, const struct arrow_end *y)
{
	return x->ts != y->ts ? x->ts < y->ts : x->out && !y->out;
}

/* Notes the order of the end at a->n. */
static inline void count_order(struct arrows *a)
{
	if (a->n > 0 && is_before(&a->ends[a->n], &a->ends[a->n - 1])) {
		if (a->disorder < ARROWS_RUNS)
			a->runs[a->disorder] = a->n;
		a->disorder++;
	}
}

/* id: 0 for an in. */
static void add_end(struct arrows *a, struct slice name, uint64_t key, const struct event *e, uint64_t id)
{
	const bool out = id > 0;

	if (a->n == MAX_ENDS) {
		a->dropped += out;
		return;
	}
	const uint32_t number = number_of_name(a, name);
	if (number == TABLE_NONE || (a->n == a->cap && !grow(a))) {
		a->failed = true;
		return;
	}
	const uint32_t bucket = (uint32_t)(hash_u64(key, a->seed + number) >> (64 - BUCKETS_LOG));
	a->keys[a->n] = (struct arrow_key){ .key = key, .name = number, .place = bucket << 1 | out };
	a->ends[a->n] = (struct arrow_end){ .ts = e->ts,
		                            .offset = e->offset,
		                            .id = id,
		                            .track = e->track,
		                            .cls = e->cls,
		                            .name = number,
		                            .flags = out ? e->flags & EVENT_ARROW : 0,
		                            .out = out };
	count_order(a);
	a->n++;
}

void arrows_out(struct arrows *a, struct slice name, uint64_t key, const struct event *e)
{
	add_end(a, name, key, e, ++a->id);
}

void arrows_in(struct arrows *a, struct slice name, uint64_t key, const struct event *e)
{
	add_end(a, name, key, e, 0);
}

/* ---- resolving ---- */

static bool same_key(const struct arrow_key *x, const struct arrow_key *y)
{
	return x->key == y->key && x->name == y->name;
}

/* Counting sort: order[] becomes the indexes of all ends by bucket, and by arrival in each bucket; buckets[i]
 * is the end of the i-th bucket. */
static void fill_buckets(struct arrows *a)
{
	uint32_t sum = 0;

	memset(a->buckets, 0, BUCKETS * sizeof *a->buckets);
	for (uint32_t i = 0; i < a->n; i++)
		a->buckets[bucket_of(&a->keys[i])]++;
	for (uint32_t i = 0; i < BUCKETS; i++) {
		const uint32_t n = a->buckets[i];
		a->buckets[i] = sum;
		sum += n;
	}
	for (uint32_t i = 0; i < a->n; i++)
		a->order[a->buckets[bucket_of(&a->keys[i])]++] = i;
}

static void sort_few(const struct arrow_end *ends, uint32_t *p, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		const uint32_t x = p[i];
		uint32_t k = i;
		for (; k > 0 && is_before(&ends[x], &ends[p[k - 1]]); k--)
			p[k] = p[k - 1];
		p[k] = x;
	}
}

/* Merges p[0, first) and p[first, n); spare has space for `first` indexes.  Does not move the prefix of p[0,
 * first) that is already in place. */
static void merge(const struct arrow_end *ends, uint32_t *p, uint32_t first, uint32_t n, uint32_t *spare)
{
	uint32_t start = first, i = 0, k = first;

	while (start > 0 && is_before(&ends[p[first]], &ends[p[start - 1]]))
		start--;
	const uint32_t moved = first - start;
	uint32_t to = start;
	memcpy(spare, p + start, moved * sizeof *p);
	while (i < moved)
		p[to++] = k < n && is_before(&ends[p[k]], &ends[spare[i]]) ? p[k++] : spare[i++];
}

#define FEW 16

/* Stable bottom-up merge sort.  Adjacent blocks already in order are not merged. */
static void sort_by_time(const struct arrow_end *ends, uint32_t *p, uint32_t n, uint32_t *spare)
{
	for (uint32_t i = 0; i < n; i += FEW)
		sort_few(ends, p + i, n - i < FEW ? n - i : FEW);
	for (uint32_t width = FEW; width < n; width *= 2)
		for (uint32_t i = 0; n - i > width; i += 2 * width) {
			const uint32_t end = n - i < 2 * width ? n - i : 2 * width;
			if (is_before(&ends[p[i + width]], &ends[p[i + width - 1]]))
				merge(ends, p + i, width, end, spare);
			if (end < 2 * width)
				break;
		}
}

/* Likewise, for a few ordered runs of ends, such as buffers of several threads. */
static void merge_runs(struct arrows *a)
{
	for (uint32_t i = 0; i < a->disorder; i++)
		merge(a->ends, a->order, a->runs[i], i + 1 < a->disorder ? a->runs[i + 1] : a->n, a->to);
}

/* Sorts ends of the same name and key by time, in order[].  Sorting all ends together is cheaper only if few
 * are out of order. */
static void put_in_order(struct arrows *a)
{
	if (a->disorder > a->n / 16) {
		fill_buckets(a);
		for (uint32_t i = 0, from = 0; i < BUCKETS; from = a->buckets[i++])
			sort_by_time(a->ends, a->order + from, a->buckets[i] - from, a->to);
		return;
	}
	for (uint32_t i = 0; i < a->n; i++)
		a->order[i] = i;
	if (a->disorder <= ARROWS_RUNS)
		merge_runs(a);
	else
		sort_by_time(a->ends, a->order, a->n, a->to);
}

/* Finds the nearest in of each out, scanning from last to first.  buckets[] are lists of the nearest in of
 * each name and key, linked by to[] of the ins; new ones are first, as most outs are just before their in. */
static void find_nearest(struct arrows *a)
{
	memset(a->buckets, 0xff, BUCKETS * sizeof *a->buckets);
	for (uint32_t i = a->n; i-- > 0;) {
		const uint32_t slot = a->order[i];
		const struct arrow_key *const x = &a->keys[slot];
		uint32_t *const first = &a->buckets[bucket_of(x)], *link = first;
		if (i >= 2 * AHEAD) {
			const uint32_t next = a->buckets[bucket_of(&a->keys[a->order[i - AHEAD]])];
			__builtin_prefetch(&a->buckets[bucket_of(&a->keys[a->order[i - 2 * AHEAD]])]);
			__builtin_prefetch(&a->keys[next != NO_END ? next : slot]);
		}
		while (*link != NO_END && !same_key(&a->keys[*link], x))
			link = &a->to[*link];
		if (is_out(x)) {
			a->to[slot] = *link;
		} else if (*link != NO_END) {
			a->to[slot] = a->to[*link];
			*link = slot;
		} else {
			a->to[slot] = *first;
			*first = slot;
		}
	}
}

/* Resolves all buffered ends; nothing is being emitted. */
static void resolve(struct arrows *a, bool all)
{
	put_in_order(a);
	find_nearest(a);
	a->at = 0;
	a->resolved = a->n;
	a->old = all ? a->n : a->n - ARROWS_WINDOW / 2;
}

/* Returns false for an arrow whose ends are both in the newer half: a nearer in may follow. */
static bool is_due(const struct arrows *a, uint32_t i)
{
	return is_out(&a->keys[i]) && a->to[i] != NO_END && (i < a->old || a->to[i] < a->old);
}

/* Removes emitted ends and the older half. */
static void remove_emitted(struct arrows *a)
{
	const uint32_t n = a->n;

	a->n = a->disorder = 0;
	for (uint32_t i = a->old; i < n; i++)
		if (i >= a->resolved || !is_due(a, i)) {
			a->keys[a->n] = a->keys[i];
			a->ends[a->n] = a->ends[i];
			count_order(a);
			a->n++;
		}
	a->at = a->resolved = a->old = 0;
}

/* ---- output ---- */

static void add_event(const struct arrows *a, struct batch *b, const struct arrow_end *end, uint64_t id,
                      enum phase phase)
{
	if (b->bytes != NULL)
		b->bytes[b->n] = (struct slice){ "", 0, 0 };
	b->events[b->n++] = (struct event){
		.ts = end->ts,
		.dur = id,
		.name = a->list[end->name],
		.cls = end->cls,
		.track = end->track,
		.offset = end->offset,
		.first_field = b->nfields,
		.phase = (uint8_t)phase,
		.flags = end->flags,
	};
}

/* Emits the arrow of the next end, if due.  Returns false if the batch is full. */
static bool emit_next(struct arrows *a, struct batch *b, bool end)
{
	const uint32_t i = a->at;

	if (i + AHEAD < a->resolved && is_out(&a->keys[i + AHEAD]) && a->to[i + AHEAD] != NO_END)
		__builtin_prefetch(&a->ends[a->to[i + AHEAD]]);
	if (is_due(a, i)) {
		if (b->cap - b->n < 2)
			return false;
		add_event(a, b, &a->ends[i], a->ends[i].id, PHASE_FLOW_OUT);
		add_event(a, b, &a->ends[a->to[i]], a->ends[i].id, PHASE_FLOW_IN);
	} else if (is_out(&a->keys[i]) && i < a->old) {
		if (!end)
			a->dropped++;
		else if ((a->ends[i].flags & EVENT_ARROW) != 0)
			a->alone++;
		else
			a->endless++;
	}
	a->at++;
	return true;
}

bool arrows_give(struct arrows *a, struct batch *b, bool end)
{
	for (;;) {
		while (a->at < a->resolved)
			if (!emit_next(a, b, end && a->n == a->resolved))
				return true;
		if (a->resolved > 0)
			remove_emitted(a); /* runs for each batch; without emitted ends nothing moves */
		if (a->n == 0 || (a->n < ARROWS_WINDOW && !end))
			return false;
		resolve(a, end);
	}
}
