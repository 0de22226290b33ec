/* Traces of the other formats as .htdump: valid, and `stats` shows the same of them. */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "htdump/test/oracle.h"

/* What the oracle takes: it keeps 20 KiB of each event, and 32 fields of a class. */
#define MANY_FIELDS "many-attributes"
#define MOST_DECODED (512U << 10) /* bytes */

/* ---- what stats counts under a name, whatever the category ---- */

struct group {
	char *name;
	uint64_t count, sum;
};

struct groups {
	struct group *list;
	size_t n;
};

static uint64_t number(const cJSON *v)
{
	return cJSON_IsString(v)   ? strtoull(v->valuestring, NULL, 10)
	       : cJSON_IsNumber(v) ? (uint64_t)v->valuedouble
	                           : 0;
}

static void add_rows(struct groups *g, const cJSON *input, const char *key)
{
	const cJSON *const rows = cJSON_GetObjectItemCaseSensitive(input, key), *row;

	g->list = realloc(g->list, (g->n + (size_t)cJSON_GetArraySize(rows) + 1) * sizeof *g->list);
	cr_assert_not_null(g->list);
	cJSON_ArrayForEach(row, rows)
	{
		const cJSON *const dur = cJSON_GetObjectItemCaseSensitive(row, "dur_ns");
		g->list[g->n++] = (struct group){
			.name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "name")),
			.count = number(cJSON_GetObjectItemCaseSensitive(row, "count")),
			.sum = number(cJSON_GetObjectItemCaseSensitive(dur, "sum")),
		};
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct group *)a)->name, ((const struct group *)b)->name);
}

static void merge(struct groups *g)
{
	size_t n = 0;

	qsort(g->list, g->n, sizeof *g->list, by_name);
	for (size_t i = 0; i < g->n; i++)
		if (n > 0 && strcmp(g->list[n - 1].name, g->list[i].name) == 0) {
			g->list[n - 1].count += g->list[i].count;
			g->list[n - 1].sum += g->list[i].sum;
		} else {
			g->list[n++] = g->list[i];
		}
	g->n = n;
}

struct counts {
	cJSON *report;
	struct groups spans, others; /* others: instants and counters */
};

static struct counts counts_of(const char *path)
{
	struct ran r =
	    run_tool((const char *const[]){ "stats", "-q", "--format", "json", path, NULL }, NULL, 0);
	struct counts c = { .report = cJSON_Parse(r.out) };
	const cJSON *const inputs = cJSON_GetObjectItemCaseSensitive(c.report, "inputs"), *input;

	cr_assert_not_null(c.report, "%s: %s", path, r.err);
	cJSON_ArrayForEach(input, inputs)
	{
		add_rows(&c.spans, input, "spans");
		add_rows(&c.spans, input, "async_spans");
		add_rows(&c.others, input, "instants");
		add_rows(&c.others, input, "counters");
	}
	merge(&c.spans);
	merge(&c.others);
	ran_free(&r);
	return c;
}

static void counts_free(struct counts *c)
{
	free(c->spans.list);
	free(c->others.list);
	cJSON_Delete(c->report);
}

static void same_groups(const char *path, const char *what, const struct groups *want,
                        const struct groups *got)
{
	cr_expect_eq(want->n, got->n, "%s: %zu names of %s, should be %zu", path, got->n, what, want->n);
	for (size_t i = 0; i < want->n && i < got->n; i++) {
		const struct group *const a = &want->list[i], *const b = &got->list[i];
		cr_expect(strcmp(a->name, b->name) == 0 && a->count == b->count && a->sum == b->sum,
		          "%s: %s %s: %" PRIu64 " of %" PRIu64 " ns, should be %s: %" PRIu64 " of %" PRIu64,
		          path, what, b->name, b->count, b->sum, a->name, a->count, a->sum);
	}
}

/* ---- one input ---- */

static struct ran convert(const char *path, const char *threads)
{
	return run_tool((const char *const[]){ "convert", threads, "--to", "htdump", path, "-", NULL }, NULL,
	                0);
}

static bool loses(const struct ran *r, const char *kind)
{
	char word[80];

	snprintf(word, sizeof word, "[htdump/%s]", kind);
	return strstr(r->err, word) != NULL;
}

static void expect_valid(const char *path, const char *file)
{
	struct ran r = run_tool((const char *const[]){ "validate", file, NULL }, NULL, 0);

	cr_expect_eq(r.status, 0, "%s: %s", path, r.out);
	cr_expect(strncmp(r.out, file, strlen(file)) == 0 &&
	              strncmp(r.out + strlen(file), ": valid htdump (wire), ", 23) == 0,
	          "%s: %s", path, r.out);
	ran_free(&r);
}

