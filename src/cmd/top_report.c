/*
 * The report of `top` on a trace: rows as text or JSON (schemas/top.schema.json), one after the other or by
 * group.  Outliers are the longest spans of a group that exceed its p99, which is known at the end.
 */

#include "cmd/top.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "cli/say.h"
#include "json/out.h"
#include "output/columns.h"
#include "output/text_visible.h"

static const struct column span_heads[] = {
	{ "duration", COLUMN_NUMBER, 0, 0 }, { "at", COLUMN_NUMBER, 0, 0 },
	{ "process", COLUMN_NAME, 10, 3 },   { "thread", COLUMN_NAME, 10, 2 },
	{ "name", COLUMN_NAME, 20, 0 },      { "category", COLUMN_NAME, 8, 4 },
	{ "fields", COLUMN_LIST, 12, 1 },
};
static const struct column gap_heads[] = {
	{ "gap", COLUMN_NUMBER, 0, 0 },   { "at", COLUMN_NUMBER, 0, 0 },   { "process", COLUMN_NAME, 10, 2 },
	{ "thread", COLUMN_NAME, 10, 1 }, { "after", COLUMN_NAME, 16, 0 }, { "before", COLUMN_NAME, 16, 0 },
};
static const struct column arrow_heads[] = {
	{ "delay", COLUMN_NUMBER, 0, 0 }, { "at", COLUMN_NUMBER, 0, 0 }, { "name", COLUMN_NAME, 12, 0 },
	{ "from", COLUMN_NAME, 16, 0 },   { "to", COLUMN_NAME, 16, 0 },
};

struct group_row {
	uint32_t number;
	const struct longest_item *items;
	uint32_t n;
	const struct span_group *group; /* NULL: there are no groups */
};

static int longest_group_first(const void *a, const void *b)
{
	const struct longest_item *const x = ((const struct group_row *)a)->items,
	                                 *const y = ((const struct group_row *)b)->items;

	return x->length != y->length ? ORDER(y->length, x->length) : ORDER(x->number, y->number);
}

static uint64_t row_p99(const struct top *t, const struct group_row *g)
{
	return histogram_percentile(&g->group->durations, &t->stats.pool, 99);
}

/* Keeps the items that are longer than the p99 of their group, times --times.  Its upper bound is taken: with
 * clocks of microseconds, many spans are as long as the p99. */
static void keep_outliers(const struct top *t, struct group_row *g)
{
	const struct histogram *const h = &g->group->durations;
	uint64_t low, high = 0;

	if (h->count > 0) /* the group of other names may have none */
		histogram_rank(h, &t->stats.pool, h->count - h->count / 100, &low, &high);
	const uint128 least = (uint128)high * t->run->times;
	while (g->n > 0 && (uint128)g->items[g->n - 1].length * 1000 <= least)
		g->n--;
}

static void add_row(const struct top *t, struct group_row *rows, size_t *n, uint32_t number,
                    const struct longest_group *items)
{
	const struct span_table *const table = &t->stats.spans;
	struct group_row g = { .number = number, .items = items->list, .n = items->n };

	if (t->run->by.n > 0)
		g.group = number < table->cap ? &table->groups[number] : &table->other;
	if (t->run->outliers)
		keep_outliers(t, &g);
	if (g.n > 0)
		rows[(*n)++] = g;
}

/* The groups that have items to show, longest first.  The caller frees *rows. */
static bool group_rows(const struct top *t, struct group_row **rows, size_t *n)
{
	*n = 0;
	*rows = malloc(((size_t)t->items.ngroups + 1) * sizeof **rows);
	if (*rows == NULL)
		return false;
	for (uint32_t i = 0; i < t->items.ngroups; i++)
		add_row(t, *rows, n, i, &t->items.groups[i]);
	add_row(t, *rows, n, NAMES_OTHER, &t->items.other);
	array_sort(*rows, *n, sizeof **rows, longest_group_first);
	return true;
}

/* Whether the key needs a further column, as the rows have none for it. */
static bool is_further_key(const struct top_run *r, unsigned i)
{
	return r->by.columns[i].key >= GROUP_BY_TRACK;
}

static bool shows_fields(const struct top_run *r)
{
	return !r->fields.named || r->fields.n > 0;
}

static void put_text_row(struct columns *c, const struct top *t, const struct group_row *g,
                         const struct longest_item *i)
{
	const struct top_run *const r = t->run;
	struct slice values[GROUP_KEYS_MAX];

	columns_time(c, i->length);
	if (r->by.n > 0)
		columns_time(c, row_p99(t, g));
	text_since(&c->text, i->ts - t->first_ns);
	columns_next(c);
	if (r->arrows) {
		columns_name(c, longest_name(i));
		columns_name(c, i->track->name);
		columns_name(c, i->to->name);
		return;
	}
	columns_name(c, track_process(i->track)->name);
	columns_name(c, i->track->name);
	if (r->gaps) {
		columns_name(c, longest_second(i));
		columns_name(c, longest_name(i));
		return;
	}
	columns_name(c, longest_name(i));
	columns_name(c, longest_second(i));
	if (r->by.n > 0)
		groups_values(&t->stats, &t->stats.spans.set, g->number, values);
	for (unsigned k = 0; k < r->by.n; k++)
		if (is_further_key(r, k))
			columns_name(c, values[k]);
	if (shows_fields(r)) {
		text_slice(&c->text, longest_fields(i)); /* visible text */
		columns_next(c);
	}
}

