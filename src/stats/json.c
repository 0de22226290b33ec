/* The report for programs.  All integers are exact, however large. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "json/out.h"
#include "stats/tables/tables.h"

/* ---- additions of --full, for stats_merge() ---- */

/* Writes a number; infinity and NaN as text. */
static void put_f64(struct json_out *o, const char *key, double v)
{
	if (isfinite(v))
		json_out_f64(o, key, v);
	else
		json_out_string(o, key, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
}

static void put_full(struct json_out *o, const struct stats *s)
{
	json_out_begin(o, "full", "{");
	json_out_begin(o, "by", "[");
	for (unsigned i = 0; i < s->by.n; i++)
		json_out_string(o, NULL, s->by.columns[i].head);
	json_out_end(o, "]");
	json_out_slice(o, "sum_of", s->sum_of);
	json_out_u64(o, "summed", s->summed);
	json_out_u64(o, "traces", s->origin.traces);
	json_out_bool(o, "selected", s->origin.selected);
	json_out_u64(o, "left_out", s->origin.left_out);
	json_out_u64(o, "counted", s->events);
	json_out_u64(o, "unpaired", s->unpaired);
	json_out_end(o, "}");
}

/* Writes a histogram: its numbers if they are few, else the counts of its buckets by index. */
static void put_histogram(struct json_out *o, const struct histogram *h, const struct histogram_pool *pool)
{
	uint64_t kept[HISTOGRAM_KEPT];
	char index[16];

	if (!h->spread) {
		histogram_kept(h, kept);
		json_out_begin(o, "values", "[");
		for (uint64_t i = 0; i < h->count; i++)
			json_out_u64(o, NULL, kept[i]);
		json_out_end(o, "]");
		return;
	}
	json_out_begin(o, "buckets", "{");
	for (uint32_t i = 0; i < HISTOGRAM_BLOCKS * HISTOGRAM_BUCKETS; i++) {
		const size_t slot = histogram_slot(h, i);
		if (slot < HISTOGRAM_BUCKETS || pool->buckets[slot] == 0)
			continue;
		snprintf(index, sizeof index, "%" PRIu32, i);
		json_out_u64(o, index, pool->buckets[slot]);
	}
	json_out_end(o, "}");
}

static void put_full_series(struct json_out *o, const struct series *s, uint64_t zero)
{
	const struct series_step *step;
	struct series_walk w = { 0 };
	char key[16];

	json_out_plain_ns(o, "first_ns", s->first_ns, zero);
	json_out_plain_ns(o, "last_ns", s->last_ns, zero);
	put_f64(o, "sum", s->sum);
	put_f64(o, "held", s->held);
	put_f64(o, "held_ns", s->held_ns);
	json_out_begin(o, "steps", "{");
	while ((step = series_next_step(s, &w)) != NULL) {
		snprintf(key, sizeof key, "%" PRId32, step->key);
		json_out_u64(o, key, step->count);
	}
	json_out_end(o, "}");
}

/* ---- rows ---- */

static void put_head(struct json_out *o, const struct stats_view *v)
{
	const struct stats *const s = v->stats;
	const struct stats_origin *const of = &s->origin;
	char title[48];

	json_out_slice(o, "path", stats_title(of, title));
	if (s->joint)
		json_out_u64(o, "traces", of->traces);
	json_out_slice(o, "format", of->format);
	json_out_slice(o, "dialect", of->dialect);
	json_out_u64(o, "bytes", of->bytes);
	json_out_u64(o, "records", of->records);
	json_out_u64(o, "events", of->events);
	json_out_space(o, "\n  ");
	if (s->events > 0) {
		json_out_plain_ns(o, "first_ns", s->first_ns, s->zero_ns);
		json_out_plain_ns(o, "last_ns", s->last_ns, s->zero_ns);
	} else {
		json_out_null(o, "first_ns");
		json_out_null(o, "last_ns");
	}
	if (of->epoch_known)
		json_out_u64(o, "epoch_ns", of->epoch_ns);
	else
		json_out_null(o, "epoch_ns");
	json_out_u64(o, "tracks", s->tracks);
	json_out_u64(o, "self_inexact", s->times.inexact);
	json_out_u64(o, "counters_late", s->series.late);
	json_out_u64(o, "coarse", s->pool.coarse);
	if (v->full)
		put_full(o, s);
}

static void put_keys(struct json_out *o, const struct group_by *by, const struct slice *values, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		json_out_slice(o, group_by_key(by, i), values[i]);
}

/* p50, p90 and p99 are always written. */
static bool is_further_quantile(const struct span_column_row *c)
{
	return c->what == SPAN_QUANTILE && c->number != 500000 && c->number != 900000 && c->number != 990000;
}

static void put_examples(struct json_out *o, const struct stats *s, const struct longest_group *g)
{
	json_out_begin(o, "examples", "[");
	for (uint32_t i = 0; i < g->n; i++) {
		json_out_begin(o, NULL, "{");
		json_out_u64(o, "dur_ns", g->list[i].length);
		json_out_plain_ns(o, "ts_ns", g->list[i].ts, s->zero_ns);
		json_out_u64(o, "offset", g->list[i].offset);
		json_out_slice(o, "process", track_process(g->list[i].track)->name);
		json_out_slice(o, "track", g->list[i].track->name);
		json_out_slice(o, "name", longest_name(&g->list[i]));
		json_out_begin(o, "args", "{");
		text_slice(o->t, longest_fields(&g->list[i]));
		json_out_end(o, "}}");
	}
	json_out_end(o, "]");
}

static void put_span(struct json_out *o, const struct stats_view *v, const struct span_row *row, bool self)
{
	const struct stats *const s = v->stats;
	const struct span_group *g = row->group;

	json_out_begin_after(o, "\n   ", NULL, "{");
	put_keys(o, &s->by, row->values, group_by_count(&s->by));
	json_out_u64(o, "count", g->count);
	json_out_begin(o, "dur_ns", "{");
	text_u128(json_out_value(o, "sum"), total_of(g->sum));
	json_out_u64(o, "min", g->durations.min);
	json_out_u64(o, "max", g->durations.max);
	json_out_u64(o, "mean", span_mean(g));
	json_out_u64(o, "p50", histogram_percentile(&g->durations, &s->pool, 50));
	json_out_u64(o, "p90", histogram_percentile(&g->durations, &s->pool, 90));
	json_out_u64(o, "p99", histogram_percentile(&g->durations, &s->pool, 99));
	for (unsigned i = 0; i < v->columns->n; i++)
		if (is_further_quantile(&v->columns->list[i]))
			json_out_u64(o, v->columns->list[i].head,
			             (uint64_t)span_column_value(&v->columns->list[i], s, row));
	if (v->full)
		put_histogram(o, &g->durations, &s->pool);
	json_out_end(o, "}");
	json_out_plain_ns(o, "first_ns", g->first_ns, s->zero_ns);
	json_out_plain_ns(o, "last_ns", g->last_ns, s->zero_ns);
	if (self) {
		text_u128(json_out_value(o, "self_ns"), row->self);
		if (row->waiting > 0)
			text_u128(json_out_value(o, "waiting_ns"), row->waiting);
		text_u128(json_out_value(o, "total_ns"), row->total);
		if (row->recursive > 0)
			json_out_u64(o, "recursive", row->recursive);
	}
	if (s->has_bytes) {
		static const struct span_column_row rate = { .what = SPAN_BYTES_RATE };
		text_u128(json_out_value(o, "bytes"), total_of(g->bytes));
		text_u128(json_out_value(o, "bytes_per_s"), span_column_value(&rate, s, row));
	}
	if (row->examples != NULL)
		put_examples(o, s, row->examples);
	if (row->decades != NULL) {
		json_out_begin(o, "hist", "{");
		for (unsigned i = 0; i < SPAN_DECADES; i++)
			json_out_u64(o, span_decade_head(i), row->decades[i]);
		json_out_end(o, "}");
	}
	if (s->sum_of.n > 0) {
		const struct span_sum *const sum = &g->field;
		json_out_begin(o, "sum", "{");
		json_out_slice(o, "field", s->sum_of);
		json_out_u64(o, "values", sum->values);
		if (sum->real > 0)
			json_out_f64(o, "sum", fmin((double)total_of(sum->whole) + sum->real, DBL_MAX));
		else
			text_u128(json_out_value(o, "sum"), total_of(sum->whole));
		json_out_u64(o, "negative", sum->negative);
		if (v->full) {
			text_u128(json_out_value(o, "whole"), total_of(sum->whole));
			put_f64(o, "real", sum->real);
		}
		json_out_end(o, "}");
	}
	if (v->full && row->other)
		json_out_bool(o, "other", true);
	json_out_end(o, "}");
}

static bool put_spans(struct json_out *o, const char *key, const struct stats_view *v,
                      const struct span_table *table)
{
	struct span_row *rows;
	size_t n;

	if (!stats_span_rows(v->stats, table, v->columns, &rows, &n))
		return false;
	json_out_begin_after(o, "\n  ", key, "[");
	for (size_t i = 0; i < n; i++)
		put_span(o, v, &rows[i], table != &v->stats->async);
	json_out_end(o, "]");
	free(rows);
	return true;
}

/* Writes the rows, and frees them. */
static bool put_counts(struct json_out *o, const char *key, const struct group_by *by, struct tally_row *rows,
                       size_t n, bool full)
{
	json_out_begin_after(o, "\n  ", key, "[");
	for (size_t i = 0; i < n; i++) {
		json_out_begin_after(o, "\n   ", NULL, "{");
		put_keys(o, by, rows[i].values, by->n > 0 ? by->n : 1);
		json_out_u64(o, "count", rows[i].count);
		if (full && rows[i].number == NAMES_OTHER)
			json_out_bool(o, "other", true);
		json_out_end(o, "}");
	}
	json_out_end(o, "]");
	free(rows);
	return true;
}

static void put_series(struct json_out *o, const struct series_row *row, bool full, uint64_t zero)
{
	const struct series *const s = row->series;

	json_out_begin_after(o, "\n     ", NULL, "{");
	json_out_slice(o, "name", row->name);
	json_out_u64(o, "count", s->count);
	json_out_f64(o, "first", s->first);
	json_out_f64(o, "last", s->last);
	json_out_f64(o, "min", s->min);
	json_out_f64(o, "max", s->max);
	json_out_f64(o, "mean", series_mean(s));
	json_out_f64(o, "time_mean", series_time_mean(s));
	json_out_f64(o, "p50", series_percentile(s, 50));
	json_out_f64(o, "p99", series_percentile(s, 99));
	if (full)
		put_full_series(o, s, zero);
	json_out_end(o, "}");
}

static bool put_counters(struct json_out *o, const struct stats_view *v)
{
	struct counter_row *rows;
	struct series_row *list;
	size_t n;

	if (!stats_counter_rows(v->stats, &rows, &n, &list))
		return false;
	json_out_begin_after(o, "\n  ", "counters", "[");
	for (size_t i = 0; i < n; i++) {
		json_out_begin_after(o, "\n   ", NULL, "{");
		json_out_slice(o, "name", rows[i].name);
		json_out_slice(o, "category", rows[i].category);
		json_out_u64(o, "count", rows[i].count);
		json_out_begin(o, "series", "[");
		for (size_t k = 0; k < rows[i].nseries; k++)
			put_series(o, &rows[i].series[k], v->full, v->stats->zero_ns);
		json_out_end(o, "]");
		if (v->full && rows[i].other)
			json_out_bool(o, "other", true);
		json_out_end(o, "}");
	}
	json_out_end(o, "]");
	free(rows);
	free(list);
	return true;
}

bool stats_json_input(struct text *t, const struct stats_view *v, bool first)
{
	static const struct group_by by_name = { .n = 0 };
	const struct stats *const s = v->stats;
	struct json_out o = { .t = t, .comma = !first };
	struct cells c = { .form = FORM_JSON, .t = t, .json = &o };
	struct tally_row *rows;
	size_t n;

	json_out_begin_after(&o, "\n ", NULL, "{");
	put_head(&o, v);
	if (!s->origin.selected &&
	    (!stats_class_rows(s, &rows, &n) || !put_counts(&o, "classes", &by_name, rows, n, false)))
		return false;
	if (!put_spans(&o, "spans", v, &s->spans) || !put_spans(&o, "async_spans", v, &s->async) ||
	    !stats_tally_rows(&s->instants, &rows, &n) ||
	    !put_counts(&o, "instants", &s->by, rows, n, v->full) || !put_counters(&o, v) ||
	    (s->tables != NULL && !stats_tables_put(s, &c)))
		return false;
	json_out_end(&o, "}");
	return !t->failed;
}
