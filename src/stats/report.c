/* The report: rows sorted by total time or count, and text tables. */
#include <inttypes.h>
#include <stdlib.h>

#include "output/columns.h"
#include "output/text_units.h"
#include "output/text_visible.h"
#include "stats/stats.h"

/* ---- stats rows ---- */

static const struct slice other_names = SLICE_LIT("(other names)");

static int by_bytes(struct slice a, struct slice b)
{
	uint32_t n = a.n < b.n ? a.n : b.n;
	int c = n > 0 ? memcmp(a.p, b.p, n) : 0;

	return c != 0 ? c : (a.n > b.n) - (a.n < b.n);
}

static int by_values(const struct slice *a, const struct slice *b)
{
	int c = 0;

	for (unsigned i = 0; c == 0 && i < GROUP_KEYS_MAX; i++)
		c = by_bytes(a[i], b[i]);
	return c;
}

static int by_total(const void *a, const void *b)
{
	const struct span_row *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return by_values(x->values, y->values);
}

static int by_count(const void *a, const void *b)
{
	const struct tally_row *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return by_values(x->values, y->values);
}

static struct slice category_text(const struct stats *s, uint32_t category)
{
	return category == NAMES_MAX ? other_names : names_text(&s->categories, category);
}

static struct span_row row_of(const struct stats *s, const struct span_table *t, const struct span_group *g,
                              uint32_t who)
{
	const struct self_name *const times = self_times_of(&s->times, who);

	if (t == &s->async)
		return (struct span_row){ .group = g, .total = total_of(g->sum) };
	return (struct span_row){ .group = g,
		                  .total = total_of(times->total),
		                  .self = total_of(times->self),
		                  .recursive = times->recursive };
}

bool stats_span_rows(const struct stats *s, const struct span_table *t, struct span_row **rows, size_t *n)
{
	const uint32_t count = s->by.n > 0 ? t->set.n : t->names.n;
	struct span_row *r = malloc(((size_t)count + 1) * sizeof *r);

	if (r == NULL)
		return false;
	*n = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (i >= t->cap || t->groups[i].count == 0)
			continue; /* opened, never closed */
		struct span_row *const row = &r[(*n)++];
		*row = row_of(s, t, &t->groups[i], i);
		row->sum = i < t->nsums ? &t->sums[i] : NULL;
		if (s->by.n > 0) {
			groups_values(s, &t->set, i, row->values);
		} else {
			row->name = names_text(&t->names, i);
			row->category = category_text(s, t->names.names[i].with);
		}
	}
	if (t->other.count > 0) {
		struct span_row *const row = &r[(*n)++];
		*row = row_of(s, t, &t->other, SELF_OTHER);
		row->sum = s->sum_of.n > 0 ? &t->other_sum : NULL;
		if (s->by.n > 0)
			groups_values(s, &t->set, NAMES_OTHER, row->values);
		else
			row->name = other_names;
	}
	qsort(r, *n, sizeof *r, by_total);
	*rows = r;
	return true;
}

static void name_tally(const struct tally *t, uint32_t number, struct tally_row *row)
{
	if (t->grouped != NULL)
		groups_values(t->grouped, &t->set, number, row->values);
	else
		row->name = number == NAMES_OTHER ? other_names : names_text(&t->names, number);
}

bool stats_tally_rows(const struct tally *t, struct tally_row **rows, size_t *n)
{
	const uint32_t count = t->grouped != NULL ? t->set.n : t->names.n;
	struct tally_row *r = malloc(((size_t)count + 1) * sizeof *r);

	if (r == NULL)
		return false;
	*n = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (i >= t->cap || t->counts[i] == 0)
			continue;
		r[*n] = (struct tally_row){ .count = t->counts[i], .number = i };
		name_tally(t, i, &r[(*n)++]);
	}
	if (t->other > 0) {
		r[*n] = (struct tally_row){ .count = t->other, .number = NAMES_OTHER };
		name_tally(t, NAMES_OTHER, &r[(*n)++]);
	}
	qsort(r, *n, sizeof *r, by_count);
	*rows = r;
	return true;
}

