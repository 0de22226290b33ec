/* The results in the order that reports show. */
#include "stats/stats.h"

#include <stdlib.h>

static const struct slice other_names = SLICE_LIT("(other names)");

static int
by_bytes(struct slice a, struct slice b)
{
	uint32_t n = a.n < b.n ? a.n : b.n;
	int c = n > 0 ? memcmp(a.p, b.p, n) : 0;

	return c != 0 ? c : (a.n > b.n) - (a.n < b.n);
}

static int
by_total(const void *a, const void *b)
{
	const struct span_row *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	int c = by_bytes(x->name, y->name);
	return c != 0 ? c : by_bytes(x->category, y->category);
}

static int
by_count(const void *a, const void *b)
{
	const struct tally_row *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return by_bytes(x->name, y->name);
}

static struct slice
category_text(const struct stats *s, uint32_t category)
{
	return category == NAMES_MAX ? other_names : names_text(&s->categories, category);
}

static struct span_row
row_of(const struct stats *s, const struct span_table *t, const struct span_group *g, uint32_t who)
{
	const struct self_name *const times = self_times_of(&s->times, who);

	if (t == &s->async)
		return (struct span_row){ .group = g, .total = total_of(g->sum) };
	return (struct span_row){ .group = g,
		                  .total = total_of(times->total),
		                  .self = total_of(times->self),
		                  .recursive = times->recursive };
}

bool
stats_span_rows(const struct stats *s, const struct span_table *t, struct span_row **rows, size_t *n)
{
	struct span_row *r = malloc(((size_t)t->names.n + 1) * sizeof *r);

	if (r == NULL)
		return false;
	*n = 0;
	for (uint32_t i = 0; i < t->names.n; i++) {
		if (i >= t->cap || t->groups[i].count == 0)
			continue; /* opened, never closed */
		r[*n] = row_of(s, t, &t->groups[i], i);
		r[*n].name = names_text(&t->names, i);
		r[(*n)++].category = category_text(s, t->names.names[i].with);
	}
	if (t->other.count > 0) {
		r[*n] = row_of(s, t, &t->other, SELF_OTHER);
		r[*n].name = other_names;
		r[(*n)++].category = SLICE_LIT("");
	}
	qsort(r, *n, sizeof *r, by_total);
	*rows = r;
	return true;
}

bool
stats_tally_rows(const struct tally *t, struct tally_row **rows, size_t *n)
{
	struct tally_row *r = malloc(((size_t)t->names.n + 1) * sizeof *r);

	if (r == NULL)
		return false;
	*n = 0;
	for (uint32_t i = 0; i < t->names.n; i++)
		if (i < t->cap && t->counts[i] > 0)
			r[(*n)++] = (struct tally_row){ names_text(&t->names, i), t->counts[i], i };
	if (t->other > 0)
		r[(*n)++] = (struct tally_row){ other_names, t->other, NAMES_OTHER };
	qsort(r, *n, sizeof *r, by_count);
	*rows = r;
	return true;
}

/* Of one counter those stand together. */
static int
by_counter(const void *a, const void *b)
{
	const struct series_row *x = a, *y = b;

	if (x->series->counter != y->series->counter)
		return x->series->counter < y->series->counter ? -1 : 1;
	return (x->series > y->series) - (x->series < y->series);
}

bool
stats_counter_rows(const struct stats *s, struct counter_row **rows, size_t *n, struct series_row **list)
{
	const struct series_set *const set = &s->series;
	struct tally_row *tally;
	size_t nseries = 0;

	if (!stats_tally_rows(&s->counters, &tally, n))
		return false;
	struct counter_row *const r = calloc(*n + 1, sizeof *r);
	struct series_row *const l = calloc((size_t)set->n + 1, sizeof *l);
	size_t *const first =
	    calloc((size_t)s->counters.names.n + 1, sizeof *first); /* index + 1 in the list */
	*rows = r;
	*list = l;
	if (r == NULL || l == NULL || first == NULL) {
		free(tally);
		free(r);
		free(l);
		free(first);
		return false;
	}
	for (uint32_t i = 0; i < set->n; i++)
		if (set->list[i].count > 0)
			l[nseries++] = (struct series_row){ names_text(&set->names, i), &set->list[i] };
	qsort(l, nseries, sizeof *l, by_counter);
	for (size_t i = nseries; i-- > 0;)
		first[l[i].series->counter] = i + 1;
	for (size_t i = 0; i < *n; i++) {
		const uint32_t number = tally[i].number;
		r[i] = (struct counter_row){ .name = tally[i].name, .count = tally[i].count };
		if (number == NAMES_OTHER)
			continue;
		r[i].category = s->counter_class[number]->category;
		const size_t at = first[number];
		for (r[i].series = l + at - (at > 0); at > 0 && at - 1 + r[i].nseries < nseries;)
			if (r[i].series[r[i].nseries].series->counter != number)
				break;
			else
				r[i].nseries++;
	}
	free(tally);
	free(first);
	return true;
}
