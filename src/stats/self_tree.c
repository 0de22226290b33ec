/* Self times of spans with any overlaps (measures.h): a walk over a segment tree of times for each span, in
 * O(log n), for tracks on which too many spans overlap in part. */
#include "stats/measures.h"

#include <stdlib.h>

#include "base/memory.h"

/* Segment tree beats (range chmin). */
struct node {
	uint32_t max, next; /* largest end of a point, as a rank, and the next smaller one; 0: none */
	uint64_t time;      /* total time of the points with the largest end */
};

struct tree {
	struct node *nodes; /* [1] is the root */
	uint64_t *times;    /* distinct starts and ends, sorted */
	uint32_t n;         /* of times */
};

static uint32_t rank_of(const struct tree *t, uint64_t time)
{
	uint32_t lo = 0, hi = t->n;

	while (hi - lo > 1) {
		const uint32_t mid = lo + (hi - lo) / 2;
		if (t->times[mid] <= time)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static void join(struct node *to, const struct node *a, const struct node *b)
{
	if (a->max == b->max) {
		to->max = a->max;
		to->time = a->time + b->time;
		to->next = a->next > b->next ? a->next : b->next;
		return;
	}
	const struct node *const more = a->max > b->max ? a : b, *const less = more == a ? b : a;
	to->max = more->max;
	to->time = more->time;
	to->next = more->next > less->max ? more->next : less->max;
}

/* Points are the intervals [times[i], times[i + 1]), lo <= i < hi. */
static void build(struct tree *t, uint32_t at, uint32_t lo, uint32_t hi)
{
	if (hi - lo == 1) {
		t->nodes[at] = (struct node){ UINT32_MAX, 0, t->times[lo + 1] - t->times[lo] };
		return;
	}
	const uint32_t mid = lo + (hi - lo) / 2;
	build(t, 2 * at, lo, mid);
	build(t, 2 * at + 1, mid, hi);
	join(&t->nodes[at], &t->nodes[2 * at], &t->nodes[2 * at + 1]);
}

static void lower(struct node *n, uint32_t v)
{
	if (n->max > v)
		n->max = v;
}

/* Lowers the points [from, to) to v and returns the time of those that change.  Recursive, 18 levels. */
static uint64_t lower_range(struct tree *t, uint32_t at, uint32_t lo, uint32_t hi, uint32_t from, uint32_t to,
                            uint32_t v)
{
	struct node *const n = &t->nodes[at];

	if (to <= lo || hi <= from || n->max <= v)
		return 0;
	if (from <= lo && hi <= to && n->next < v) {
		n->max = v;
		return n->time;
	}
	const uint32_t mid = lo + (hi - lo) / 2;
	lower(&t->nodes[2 * at], n->max);
	lower(&t->nodes[2 * at + 1], n->max);
	const uint64_t changed =
	    lower_range(t, 2 * at, lo, mid, from, to, v) + lower_range(t, 2 * at + 1, mid, hi, from, to, v);
	join(n, &t->nodes[2 * at], &t->nodes[2 * at + 1]);
	return changed;
}

/* Visits items from the last to the first, and keeps for each point in time the least end of the visited
 * items that cover it.  Visited items begin no earlier than the current one, so a point belongs to the
 * current item unless its least end is inside the item.  Lowering the ends to that of the current item
 * changes just the points that belong to it: one walk over a segment tree of times, in which each node has
 * its largest end, the time with that end, and the next smaller end ("segment tree beats"). */
bool self_tree(const struct self_item *items, uint32_t n, uint64_t *self)
{
	struct tree t = { .times = malloc(((size_t)n * 2 + 1) * sizeof *t.times) };

	if (n == 0 || t.times == NULL) {
		free(t.times);
		return n == 0;
	}
	for (uint32_t i = 0; i < n; i++) {
		t.times[2 * i] = items[i].start;
		t.times[2 * i + 1] = items[i].end;
	}
	qsort(t.times, (size_t)n * 2, sizeof *t.times, compare_u64);
	for (uint32_t i = 0; i < 2 * n; i++)
		if (t.n == 0 || t.times[t.n - 1] != t.times[i])
			t.times[t.n++] = t.times[i];
	t.nodes = malloc((size_t)t.n * 4 * sizeof *t.nodes);
	const bool ok = t.nodes != NULL;
	if (ok) {
		build(&t, 1, 0, t.n - 1);
		for (uint32_t i = n; i-- > 0;) {
			const uint32_t from = rank_of(&t, items[i].start), to = rank_of(&t, items[i].end);
			const uint64_t own = lower_range(&t, 1, 0, t.n - 1, from, to, to);
			if (items[i].index != SELF_NOBODY)
				self[items[i].index] = own;
		}
	}
	free(t.nodes);
	free(t.times);
	return ok;
}
