/* The report for people. */
#include "stats/stats_report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "stats/columns.h"

#define TEXT_BYTES 256   /* of a name or category are shown */
#define NAME_LEAST 16    /* to which names are shortened for a narrow terminal */
#define CATEGORY_LEAST 8 /* to which categories */

static void
put_count(struct text *t, const char *before, uint64_t n, const char *what)
{
	text_printf(t, "%s%" PRIu64 " %s%s", before, n, what, n == 1 ? "" : "s");
}

static void
put_head(struct text *t, const struct stats_view *v)
{
	const struct trace *trace = v->trace;
	const struct stats *s = v->stats;

	text_visible(t, slice_str(v->path), 0);
	text_printf(t, ": %s", trace->format != NULL ? trace->format : "unknown format");
	if (trace->dialect != NULL && trace->dialect[0] != 0)
		text_printf(t, " (%s)", trace->dialect);
	put_count(t, ", ", v->bytes, "byte");
	put_count(t, ", ", trace->records, "record");
	if (v->found != NULL && v->found->left_out > 0)
		text_printf(t, ", %" PRIu64 " of", v->found->events - v->found->left_out);
	put_count(t, v->found != NULL && v->found->left_out > 0 ? " " : ", ",
	          v->found != NULL ? v->found->events : trace->events, "event");
	put_count(t, ", ", s->tracks, "track");
	text_char(t, '\n');
	if (s->events == 0)
		return;
	text_printf(t, "time %" PRIu64 " to %" PRIu64 " ns (", s->first_ns, s->last_ns);
	text_time(t, s->last_ns - s->first_ns);
	text_str(t, ")\n");
}

static void
put_notes(struct text *t, const struct stats *s)
{
	uint64_t other = stats_other_names(s), unpaired = s->unpaired;

	if (other > 0)
		text_printf(
		    t, "%" PRIu64 " events are counted under \"(other names)\": there are too many names\n",
		    other);
	if (unpaired > 0)
		text_printf(t,
		            "%" PRIu64 " span%s without a beginning or an end: an end alone is an instant, a "
		            "beginning alone a span "
		            "to the last time of the trace\n",
		            unpaired, unpaired == 1 ? "" : "s");
	if (s->times.inexact > 0)
		text_printf(
		    t, "%" PRIu64 " span%s too far out of order: total and self times may not be exact\n",
		    s->times.inexact, s->times.inexact == 1 ? "" : "s");
	if (s->pool.coarse > 0)
		text_printf(t,
		            "%" PRIu64
		            " durations are not exact to 1 %% in percentiles: there are too many names\n",
		            s->pool.coarse);
}

/* Names of which spans lie in others of the same name, below their table. */
static void
put_recursive(struct text *t, const struct span_row *rows, size_t n, size_t room)
{
	for (size_t i = 0; i < n; i++) {
		if (rows[i].recursive == 0)
			continue;
		text_str(t, "  recursive: ");
		text_printf(t, "%" PRIu64 " of %" PRIu64 " ", rows[i].recursive, rows[i].group->count);
		text_visible_ends(t, rows[i].name, room);
		text_printf(t, " %s in another of the same name\n", rows[i].recursive == 1 ? "lies" : "lie");
	}
}

/* Prints the table, with a line on what is not in it. */
static bool
finish_table(struct text *t, const char *title, struct columns *c, size_t n, size_t shown)
{
	text_char(t, '\n');
	text_str(t, title);
	text_char(t, '\n');
	columns_print(c, t);
	if (shown < n)
		text_printf(t, "  ... and %zu more\n", n - shown);
	columns_free(c);
	return !t->failed;
}

/* Bytes of the texts that a table shows. */
struct fit {
	size_t name, category;
};

/* Shortens what stands in a column of this width so that the table is narrower by `excess`, or as far as it
 * may. */
static size_t
shorten(uint32_t width, unsigned excess, size_t least)
{
	const size_t dots = 3;

	return width > excess + least + dots ? width - excess - dots : least;
}

static void
span_cells(struct columns *c, const struct span_row *row, const struct histogram_pool *pool, struct fit fit,
           bool self)
{
	const struct span_group *g = row->group;

	text_visible_ends(&c->text, row->name, fit.name);
	columns_next(c);
	text_visible(&c->text, row->category, fit.category);
	columns_next(c);
	columns_u64(c, g->count);
	columns_time(c, row->total);
	if (self)
		columns_time(c, row->self);
	columns_time(c, span_mean(g));
	columns_time(c, histogram_percentile(&g->durations, pool, 50));
	columns_time(c, histogram_percentile(&g->durations, pool, 90));
	columns_time(c, histogram_percentile(&g->durations, pool, 99));
	columns_time(c, g->durations.max);
}

static void
fill_span_table(struct columns *c, const struct span_row *rows, size_t n, const struct histogram_pool *pool,
                struct fit fit, bool self)
{
	static const char *const heads[] = { "name", "category", "count", "total", "self",
		                             "mean", "p50",      "p90",   "p99",   "max" };

	columns_free(c);
	*c = (struct columns){ .columns = self ? 10 : 9, .left = 3 };
	for (size_t i = 0; i < 10; i++)
		if (self || i != 4)
			columns_str(c, heads[i]);
	for (size_t i = 0; i < n; i++)
		span_cells(c, &rows[i], pool, fit, self);
}

