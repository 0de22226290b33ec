/* The report as text, Markdown or HTML: tables of spans, instants, counters and classes; and as CSV: a line
 * for each group of spans, async spans and instants. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/trace_origin.h"
#include "base/compiler.h"
#include "output/columns.h"
#include "output/text_visible.h"
#include "stats/tables/tables.h"

static void put_line(struct text *t, const struct stats_view *v, struct text *line)
{
	columns_line(t, v->form, v->width, line);
	text_str(t, v->form == FORM_MARKDOWN ? "\n" : ""); /* a paragraph */
}

static void put_head(struct text *t, const struct stats_view *v)
{
	const struct stats *const s = v->stats;
	const struct stats_origin *const o = &s->origin;
	struct text line = { .p = NULL };
	char title[48];

	text_visible(&line, stats_title(o, title), 0);
	text_str(&line, ": ");
	text_visible(&line,
	             o->format.n > 0 ? o->format /* a table from a file may have any text */
	             : o->traces > 1 ? SLICE_LIT("several formats")
	                             : SLICE_LIT("unknown format"),
	             0);
	if (o->dialect.n > 0) {
		text_str(&line, " (");
		text_visible(&line, o->dialect, 0);
		text_char(&line, ')');
	}
	text_count(&line, ", ", o->bytes, "byte");
	text_count(&line, ", ", o->records, "record");
	if (o->left_out > 0)
		text_printf(&line, ", %" PRIu64 " of", o->events);
	text_count(&line, o->left_out > 0 ? " " : ", ", o->events + o->left_out, "event");
	text_count(&line, ", ", s->tracks, "track");
	put_line(t, v, &line);
	if (s->events > 0) {
		text_str(&line, "time ");
		text_time(&line, s->last_ns - s->first_ns);
		uint64_t wall;
		if (o->epoch_known && trace_wall(o->epoch_ns, s->first_ns, s->zero_ns, &wall)) {
			text_str(&line, ", from ");
			text_wall(&line, wall);
		}
		put_line(t, v, &line);
	}
}

static void put_words(struct text *t, const struct stats_view *v, const char *words)
{
	struct text line = { .p = NULL };

	text_str(&line, words);
	put_line(t, v, &line);
}

static void put_note(struct text *t, const struct stats_view *v, uint64_t n, const char *one,
                     const char *many)
{
	char line[256];

	snprintf(line, sizeof line, "%" PRIu64 " %s", n, n == 1 ? one : many);
	if (n > 0)
		put_words(t, v, line);
}

static void put_notes(struct text *t, const struct stats_view *v)
{
	const struct stats *const s = v->stats;
	char note[HISTOGRAM_NOTE];

	if (s->by.n > 0)
		put_note(t, v, stats_other_names(s),
		         "event of too many names or groups is counted under \"(other)\"",
		         "events of too many names or groups are counted under \"(other)\"");
	else
		put_note(t, v, stats_other_names(s),
		         "event of too many names is counted under \"(other names)\"",
		         "events of too many names are counted under \"(other names)\"");
	/* spans are paired before they are selected */
	const bool of_all = s->origin.left_out > 0;
	put_note(t, v, s->unpaired,
	         of_all ? "span of the whole trace is incomplete: its begin or end lies outside it"
	                : "span is incomplete: its begin or end lies outside the trace",
	         of_all ? "spans of the whole trace are incomplete: begin or end lies outside it"
	                : "spans are incomplete: begin or end lies outside the trace");
	put_note(t, v, s->times.inexact,
	         "span contains or overlaps spans that were already added up: total and self times may not "
	         "be exact",
	         "spans contain or overlap spans that were already added up: total and self times may not be "
	         "exact");
	if (s->times.inexact > s->events / 100)
		put_words(t, v,
		          "  there may be so many because files of the trace name the same threads; "
		          "statistics of each file, added up with --merge, keep these apart");
	put_note(t, v, s->series.late,
	         "value of a counter is too far out of order: its mean over time may not be exact",
	         "values of counters are too far out of order: means over time may not be exact");
	if (s->spans.longest.limit < s->examples.n && s->spans.longest.limit > 0)
		put_note(t, v, s->spans.longest.limit,
		         "example of each group is kept, as there are too many groups",
		         "examples of each group are kept, as there are too many groups");
	if (s->pool.coarse > 0)
		put_words(t, v, histogram_note(s->pool.coarse, note));
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
}