/* Groups series by counter. */
static int by_counter(const void *a, const void *b)
{
	const struct series_row *x = a, *y = b;

	if (x->series->counter != y->series->counter)
		return x->series->counter < y->series->counter ? -1 : 1;
	return (x->series > y->series) - (x->series < y->series);
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

/* ---- stats report ---- */

static void put_count(struct text *t, const char *before, uint64_t n, const char *what)
{
	text_printf(t, "%s%" PRIu64 " %s%s", before, n, what, n == 1 ? "" : "s");
}

/* Appends a line, wrapped to the width of the report, and clears it. */
static void put_line(struct text *t, const struct stats_view *v, struct text *line)
{
	if (v->markdown) {
		text_markdown(t, slice_of(line->p, line->n));
		text_char(t, '\n'); /* a paragraph */
	} else if (line->n > 0)
		text_wrap(t, slice_of(line->p, line->n), 0, 4, v->width);
	text_char(t, '\n');
	t->failed |= line->failed;
	text_clear(line);
}

static void put_head(struct text *t, const struct stats_view *v)
{
	const struct trace *trace = v->trace;
	const struct stats *s = v->stats;
	struct text line = { .p = NULL };

	text_visible(&line, slice_str(v->path), 0);
	text_printf(&line, ": %s", trace->format != NULL ? trace->format : "unknown format");
	if (trace->dialect != NULL && trace->dialect[0] != 0)
		text_printf(&line, " (%s)", trace->dialect);
	put_count(&line, ", ", v->bytes, "byte");
	put_count(&line, ", ", trace->records, "record");
	if (v->found != NULL && v->found->left_out > 0)
		text_printf(&line, ", %" PRIu64 " of", v->found->events - v->found->left_out);
	put_count(&line, v->found != NULL && v->found->left_out > 0 ? " " : ", ",
	          v->found != NULL ? v->found->events : trace->events, "event");
	put_count(&line, ", ", s->tracks, "track");
	put_line(t, v, &line);
	if (s->events > 0) {
		text_str(&line, "time ");
		text_time(&line, s->last_ns - s->first_ns);
		if (trace->epoch_known && s->first_ns <= UINT64_MAX - trace->epoch_ns) {
			text_str(&line, ", from ");
			text_wall(&line, trace->epoch_ns + s->first_ns);
		}
		put_line(t, v, &line);
	}
	text_free(&line);
}

static void put_note(struct text *t, const struct stats_view *v, uint64_t n, const char *one,
                     const char *many)
{
	struct text line = { .p = NULL };

	if (n == 0)
		return;
	text_printf(&line, "%" PRIu64 " %s", n, n == 1 ? one : many);
	put_line(t, v, &line);
	text_free(&line);
}

static void put_notes(struct text *t, const struct stats_view *v)
{
	const struct stats *const s = v->stats;

	put_note(t, v, stats_other_names(s), "event of too many names is counted under \"(other names)\"",
	         "events of too many names are counted under \"(other names)\"");
	put_note(t, v, s->unpaired, "span is incomplete: its begin or end lies outside the trace",
	         "spans are incomplete: begin or end lies outside the trace");
	put_note(t, v, s->times.inexact,
	         "span is too far out of order: total and self times may not be exact",
	         "spans are too far out of order: total and self times may not be exact");
	put_note(t, v, s->pool.coarse, "duration of too many names is not exact to 1 % in percentiles",
	         "durations of too many names are not exact to 1 % in percentiles");
}

/* Adds the names of recursive spans below their table. */
static void put_recursive(struct text *t, const struct stats_view *v, const struct span_row *rows, size_t n)
{
	struct text line = { .p = NULL };

	for (size_t i = 0; i < n; i++) {
		if (rows[i].recursive == 0)
			continue;
		text_printf(&line, "  recursive: %" PRIu64 " of %" PRIu64 " %s in another of the same name: ",
		            rows[i].recursive, rows[i].group->count, rows[i].recursive == 1 ? "lies" : "lie");
		text_visible_ends(&line, rows[i].name, 256);
		put_line(t, v, &line);
	}
	text_free(&line);
}

/* Prints the table, and the number of rows that are not shown. */
static void finish_table(struct text *t, const char *title, struct columns *c, const struct stats_view *v,
                         size_t n, size_t shown)
{
	if (n > 0 && v->markdown) {
		text_printf(t, "#### %s\n\n", title);
		columns_markdown(c, t);
		text_char(t, '\n');
	} else if (n > 0) {
		text_printf(t, "\n%s\n", title);
		columns_print(c, t, v->width);
	}
	if (shown < n)
		text_printf(t, v->markdown ? "... and %zu more\n\n" : "  ... and %zu more\n", n - shown);
	t->failed |= c->text.failed;
	columns_free(c);
}

/* ---- spans ---- */

#define KEYS_DEFAULT 2

static unsigned count_keys(const struct stats *s)
{
	return s->by.n > 0 ? s->by.n : KEYS_DEFAULT;
}

/* Columns of the keys. */
static void key_columns(struct column *list, const struct stats *s)
{
	static const struct column keys[KEYS_DEFAULT] = { { "name", COLUMN_NAME, 20, 0 },
		                                          { "category", COLUMN_NAME, 10, 2 } };

	for (unsigned i = 0; i < count_keys(s); i++)
		list[i] =
		    s->by.n > 0 ? (struct column){ s->by.columns[i].head, COLUMN_NAME, 12, 0 } : keys[i];
}

static void put_share(struct text *t, unsigned __int128 millionths)
{
	const uint64_t v = (uint64_t)(millionths / 100); /* of a percent: 1/100 */

	text_printf(t, "%" PRIu64 ".%02" PRIu64 " %%", v / 100, v % 100);
}

static void span_cell(struct columns *c, const struct span_column_row *column, const struct stats *s,
                      const struct span_row *row)
{
	const unsigned __int128 v = span_column_value(column, s, row);

	switch (column->what) {
	case SPAN_COUNT:
	case SPAN_NEGATIVE:
	case SPAN_FIELD_SUM:
	case SPAN_RATE:
		text_u128(&c->text, v);
		break;
	case SPAN_SHARE:
	case SPAN_BUSY:
		put_share(&c->text, v);
		break;
	case SPAN_FIRST:
	case SPAN_LAST:
		text_since(&c->text, (uint64_t)v - s->first_ns);
		break;
	default:
		text_time_short(&c->text, v);
	}
	columns_next(c);
}

/* Columns that say nothing in this table: self times of async spans, negative values if there are none. */
static unsigned columns_without(const struct stats_view *v, const struct span_table *table,
                                const struct span_row *rows, size_t n)
{
	const unsigned keys = count_keys(v->stats);
	unsigned without = 0;

	for (unsigned i = 0; i < v->columns->n; i++) {
		const enum span_column what = v->columns->list[i].what;
		bool empty = table == &v->stats->async && (what == SPAN_SELF || what == SPAN_BUSY);
		if (what == SPAN_NEGATIVE) {
			empty = true;
			for (size_t k = 0; empty && k < n; k++)
				empty = rows[k].sum == NULL || rows[k].sum->negative == 0;
		}
		without |= empty ? 1U << (keys + i) : 0;
	}
	return without;
}

static bool put_spans(struct text *t, const char *title, const struct stats_view *v,
                      const struct span_table *table, size_t top)
{
	const unsigned keys = count_keys(v->stats);
	struct column list[COLUMNS_MAX];
	struct columns c = { .list = list, .n = keys + v->columns->n, .indent = 2 };
	struct span_row *rows;
	size_t n;

	if (!stats_span_rows(v->stats, table, &rows, &n))
		return false;
	span_columns_sort_rows(v->columns, v->stats, rows, n);
	key_columns(list, v->stats);
	for (unsigned i = 0; i < v->columns->n; i++)
		list[keys + i] =
		    (struct column){ v->columns->list[i].head, COLUMN_NUMBER, 0, v->columns->list[i].drop };
	const size_t shown = top == 0 || n < top ? n : top;
	c.without = columns_without(v, table, rows, shown);
	for (size_t i = 0; i < shown; i++) {
		for (unsigned k = 0; k < keys; k++)
			columns_name(&c, rows[i].values[k]);
		for (unsigned k = 0; k < v->columns->n; k++)
			span_cell(&c, &v->columns->list[k], v->stats, &rows[i]);
	}
	finish_table(t, title, &c, v, n, shown);
	if (v->stats->by.n == 0) /* of other groups it is no surprise */
		put_recursive(t, v, rows, shown);
	free(rows);
	return !t->failed;
}

/* ---- instants and counters ---- */

/* A count and a name; in Markdown, and with several keys, with heads. */
static const struct column count_columns[] = { { NULL, COLUMN_NUMBER, 0, 0 }, { NULL, COLUMN_NAME, 16, 0 } };

static bool put_tally(struct text *t, const char *title, const struct stats_view *v,
                      const struct tally *tally, size_t top)
{
	const unsigned keys = tally->grouped != NULL ? v->stats->by.n : 1;
	struct column list[GROUP_KEYS_MAX + 1] = { { "count", COLUMN_NUMBER, 0, 0 } };
	struct columns c = { .list = list, .n = keys + 1, .indent = 2 };
	struct tally_row *rows;
	size_t n;

	if (!stats_tally_rows(tally, &rows, &n))
		return false;
	key_columns(list + 1, v->stats);
	if (tally->grouped == NULL && !v->markdown)
		c.list = count_columns;
	const size_t shown = top == 0 || n < top ? n : top;
	for (size_t i = 0; i < shown; i++) {
		columns_u64(&c, rows[i].count);
		for (unsigned k = 0; k < keys; k++)
			columns_name(&c, rows[i].values[k]);
	}
	free(rows);
	finish_table(t, title, &c, v, n, shown);
	return !t->failed;
}

static const struct column counter_columns[] = {
	{ "name", COLUMN_NAME, 16, 0 },   { "series", COLUMN_NAME, 12, 0 }, { "count", COLUMN_NUMBER, 0, 0 },
	{ "first", COLUMN_NUMBER, 0, 5 }, { "last", COLUMN_NUMBER, 0, 2 },  { "min", COLUMN_NUMBER, 0, 1 },
	{ "mean", COLUMN_NUMBER, 0, 4 },  { "mean*", COLUMN_NUMBER, 0, 0 }, { "p50", COLUMN_NUMBER, 0, 6 },
	{ "p99", COLUMN_NUMBER, 0, 3 },   { "max", COLUMN_NUMBER, 0, 0 },
};

/* Adds a number with six digits; integers are complete. */
static void number_cell(struct columns *c, double v)
{
	const bool whole = v > -1e15 && v < 1e15 && !(v > (double)(int64_t)v) && !(v < (double)(int64_t)v);

	text_printf(&c->text, whole ? "%.0f" : "%.6g", v);
	columns_next(c);
}

/* row NULL: the counter has no numbers. */
static void series_cells(struct columns *c, const struct counter_row *counter, const struct series_row *row)
{
	columns_name(c, counter->name);
	if (row == NULL) {
		columns_next(c);
		columns_u64(c, counter->count);
		for (int i = 0; i < 8; i++)
			columns_str(c, "-");
		return;
	}
	const struct series *const s = row->series;
	columns_name(c, row->name);
	columns_u64(c, s->count);
	number_cell(c, s->first);
	number_cell(c, s->last);
	number_cell(c, s->min);
	number_cell(c, series_mean(s));
	number_cell(c, series_time_mean(s));
	number_cell(c, series_percentile(s, 50));
	number_cell(c, series_percentile(s, 99));
	number_cell(c, s->max);
}

static bool put_counters(struct text *t, const struct stats_view *v, size_t top)
{
	struct columns c = { .list = counter_columns,
		             .n = sizeof counter_columns / sizeof *counter_columns,
		             .indent = 2 };
	struct counter_row *rows;
	struct series_row *list;
	size_t n, all = 0, shown = 0;

	if (!stats_counter_rows(v->stats, &rows, &n, &list))
		return false;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k == 0 || k < rows[i].nseries; k++)
			if (all++ < top || top == 0) {
				series_cells(&c, &rows[i], k < rows[i].nseries ? &rows[i].series[k] : NULL);
				shown++;
			}
	free(rows);
	free(list);
	finish_table(t, "counters (mean*: over time)", &c, v, all, shown);
	return !t->failed;
}

