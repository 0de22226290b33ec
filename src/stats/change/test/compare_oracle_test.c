/* compare and stats --merge, compared with groups of NDJSON that are computed by definition: counts,
 * total, self times, percentiles. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"

enum { SPANS_MAX = 20000, GROUPS_MAX = 500, TRACKS = 64 /* of a trace */, TRACES_MAX = 4 };

struct span {
	char group[256]; /* kind, name, category */
	bool async;
	int track;
	double start, end; /* below 2^53 */
};

struct group {
	const char *group;
	double count, total, self, p50, p99;
};

struct side {
	struct span *spans;
	size_t n;
	int ntraces;
	struct group groups[GROUPS_MAX];
	size_t ngroups;
};

static const char *member(const cJSON *o, const char *key)
{
	const cJSON *const v = cJSON_GetObjectItem(o, key);

	return v != NULL ? v->valuestring : "";
}

/* Adds the spans of a trace. */
static void read_spans(struct side *s, const char *trace)
{
	char *const dir = make_folder(), path[512];
	struct ran r;
	size_t n;

	snprintf(path, sizeof path, "%s/all.ndjson", dir);
	r = run_tool((const char *[]){ "convert", "-q", trace, path, NULL }, NULL, 0);
	cr_assert_eq(r.status, 0, "%s", r.err);
	ran_free(&r);
	char *const text = read_whole(path, &n);
	if (s->spans == NULL)
		s->spans = calloc(SPANS_MAX, sizeof *s->spans);
	double first = -1;
	for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
		cJSON *const o = cJSON_Parse(line);
		const char *const kind = member(o, "kind");
		if (strcmp(kind, "span") == 0 || strcmp(kind, "async") == 0) {
			struct span *const to = &s->spans[s->n++];
			cr_assert_lt(s->n, SPANS_MAX);
			const double ts = cJSON_GetObjectItem(o, "ts_ns")->valuedouble;
			first = first < 0 ? ts : first;
			to->async = kind[0] == 'a';
			to->start = ts - first; /* exact: times are below 2^53 */
			to->end = to->start + cJSON_GetObjectItem(o, "dur_ns")->valuedouble;
			to->track = cJSON_GetObjectItem(o, "track_index")->valueint;
			cr_assert_lt(to->track, TRACKS);
			to->track += TRACKS * s->ntraces;
			snprintf(to->group, sizeof to->group, "%s\t%s\t%s", kind, member(o, "name"),
			         member(o, "category"));
		}
		cJSON_Delete(o);
	}
	s->ntraces++;
	free(text);
	remove_folder(dir);
}

static int by_number(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int by_start(const void *a, const void *b)
{
	const struct span *const x = a, *const y = b;

	return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
	                            : (y->end > x->end) - (y->end < x->end);
}

/* Returns the time that spans of a track cover together: the spans of one group, or those inside one span. */
static double union_of(const struct side *s, int track, const char *group, const struct span *within)
{
	double until = -1e18, sum = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct span *const k = &s->spans[i];
		if (k->async || k->track != track || (group != NULL && strcmp(k->group, group) != 0) ||
		    k == within ||
		    (within != NULL && (k->start < within->start || k->end > within->end ||
		                        (k->start <= within->start && k->end >= within->end))))
			continue;
		const double from = k->start > until ? k->start : until;
		sum += k->end > from ? k->end - from : 0;
		until = k->end > until ? k->end : until;
	}
	return sum;
}

static void make_groups(struct side *s)
{
	double *const durations = calloc(SPANS_MAX, sizeof *durations);

	qsort(s->spans, s->n, sizeof *s->spans, by_start);
	for (size_t i = 0; i < s->n; i++) {
		const char *const group = s->spans[i].group;
		size_t k = 0, n = 0;
		while (k < s->ngroups && strcmp(s->groups[k].group, group) != 0)
			k++;
		if (k < s->ngroups)
			continue;
		struct group *const g = &s->groups[s->ngroups++];
		cr_assert_lt(s->ngroups, GROUPS_MAX);
		*g = (struct group){ .group = group };
		bool tracks[TRACKS * TRACES_MAX] = { false };
		for (size_t j = 0; j < s->n; j++) {
			const struct span *const e = &s->spans[j];
			if (strcmp(e->group, group) != 0)
				continue;
			durations[n++] = e->end - e->start;
			g->total += e->async ? e->end - e->start : 0;
			tracks[e->track] |= !e->async;
			g->self += e->async ? 0 : e->end - e->start - union_of(s, e->track, NULL, e);
		}
		for (int t = 0; t < TRACKS * TRACES_MAX; t++)
			g->total += tracks[t] ? union_of(s, t, group, NULL) : 0;
		qsort(durations, n, sizeof *durations, by_number);
		g->count = (double)n;
		g->p50 = durations[(n * 50 + 99) / 100 - 1];
		g->p99 = durations[(n * 99 + 99) / 100 - 1];
	}
	free(durations);
}

static void expect_number(const cJSON *group, const char *key, const char *side, double want, double error)
{
	const cJSON *const v = cJSON_GetObjectItem(cJSON_GetObjectItem(group, key), side);

	cr_assert(cJSON_IsNumber(v), "%s %s", key, side);
	cr_expect(fabs(v->valuedouble - want) <= want * error, "%s of \"%s\", %s: %.0f, expected %.0f", key,
	          member(group, "name"), side, v->valuedouble, want);
}