static size_t count_shown(const struct stats_view *v, size_t rows)
{
	return v->top == 0 || rows < v->top ? rows : v->top;
}

/* Prints the table, unless it has no rows. */
static void finish_table(struct text *t, const char *title, struct columns *c, const struct stats_view *v,
                         size_t n, size_t shown)
{
	if (n > 0)
		columns_end(c, t, v->form, title, n, shown, v->width);
	columns_free(c);
}

/* ---- spans ---- */

static void key_columns(struct column *list, const struct stats *s)
{
	static const struct column plain[] = { { NULL, COLUMN_NAME, 20, 0 }, { NULL, COLUMN_NAME, 10, 2 } };

	for (unsigned i = 0; i < group_by_count(&s->by); i++) {
		list[i] = s->by.n > 0 ? (struct column){ NULL, COLUMN_NAME, 12, 0 } : plain[i];
		list[i].head = group_by_key(&s->by, i);
	}
}

static void span_cell(struct columns *c, const struct span_column_row *column, const struct stats *s,
                      const struct span_row *row)
{
	const uint128 v = span_column_value(column, s, row);

	switch (column->what) {
	case SPAN_COUNT:
	case SPAN_NEGATIVE:
	case SPAN_DECADE:
		text_u128(&c->text, v);
		break;
	case SPAN_FIELD_SUM:
	case SPAN_RATE:
		span_column_sum(&c->text, column, row, false);
		break;
	case SPAN_WAITING:
	case SPAN_BYTES:
	case SPAN_BYTES_RATE:
		if (v == 0)
			text_char(&c->text, '-');
		else
			(column->what == SPAN_WAITING ? text_time_short : text_bytes_short)(&c->text, v);
		break;
	case SPAN_SHARE:
	case SPAN_BUSY:
		text_percent(&c->text, v);
		break;
	case SPAN_FIRST:
	case SPAN_LAST:
		text_since(&c->text, (uint64_t)v - s->start_ns);
		break;
	default:
		text_time_short(&c->text, v);
	}
	columns_next(c);
}

/* Columns without information in this table: self times of async spans; negative values and bytes if there
 * are none; waiting times if there are none or they are the self times; decades without a span. */
static unsigned columns_without(const struct stats_view *v, const struct span_table *table,
                                const struct span_row *rows, size_t n)
{
	const unsigned keys = group_by_count(&v->stats->by);
	unsigned without = 0;

	for (unsigned i = 0; i < v->columns->n; i++) {
		const enum span_column what = v->columns->list[i].what;
		bool empty = table == &v->stats->async && (what == SPAN_SELF || what == SPAN_BUSY);
		if (what == SPAN_NEGATIVE || what == SPAN_WAITING || what == SPAN_DECADE ||
		    what == SPAN_BYTES || what == SPAN_BYTES_RATE) {
			empty = true;
			for (size_t k = 0; empty && k < n; k++)
				empty =
				    span_column_value(&v->columns->list[i], v->stats, &rows[k]) == 0 ||
				    (what == SPAN_WAITING && v->stats->by.n == 0 && span_row_waits(&rows[k]));
		}
		without |= empty ? 1U << (keys + i) : 0;
	}
	return without;
}

static const struct column example_columns[] = {
	{ "duration", COLUMN_NUMBER, 0, 0 }, { "at", COLUMN_NUMBER, 0, 0 },
	{ "track", COLUMN_NAME, 10, 2 },     { "offset", COLUMN_NUMBER, 0, 3 },
	{ "fields", COLUMN_NAME, 12, 1 },
};

