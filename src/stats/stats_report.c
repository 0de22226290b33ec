/* The report for people. */
#include "stats/stats_report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "stats/columns.h"

#define NAME_BYTES 48     /* of a name are shown */
#define CATEGORY_BYTES 24 /* of a category */

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
		            "to the last time of its track\n",
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

static void
span_cells(struct columns *c, const struct span_row *row, const struct histogram_pool *pool, bool self)
{
	const struct span_group *g = row->group;

	text_visible_ends(&c->text, row->name, NAME_BYTES);
	columns_next(c);
	text_visible(&c->text, row->category, CATEGORY_BYTES);
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

static bool
put_spans(struct text *t, const char *title, const struct stats *s, const struct span_table *table,
          size_t top)
{
	static const char *const heads[] = { "name", "category", "count", "total", "self",
		                             "mean", "p50",      "p90",   "p99",   "max" };
	const bool self = table != &s->async;
	struct columns c = { .columns = self ? 10 : 9, .left = 3 };
	struct span_row *rows;
	size_t n;

	if (!stats_span_rows(s, table, &rows, &n))
		return false;
	size_t shown = top == 0 || n < top ? n : top;
	for (size_t i = 0; i < 10; i++)
		if (self || i != 4)
			columns_str(&c, heads[i]);
	for (size_t i = 0; i < shown; i++)
		span_cells(&c, &rows[i], &s->pool, self);
	free(rows);
	if (n > 0)
		return finish_table(t, title, &c, n, shown);
	columns_free(&c);
	return true;
}

static void
count_cells(struct columns *c, struct slice name, uint64_t count)
{
	columns_u64(c, count);
	text_visible_ends(&c->text, name, NAME_BYTES);
	columns_next(c);
}

static bool
put_tally(struct text *t, const char *title, const struct tally *tally, size_t top)
{
	struct columns c = { .columns = 2, .left = 2 };
	struct tally_row *rows;
	size_t n;

	if (!stats_tally_rows(tally, &rows, &n))
		return false;
	size_t shown = top == 0 || n < top ? n : top;
	for (size_t i = 0; i < shown; i++)
		count_cells(&c, rows[i].name, rows[i].count);
	free(rows);
	if (n > 0)
		return finish_table(t, title, &c, n, shown);
	columns_free(&c);
	return true;
}

static bool
put_classes(struct text *t, const struct trace *trace, size_t top)
{
	struct columns c = { .columns = 2, .left = 2 };
	size_t n = 0, shown = 0;

	for (uint32_t i = 0; i < trace->nclasses; i++) {
		if (trace->classes[i]->records == 0)
			continue;
		n++;
		if (top > 0 && shown == top)
			continue;
		count_cells(&c, trace->classes[i]->name, trace->classes[i]->records);
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
	return put_spans(t, "spans", v->stats, &v->stats->spans, top) &&
	       put_spans(t, "async spans", v->stats, &v->stats->async, top) &&
	       put_tally(t, "instants", &v->stats->instants, top) &&
	       put_tally(t, "counters", &v->stats->counters, top) && put_classes(t, v->trace, top) &&
	       !t->failed;
}
