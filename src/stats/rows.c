/* The results as rows: groups of spans, instants and counters, in the order of a report. */
#include <stdlib.h>

#include "base/match.h"
#include "stats/stats.h"

static const struct slice other_names = SLICE_LIT(NAMES_OTHER_TEXT);

/* Descending rank; equal ones by the key `first`, then by all keys. */
static int by_rank(const void *a, const void *b)
{
	const struct span_row *const x = a, *const y = b;
	const int c = slice_compare(x->values[x->first], y->values[y->first]);

	return x->rank != y->rank ? ORDER(y->rank, x->rank)
	       : c != 0           ? c
	                          : slices_compare(x->values, y->values, GROUP_KEYS_MAX);
}

static void rank(const struct span_columns *c, const struct stats *s, struct span_row *row)
{
	const bool by_key = c != NULL && c->sort >= SPAN_SORT_KEYS;

	row->first = by_key ? c->sort - SPAN_SORT_KEYS : 0;
	row->rank = by_key ? 0 : c != NULL ? span_column_rank(&c->sort_by, s, row) : row->total;
}

static int by_count(const void *a, const void *b)
{
	const struct tally_row *x = a, *y = b;

	return x->count != y->count ? ORDER(y->count, x->count)
	                            : slices_compare(x->values, y->values, GROUP_KEYS_MAX);
}

/* The row of a group by its number, or NAMES_OTHER. */
static struct span_row row_of(const struct stats *s, const struct span_table *t, uint32_t number)
{
	const bool other = number == NAMES_OTHER;
	const struct span_group *const g = other ? &t->other : &t->groups[number];
	const struct self_name *const times = self_times_of(&s->times, other ? SELF_OTHER : number);
	struct span_row row = { .group = g, .total = total_of(g->sum), .other = other };

	if (t != &s->async) {
		row.total = total_of(times->total);
		row.self = total_of(times->self);
		row.waiting = total_of(times->waiting);
		row.recursive = times->recursive;
	}
	if (other && s->hist)
		row.decades = t->other_decades;
	else if (!other && number < t->ndecades)
		row.decades = t->decades[number];
	if (s->examples.n > 0)
		row.examples = longest_of(&t->longest, other ? LONGEST_OTHER : number);
	if (s->by.n > 0) {
		groups_values(s, &t->set, number, row.values);
	} else if (other) {
		row.name = other_names;
	} else {
		const uint32_t category = t->names.names[number].with;
		row.name = names_text(&t->names, number);
		row.category = category == NAMES_MAX ? other_names : names_text(&s->categories, category);
	}
	return row;
}

bool stats_top_rows(const struct stats *s, const struct span_table *t, const struct span_columns *order,
                    enum span_rows which, size_t top, struct span_row **rows, size_t *all)
{
	const uint32_t groups = s->by.n > 0 ? t->set.n : t->names.n;
	const uint32_t count = groups < t->cap ? groups : t->cap;
	const size_t most = (size_t)count + 1;
	const size_t cap = top == 0 || top > most / 2 ? most : top * 2;
	struct span_row *const r = malloc(cap * sizeof *r);
	bool full = false; /* the first `top` rows are sorted; rows behind them are not needed */
	size_t n = 0;

	if (r == NULL)
		return false;
	*all = 0;
	for (uint32_t i = 0; i <= count; i++) {
		const bool other = i == count;
		if ((other ? t->other.count : t->groups[i].count) == 0) /* opened, never closed */
			continue;
		struct span_row row = row_of(s, t, other ? NAMES_OTHER : i);
		if (which != SPAN_ROWS_ALL && span_row_waits(&row) != (which == SPAN_ROWS_WAITING))
			continue;
		++*all;
		rank(order, s, &row);
		if (full && by_rank(&row, &r[top - 1]) > 0)
			continue;
		r[n++] = row;
		if (n == cap && cap < most) {
			qsort(r, n, sizeof *r, by_rank);
			n = top;
			full = true;
		}
	}
	qsort(r, n, sizeof *r, by_rank);
	*rows = r;
	return true;
}

bool stats_span_rows(const struct stats *s, const struct span_table *t, const struct span_columns *order,
                     struct span_row **rows, size_t *n)
{
	return stats_top_rows(s, t, order, SPAN_ROWS_ALL, 0, rows, n);
}

bool stats_each_span(const struct stats *s, span_row_fn *f, void *ctx)
{
	const struct span_table *const tables[] = { &s->spans, &s->async };
	struct span_row *rows;
	size_t n;
	bool ok = true;

	for (int k = 0; ok && k < 2; k++) {
		if (!stats_span_rows(s, tables[k], NULL, &rows, &n))
			return false;
		for (size_t i = 0; ok && i < n; i++)
			ok = f(ctx, tables[k], &rows[i]);
		free(rows);
	}
	return ok;
}

