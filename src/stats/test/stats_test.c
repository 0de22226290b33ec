#include "stats/stats.h"
#include "base/compiler.h"

#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* A view with the usual columns. */
static struct stats_view view_of(const char *path, uint64_t bytes, const struct trace *trace,
                                 struct stats *stats, struct span_columns *columns)
{
	span_columns_init(columns, NULL);
	stats_describe(stats, path, bytes, trace, NULL);
	return (struct stats_view){ .stats = stats, .columns = columns, .top = STATS_TOP };
}

/* A trace of two threads and three classes, two of which share a category. */
struct rig {
	struct trace trace;
	struct stats stats;
	struct class *cls[3];
	const struct track *process, *threads[2];
};

static void stage_init(struct rig *g)
{
	trace_init(&g->trace);
	g->trace.format = "toy";
	g->cls[0] = trace_add_class(&g->trace, SLICE_LIT("one"));
	g->cls[1] = trace_add_class(&g->trace, SLICE_LIT("two"));
	g->cls[2] = trace_add_class(&g->trace, SLICE_LIT("three"));
	g->cls[1]->category = SLICE_LIT("one");
	g->process = trace_add_process(&g->trace, SLICE_LIT("p"));
	g->threads[0] = trace_add_thread(&g->trace, g->process, 1, SLICE_LIT("a"));
	g->threads[1] = trace_add_thread(&g->trace, g->process, 2, SLICE_LIT("b"));
	stats_init(&g->stats);
}

static void stage_free(struct rig *g)
{
	stats_free(&g->stats);
	trace_free(&g->trace);
}

