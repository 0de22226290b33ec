/* The report as comma-separated values: a line for each group of spans, async spans and instants. */
#include <inttypes.h>
#include <stdlib.h>

#include "output/text_visible.h"
#include "stats/tables/tables.h"

static void put_csv_head(struct text *t, const struct stats_view *v)
{
	text_str(t, "path,kind");
	for (unsigned i = 0; i < stats_count_keys(v->stats); i++) {
		text_char(t, ',');
		text_csv_cell(t, slice_str(stats_key_name(v->stats, i)));
	}
	for (unsigned i = 0; i < v->columns->n; i++) {
		const enum span_column what = v->columns->list[i].what;
		text_char(t, ',');
		text_csv_cell(t, slice_str(v->columns->list[i].head));
		if (what != SPAN_COUNT && what != SPAN_NEGATIVE && what != SPAN_FIELD_SUM &&
		    what != SPAN_RATE && what != SPAN_SHARE && what != SPAN_BUSY && what != SPAN_DECADE &&
		    what != SPAN_BYTES && what != SPAN_BYTES_RATE)
			text_str(t, "_ns");
	}
	text_char(t, '\n');
}

static void put_csv_keys(struct text *t, const struct stats_view *v, const char *kind,
                         const struct slice *values)
{
	char title[48];

	text_csv_cell(t, stats_title(&v->stats->origin, title));
	text_printf(t, ",%s", kind);
	for (unsigned k = 0; k < stats_count_keys(v->stats); k++) {
		text_char(t, ',');
		text_csv_cell(t, values[k]);
	}
}

static bool put_csv_spans(struct text *t, const struct stats_view *v, const struct span_table *table)
{
	const bool async = table == &v->stats->async;
	struct span_row *rows;
	size_t n;

	if (!stats_span_rows(v->stats, table, v->columns, &rows, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		put_csv_keys(t, v, async ? "async" : "span", rows[i].values);
		for (unsigned k = 0; k < v->columns->n; k++) {
			const struct span_column_row *const c = &v->columns->list[k];
			const unsigned __int128 value = span_column_value(c, v->stats, &rows[i]);
			text_char(t, ',');
			if (async &&
			    (c->what == SPAN_SELF || c->what == SPAN_WAITING || c->what == SPAN_BUSY))
				continue;
			if (!v->stats->has_bytes && (c->what == SPAN_BYTES || c->what == SPAN_BYTES_RATE))
				continue;
			if (c->what == SPAN_SHARE || c->what == SPAN_BUSY)
				text_fraction(t, value);
			else if (c->what == SPAN_FIRST || c->what == SPAN_LAST)
				text_ns_from(t, v->stats->zero_ns, (uint64_t)value);
			else if (c->what == SPAN_FIELD_SUM || c->what == SPAN_RATE)
				span_column_sum(t, c, &rows[i], true);
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
	if (v->stats->tables != NULL) {
		struct cells c = {
			.form = CELLS_CSV, .t = t, .path = v->stats->origin.path, .with_heads = first
		};
		return stats_tables_put(v->stats, &c);
	}
	if (first)
		put_csv_head(t, v);
	return put_csv_spans(t, v, &v->stats->spans) && put_csv_spans(t, v, &v->stats->async) &&
	       put_csv_tally(t, v, "instant", &v->stats->instants);
}
