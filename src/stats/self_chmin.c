#include "stats/self_chmin.h"

#include <stdlib.h>

#include "stats/self_times.h"

struct node {
	uint32_t most, next; /* the largest end of a point here, as a rank, and the next smaller; 0: none */
	uint64_t time;       /* of the points that have the largest */
};

struct tree {
	struct node *nodes; /* [1] is the root */
	uint64_t *times;    /* all starts and ends, each once */
	uint32_t n;         /* of them */
};

static int
by_time(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint32_t
rank_of(const struct tree *t, uint64_t time)
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

static void
join(struct node *to, const struct node *a, const struct node *b)
{
	if (a->most == b->most) {
		to->most = a->most;
		to->time = a->time + b->time;
		to->next = a->next > b->next ? a->next : b->next;
		return;
	}
	const struct node *const more = a->most > b->most ? a : b, *const less = more == a ? b : a;
	to->most = more->most;
	to->time = more->time;
	to->next = more->next > less->most ? more->next : less->most;
}

/* Points are the stretches [times[i], times[i + 1]), lo <= i < hi. */
static void
build(struct tree *t, uint32_t at, uint32_t lo, uint32_t hi)
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

static void
lower(struct node *n, uint32_t v)
{
	if (n->most > v)
		n->most = v;
}

/* Lowers the points [from, to) to v; the time of those that change.  As deep as the tree: 18. */
static uint64_t
change(struct tree *t, uint32_t at, uint32_t lo, uint32_t hi, uint32_t from, uint32_t to, uint32_t v)
{
	struct node *const n = &t->nodes[at];

	if (to <= lo || hi <= from || n->most <= v)
		return 0;
	if (from <= lo && hi <= to && n->next < v) {
		n->most = v;
		return n->time;
	}
	const uint32_t mid = lo + (hi - lo) / 2;
	lower(&t->nodes[2 * at], n->most);
	lower(&t->nodes[2 * at + 1], n->most);
	const uint64_t changed =
	    change(t, 2 * at, lo, mid, from, to, v) + change(t, 2 * at + 1, mid, hi, from, to, v);
	join(n, &t->nodes[2 * at], &t->nodes[2 * at + 1]);
	return changed;
}

bool
self_chmin(const struct self_item *items, uint32_t n, uint64_t *self)
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
	qsort(t.times, (size_t)n * 2, sizeof *t.times, by_time);
	for (uint32_t i = 0; i < 2 * n; i++)
		if (t.n == 0 || t.times[t.n - 1] != t.times[i])
			t.times[t.n++] = t.times[i];
	t.nodes = malloc((size_t)t.n * 4 * sizeof *t.nodes);
	const bool ok = t.nodes != NULL;
	if (ok) {
		build(&t, 1, 0, t.n - 1);
		for (uint32_t i = n; i-- > 0;) {
			const uint32_t from = rank_of(&t, items[i].start), to = rank_of(&t, items[i].end);
			const uint64_t own = change(&t, 1, 0, t.n - 1, from, to, to);
			if (items[i].index != SELF_NOBODY)
				self[items[i].index] = own;
		}
	}
	free(t.nodes);
	free(t.times);
	return ok;
}