static void add(struct rig *g, enum phase phase, unsigned thread, struct slice name, uint64_t ts,
                uint64_t dur)
{
	struct event e = { .ts = ts,
		           .dur = dur,
		           .name = name,
		           .cls = g->cls[0],
		           .track = g->threads[thread],
		           .phase = (uint8_t)phase };
	struct batch b = { .events = &e, .n = 1 };

	cr_assert(stats_batch(&g->stats, &b));
	g->trace.events++;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void expect_near(uint64_t got, uint64_t want)
{
	uint64_t off = want > got ? want - got : got - want;

	cr_assert(off <= want / 100, "%lu instead of %lu", (unsigned long)got, (unsigned long)want);
}

/* Returns all spans of one name and category, by a search through all events. */
static void expect_group(const struct rig *g, const struct event *events, size_t n,
                         const struct span_row *row)
{
	uint64_t *durs = malloc(n * sizeof *durs);
	uint128 sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (events[i].phase == PHASE_SPAN && slice_equal(events[i].name, row->name) &&
		    slice_equal(events[i].cls->category, row->category)) {
			durs[count++] = events[i].dur;
			sum += events[i].dur;
		}
	qsort(durs, count, sizeof *durs, by_value);
	cr_assert_gt(count, 0);
	cr_assert_eq(row->group->count, count);
	cr_assert(total_of(row->group->sum) == sum);
	cr_assert(row->self <= sum);
	cr_assert_eq(row->group->durations.min, durs[0]);
	cr_assert_eq(row->group->durations.max, durs[count - 1]);
	cr_assert_eq(span_mean(row->group), (uint64_t)((2 * sum + count) / (2 * count)));
	const unsigned percents[] = { 50, 90, 99 };
	for (size_t i = 0; i < 3; i++)
		expect_near(histogram_percentile(&row->group->durations, &g->stats.pool, percents[i]),
		            durs[(percents[i] * count + 99) / 100 - 1]);
	free(durs);
}

Test(stats, like_the_slow_way)
{
	enum { N = 60000 };
	struct event *events = calloc(N, sizeof *events);
	char names[100][40];
	struct rig g;
	struct span_row *rows;
	uint64_t seed = 3, spans = 0, counted = 0, first = UINT64_MAX, last = 0;
	size_t nrows;

	stage_init(&g);
	for (int i = 0; i < 100; i++)
		snprintf(names[i], sizeof names[i], "%.*s%d", i % 17, "a long name label", i);
	for (size_t i = 0; i < N; i++) {
		struct event *e = &events[i];
		e->phase = (uint8_t)(next_random(&seed) % 10 == 0 ? PHASE_INSTANT : PHASE_SPAN);
		e->ts = 1000000 + next_random(&seed) % 1000000000;
		e->dur = next_random(&seed) >> (20 + next_random(&seed) % 44);
		e->name = slice_str(names[next_random(&seed) % 100]);
		e->cls = g.cls[next_random(&seed) % 3];
		e->track = g.threads[next_random(&seed) % 2];
		spans += e->phase == PHASE_SPAN;
		uint64_t end = e->phase == PHASE_SPAN ? e->ts + e->dur : e->ts;
		first = e->ts < first ? e->ts : first;
		last = end > last ? end : last;
	}
	for (uint32_t i = 0; i < N; i += 1000) {
		struct batch b = { .events = events + i, .n = 1000 };
		cr_assert(stats_batch(&g.stats, &b));
	}
	cr_assert_eq(g.stats.events, N);
	cr_assert(g.stats.first_ns == first && g.stats.last_ns == last);
	cr_assert_eq(g.stats.tracks, 2);
	cr_assert(stats_end(&g.stats) && stats_span_rows(&g.stats, &g.stats.spans, NULL, &rows, &nrows));
	cr_assert_eq(nrows, 200, "100 names in 2 categories");
	for (size_t i = 0; i < nrows; i++) {
		expect_group(&g, events, N, &rows[i]);
		cr_assert(i == 0 || rows[i].total <= rows[i - 1].total);
		counted += rows[i].group->count;
	}
	cr_assert_eq(counted, spans);
	free(rows);
	free(events);
	stage_free(&g);
}

Test(stats, self_time)
{
	struct rig g;
	struct span_row *rows;
	size_t n;

	stage_init(&g);
	add(&g, PHASE_SPAN, 0, SLICE_LIT("leaf"), 10, 5);
	add(&g, PHASE_SPAN, 1, SLICE_LIT("leaf"), 12, 500);
	add(&g, PHASE_SPAN, 0, SLICE_LIT("leaf"), 20, 5);
	add(&g, PHASE_SPAN, 0, SLICE_LIT("mid"), 8, 22);
	add(&g, PHASE_SPAN, 0, SLICE_LIT("root"), 0, 1000);
	cr_assert(stats_end(&g.stats) && stats_span_rows(&g.stats, &g.stats.spans, NULL, &rows, &n));
	cr_assert_eq(n, 3);
	cr_assert(slice_is(rows[0].name, "root") && rows[0].self == 978);
	cr_assert(slice_is(rows[1].name, "leaf") && rows[1].self == 510);
	cr_assert(slice_is(rows[2].name, "mid") && rows[2].self == 12);
	free(rows);
	stage_free(&g);
}

/* Async spans are no children of other spans. */
Test(stats, async_spans)
{
	struct rig g;
	struct span_row *rows;
	size_t n;

	stage_init(&g);
	struct event events[2] = {
		{ .ts = 0, .dur = 100, .name = SLICE_LIT("life"), .phase = PHASE_SPAN, .flags = EVENT_ASYNC },
		{ .ts = 0, .dur = 200, .name = SLICE_LIT("call"), .phase = PHASE_SPAN },
	};
	for (int i = 0; i < 2; i++) {
		events[i].cls = g.cls[0];
		events[i].track = g.threads[0];
	}
	cr_assert(stats_batch(&g.stats, &(struct batch){ .events = events, .n = 2 }));
	cr_assert(stats_end(&g.stats) && stats_span_rows(&g.stats, &g.stats.spans, NULL, &rows, &n));
	cr_assert_eq(n, 1);
	cr_assert(slice_is(rows[0].name, "call") && rows[0].self == 200);
	free(rows);
	cr_assert(stats_end(&g.stats) && stats_span_rows(&g.stats, &g.stats.async, NULL, &rows, &n));
	cr_assert_eq(n, 1, "apart from what took the time");
	cr_assert(slice_is(rows[0].name, "life") && total_of(rows[0].group->sum) == 100);
	free(rows);
	stage_free(&g);
}

Test(stats, names_are_bounded)
{
	enum { MANY = NAMES_MAX + 5000 };
	struct rig g;
	struct tally_row *rows;
	size_t n;
	char name[32];

	stage_init(&g);
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof name, "n%d", i);
		add(&g, PHASE_INSTANT, 0, slice_str(name), 5, 0);
		add(&g, PHASE_SPAN, 0, slice_str(name), 5, 0);
	}
	add(&g, PHASE_COUNTER, 0, SLICE_LIT("n0"), 5, 0);
	cr_assert(stats_tally_rows(&g.stats.instants, &rows, &n));
	cr_assert_eq(n, NAMES_MAX + 1);
	cr_assert(slice_is(rows[0].name, "(other names)") && rows[0].count == 5000);
	cr_assert(slice_is(rows[1].name, "n0") && slice_is(rows[2].name, "n1") &&
	          slice_is(rows[3].name, "n10"));
	cr_assert_eq(g.stats.spans.other.count, 5000);
	cr_assert_eq(stats_other_names(&g.stats), 10000);
	cr_assert_eq(g.stats.counters.counts[0], 1);
	free(rows);
	stage_free(&g);
}