static unsigned put_heads(struct column *list, const struct top_run *r)
{
	const struct column *const heads = r->gaps ? gap_heads : r->arrows ? arrow_heads : span_heads;
	const unsigned nheads = r->gaps ? 6 : r->arrows ? 5 : 7;
	unsigned n = 0;

	for (unsigned i = 0; i < nheads; i++) {
		if (i == 1 && r->by.n > 0)
			list[n++] = (struct column){ "p99", COLUMN_NUMBER, 0, 0 };
		for (unsigned k = 0; i == 6 && k < r->by.n; k++)
			if (is_further_key(r, k))
				list[n++] = (struct column){ r->by.columns[k].head, COLUMN_NAME, 12, 0 };
		if (i < 6 || shows_fields(r))
			list[n++] = heads[i];
	}
	return n;
}

static void put_text(struct text *out, const struct top *t, const struct group_row *rows, size_t n,
                     unsigned width)
{
	struct column list[COLUMNS_MAX];
	struct columns c = { .list = list, .n = put_heads(list, t->run), .indent = 2 };

	for (size_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < rows[k].n; i++)
			put_text_row(&c, t, &rows[k], &rows[k].items[i]);
	columns_print(&c, out, width);
}

static void put_item(struct json_out *o, const struct top *t, const struct longest_item *i)
{
	const struct top_run *const r = t->run;

	json_out_begin_after(o, "\n   ", NULL, "{");
	json_out_u64(o, "dur_ns", i->length);
	json_out_plain_ns(o, "ts_ns", i->ts, t->zero_ns);
	json_out_u64(o, "since_start_ns", i->ts - t->first_ns);
	json_out_u64(o, "offset", i->offset);
	json_out_slice(o, "process", track_process(i->track)->name);
	json_out_slice(o, "track", i->track->name);
	if (r->arrows)
		json_out_slice(o, "to", i->to->name);
	if (r->gaps)
		json_out_slice(o, "after", longest_second(i));
	json_out_slice(o, r->gaps ? "before" : "name", longest_name(i));
	if (!r->gaps && !r->arrows) {
		json_out_slice(o, "category", longest_second(i));
		json_out_begin(o, "args", "{");
		text_slice(o->t, longest_fields(i));
		json_out_end(o, "}");
	}
	json_out_end(o, "}");
}

static void put_group(struct json_out *o, const struct top *t, const struct group_row *g)
{
	struct slice values[GROUP_KEYS_MAX];

	groups_values(&t->stats, &t->stats.spans.set, g->number, values);
	json_out_begin_after(o, "\n   ", NULL, "{");
	for (unsigned k = 0; k < t->run->by.n; k++)
		json_out_slice(o, t->run->by.columns[k].head, values[k]);
	json_out_u64(o, "count", g->group->count);
	json_out_u64(o, "p99_ns", row_p99(t, g));
	json_out_begin(o, "spans", "[");
	for (uint32_t i = 0; i < g->n; i++)
		put_item(o, t, &g->items[i]);
	json_out_end(o, "]}");
}

static void put_json(struct text *out, const struct top *t, const struct group_row *rows, size_t n,
                     bool first)
{
	const struct top_run *const r = t->run;
	struct json_out o = { .t = out, .comma = !first };

	json_out_begin_after(&o, "\n ", NULL, "{");
	json_out_string(&o, "path", t->path);
	if (r->by.n > 0)
		json_out_u64(&o, "limit", t->items.limit);
	json_out_begin_after(&o, "\n  ",
	                     r->gaps       ? "gaps"
	                     : r->arrows   ? "arrows"
	                     : r->by.n > 0 ? "groups"
	                                   : "spans",
	                     "[");
	for (size_t k = 0; k < n && r->by.n > 0; k++)
		put_group(&o, t, &rows[k]);
	for (uint32_t i = 0; r->by.n == 0 && n > 0 && i < rows[0].n; i++)
		put_item(&o, t, &rows[0].items[i]);
	json_out_end(&o, "]}");
}

void top_report(struct top_run *run, struct top *t)
{
	struct trace_run *const r = &run->run;
	struct group_row *rows;
	size_t n;

	longest_end(&t->items);
	if (note_failure(&r->out.no_memory,
	                 t->stats.pool.failed || !groups_label(&t->stats) || !group_rows(t, &rows, &n)))
		return;
	if (run->form == FORM_JSON) {
		put_json(&r->text, t, rows, n, !r->any);
	} else {
		if (r->any)
			text_char(&r->text, '\n');
		if (r->groups.n > 1) {
			text_visible(&r->text, slice_str(t->path), 0);
			text_char(&r->text, '\n');
		}
		if (n > 0)
			put_text(&r->text, t, rows, n, options_width(&r->options));
		else
			text_printf(&r->text, "  no %s\n",
			            run->gaps       ? "gaps"
			            : run->arrows   ? "arrows"
			            : run->outliers ? "outliers"
			                            : "spans");
		if (t->items.limit < run->limit)
			text_printf(&r->text, "  too many groups: only %" PRIu32 " of each\n",
			            t->items.limit);
	}
	free(rows);
	r->any = true;
	report_out_put(&r->out, &r->text);
	for (unsigned i = 0; i < run->fields.n && t->items.arrived > 0; i++)
		if ((t->lacking >> i & 1) != 0)
			say_no_field(t->path, "event has a field", run->fields.names[i]);
}
