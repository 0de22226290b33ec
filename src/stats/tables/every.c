/* Statistics by interval: spans that start in it, by group; busy time of spans, in each interval that they
 * last in; and values of counters.  Intervals in which nothing happens have no rows. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/match.h"
#include "model/event_traits.h"
#include "stats/tables/tables.h"

#define NOBODY (UINT64_MAX >> 1) /* a span that is left out, or waiting */

enum kind { KIND_SPAN, KIND_ASYNC, KIND_COUNTER };

struct every_row {
	uint32_t who; /* number of the group, or of the series of a counter, and kind: who_of() */
	uint32_t interval;
	uint64_t count;
	struct total sum, busy;
	struct histogram durations;
	uint64_t decades[SPAN_DECADES];
	double least, most, added; /* of a counter */
};

static uint32_t who_of(enum kind kind, uint32_t number)
{
	return (number == NAMES_OTHER ? NAMES_MAX : number) << 2 | kind;
}

static void spent(void *ctx, const struct track *track, uint64_t from, uint64_t to, uint64_t what);

void every_begin(struct every_table *v, struct arena *text, uint64_t every)
{
	v->every = every;
	v->activity = (struct activity){ .spent = spent, .ctx = v };
	names_init(&v->counters, text);
	names_init(&v->series, text);
}

void every_free(struct every_table *v)
{
	activity_free(&v->activity);
	table64_free(&v->row_of);
	groups_free_set(&v->set);
	names_free(&v->counters);
	names_free(&v->series);
	histogram_pool_free(&v->pool);
	free(v->rows);
}

/* Returns the row of an interval; NULL if there are too many, or on OOM. */
static struct every_row *row_at(struct every_table *v, uint32_t who, uint64_t interval)
{
	if (v->refused != EVERY_FITS)
		return NULL;
	if (interval >= EVERY_INTERVALS) {
		v->refused = EVERY_TOO_SHORT;
		return NULL;
	}
	if (v->last < v->nrows && v->rows[v->last].who == who && v->rows[v->last].interval == interval)
		return &v->rows[v->last];
	const uint64_t key = (uint64_t)who << 32 | interval;
	const uint32_t at =
	    table64_element(&v->row_of, key, &v->rows, &v->nrows, &v->rows_cap, sizeof *v->rows, EVERY_ROWS);
	if (at == TABLE_NONE)
		v->refused = EVERY_TOO_MANY;
	v->no_memory |= at == TABLE_FAILED;
	if (at >= TABLE_FAILED)
		return NULL;
	v->last = at;
	v->rows[at].who = who;
	v->rows[at].interval = (uint32_t)interval;
	return &v->rows[at];
}

static void spent(void *ctx, const struct track *track, uint64_t from, uint64_t to, uint64_t what)
{
	struct every_table *const v = ctx;

	(void)track;
	if (what == ACTIVITY_IDLE || what == NOBODY)
		return;
	for (uint64_t i = (from - v->first_ns) / v->every; from < to; i++) {
		const uint64_t left = v->every - (from - v->first_ns) % v->every,
		               part = left < to - from ? left : to - from;
		struct every_row *const r = row_at(v, (uint32_t)what, i);
		if (r == NULL)
			return;
		total_add(&r->busy, part);
		from += part;
	}
}

static bool add_span(struct every_table *v, struct stats *s, const struct batch *b, const struct event *e)
{
	const bool async = event_is_async(e);
	uint32_t number = 0;

	if (s->by.n > 0)
		number = groups_find(s, &v->set, b, e);
	if (number == NAMES_FAILED)
		return false;
	const uint32_t who = who_of(async ? KIND_ASYNC : KIND_SPAN, number);
	struct every_row *const r = row_at(v, who, (e->ts - v->first_ns) / v->every);
	if (r == NULL)
		return !v->no_memory;
	r->count++;
	total_add(&r->sum, e->dur);
	histogram_add(&r->durations, &v->pool, e->dur);
	r->decades[span_decade(e->dur)]++;
	return async || activity_add(&v->activity, e->track, e->ts, event_end(e),
	                             event_is_waiting(e) ? NOBODY : who, (e->flags & EVENT_INNER) != 0);
}

static bool add_value(struct every_table *v, const struct event *e, struct slice field, double value)
{
	const uint32_t series = names_index_of(&v->series, field, &v->counters, e->name);

	if (series >= NAMES_FAILED)
		return series == NAMES_OTHER;
	struct every_row *const r = row_at(v, who_of(KIND_COUNTER, series), (e->ts - v->first_ns) / v->every);
	if (r == NULL)
		return !v->no_memory;
	r->least = r->count == 0 || value < r->least ? value : r->least;
	r->most = r->count == 0 || value > r->most ? value : r->most;
	r->added += value;
	r->count++;
	return true;
}

