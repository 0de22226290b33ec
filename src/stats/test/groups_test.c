/* --by, --sum, --columns, --percentiles and --sort, compared with counts by definition. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "stats/stats.h"
#include "base/compiler.h"
#include "test/support/splitmix.h"

enum { EVENTS = 4000, THREADS = 3 };

/* Two processes; the first two threads have the same name. */
struct rig {
	struct trace trace;
	struct stats stats;
	struct class *cls[2];
	const struct track *threads[THREADS];
	struct event events[EVENTS];
	struct field fields[EVENTS];
	char names[5][16];
};

static void fill(struct rig *g, uint64_t seed)
{
	trace_init(&g->trace);
	g->cls[0] = trace_add_class(&g->trace, SLICE_LIT("one"));
	g->cls[1] = trace_add_class(&g->trace, SLICE_LIT("two"));
	const struct track *const p = trace_add_process(&g->trace, SLICE_LIT("p"));
	const struct track *const q = trace_add_process(&g->trace, SLICE_LIT("q"));
	g->threads[0] = trace_add_thread(&g->trace, p, 7, SLICE_LIT("main"));
	g->threads[1] = trace_add_thread(&g->trace, q, 8, SLICE_LIT("main"));
	g->threads[2] = trace_add_thread(&g->trace, q, 9, SLICE_LIT("other"));
	for (int i = 0; i < 5; i++)
		snprintf(g->names[i], sizeof g->names[i], "n%d", i);
	for (uint32_t i = 0; i < EVENTS; i++) {
		struct event *const e = &g->events[i];
		const int64_t v = (int64_t)(splitmix_next(&seed) % 1000) - 20;
		e->phase = (uint8_t)(splitmix_next(&seed) % 8 == 0 ? PHASE_INSTANT : PHASE_SPAN);
		e->ts = UINT64_C(1000) * i;
		e->dur = splitmix_next(&seed) % 1000;
		e->name = slice_str(g->names[splitmix_next(&seed) % 5]);
		e->cls = g->cls[splitmix_next(&seed) % 2];
		e->track = g->threads[splitmix_next(&seed) % THREADS];
		e->first_field = i;
		e->nfields = splitmix_next(&seed) % 4 != 0;
		g->fields[i] = (struct field){ SLICE_LIT("size"), { .type = VALUE_I64, .i64 = v } };
	}
}

static void count(struct rig *g, const char *by, const char *sum)
{
	struct group_by keys;
	char why[256];

	stats_init(&g->stats);
	cr_assert(group_by_parse(&keys, by, why, sizeof why), "%s", why);
	cr_assert(stats_group(&g->stats, &keys, slice_str(sum)));
	for (uint32_t i = 0; i < EVENTS; i += 500) {
		const struct batch b = { .events = g->events + i, .n = 500, .fields = g->fields };
		cr_assert(stats_batch(&g->stats, &b));
	}
	cr_assert(stats_end(&g->stats));
}

static void clear(struct rig *g)
{
	stats_free(&g->stats);
	trace_free(&g->trace);
	free(g);
}

/* The label of an event's thread: unique. */
static const char *label_of(const struct rig *g, const struct event *e)
{
	return e->track == g->threads[0] ? "main (7)" : e->track == g->threads[1] ? "main (8)" : "other";
}

static bool is(struct slice s, const char *text)
{
	return slice_equal(s, slice_str(text));
}

/* Spans on one thread do not overlap, so total and self are sums. */
static void expect_row(const struct rig *g, const struct span_row *row, bool by_thread)
{
	uint64_t n = 0, sum = 0, size = 0, values = 0, negative = 0, first = UINT64_MAX, last = 0;

	for (uint32_t i = 0; i < EVENTS; i++) {
		const struct event *const e = &g->events[i];
		const int64_t v = g->fields[i].value.i64;
		if (e->phase != PHASE_SPAN ||
		    !is(row->values[0], by_thread ? label_of(g, e) : e->cls->category.p) ||
		    !slice_equal(row->values[1], e->name))
			continue;
		n++;
		sum += e->dur;
		first = e->ts < first ? e->ts : first;
		last = e->ts + e->dur > last ? e->ts + e->dur : last;
		values += e->nfields > 0 && v >= 0;
		negative += e->nfields > 0 && v < 0;
		size += e->nfields > 0 && v >= 0 ? (uint64_t)v : 0;
	}
	cr_expect_gt(n, 0);
	cr_expect_eq(row->group->count, n);
	cr_expect(total_of(row->group->sum) == sum && row->total == sum && row->self == sum);
	cr_expect_eq(row->group->first_ns, first);
	cr_expect_eq(row->group->last_ns, last);
	cr_expect(total_of(row->group->field.whole) == size);
	cr_expect_eq(row->group->field.values, values);
	cr_expect_eq(row->group->field.negative, negative);
}