/* Names with NUL, and arrows, which are instants, are what stats shows otherwise. */
static void expect_counts(const char *path, const struct ran *r, const char *file)
{
	struct counts want = counts_of(path), got = counts_of(file);

	if (!loses(r, "text-nul") && !loses(r, "text-cut") && !loses(r, "late-end")) {
		same_groups(path, "spans", &want.spans, &got.spans);
		if (!loses(r, "arrow"))
			same_groups(path, "instants and counters", &want.others, &got.others);
	}
	counts_free(&want);
	counts_free(&got);
}

static void expect_oracle(const char *path, const struct ran *r)
{
	const uint64_t most = UINT64_MAX;
	struct oracle o;
	uint64_t last = most;

	if (r->out_n > MOST_DECODED || strstr(path, MANY_FIELDS) != NULL)
		return;
	oracle_decode(&o, (const unsigned char *)r->out, r->out_n);
	cr_expect_null(o.fault, "%s: %s", path, o.fault);
	for (size_t i = 0; i < o.n; i++) {
		cr_expect(last == most || o.events[i].id > last, "%s: event id %" PRIu64 " after %" PRIu64,
		          path, o.events[i].id, last);
		last = o.events[i].id;
	}
	oracle_free(&o);
}

static void check(const char *path)
{
	char *const dir = make_folder(), file[1024];
	struct ran one = convert(path, "--threads=1");

	cr_expect_lt(one.status, 2, "%s: status %d: %s", path, one.status, one.err);
	snprintf(file, sizeof file, "%s/out.htdump", dir);
	cr_assert(write_whole(file, one.out, one.out_n));
	expect_valid(path, file);
	expect_counts(path, &one, file);
	expect_oracle(path, &one);
	for (int i = 0; i < 2; i++) {
		struct ran many = convert(path, i == 0 ? "--threads=2" : "--threads=7");
		cr_expect(many.out_n == one.out_n && memcmp(many.out, one.out, one.out_n) == 0 &&
		              strcmp(many.err, one.err) == 0 && many.status == one.status,
		          "%s: other output of several threads", path);
		ran_free(&many);
	}
	ran_free(&one);
	remove_folder(dir);
}

/* The files of a folder, or folders where each of them is a trace. */
static size_t check_folder(const char *dir)
{
	static const char *const not [] = { ".expect", ".json", ".prv", ".pcf", ".row", ".md" };
	char **const names = list_folder(dir, "");
	char path[1024];
	size_t n = 0;

	for (size_t i = 0; names[i] != NULL; i++) {
		bool is_trace = names[i][0] != '.';
		for (size_t k = 0; k < sizeof not / sizeof not [0]; k++)
			is_trace &= strstr(names[i], not [k]) == NULL;
		if (!is_trace)
			continue;
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		check(path);
		n++;
	}
	list_free(names);
	return n;
}

Test(htdump_write_formats, good_samples)
{
	cr_expect_gt(check_folder("testdata/dftracer/good"), 10);
	cr_expect_gt(check_folder("testdata/dial9/good"), 10);
	cr_expect_gt(check_folder("testdata/heph/good"), 10);
	cr_expect_gt(check_folder("testdata/ovni/good"), 5);
}

Test(htdump_write_formats, real_traces)
{
	static const char *const dirs[] = { "dftracer",   "dial9",     "heph",
		                            "next/dial9", "ovni/good", "ovni/state" };
	char dir[1024];

	for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++) {
		snprintf(dir, sizeof dir, "%s/%s", real_traces(), dirs[i]);
		cr_expect_gt(check_folder(dir), 0, "%s", dir);
	}
}

/* Times from 0 are those of the output too. */
Test(htdump_write_formats, rebase)
{
	struct ran r = run_tool((const char *const[]){ "convert", "-q", "--rebase", "--to", "htdump",
	                                               "testdata/heph/good/mixed.bin.log", "-", NULL },
	                        NULL, 0);
	uint64_t first = UINT64_MAX;
	struct oracle o;

	oracle_decode(&o, (const unsigned char *)r.out, r.out_n);
	for (size_t i = 0; i < o.n; i++)
		if (oracle_find(&o.events[i], "label") != NULL && o.events[i].ts < first)
			first = o.events[i].ts;
	cr_expect_eq(first, 0);
	oracle_free(&o);
	ran_free(&r);
}