bool every_add(struct every_table *v, struct stats *s, const struct batch *b, const struct event *e,
               uint64_t first_ns)
{
	double value;

	v->first_ns = first_ns;
	if (v->refused != EVERY_FITS)
		return true;
	if ((e->flags & EVENT_LEFT_OUT) != 0)
		return e->phase != PHASE_SPAN || event_is_async(e) ||
		       activity_add(&v->activity, e->track, e->ts, event_end(e), NOBODY,
		                    (e->flags & EVENT_INNER) != 0);
	if (e->phase == PHASE_SPAN)
		return add_span(v, s, b, e) && !v->no_memory;
	for (uint32_t i = 0; e->phase == PHASE_COUNTER && i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		if (series_value(&f->value, &value) && !add_value(v, e, f->name, value))
			return false;
	}
	return true;
}

bool every_end(struct every_table *v)
{
	activity_end(&v->activity);
	return !v->no_memory && !v->pool.failed;
}

/* ---- report ---- */

struct sorted {
	struct slice texts[GROUP_KEYS_MAX]; /* of a counter its name and series */
	const struct every_row *row;
	double size, low, high; /* of the bar; range of all bars of its group */
};

/* By group, then by time. */
static int by_group(const void *a, const void *b)
{
	const struct sorted *const x = a, *const y = b;
	const int c = slices_compare(x->texts, y->texts, GROUP_KEYS_MAX);

	return c != 0                       ? c
	       : x->row->who != y->row->who ? ORDER(x->row->who, y->row->who)
	                                    : ORDER(x->row->interval, y->row->interval);
}

/* Value of the bar of a row: busy time of spans, number of async spans, mean of a counter. */
static double bar_size(const struct every_row *r, enum kind kind)
{
	return kind == KIND_SPAN      ? (double)total_of(r->busy)
	       : kind == KIND_COUNTER ? r->added / (double)r->count
	                              : (double)r->count;
}

/* Sets the range of the bars of each group: from 0, for a counter from its least mean. */
static void scale_bars(struct sorted *rows, size_t n, enum kind kind)
{
	for (size_t i = 0, end; i < n; i = end) {
		double low = kind == KIND_COUNTER ? rows[i].size : 0, high = rows[i].size;
		for (end = i; end < n && rows[end].row->who == rows[i].row->who; end++) {
			low = rows[end].size < low ? rows[end].size : low;
			high = rows[end].size > high ? rows[end].size : high;
		}
		for (size_t k = i; k < end; k++) {
			rows[k].low = low;
			rows[k].high = high;
		}
	}
}

static size_t sort_rows(const struct every_table *v, const struct stats *s, enum kind kind,
                        struct sorted *rows)
{
	size_t n = 0;

	for (uint32_t i = 0; i < v->nrows; i++) {
		const uint32_t number = v->rows[i].who >> 2;
		if ((v->rows[i].who & 3) != kind)
			continue;
		struct sorted *const to = &rows[n++];
		*to = (struct sorted){ .row = &v->rows[i], .size = bar_size(&v->rows[i], kind) };
		if (kind == KIND_COUNTER) {
			to->texts[0] = names_text(&v->counters, v->series.names[number].with);
			to->texts[1] = names_text(&v->series, number);
		} else if (s->by.n > 0) {
			groups_values(s, &v->set, number == NAMES_MAX ? NAMES_OTHER : number, to->texts);
		}
	}
	array_sort(rows, n, sizeof *rows, by_group);
	scale_bars(rows, n, kind);
	return n;
}

enum { COLUMNS_EVERY = 15 + GROUP_KEYS_MAX + SPAN_DECADES };

/* Lists the columns of all kinds; text has only those of `kind`. */
static unsigned list_columns(struct cell_column *list, const struct stats *s, enum kind kind, bool hist,
                             const bool *used)
{
	const bool spans = kind != KIND_COUNTER;
	unsigned n = 0;

#define ADD(when, head, type, min, drop, key)                                                                \
	list[n++] = (struct cell_column){ { (when) ? head : NULL, type, min, drop }, key }
	ADD(false, "", COLUMN_WORD, 0, 0, "kind");
	ADD(true, "from", COLUMN_NUMBER, 0, 0, "from_ns");
	for (unsigned i = 0; i < s->by.n; i++)
		ADD(spans, s->by.columns[i].head, COLUMN_NAME, 12, 0, s->by.columns[i].head);
	ADD(!spans, "counter", COLUMN_NAME, 12, 0, "counter");
	ADD(!spans, "series", COLUMN_NAME, 8, 0, "series");
	ADD(true, "count", COLUMN_NUMBER, 0, 0, "count");
	ADD(kind == KIND_SPAN && !hist, "busy", COLUMN_NUMBER, 0, 0, "busy_ns");
	ADD(!hist || !spans, "", COLUMN_WORD, 0, 6, NULL);
	ADD(spans && !hist, "sum", COLUMN_NUMBER, 0, 4, "sum_ns");
	for (unsigned i = 0; i < SPAN_DECADES && hist; i++)
		ADD(spans && used[i], span_decade_head(i), COLUMN_NUMBER, 0, 0, span_decade_head(i));
	ADD(spans && !hist, "p50", COLUMN_NUMBER, 0, 3, "p50_ns");
	ADD(spans && !hist, "p90", COLUMN_NUMBER, 0, 2, "p90_ns");
	ADD(spans, "p99", COLUMN_NUMBER, 0, 1, "p99_ns");
	ADD(spans && !hist, "max", COLUMN_NUMBER, 0, 0, "max_ns");
	ADD(!spans, "min", COLUMN_NUMBER, 0, 0, "min");
	ADD(!spans, "mean", COLUMN_NUMBER, 0, 0, "mean");
	ADD(!spans, "max", COLUMN_NUMBER, 0, 0, "max");
#undef ADD
	return n;
}