Test(groups, like_the_slow_way)
{
	const char *const keys[] = { "thread,name", "category,name" };

	for (int k = 0; k < 2; k++) {
		struct rig *const g = calloc(1, sizeof *g);
		struct span_row *rows;
		struct tally_row *tally;
		uint64_t spans = 0, instants = 0;
		size_t n;

		fill(g, 11 + (uint64_t)k);
		count(g, keys[k], "size");
		cr_assert(stats_span_rows(&g->stats, &g->stats.spans, NULL, &rows, &n));
		cr_expect_eq(n, k == 0 ? 15 : 10);
		for (size_t i = 0; i < n; i++) {
			expect_row(g, &rows[i], k == 0);
			spans += rows[i].group->count;
		}
		cr_assert(stats_tally_rows(&g->stats.instants, &tally, &n));
		for (size_t i = 0; i < n; i++) {
			instants += tally[i].count;
			cr_expect(k == 1 || is(tally[i].values[0], "main (7)") ||
			          is(tally[i].values[0], "main (8)") || is(tally[i].values[0], "other"));
		}
		cr_expect_eq(spans + instants, EVENTS);
		free(rows);
		free(tally);
		clear(g);
	}
}

Test(groups, values_of_fields)
{
	struct rig *const g = calloc(1, sizeof *g);
	struct span_row *rows;
	uint64_t none = 0, got = 0;
	size_t n;

	fill(g, 5);
	for (uint32_t i = 0; i < EVENTS; i++)
		none += g->events[i].phase == PHASE_SPAN && g->events[i].nfields == 0;
	count(g, "arg:size", "");
	cr_assert(stats_span_rows(&g->stats, &g->stats.spans, NULL, &rows, &n));
	for (size_t i = 0; i < n; i++) {
		got += is(rows[i].values[0], "(none)") ? rows[i].group->count : 0;
		cr_expect_eq(rows[i].group->field.values, 0);
	}
	cr_expect_eq(got, none);
	cr_expect_gt(n, 900);
	free(rows);
	clear(g);
}

/* More values than the limit: the rest is one group, and all events are counted. */
Test(groups, are_bounded)
{
	enum { MANY = NAMES_MAX + 500 };
	struct rig *const g = calloc(1, sizeof *g);
	struct group_by by;
	struct span_row *rows;
	uint64_t other = 0, all = 0;
	char why[64];
	size_t n;

	fill(g, 5);
	stats_init(&g->stats);
	cr_assert(group_by_parse(&by, "arg:size", why, sizeof why) &&
	          stats_group(&g->stats, &by, SLICE_LIT("")));
	for (uint32_t i = 0; i < MANY; i++) {
		struct field f = { SLICE_LIT("size"), { .type = VALUE_U32, .u64 = i } };
		struct event e = g->events[0];
		e.phase = PHASE_SPAN;
		e.first_field = 0;
		e.nfields = 1;
		const struct batch b = { .events = &e, .n = 1, .fields = &f };
		cr_assert(stats_batch(&g->stats, &b));
	}
	cr_assert(stats_end(&g->stats) && stats_span_rows(&g->stats, &g->stats.spans, NULL, &rows, &n));
	for (size_t i = 0; i < n; i++) {
		all += rows[i].group->count;
		other += is(rows[i].values[0], "(other)") ? rows[i].group->count : 0;
	}
	cr_expect_eq(all, MANY);
	cr_expect(other >= 500 && other < 1000, "%lu", (unsigned long)other);
	free(rows);
	clear(g);
}

Test(groups, mistakes)
{
	static const char *const wrong[] = {
		"",           "names", "name,", ",name",
		"name,name",  "arg:",  "arg",   "name,category,thread,process,track",
		"arg:x,arg:x"
	};
	struct group_by by;
	char why[256];

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		cr_expect_not(group_by_parse(&by, wrong[i], why, sizeof why), "%s", wrong[i]);
	cr_expect(group_by_parse(&by, "arg:a,arg:b,track,process", why, sizeof why));
}

/* ---- columns ---- */

static const char *heads(const struct span_columns *c, char *to, size_t size)
{
	size_t n = 0;

	to[0] = '\0';
	for (unsigned i = 0; i < c->n; i++)
		n += (size_t)snprintf(to + n, size - n, "%s%s", i > 0 ? " " : "", c->list[i].head);
	return to;
}