static struct tally_row tally_row(const struct tally *t, uint32_t number)
{
	struct tally_row row = { .count = number == NAMES_OTHER ? t->other : t->counts[number],
		                 .number = number };

	if (t->grouped != NULL)
		groups_values(t->grouped, &t->set, number, row.values);
	else
		row.name = number == NAMES_OTHER ? other_names : names_text(&t->names, number);
	return row;
}

bool stats_tally_rows(const struct tally *t, struct tally_row **rows, size_t *n)
{
	const uint32_t count = t->grouped != NULL ? t->set.n : t->names.n;
	struct tally_row *const r = malloc(((size_t)count + 1) * sizeof *r);

	if (r == NULL)
		return false;
	*n = 0;
	for (uint32_t i = 0; i < count && i < t->cap; i++)
		if (t->counts[i] > 0)
			r[(*n)++] = tally_row(t, i);
	if (t->other > 0)
		r[(*n)++] = tally_row(t, NAMES_OTHER);
	qsort(r, *n, sizeof *r, by_count);
	*rows = r;
	return true;
}

/* Groups series by counter, in order of arrival. */
static int by_counter(const void *a, const void *b)
{
	const struct series_row *x = a, *y = b;

	return x->series->counter != y->series->counter ? ORDER(x->series->counter, y->series->counter)
	                                                : ORDER(x->series, y->series);
}

/* The same, but by name: joint tables do not depend on the order of the traces. */
static int by_counter_and_name(const void *a, const void *b)
{
	const struct series_row *x = a, *y = b;
	const int c = slice_compare(x->name, y->name);

	return x->series->counter == y->series->counter && c != 0 ? c : by_counter(a, b);
}

bool stats_counter_rows(const struct stats *s, struct counter_row **rows, size_t *n, struct series_row **list)
{
	const struct series_set *const set = &s->series;
	struct tally_row *tally;
	size_t nseries = 0;

	if (!stats_tally_rows(&s->counters, &tally, n))
		return false;
	struct counter_row *const r = calloc(*n + 1, sizeof *r);
	struct series_row *const l = calloc((size_t)set->n + 1, sizeof *l);
	/* by counter: index of its first series in the list, if it has any */
	size_t *const first = calloc((size_t)s->counters.names.n + 1, sizeof *first);
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
	qsort(l, nseries, sizeof *l, s->joint ? by_counter_and_name : by_counter);
	for (size_t i = nseries; i-- > 0;)
		first[l[i].series->counter] = i;
	for (size_t i = 0; i < *n; i++) {
		const uint32_t number = tally[i].number;
		r[i] = (struct counter_row){ .name = tally[i].name, .count = tally[i].count };
		r[i].other = number == NAMES_OTHER;
		if (r[i].other)
			continue;
		r[i].category = s->counter_category[number];
		r[i].series = l + first[number];
		while (first[number] + r[i].nseries < nseries &&
		       r[i].series[r[i].nseries].series->counter == number)
			r[i].nseries++;
	}
	free(tally);
	free(first);
	*rows = r;
	*list = l;
	return true;
}

static int by_name(const void *a, const void *b)
{
	return slice_compare(((const struct tally_row *)a)->name, ((const struct tally_row *)b)->name);
}

bool stats_class_rows(const struct stats *s, struct tally_row **rows, size_t *n)
{
	const struct trace *const trace = s->trace;
	const struct tally *const joint = &s->classes;
	const size_t most = (trace != NULL ? trace->nclasses : joint->names.n) + (size_t)1;
	struct tally_row *const r = malloc(most * sizeof *r);

	if (r == NULL)
		return false;
	*n = 0;
	for (uint32_t i = 0; trace != NULL && i < trace->nclasses; i++) {
		const struct class *const c = trace->classes[i];
		const uint64_t records = c->first == c ? trace_class_records(c) : 0;
		if (records > 0)
			r[(*n)++] = (struct tally_row){ .name = c->name, .count = records };
	}
	for (uint32_t i = 0; trace == NULL && i < joint->names.n; i++)
		if (i < joint->cap && joint->counts[i] > 0)
			r[(*n)++] = (struct tally_row){ .name = names_text(&joint->names, i),
				                        .count = joint->counts[i] };
	if (s->joint)
		qsort(r, *n, sizeof *r, by_name);
	if (trace == NULL && joint->other > 0)
		r[(*n)++] = (struct tally_row){ .name = other_names, .count = joint->other };
	*rows = r;
	return true;
}