static void put_examples(struct text *t, const char *title, const struct stats_view *v,
                         const struct span_row *rows, size_t n)
{
	const unsigned keys = group_by_count(&v->stats->by);
	struct column list[COLUMNS_MAX];
	struct columns c = { .list = list, .n = keys + 5, .indent = 2 };
	char head[48];
	size_t shown = 0;

	key_columns(list, v->stats);
	memcpy(list + keys, example_columns, sizeof example_columns);
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; rows[i].examples != NULL && k < rows[i].examples->n; k++) {
			const struct longest_item *const e = &rows[i].examples->list[k];
			for (unsigned j = 0; j < keys; j++)
				columns_name(&c, rows[i].values[j]);
			columns_time(&c, e->length);
			text_since(&c.text, e->ts - v->stats->start_ns);
			columns_next(&c);
			columns_name(&c, e->track->name);
			columns_u64(&c, e->offset);
			text_slice(&c.text, longest_fields(e)); /* visible text */
			columns_next(&c);
			shown++;
		}
	snprintf(head, sizeof head, "slowest %s", title);
	finish_table(t, head, &c, v, shown, shown);
}

static bool put_spans(struct text *t, const char *title, const struct stats_view *v,
                      const struct span_table *table, enum span_rows which)
{
	const unsigned keys = group_by_count(&v->stats->by);
	struct column list[COLUMNS_MAX];
	struct columns c = { .list = list, .n = keys + v->columns->n, .indent = 2 };
	struct span_row *rows;
	size_t n;

	if (!stats_top_rows(v->stats, table, v->columns, which, v->top, &rows, &n))
		return false;
	key_columns(list, v->stats);
	for (unsigned i = 0; i < v->columns->n; i++)
		list[keys + i] =
		    (struct column){ v->columns->list[i].head, COLUMN_NUMBER, 0, v->columns->list[i].drop };
	const size_t shown = count_shown(v, n);
	c.without = columns_without(v, table, rows, shown);
	for (size_t i = 0; i < shown; i++) {
		for (unsigned k = 0; k < keys; k++)
			columns_name(&c, rows[i].values[k]);
		for (unsigned k = 0; k < v->columns->n; k++)
			span_cell(&c, &v->columns->list[k], v->stats, &rows[i]);
	}
	finish_table(t, title, &c, v, n, shown);
	if (v->stats->by.n == 0) /* in other groups it is expected */
		put_recursive(t, v, rows, shown);
	if (v->stats->examples.n > 0)
		put_examples(t, title, v, rows, shown);
	free(rows);
	return !t->failed;
}

/* ---- instants and counters ---- */

/* A count and a name; in Markdown, and with several keys, with heads. */
static const struct column count_columns[] = { { NULL, COLUMN_NUMBER, 0, 0 }, { NULL, COLUMN_NAME, 16, 0 } };

/* Writes a count and its keys in each row, and frees the rows. */
static bool put_counts(struct text *t, const char *title, const struct stats_view *v,
                       const struct column *list, unsigned keys, struct tally_row *rows, size_t n)
{
	struct columns c = { .list = list, .n = keys + 1, .indent = 2 };
	const size_t shown = count_shown(v, n);

	for (size_t i = 0; i < shown; i++) {
		columns_u64(&c, rows[i].count);
		for (unsigned k = 0; k < keys; k++)
			columns_name(&c, rows[i].values[k]);
	}
	free(rows);
	finish_table(t, title, &c, v, n, shown);
	return !t->failed;
}

static bool put_instants(struct text *t, const struct stats_view *v)
{
	const struct stats *const s = v->stats;
	struct column list[GROUP_KEYS_MAX + 1] = { { "count", COLUMN_NUMBER, 0, 0 } };
	const bool bare = s->by.n == 0 && v->form == FORM_TEXT;
	struct tally_row *rows;
	size_t n;

	key_columns(list + 1, s);
	return stats_tally_rows(&s->instants, &rows, &n) &&
	       put_counts(t, "instants", v, bare ? count_columns : list, s->by.n > 0 ? s->by.n : 1, rows, n);
}