Test(stats, bytes_of_names_are_bounded)
{
	char *name = calloc(1, 1 << 20);
	struct rig g;

	stage_init(&g);
	for (int i = 0; i < 100; i++) {
		name[0] = (char)i;
		add(&g, PHASE_SPAN, 0, slice_of(name, 1 << 20), 5, 7);
	}
	cr_assert_leq(g.stats.text.used, NAMES_MAX_BYTES);
	cr_assert_eq(g.stats.spans.other.count + g.stats.spans.names.n, 100);
	stage_free(&g);
	free(name);
}

static cJSON *report(struct rig *g, struct text *t)
{
	struct span_columns columns;
	struct stats_view v = view_of("dir/\"x\"", 77, &g->trace, &g->stats, &columns);

	text_clear(t);
	text_str(t, "{\"tool\":\"tracetool 1\",\"inputs\":[");
	cr_assert(stats_json_input(t, &v, true) && stats_json_input(t, &v, false));
	text_str(t, "]}");
	text_char(t, 0);
	cJSON *json = cJSON_Parse(t->p);
	cr_assert_not_null(json);
	return json;
}

static const cJSON *at(const cJSON *list, int i, const char *key)
{
	return cJSON_GetObjectItem(cJSON_GetArrayItem(list, i), key);
}

Test(stats, json)
{
	struct rig g;
	struct text t = { 0 };

	stage_init(&g);
	g.cls[2]->records = 9;
	for (int i = 0; i < 5; i++)
		add(&g, PHASE_SPAN, 0, SLICE_LIT("\"\xff\n"), 0, UINT64_MAX);
	add(&g, PHASE_INSTANT, 1, SLICE_LIT("i"), 4, 0);
	add(&g, PHASE_COUNTER, 1, SLICE_LIT("c"), 4, 0);
	cJSON *json = report(&g, &t);
	cr_assert_str_eq(cJSON_GetObjectItem(json, "tool")->valuestring, "tracetool 1");
	const cJSON *inputs = cJSON_GetObjectItem(json, "inputs");
	cr_assert_eq(cJSON_GetArraySize(inputs), 2);
	cr_assert_str_eq(at(inputs, 0, "path")->valuestring, "dir/\"x\"");
	cr_assert_str_eq(at(inputs, 0, "format")->valuestring, "toy");
	cr_assert_eq(at(inputs, 0, "events")->valueint, 7);
	cr_assert_eq(at(inputs, 0, "tracks")->valueint, 2);
	cr_assert(cJSON_IsNull(at(inputs, 0, "epoch_ns")));
	cr_assert_eq(cJSON_GetArraySize(at(inputs, 0, "classes")), 1);
	cr_assert_eq(at(at(inputs, 0, "classes"), 0, "count")->valueint, 9);
	cr_assert_str_eq(at(at(inputs, 1, "spans"), 0, "name")->valuestring, "\"\xef\xbf\xbd\n");
	cr_assert_str_eq(at(at(inputs, 1, "spans"), 0, "category")->valuestring, "one");
	cr_assert_str_eq(at(at(inputs, 1, "instants"), 0, "name")->valuestring, "i");
	cr_assert_str_eq(at(at(inputs, 1, "counters"), 0, "name")->valuestring, "c");
	cr_assert_not_null(strstr(t.p, "\"count\":5,\"dur_ns\":{\"sum\":92233720368547758075,"
	                               "\"min\":18446744073709551615,\"max\":18446744073709551615,"
	                               "\"mean\":18446744073709551615,\"p50\":18446744073709551615,"));
	cr_assert_not_null(strstr(t.p, "\"last_ns\":18446744073709551615,"));
	cJSON_Delete(json);
	text_free(&t);
	stage_free(&g);
}

Test(stats, json_of_nothing)
{
	struct rig g;
	struct text t = { 0 };

	stage_init(&g);
	g.trace.epoch_known = true;
	g.trace.epoch_ns = UINT64_C(1700000000123456789);
	cJSON *json = report(&g, &t);
	const cJSON *inputs = cJSON_GetObjectItem(json, "inputs");
	cr_assert(cJSON_IsNull(at(inputs, 0, "first_ns")) && cJSON_IsNull(at(inputs, 0, "last_ns")));
	cr_assert_eq(cJSON_GetArraySize(at(inputs, 0, "spans")), 0);
	cr_assert_not_null(strstr(t.p, "\"epoch_ns\":1700000000123456789,"));
	cJSON_Delete(json);
	text_free(&t);
	stage_free(&g);
}

