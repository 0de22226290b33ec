/* Compares self times and lanes of real traces with those that a slow method computes from the lines of
 * NDJSON. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/test/samples_test_util.h"

struct span {
	uint64_t start, end;
	double track; /* its index; of Chrome JSON: pid * 2^32 + tid */
	char name[96], category[32];
};

struct spans {
	struct span *spans;
	size_t n;
};

static void trace_path(char *to, size_t size, const char *name)
{
	snprintf(to, size, "%s/%s", real_traces(), name);
	if (access(to, R_OK) != 0)
		cr_skip_test("no %s", to);
}

static const char *text_of(const cJSON *object, const char *key)
{
	const char *const text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));

	return text != NULL ? text : "";
}

static double number_of(const cJSON *object, const char *key)
{
	const cJSON *const item = cJSON_GetObjectItemCaseSensitive(object, key);

	cr_assert(cJSON_IsNumber(item), "%s", key);
	return item->valuedouble;
}

static struct span *add(struct spans *to)
{
	to->spans = realloc(to->spans, (to->n + 1) * sizeof *to->spans);
	return &to->spans[to->n++];
}

static struct spans spans_of_lines(const char *path)
{
	const char *const args[] = { "convert", "--to", "ndjson", path, "-", NULL };
	struct ran r = run_tool(args, NULL, 0);
	struct spans out = { NULL, 0 };

	for (char *line = strtok(r.out, "\n"); line != NULL; line = strtok(NULL, "\n")) {
		cJSON *const json = cJSON_Parse(line);
		if (strcmp(text_of(json, "kind"), "span") == 0) {
			struct span *const s = add(&out);
			*s = (struct span){ .start = (uint64_t)number_of(json, "ts_ns"),
				            .track = number_of(json, "track_index") };
			s->end = s->start + (uint64_t)number_of(json, "dur_ns");
			snprintf(s->name, sizeof s->name, "%s", text_of(json, "name"));
			snprintf(s->category, sizeof s->category, "%s", text_of(json, "category"));
		}
		cJSON_Delete(json);
	}
	ran_free(&r);
	return out;
}

static bool is_within(const struct spans *s, size_t a, size_t b)
{
	const struct span *const x = &s->spans[a], *const y = &s->spans[b];

	if (x->start == y->start && x->end == y->end)
		return a < b; /* of equal spans the later one is the outer */
	return y->start <= x->start && x->end <= y->end;
}

static int by_start(const void *a, const void *b)
{
	const struct span *const x = a, *const y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static uint64_t slow_self(const struct spans *s, size_t i)
{
	struct spans in = { NULL, 0 };
	uint64_t self = s->spans[i].end - s->spans[i].start, until = s->spans[i].start;

	for (size_t j = 0; j < s->n; j++)
		if (j != i && s->spans[j].track == s->spans[i].track && is_within(s, j, i))
			*add(&in) = s->spans[j];
	if (in.n > 0)
		qsort(in.spans, in.n, sizeof *in.spans, by_start);
	for (size_t j = 0; j < in.n; j++)
		if (in.spans[j].end > until) {
			self -= in.spans[j].end - (in.spans[j].start > until ? in.spans[j].start : until);
			until = in.spans[j].end;
		}
	free(in.spans);
	return self;
}

/* Sum over the spans of a name and category. */
static uint64_t slow_sum(const struct spans *s, const char *name, const char *category)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->spans[i].name, name) == 0 && strcmp(s->spans[i].category, category) == 0)
			sum += slow_self(s, i);
	return sum;
}

/* Returns the number of names whose self time is less than their total. */
static int expect_self_times(const char *path)
{
	const char *const args[] = { "stats", "--format", "json", path, NULL };
	const struct spans spans = spans_of_lines(path);
	struct ran r = run_tool(args, NULL, 0);
	cJSON *const json = cJSON_Parse(r.out);
	const cJSON *const input = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(json, "inputs"), 0);
	const cJSON *row;
	int less = 0, rows = 0;

	cr_assert_not_null(input, "%s", r.err);
	cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(input, "spans"))
	{
		const char *const name = text_of(row, "name"), *const category = text_of(row, "category");
		const uint64_t self = slow_sum(&spans, name, category);
		const double got = number_of(row, "self_ns");
		rows++;
		cr_expect_eq((uint64_t)got, self, "%s: self time of %s (%s): %.0f instead of %lu", path, name,
		             category, got, (unsigned long)self);
		less += got < number_of(cJSON_GetObjectItemCaseSensitive(row, "dur_ns"), "sum");
	}
	cr_assert_gt(rows, 0);
	cJSON_Delete(json);
	ran_free(&r);
	free(spans.spans);
	return less;
}

/* Returns the number of spans. */
static size_t expect_lanes(const char *path)
{
	const char *const args[] = { "convert", "--to", "chrome", path, "-", NULL };
	struct ran r = run_tool(args, NULL, 0);
	cJSON *const json = cJSON_Parse(r.out);
	struct spans s = { NULL, 0 };
	const cJSON *event;

	cr_assert_null(strstr(r.err, "lanes/"), "%s", r.err);
	cJSON_ArrayForEach(event, cJSON_GetObjectItemCaseSensitive(json, "traceEvents"))
	{
		if (strcmp(text_of(event, "ph"), "X") != 0)
			continue;
		struct span *const to = add(&s);
		*to = (struct span){ .start = (uint64_t)llround(number_of(event, "ts") * 1000) };
		to->end = to->start + (uint64_t)llround(number_of(event, "dur") * 1000);
		to->track = number_of(event, "pid") * 16777216.0 + number_of(event, "tid");
	}
	for (size_t i = 0; i < s.n; i++)
		for (size_t j = 0; j < i; j++) {
			const struct span *const a = &s.spans[i], *const b = &s.spans[j];
			const bool apart = a->track != b->track || a->end <= b->start || b->end <= a->start;
			cr_expect(apart || is_within(&s, i, j) || is_within(&s, j, i),
			          "%s: %lu to %lu and %lu to %lu overlap in part", path,
			          (unsigned long)a->start, (unsigned long)a->end, (unsigned long)b->start,
			          (unsigned long)b->end);
		}
	const size_t n = s.n;
	free(s.spans);
	cJSON_Delete(json);
	ran_free(&r);
	return n;
}

/* Two reads, 60 us from 120 and 45 us from 140, follow the Fread that encloses both. */
Test(ndjson_nesting, children_that_overlap_after_their_parent)
{
	char path[1024];

	trace_path(path, sizeof path, "dftracer/graph.pfw");
	const char *const args[] = { "stats", "--format", "json", path, NULL };
	struct ran r = run_tool(args, NULL, 0);
	cr_expect_not_null(strstr(r.out, "\"self_ns\":229000,"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "\"self_ns\":15000,"), "%s", r.out);
	ran_free(&r);
	expect_self_times(path);
	cr_expect_eq(expect_lanes(path), 12);
}

/* 43 polls are inside an earlier one. */
Test(ndjson_nesting, parents_that_come_first)
{
	char path[1024];

	trace_path(path, sizeof path, "dial9/block-in-place.bin");
	cr_expect_gt(expect_self_times(path), 0);
	cr_expect_gt(expect_lanes(path), 200);
}