static bool
put_spans(struct text *t, const char *title, const struct stats_view *v, const struct span_table *table,
          size_t top)
{
	const struct stats *const s = v->stats;
	const bool self = table != &s->async;
	struct fit fit = { TEXT_BYTES, TEXT_BYTES };
	struct columns c = { .columns = 1 };
	struct span_row *rows;
	size_t n;

	if (!stats_span_rows(s, table, &rows, &n))
		return false;
	const size_t shown = top == 0 || n < top ? n : top;
	fill_span_table(&c, rows, shown, &s->pool, fit, self);
	if (v->width > 0 && columns_width(&c) > v->width) {
		fit.name = shorten(c.widths[0], columns_width(&c) - v->width, NAME_LEAST);
		fill_span_table(&c, rows, shown, &s->pool, fit, self);
	}
	if (v->width > 0 && columns_width(&c) > v->width) {
		fit.category = shorten(c.widths[1], columns_width(&c) - v->width, CATEGORY_LEAST);
		fill_span_table(&c, rows, shown, &s->pool, fit, self);
	}
	if (n > 0) {
		const bool ok = finish_table(t, title, &c, n, shown);
		put_recursive(t, rows, shown, fit.name);
		free(rows);
		return ok && !t->failed;
	}
	free(rows);
	columns_free(&c);
	return true;
}

/* Bytes of the names behind a count. */
static size_t
name_room(const struct stats_view *v)
{
	const unsigned before = 2 + 20 + 2 + 3; /* a count of 20 digits, spaces, dots */

	return v->width == 0 ? TEXT_BYTES : v->width > before + NAME_LEAST ? v->width - before : NAME_LEAST;
}

static void
count_cells(struct columns *c, struct slice name, uint64_t count, size_t room)
{
	columns_u64(c, count);
	text_visible_ends(&c->text, name, room);
	columns_next(c);
}

static bool
put_tally(struct text *t, const char *title, const struct stats_view *v, const struct tally *tally,
          size_t top)
{
	struct columns c = { .columns = 2, .left = 2 };
	struct tally_row *rows;
	size_t n;

	if (!stats_tally_rows(tally, &rows, &n))
		return false;
	size_t shown = top == 0 || n < top ? n : top;
	for (size_t i = 0; i < shown; i++)
		count_cells(&c, rows[i].name, rows[i].count, name_room(v));
	free(rows);
	if (n > 0)
		return finish_table(t, title, &c, n, shown);
	columns_free(&c);
	return true;
}

/* Six digits, or all of an integer. */
static void
number_cell(struct columns *c, double v)
{
	const bool whole = v > -1e15 && v < 1e15 && !(v > (double)(int64_t)v) && !(v < (double)(int64_t)v);

	text_printf(&c->text, whole ? "%.0f" : "%.6g", v);
	columns_next(c);
}

/* row NULL: it has no numbers. */
static void
series_cells(struct columns *c, const struct counter_row *counter, const struct series_row *row, size_t room)
{
	text_visible_ends(&c->text, counter->name, room);
	columns_next(c);
	if (row == NULL) {
		columns_next(c);
		columns_u64(c, counter->count);
		for (int i = 0; i < 8; i++)
			columns_str(c, "-");
		return;
	}
	const struct series *const s = row->series;
	text_visible_ends(&c->text, row->name, room);
	columns_next(c);
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

static bool
put_counters(struct text *t, const struct stats_view *v, size_t top)
{
	static const char *const heads[] = { "name", "series", "count", "first", "last", "min",
		                             "mean", "mean*",  "p50",   "p99",   "max" };
	const size_t room = v->width == 0 ? TEXT_BYTES : NAME_LEAST + v->width / 8;
	struct columns c = { .columns = 11, .left = 3 };
	struct counter_row *rows;
	struct series_row *list;
	size_t n, all = 0, shown = 0;

	if (!stats_counter_rows(v->stats, &rows, &n, &list))
		return false;
	for (size_t i = 0; i < 11; i++)
		columns_str(&c, heads[i]);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k == 0 || k < rows[i].nseries; k++)
			if (all++ < top || top == 0) {
				series_cells(&c, &rows[i], k < rows[i].nseries ? &rows[i].series[k] : NULL,
				             room);
				shown++;
			}
	free(rows);
	free(list);
	if (all > 0)
		return finish_table(t, "counters (mean*: over time)", &c, all, shown);
	columns_free(&c);
	return true;
}

static bool
put_classes(struct text *t, const struct stats_view *v, size_t top)
{
	const struct trace *const trace = v->trace;
	struct columns c = { .columns = 2, .left = 2 };
	size_t n = 0, shown = 0;

	for (uint32_t i = 0; i < trace->nclasses; i++) {
		const struct class *const k = trace->classes[i];
		const uint64_t records = k->first == k ? trace_class_records(k) : 0;
		if (records == 0)
			continue;
		n++;
		if (top > 0 && shown == top)
			continue;
		count_cells(&c, k->name, records, name_room(v));
		shown++;
	}
	if (n > 0)
		return finish_table(t, "classes", &c, n, shown);
	columns_free(&c);
	return true;
}

bool
stats_text(struct text *t, const struct stats_view *v, size_t top)
{
	put_head(t, v);
	put_notes(t, v->stats);
	return put_spans(t, "spans", v, &v->stats->spans, top) &&
	       put_spans(t, "async spans", v, &v->stats->async, top) &&
	       put_tally(t, "instants", v, &v->stats->instants, top) && put_counters(t, v, top) &&
	       (v->found != NULL || put_classes(t, v, top)) && !t->failed;
}