static const struct column counter_columns[] = {
	{ "name", COLUMN_NAME, 16, 0 },   { "series", COLUMN_NAME, 12, 0 }, { "count", COLUMN_NUMBER, 0, 0 },
	{ "first", COLUMN_NUMBER, 0, 5 }, { "last", COLUMN_NUMBER, 0, 2 },  { "min", COLUMN_NUMBER, 0, 1 },
	{ "mean", COLUMN_NUMBER, 0, 4 },  { "mean*", COLUMN_NUMBER, 0, 0 }, { "p50", COLUMN_NUMBER, 0, 6 },
	{ "p99", COLUMN_NUMBER, 0, 3 },   { "max", COLUMN_NUMBER, 0, 0 },
};

static void number_cell(struct columns *c, double v)
{
	text_six_digits(&c->text, v);
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

static bool put_counters(struct text *t, const struct stats_view *v)
{
	struct columns c = { .list = counter_columns, .n = COUNT_OF(counter_columns), .indent = 2 };
	struct counter_row *rows;
	struct series_row *list;
	size_t n, all = 0;

	if (!stats_counter_rows(v->stats, &rows, &n, &list))
		return false;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k == 0 || k < rows[i].nseries; k++) {
			all++;
			if (count_shown(v, all) == all)
				series_cells(&c, &rows[i], k < rows[i].nseries ? &rows[i].series[k] : NULL);
		}
	free(rows);
	free(list);
	finish_table(t, "counters (mean*: over time)", &c, v, all, count_shown(v, all));
	return !t->failed;
}

static bool put_classes(struct text *t, const struct stats_view *v)
{
	static const struct column list[] = { { "records", COLUMN_NUMBER, 0, 0 },
		                              { "class", COLUMN_NAME, 16, 0 } };
	struct tally_row *rows;
	size_t n;

	return stats_class_rows(v->stats, &rows, &n) &&
	       put_counts(t, "classes", v, v->form == FORM_TEXT ? count_columns : list, 1, rows, n);
}

bool stats_text(struct text *t, const struct stats_view *v)
{
	if (v->form != FORM_HTML)
		put_head(t, v);
	put_notes(t, v);
	if (v->stats->tables != NULL && v->form != FORM_HTML) {
		struct cells c = { .form = v->form, .t = t, .width = v->width, .max_rows = v->top };
		return stats_tables_put(v->stats, &c);
	}
	const bool keys = v->stats->by.n > 0; /* groups of any events */
	const enum span_rows rows = keys ? SPAN_ROWS_ALL : SPAN_ROWS_WORKING;
	return put_spans(t, "spans", v, &v->stats->spans, rows) &&
	       (keys || put_spans(t, "waiting", v, &v->stats->spans, SPAN_ROWS_WAITING)) &&
	       put_spans(t, "async spans", v, &v->stats->async, rows) && put_instants(t, v) &&
	       put_counters(t, v) && (!v->classes || v->stats->origin.selected || put_classes(t, v)) &&
	       !t->failed;
}

/* ---- CSV ---- */

static void put_csv_head(struct text *t, const struct stats_view *v)
{
	text_str(t, "path,kind");
	for (unsigned i = 0; i < group_by_count(&v->stats->by); i++)
		text_csv_next(t, slice_str(group_by_key(&v->stats->by, i)));
	for (unsigned i = 0; i < v->columns->n; i++) {
		const enum span_column what = v->columns->list[i].what;
		text_csv_next(t, slice_str(v->columns->list[i].head));
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
	for (unsigned k = 0; k < group_by_count(&v->stats->by); k++)
		text_csv_next(t, values[k]);
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
			const uint128 value = span_column_value(c, v->stats, &rows[i]);
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

static bool put_csv_instants(struct text *t, const struct stats_view *v)
{
	struct tally_row *rows;
	size_t n;

	if (!stats_tally_rows(&v->stats->instants, &rows, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		put_csv_keys(t, v, "instant", rows[i].values);
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
			.form = FORM_CSV, .t = t, .path = v->stats->origin.path, .with_heads = first
		};
		return stats_tables_put(v->stats, &c);
	}
	if (first)
		put_csv_head(t, v);
	return put_csv_spans(t, v, &v->stats->spans) && put_csv_spans(t, v, &v->stats->async) &&
	       put_csv_instants(t, v);
}