static bool put_classes(struct text *t, const struct stats_view *v, size_t top)
{
	const struct trace *const trace = v->trace;
	static const struct column heads[] = { { "records", COLUMN_NUMBER, 0, 0 },
		                               { "class", COLUMN_NAME, 16, 0 } };
	struct columns c = { .list = v->markdown ? heads : count_columns, .n = 2, .indent = 2 };
	size_t n = 0, shown = 0;

	for (uint32_t i = 0; i < trace->nclasses; i++) {
		const struct class *const k = trace->classes[i];
		const uint64_t records = k->first == k ? trace_class_records(k) : 0;
		if (records == 0)
			continue;
		n++;
		if (top > 0 && shown == top)
			continue;
		columns_u64(&c, records);
		columns_name(&c, k->name);
		shown++;
	}
	finish_table(t, "classes", &c, v, n, shown);
	return !t->failed;
}

bool stats_text(struct text *t, const struct stats_view *v, size_t top)
{
	put_head(t, v);
	put_notes(t, v);
	return put_spans(t, "spans", v, &v->stats->spans, top) &&
	       put_spans(t, "async spans", v, &v->stats->async, top) &&
	       put_tally(t, "instants", v, &v->stats->instants, top) && put_counters(t, v, top) &&
	       (!v->classes || v->found != NULL || put_classes(t, v, top)) && !t->failed;
}