static void expect_side(const cJSON *groups, const struct side *s, const char *side)
{
	size_t there = 0;
	const cJSON *g;

	cJSON_ArrayForEach(g, groups)
	{
		char group[256];
		size_t k = 0;
		snprintf(group, sizeof group, "%s\t%s\t%s", member(g, "kind"), member(g, "name"),
		         member(g, "category"));
		while (k < s->ngroups && strcmp(s->groups[k].group, group) != 0)
			k++;
		if (k == s->ngroups) {
			cr_expect(cJSON_IsNull(cJSON_GetObjectItem(cJSON_GetObjectItem(g, "count"), side)),
			          "%s", group);
			continue;
		}
		there++;
		expect_number(g, "count", side, s->groups[k].count, 0);
		expect_number(g, "total_ns", side, s->groups[k].total, 0);
		if (member(g, "kind")[0] == 's')
			expect_number(g, "self_ns", side, s->groups[k].self, 0);
		expect_number(g, "p50_ns", side, s->groups[k].p50, 0.01);
		expect_number(g, "p99_ns", side, s->groups[k].p99, 0.01);
	}
	cr_expect_eq(there, s->ngroups);
}

Test(compare, groups_are_those_of_ndjson)
{
	static const char *const pairs[][2] = {
		{ "testdata/dial9/service.bin", "testdata/dial9/good/made.dial9" },
		{ "testdata/dftracer/checkpoint.pfw", "testdata/htdump/good/wire-little.htdump" },
	};

	for (size_t i = 0; i < 2; i++) {
		struct side *const old = calloc(1, sizeof *old), *const new = calloc(1, sizeof *new);
		struct ran r = run_tool((const char *[]){ "compare", "-q", "--json", "--exit-zero",
		                                          pairs[i][0], pairs[i][1], NULL },
		                        NULL, 0);
		cr_assert_eq(r.status, 0, "%s", r.err);
		cJSON *const json = cJSON_Parse(r.out);
		cr_assert_not_null(json);
		read_spans(old, pairs[i][0]);
		read_spans(new, pairs[i][1]);
		make_groups(old);
		make_groups(new);
		expect_side(cJSON_GetObjectItem(json, "groups"), old, "old");
		expect_side(cJSON_GetObjectItem(json, "groups"), new, "new");
		cJSON_Delete(json);
		ran_free(&r);
		free(old->spans);
		free(new->spans);
		free(old);
		free(new);
	}
}

/* ---- merged tables ---- */

/* Writes the table of each trace; returns the merged one. */
static cJSON *merge_tables(const char *const *traces, size_t n)
{
	char *const dir = make_folder(), names[TRACES_MAX][512];
	const char *args[TRACES_MAX + 4] = { "stats", "--merge", "--json", NULL };

	for (size_t i = 0; i < n; i++) {
		snprintf(names[i], sizeof names[i], "%s/%zu.json", dir, i);
		expect_ran(run_tool((const char *[]){ "stats", "-q", "--json", "--full", "-o", names[i],
		                                      traces[i], NULL },
		                    NULL, 0),
		           0, "");
	}
	for (size_t i = 0; i < n; i++)
		args[3 + i] = names[n - 1 - i]; /* in another order */
	struct ran r = run_tool(args, NULL, 0);
	cr_assert_eq(r.status, 0, "%s", r.err);
	cJSON *const json = cJSON_Parse(r.out);
	cr_assert_not_null(json);
	ran_free(&r);
	remove_folder(dir);
	return json;
}

static double value_at(const cJSON *row, const char *key)
{
	const cJSON *const v = cJSON_GetObjectItem(row, key);

	cr_assert(cJSON_IsNumber(v), "%s", key);
	return v->valuedouble;
}

static void expect_rows(const cJSON *rows, const struct side *s, const char *kind, size_t *there)
{
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		const cJSON *const durations = cJSON_GetObjectItem(row, "dur_ns");
		char group[256];
		size_t k = 0;
		snprintf(group, sizeof group, "%s\t%s\t%s", kind, member(row, "name"),
		         member(row, "category"));
		while (k < s->ngroups && strcmp(s->groups[k].group, group) != 0)
			k++;
		cr_assert_lt(k, s->ngroups, "%s", group);
		const struct group *const g = &s->groups[k];
		(*there)++;
		cr_expect_float_eq(value_at(row, "count"), g->count, 0.1);
		cr_expect(fabs(value_at(durations, "p50") - g->p50) <= g->p50 / 100);
		cr_expect(fabs(value_at(durations, "p99") - g->p99) <= g->p99 / 100);
		if (kind[0] == 'a') {
			cr_expect_float_eq(value_at(durations, "sum"), g->total, 0.1);
		} else {
			cr_expect_float_eq(value_at(row, "total_ns"), g->total, 0.1);
			cr_expect_float_eq(value_at(row, "self_ns"), g->self, 0.1);
		}
	}
}

Test(compare, merged_tables_are_those_of_ndjson)
{
	static const char *const traces[] = { "testdata/dial9/service.bin",
		                              "testdata/dftracer/checkpoint.pfw",
		                              "testdata/htdump/good/wire-little.htdump",
		                              "testdata/dial9/good/made.dial9" };
	cJSON *const json = merge_tables(traces, 4), *const input = cJSON_GetArrayItem(
	                                                 cJSON_GetObjectItem(json, "inputs"), 0);
	struct side *const s = calloc(1, sizeof *s);
	size_t there = 0;

	for (size_t i = 0; i < 4; i++)
		read_spans(s, traces[i]);
	make_groups(s);
	expect_rows(cJSON_GetObjectItem(input, "spans"), s, "span", &there);
	expect_rows(cJSON_GetObjectItem(input, "async_spans"), s, "async", &there);
	cr_expect_eq(there, s->ngroups);
	cJSON_Delete(json);
	free(s->spans);
	free(s);
}