Test(stats, text)
{
	struct rig g;
	struct text t = { 0 };

	stage_init(&g);
	for (int i = 0; i < 40; i++)
		add(&g, PHASE_SPAN, 0,
		    slice_of("\x1b[31mABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 6 + (size_t)i),
		    (uint64_t)i * 2000000, 1234567);
	struct span_columns columns;
	struct stats_view v = view_of("x", 5, &g.trace, &g.stats, &columns);
	cr_assert(stats_end(&g.stats) && stats_text(&t, &v));
	text_char(&t, 0);
	cr_assert_not_null(strstr(t.p, "... and 10 more\n"));
	cr_assert_not_null(strstr(t.p, "1.23 ms"));
	cr_assert_null(strchr(t.p, 0x1b), "nothing of the trace reaches the terminal raw");
	cr_assert_null(strstr(t.p, " \n"));
	text_clear(&t);
	v.top = 0;
	cr_assert(stats_end(&g.stats) && stats_text(&t, &v));
	text_char(&t, 0);
	cr_assert_null(strstr(t.p, "more\n"));
	text_free(&t);
	stage_free(&g);
}

/* Names are shortened in a terminal; in a pipe they are whole. */
Test(stats, tables_are_as_wide_as_the_terminal)
{
	static const char name[] = "a/path/that/is/rather/long/and/longer/than/most/names/of/functions.rs:17";
	struct text t = { 0 };
	struct rig g;

	stage_init(&g);
	add(&g, PHASE_SPAN, 0, SLICE_LIT("short"), 0, 100);
	add(&g, PHASE_SPAN, 0, slice_str(name), 1000, 100);
	add(&g, PHASE_INSTANT, 0, slice_str(name), 1000, 0);
	struct span_columns columns;
	struct stats_view v = view_of("x", 5, &g.trace, &g.stats, &columns);
	cr_assert(stats_end(&g.stats) && stats_text(&t, &v));
	text_char(&t, 0);
	const char *const whole = strstr(t.p, name);
	cr_assert(whole != NULL && strstr(whole + 1, name) != NULL, "%s", t.p);
	for (v.width = 60; v.width <= 130; v.width += 10) {
		text_clear(&t);
		cr_assert(stats_end(&g.stats) && stats_text(&t, &v));
		text_char(&t, 0);
		for (const char *line = t.p; *line != 0; line += strcspn(line, "\n") + 1)
			cr_expect_leq(strcspn(line, "\n"), v.width, "%s", t.p);
		cr_expect_not_null(strstr(t.p, "functions.rs:17"), "the end of a name tells it apart");
		cr_expect_not_null(strstr(t.p, "  total"));
		cr_expect_not_null(strstr(t.p, "   self"));
		cr_expect_not_null(strstr(t.p, "   max\n"));
		cr_expect_eq(strstr(t.p, "  p50") != NULL, v.width >= 100, "%s", t.p);
		cr_expect_eq(strstr(t.p, "  category") != NULL, v.width >= 80, "%s", t.p);
	}
	text_free(&t);
	stage_free(&g);
}

/* Percentiles of 17 and more spans are up to 1 % off and have two digits; those of fewer spans are exact. */
Test(stats, percentiles_show_the_digits_they_have)
{
	struct text t = { 0 };
	struct rig g;

	stage_init(&g);
	for (unsigned i = 0; i < 16; i++)
		add(&g, PHASE_SPAN, 0, SLICE_LIT("few"), i * 20000000, 1234567);
	for (unsigned i = 0; i < 40; i++)
		add(&g, PHASE_SPAN, 1, SLICE_LIT("many"), i * 20000000, i == 0 ? 1 : 7654321);
	struct span_columns columns;
	struct stats_view v = view_of("x", 5, &g.trace, &g.stats, &columns);
	cr_assert(stats_end(&g.stats) && stats_text(&t, &v));
	text_char(&t, 0);
	cr_assert_not_null(strstr(t.p, "1.23 ms  1.23 ms  1.23 ms  1.23 ms  1.23 ms\n"), "%s", t.p);
	cr_assert_not_null(strstr(t.p, "7.63 ms  7.63 ms  7.63 ms  7.65 ms\n"), "%s", t.p);
	text_free(&t);
	stage_free(&g);
}