/* ---- comma-separated values ---- */

/* Texts are visible text: control characters are escaped, so a cell is one line. */
static void put_cell(struct text *t, struct slice s)
{
	struct text visible = { .p = NULL };
	bool quotes = false;

	text_visible(&visible, s, 0);
	for (size_t i = 0; i < visible.n; i++)
		quotes |= visible.p[i] == ',' || visible.p[i] == '"';
	if (!quotes) {
		text_slice(t, slice_of(visible.p, visible.n));
	} else {
		text_char(t, '"');
		for (size_t i = 0; i < visible.n; i++) {
			if (visible.p[i] == '"')
				text_char(t, '"');
			text_char(t, visible.p[i]);
		}
		text_char(t, '"');
	}
	t->failed |= visible.failed;
	text_free(&visible);
}

static void put_csv_head(struct text *t, const struct stats_view *v)
{
	struct column keys[GROUP_KEYS_MAX];

	key_columns(keys, v->stats);
	text_str(t, "path,kind");
	for (unsigned i = 0; i < count_keys(v->stats); i++) {
		text_char(t, ',');
		put_cell(t, slice_str(keys[i].head));
	}
	for (unsigned i = 0; i < v->columns->n; i++) {
		const enum span_column what = v->columns->list[i].what;
		text_char(t, ',');
		put_cell(t, slice_str(v->columns->list[i].head));
		if (what != SPAN_COUNT && what != SPAN_NEGATIVE && what != SPAN_FIELD_SUM &&
		    what != SPAN_RATE && what != SPAN_SHARE && what != SPAN_BUSY)
			text_str(t, "_ns");
	}
	text_char(t, '\n');
}