Test(span_columns, lists)
{
	struct span_columns c;
	char text[512], why[256];

	span_columns_init(&c, NULL);
	cr_expect_str_eq(heads(&c, text, sizeof text),
	                 "count total self waiting bytes bytes/s mean p50 p90 p99 max");
	cr_expect(span_columns_percentiles(&c, "50,99.9,100,0.0001", why, sizeof why), "%s", why);
	cr_expect_str_eq(heads(&c, text, sizeof text),
	                 "count total self waiting bytes bytes/s mean p50 p99.9 p100 p0.0001 max");
	cr_expect_eq(c.list[8].number, 999000);
	span_columns_init(&c, "ret");
	cr_expect_str_eq(
	    heads(&c, text, sizeof text),
	    "count total self waiting bytes bytes/s sum(ret) ret/s negative mean p50 p90 p99 max");
	cr_expect(span_columns_parse(&c, "rate,p75,first,last,share,busy,min,sum", why, sizeof why), "%s",
	          why);
	cr_expect_str_eq(heads(&c, text, sizeof text), "ret/s p75 first last share busy min sum(ret)");
	span_columns_init(&c, NULL);
	static const char *const wrong[] = { "",       "sum",          "p0",           "p101",
		                             "p",      "p1e2",         "p99.99999",    "count,,total",
		                             "counts", "p99.9,p99.90", "max,count,max" };
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct span_columns x = c;
		cr_expect_not(span_columns_parse(&x, wrong[i], why, sizeof why), "%s", wrong[i]);
	}
	static const char *const percents[] = { "", "0", "101", "a", "50,", "1,2,3,4,5,6,7,8", "99.9,99.90" };
	for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
		struct span_columns x = c;
		cr_expect_not(span_columns_percentiles(&x, percents[i], why, sizeof why), "%s", percents[i]);
	}
}

/* Rows are in the order of each column, and of each key. */
Test(span_columns, order)
{
	static const char *const by[] = { "count", "total", "self",  "mean",  "min",
		                          "max",   "p50",   "p99.9", "share", "busy",
		                          "first", "last",  "sum",   "rate",  "negative" };
	struct rig *const g = calloc(1, sizeof *g);
	struct span_columns c;
	struct span_row *rows;
	char why[256];
	size_t n;

	fill(g, 5);
	count(g, "thread,name", "size");
	span_columns_init(&c, "size");
	for (size_t k = 0; k < sizeof by / sizeof *by; k++) {
		cr_assert(span_columns_sort(&c, &g->stats.by, by[k], why, sizeof why), "%s", why);
		cr_assert(stats_span_rows(&g->stats, &g->stats.spans, &c, &rows, &n));
		for (size_t i = 1; i < n; i++)
			cr_expect(span_column_value(&c.sort_by, &g->stats, &rows[i - 1]) >=
			              span_column_value(&c.sort_by, &g->stats, &rows[i]),
			          "%s", by[k]);
		free(rows);
	}
	cr_assert(span_columns_sort(&c, &g->stats.by, "name", why, sizeof why));
	cr_assert(stats_span_rows(&g->stats, &g->stats.spans, &c, &rows, &n));
	for (size_t i = 1; i < n; i++)
		cr_expect(memcmp(rows[i - 1].values[1].p, rows[i].values[1].p, 2) <= 0);
	cr_expect_not(span_columns_sort(&c, &g->stats.by, "process", why, sizeof why));
	uint128 busy = 0;
	for (size_t i = 0; i < n; i++)
		busy += rows[i].self;
	cr_expect(busy == g->stats.busy);
	free(rows);
	clear(g);
}

/* The first rows are those of the sorted list, and all are counted. */
Test(groups, top_rows)
{
	static const char *const by[] = { "total", "count", "arg:size" };
	static const size_t tops[] = { 1, 2, 7, 30, 300, 499, 500, 998, 5000 };
	struct rig *const g = calloc(1, sizeof *g);
	struct span_columns c;
	struct span_row *rows, *top;
	char why[256];
	size_t n, all;

	fill(g, 5);
	count(g, "arg:size", "");
	span_columns_init(&c, NULL);
	for (size_t k = 0; k < sizeof by / sizeof *by * 2; k++) {
		const bool waits = k % 2 == 1;
		cr_assert(span_columns_sort(&c, &g->stats.by, by[k / 2], why, sizeof why), "%s", why);
		cr_assert(stats_span_rows(&g->stats, &g->stats.spans, &c, &rows, &n));
		for (size_t i = 0; i < sizeof tops / sizeof *tops; i++) {
			const size_t want = waits ? 0 : n;
			cr_assert(stats_top_rows(&g->stats, &g->stats.spans, &c,
			                         waits ? SPAN_ROWS_WAITING : SPAN_ROWS_WORKING, tops[i], &top,
			                         &all));
			cr_expect_eq(all, want);
			for (size_t r = 0; r < tops[i] && r < want; r++)
				cr_expect_eq(top[r].group, rows[r].group, "%s %zu %zu", by[k / 2], tops[i],
				             r);
			free(top);
		}
		free(rows);
	}
	clear(g);
}