static void put_row(const struct every_table *v, struct cells *c, const struct stats *s, enum kind kind,
                    const struct sorted *row, bool hist)
{
	static const char *const kinds[] = { "span", "async", "counter" };
	static const uint32_t quantiles[] = { 500000, 900000, 990000 };
	const struct every_row *const r = row->row;
	const bool spans = kind != KIND_COUNTER;

	cells_row(c);
	cells_name(c, slice_str(kinds[kind]));
	cells_at(c, v->first_ns + r->interval * v->every);
	if (spans) {
		for (unsigned i = 0; i < s->by.n; i++)
			cells_name(c, row->texts[i]);
		cells_none(c, 2);
	} else {
		cells_none(c, s->by.n);
		cells_name(c, row->texts[0]);
		cells_name(c, row->texts[1]);
	}
	cells_count(c, r->count);
	if (kind == KIND_SPAN)
		cells_time(c, total_of(r->busy));
	else
		cells_none(c, 1);
	cells_bar(c, row->high > row->low ? (row->size - row->low) / (row->high - row->low) : 0);
	if (!spans) {
		const double mean = r->added / (double)r->count; /* sums are rounded, or infinite */
		cells_none(c, 1 + (hist ? SPAN_DECADES : 0) + 4);
		cells_real(c, r->least);
		cells_real(c, mean < r->least ? r->least : mean <= r->most ? mean : r->most);
		cells_real(c, r->most);
		return;
	}
	cells_time(c, total_of(r->sum));
	for (unsigned i = 0; i < SPAN_DECADES && hist; i++)
		cells_count(c, r->decades[i]);
	if (r->durations.count > 0) {
		for (unsigned i = 0; i < 3; i++)
			cells_time(c, histogram_quantile(&r->durations, &v->pool, quantiles[i]));
		cells_time(c, r->durations.max);
	} else {
		cells_none(c, 4);
	}
	cells_none(c, 3);
}

static bool put_kind(const struct every_table *v, struct cells *c, const struct stats *s, enum kind kind,
                     struct sorted *rows, bool hist)
{
	static const char *const titles[] = { "spans by time", "async spans by time", "counters by time" };
	struct cell_column list[COLUMNS_EVERY];
	const size_t n = sort_rows(v, s, kind, rows);
	bool used[SPAN_DECADES] = { false };

	if (n == 0 && (kind != KIND_SPAN || c->form == FORM_JSON))
		return true;
	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; k < SPAN_DECADES; k++)
			used[k] |= rows[i].row->decades[k] > 0;
	cells_begin(c, titles[kind], NULL, list, list_columns(list, s, kind, hist, used));
	for (size_t i = 0; i < n; i++)
		put_row(v, c, s, kind, &rows[i], hist);
	return cells_end(c);
}

bool every_put(const struct every_table *v, struct cells *c, const struct stats *s, bool hist)
{
	char note[HISTOGRAM_NOTE];
	struct sorted *const rows = malloc(((size_t)v->nrows + 1) * sizeof *rows);
	bool ok = rows != NULL;

	if (c->form == FORM_JSON) {
		json_out_space(c->json, "\n  ");
		json_out_u64(c->json, "every_ns", v->every);
		json_out_begin(c->json, "intervals", "[");
	}
	for (unsigned kind = KIND_SPAN; ok && kind <= KIND_COUNTER; kind++)
		ok = put_kind(v, c, s, (enum kind)kind, rows, hist);
	if (c->form == FORM_JSON)
		json_out_end(c->json, "]");
	free(rows);
	if (v->activity.missed > 0)
		cells_note(c, "not in the busy time, as too many spans are open: %" PRIu64,
		           v->activity.missed);
	if (v->pool.coarse > 0)
		cells_note(c, "%s", histogram_note(v->pool.coarse, note));
	return ok;
}