static void put_csv_keys(struct text *t, const struct stats_view *v, const char *kind,
                         const struct slice *values)
{
	put_cell(t, slice_str(v->path));
	text_printf(t, ",%s", kind);
	for (unsigned k = 0; k < count_keys(v->stats); k++) {
		text_char(t, ',');
		put_cell(t, values[k]);
	}
}

static bool put_csv_spans(struct text *t, const struct stats_view *v, const struct span_table *table)
{
	const bool async = table == &v->stats->async;
	struct span_row *rows;
	size_t n;

	if (!stats_span_rows(v->stats, table, &rows, &n))
		return false;
	span_columns_sort_rows(v->columns, v->stats, rows, n);
	for (size_t i = 0; i < n; i++) {
		put_csv_keys(t, v, async ? "async" : "span", rows[i].values);
		for (unsigned k = 0; k < v->columns->n; k++) {
			const struct span_column_row *const c = &v->columns->list[k];
			const unsigned __int128 value = span_column_value(c, v->stats, &rows[i]);
			text_char(t, ',');
			if (async && (c->what == SPAN_SELF || c->what == SPAN_BUSY))
				continue;
			if (c->what == SPAN_SHARE || c->what == SPAN_BUSY)
				text_printf(t, "%" PRIu64 ".%06" PRIu64, (uint64_t)(value / 1000000),
				            (uint64_t)(value % 1000000));
			else
				text_u128(t, value);
		}
		text_char(t, '\n');
	}
	free(rows);
	return !t->failed;
}

static bool put_csv_tally(struct text *t, const struct stats_view *v, const char *kind,
                          const struct tally *tally)
{
	struct tally_row *rows;
	size_t n;

	if (!stats_tally_rows(tally, &rows, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		put_csv_keys(t, v, kind, rows[i].values);
		for (unsigned k = 0; k < v->columns->n; k++) {
			text_char(t, ',');
			if (v->columns->list[k].what == SPAN_COUNT)
				text_u64(t, rows[i].count);
		}
		text_char(t, '\n');
	}
	free(rows);
	return !t->failed;
}

bool stats_csv_input(struct text *t, const struct stats_view *v, bool first)
{
	if (first)
		put_csv_head(t, v);
	return put_csv_spans(t, v, &v->stats->spans) && put_csv_spans(t, v, &v->stats->async) &&
	       put_csv_tally(t, v, "instant", &v->stats->instants);
}
