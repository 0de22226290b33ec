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
	put_count(t, ", ", trace->events, "event");
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
	if (s->self_inexact > 0)
		text_printf(t, "%" PRIu64 " span%s too far out of order: self times may not be exact\n",
		            s->self_inexact, s->self_inexact == 1 ? "" : "s");
	if (s->pool.coarse > 0)
		text_printf(t,
		            "%" PRIu64
		            " durations are not exact to 1 %% in percentiles: there are too many names\n",
		            s->pool.coarse);
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

static void
percentile_cell(struct columns *c, const struct histogram *h, const struct histogram_pool *pool,
                unsigned percent)
{
	const uint64_t v = histogram_percentile(h, pool, percent);

	if (histogram_is_exact(h, v))
		columns_time(c, v);
	else
		columns_time_about(c, v);
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
	columns_time(c, total_of(g->sum));
	if (self)
		columns_time(c, total_of(g->self));
	columns_time(c, span_mean(g));
	percentile_cell(c, &g->durations, pool, 50);
	percentile_cell(c, &g->durations, pool, 90);
	percentile_cell(c, &g->durations, pool, 99);
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
	free(rows);
	if (n > 0)
		return finish_table(t, title, &c, n, shown);
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
	       put_tally(t, "instants", v, &v->stats->instants, top) &&
	       put_tally(t, "counters", v, &v->stats->counters, top) && put_classes(t, v, top) && !t->failed;
}
