/* Heaps of the longest items of each group; they keep fewer items per group when memory is used up. */
#include "stats/tables/longest.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/scan.h"

#define MAX_NAME 4096      /* bytes of a name that are kept */
#define MAX_SHORT_NAME 256 /* the same when memory is used up */

/* ---- the heap ---- */

static bool is_shorter(const struct longest_item *a, const struct longest_item *b)
{
	return a->length != b->length ? a->length < b->length : a->number > b->number;
}

static void sift_down(struct longest_item *h, size_t n, size_t i)
{
	const struct longest_item moved = h[i];

	for (size_t child; (child = 2 * i + 1) < n; i = child) {
		child += child + 1 < n && is_shorter(&h[child + 1], &h[child]);
		if (!is_shorter(&h[child], &moved))
			break;
		h[i] = h[child];
	}
	h[i] = moved;
}

static void sift_up(struct longest_item *h, size_t i)
{
	const struct longest_item moved = h[i];

	for (; i > 0 && is_shorter(&moved, &h[(i - 1) / 2]); i = (i - 1) / 2)
		h[i] = h[(i - 1) / 2];
	h[i] = moved;
}

static void drop_shortest(struct longest *l, struct longest_group *g)
{
	struct longest_item *const h = g->list;

	l->bytes -= (uint64_t)h[0].name + h[0].second + h[0].fields;
	l->items--;
	free(h[0].texts);
	h[0] = h[--g->n];
	if (g->n > 0)
		sift_down(h, g->n, 0);
}

/* ---- groups ---- */

static bool is_used_up(const struct longest *l)
{
	return l->used > 1 && (l->items >= LONGEST_ITEMS || l->bytes >= LONGEST_BYTES);
}

/* Halves the limit of items per group until memory suffices. */
static void reduce(struct longest *l)
{
	while (is_used_up(l) && l->limit > 1) {
		l->limit /= 2;
		for (uint32_t i = 0; i < l->ngroups; i++)
			while (l->groups[i].n > l->limit)
				drop_shortest(l, &l->groups[i]);
		while (l->other.n > l->limit)
			drop_shortest(l, &l->other);
	}
	l->full |= is_used_up(l);
}

static const struct longest_group none = { .n = 0 };

const struct longest_group *longest_of(const struct longest *l, uint32_t group)
{
	return group == LONGEST_OTHER ? &l->other : group < l->ngroups ? &l->groups[group] : &none;
}

static const struct longest_group *group_for(const struct longest *l, uint32_t group)
{
	return l->full && longest_of(l, group)->n == 0 ? &l->other : longest_of(l, group);
}

bool longest_wants(const struct longest *l, uint32_t group, uint64_t length)
{
	const struct longest_group *const g = group_for(l, group);

	return g->n < l->limit || length > g->list[0].length;
}

bool longest_add(struct longest *l, uint32_t group, struct longest_item item, struct slice name,
                 struct slice second, struct slice fields)
{
	const size_t max = l->full ? MAX_SHORT_NAME : MAX_NAME;

	if (group_for(l, group) != &l->other &&
	    !array_reach(&l->groups, &l->ngroups, group, sizeof *l->groups))
		return false;
	struct longest_group *const g = group_for(l, group) == &l->other ? &l->other : &l->groups[group];
	item.name = (uint32_t)utf8_cut(name.p, name.n, max);
	item.second = (uint32_t)utf8_cut(second.p, second.n, max);
	item.fields = l->full ? 0 : fields.n;
	item.number = l->arrived++;
	item.texts = malloc((size_t)item.name + item.second + item.fields + 1);
	if (item.texts == NULL)
		return false;
	array_copy(item.texts, name.p, item.name);
	array_copy(item.texts + item.name, second.p, item.second);
	array_copy(item.texts + item.name + item.second, fields.p, item.fields);
	l->used += g->n == 0;
	if (g->n == l->limit)
		drop_shortest(l, g);
	if (!array_reserve(&g->list, g->n, &g->cap, sizeof *g->list)) {
		free(item.texts);
		return false;
	}
	l->items++;
	l->bytes += (uint64_t)item.name + item.second + item.fields;
	g->list[g->n] = item;
	sift_up(g->list, g->n++);
	reduce(l);
	return true;
}

static int longest_first(const void *a, const void *b)
{
	return is_shorter(a, b) ? 1 : -1;
}

void longest_end(struct longest *l)
{
	for (uint32_t i = 0; i < l->ngroups; i++)
		array_sort(l->groups[i].list, l->groups[i].n, sizeof *l->groups[i].list, longest_first);
	array_sort(l->other.list, l->other.n, sizeof *l->other.list, longest_first);
}

static void free_group(struct longest_group *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		free(g->list[i].texts);
	free(g->list);
}

void longest_free(struct longest *l)
{
	for (uint32_t i = 0; i < l->ngroups; i++)
		free_group(&l->groups[i]);
	free(l->groups);
	free_group(&l->other);
}
