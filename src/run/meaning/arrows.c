/* Pairs arrow ends by name and key (run/meaning/interpret.h).  Ends are buffered in a window of bounded size.
 * When it is full, the older half is resolved: its ends are sorted by time, and one pass from last to first
 * finds the nearest in of each out.  O(n log n) per window; O(n) for ends in order of time. */
#include "run/meaning/interpret.h"

#include <stdlib.h>

#include "base/compiler.h"
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
	    !array_resize(&a->order, 2 * (uint64_t)cap, sizeof *a->order) ||
	    !array_resize(&a->to, cap, sizeof *a->to))
		return false;
	a->cap = cap;
	return true;
}

static void count_lost(uint64_t *n, uint64_t *at, uint64_t offset)
{
	if ((*n)++ == 0)
		*at = offset;
}

/* id: 0 for an in. */
static void add_end(struct arrows *a, struct slice name, uint64_t key, const struct event *e, uint64_t id)
{
	const bool out = id > 0;

	if (a->n == MAX_ENDS) {
		if (out)
			count_lost(&a->dropped, &a->dropped_at, e->offset);
		return;
	}
	const uint32_t number = number_of_name(a, name);
	if (note_failure(&a->failed, number == TABLE_NONE || (a->n == a->cap && !grow(a))))
		return;
	const uint32_t bucket = (uint32_t)(hash_u64(key, a->seed + number) >> (64 - BUCKETS_LOG));
	a->keys[a->n] = (struct arrow_key){ .key = key, .name = number, .place = bucket << 1 | out };
	a->ends[a->n] = (struct arrow_end){ .ts = e->ts,
		                            .offset = e->offset,
		                            .id = id,
		                            .track = e->track,
		                            .cls = e->cls,
		                            .name = number,
		                            .flags = out ? e->flags & EVENT_ARROW : 0 };
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

/* Moves the outs of ends of one time before the ins, so that an arrow may have zero length. */
static void put_outs_first(struct arrows *a, struct timed *list, uint32_t n)
{
	struct timed *const ins = a->order + a->cap;
	uint32_t to = 0, nins = 0;

	for (uint32_t i = 0; i < n; i++)
		if (is_out(&a->keys[list[i].at]))
			list[to++] = list[i];
		else
			ins[nins++] = list[i];
	memcpy(list + to, ins, nins * sizeof *ins);
}

static void put_in_order(struct arrows *a)
{
	struct timed *const list = a->order;

	for (uint32_t i = 0; i < a->n; i++)
		list[i] = (struct timed){ a->ends[i].ts, i };
	timed_sort(list, a->n, list + a->cap);
	for (uint32_t from = 0, i = 1; i <= a->n; i++)
		if (i == a->n || list[i].ts != list[from].ts) {
			if (i - from > 1)
				put_outs_first(a, list + from, i - from);
			from = i;
		}
}

/* Finds the nearest in of each out, scanning from last to first.  buckets[] are lists of the nearest in of
 * each name and key, linked by to[] of the ins; new ones are first, as most outs are just before their in. */
static void find_nearest(struct arrows *a)
{
	memset(a->buckets, 0xff, BUCKETS * sizeof *a->buckets);
	for (uint32_t i = a->n; i-- > 0;) {
		const uint32_t slot = a->order[i].at;
		const struct arrow_key *const x = &a->keys[slot];
		uint32_t *const first = &a->buckets[bucket_of(x)], *link = first;
		if (i >= 2 * AHEAD) {
			const uint32_t next = a->buckets[bucket_of(&a->keys[a->order[i - AHEAD].at])];
			PREFETCH(&a->buckets[bucket_of(&a->keys[a->order[i - 2 * AHEAD].at])]);
			PREFETCH(&a->keys[next != NO_END ? next : slot]);
		}
		while (*link != NO_END && (a->keys[*link].key != x->key || a->keys[*link].name != x->name))
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

	a->n = 0;
	for (uint32_t i = a->old; i < n; i++)
		if (i >= a->resolved || !is_due(a, i)) {
			a->keys[a->n] = a->keys[i];
			a->ends[a->n] = a->ends[i];
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
		PREFETCH(&a->ends[a->to[i + AHEAD]]);
	if (is_due(a, i)) {
		if (b->cap - b->n < 2)
			return false;
		add_event(a, b, &a->ends[i], a->ends[i].id, PHASE_FLOW_OUT);
		add_event(a, b, &a->ends[a->to[i]], a->ends[i].id, PHASE_FLOW_IN);
	} else if (is_out(&a->keys[i]) && i < a->old) {
		if (!end)
			count_lost(&a->dropped, &a->dropped_at, a->ends[i].offset);
		else if ((a->ends[i].flags & EVENT_ARROW) != 0)
			count_lost(&a->alone, &a->alone_at, a->ends[i].offset);
		else
			count_lost(&a->endless, &a->endless_at, a->ends[i].offset);
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
