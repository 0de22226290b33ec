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
by_sum(const void *a, const void *b)
{
	const struct span_row *x = a, *y = b;

	if (total_of(x->group->sum) != total_of(y->group->sum))
		return total_of(x->group->sum) < total_of(y->group->sum) ? 1 : -1;
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
		r[(*n)++] = (struct span_row){ .name = names_text(&t->names, i),
			                       .category = category_text(s, t->names.names[i].with),
			                       .group = &t->groups[i] };
	}
	if (t->other.count > 0)
		r[(*n)++] =
		    (struct span_row){ .name = other_names, .category = SLICE_LIT(""), .group = &t->other };
	qsort(r, *n, sizeof *r, by_sum);
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
			r[(*n)++] =
			    (struct tally_row){ .name = names_text(&t->names, i), .count = t->counts[i] };
	if (t->other > 0)
		r[(*n)++] = (struct tally_row){ .name = other_names, .count = t->other };
	qsort(r, *n, sizeof *r, by_count);
	*rows = r;
	return true;
}
