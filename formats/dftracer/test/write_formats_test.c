/* Traces of all formats as DFTracer: lines of JSON, valid, and with the same events. */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "dftracer/test/cli_test_util.h"
#include "format/registry.h"
#include "test/fuzz/live_batches.h"
#include "input/open.h"

/* ---- what an output, or stats, says of the events of a name ---- */

struct group {
	char *name;
	uint64_t count, sum; /* ns */
};

struct groups {
	struct group *list;
	size_t n;
};

static void add(struct groups *g, const char *name, uint64_t count, uint64_t sum)
{
	g->list = realloc(g->list, (g->n + 1) * sizeof *g->list);
	cr_assert_not_null(g->list);
	g->list[g->n++] = (struct group){ strdup(name != NULL ? name : ""), count, sum };
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct group *)a)->name, ((const struct group *)b)->name);
}

static void merge(struct groups *g)
{
	size_t n = 0;

	if (g->n > 0)
		qsort(g->list, g->n, sizeof *g->list, by_name);
	for (size_t i = 0; i < g->n; i++)
		if (n > 0 && strcmp(g->list[n - 1].name, g->list[i].name) == 0) {
			g->list[n - 1].count += g->list[i].count;
			g->list[n - 1].sum += g->list[i].sum;
			free(g->list[i].name);
		} else {
			g->list[n++] = g->list[i];
		}
	g->n = n;
}

static void groups_free(struct groups *g)
{
	for (size_t i = 0; i < g->n; i++)
		free(g->list[i].name);
	free(g->list);
}

/* ---- the input ---- */

#define MOST_EXACT 9e15 /* what a double holds */
#define UNKNOWN 0

static uint64_t number(const cJSON *v)
{
	if (cJSON_IsString(v))
		return strtoull(v->valuestring, NULL, 10);
	return cJSON_IsNumber(v) && v->valuedouble < MOST_EXACT ? (uint64_t)v->valuedouble : UNKNOWN;
}

static struct groups groups_of_stats(const char *path)
{
	static const char *const keys[] = { "spans", "async_spans", "instants", "counters" };
	struct ran r =
	    run_tool((const char *const[]){ "stats", "-q", "--format", "json", path, NULL }, NULL, 0);
	cJSON *const report = cJSON_Parse(r.out);
	const cJSON *input, *row;
	struct groups g = { NULL, 0 };

	cr_assert_not_null(report, "%s: %s", path, r.err);
	cJSON_ArrayForEach(input, cJSON_GetObjectItemCaseSensitive(report, "inputs")) for (size_t i = 0;
	                                                                                   i < 4; i++)
	    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(input, keys[i]))
	        add(&g, text_of(row, "name"), number(cJSON_GetObjectItemCaseSensitive(row, "count")),
	            number(cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(row, "dur_ns"),
	                                                    "sum")));
	merge(&g);
	cJSON_Delete(report);
	ran_free(&r);
	return g;
}

/* ---- the output ---- */

/* Keys of a record, "name,cat,...", with the kind of record before them. */
static void keys_of(const cJSON *record, char *to, size_t size)
{
	const cJSON *member;
	size_t n = 0;

	to[0] = '\0';
	cJSON_ArrayForEach(member, record) n +=
	    (size_t)snprintf(to + n, n < size ? size - n : 0, "%s%s", n > 0 ? "," : "", member->string);
}

static void expect_keys(const char *path, const char *dialect, const cJSON *record, bool metadata)
{
	static const char *const known[] = {
		"d1 id,name,cat,pid,tid,ts,dur,ph,args",
		"d3 id,name,cat,pid,tid,ts,dur,ph,args",
		"d3 id,name,cat,pid,tid,ph,args",
		"d5 name,cat,pid,tid,ts,dur,ph,args",
		"d5 id,name,cat,pid,tid,ts,dur,ph,args",
		"d5 name,cat,type,pid,tid,ts,dur,ph,args",
		"d5 id,name,cat,type,pid,tid,ts,dur,ph,args",
		"d5 name,cat,ts,ph,pid,tid,args",
		"d5 name,cat,type,ts,ph,pid,tid,args",
		"d5 name,cat,type,pid,tid,ph,args",
	};
	char keys[256] = "";
	bool found = false;

	snprintf(keys, sizeof keys, "%s ", dialect);
	keys_of(record, keys + 3, sizeof keys - 3);
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		found |= strcmp(keys, known[i]) == 0;
	cr_expect(found, "%s: %s", path, keys);
	const cJSON *const ph = cJSON_GetObjectItemCaseSensitive(record, "ph");
	cr_expect_eq(cJSON_IsNumber(ph), strcmp(dialect, "d5") == 0, "%s: ph", path);
	cr_expect_eq(cJSON_IsString(cJSON_GetObjectItemCaseSensitive(record, "pid")),
	             strcmp(dialect, "d1") == 0, "%s: pid", path);
	cr_expect(!metadata || strcmp(dialect, "d1") != 0, "%s: metadata in d1", path);
}

static void take_line(const char *path, const char *dialect, struct groups *g, const char *p, size_t n)
{
	const char *end = NULL;
	cJSON *const record = cJSON_ParseWithLengthOpts(p, n, &end, false);

	cr_assert(record != NULL && end == p + n, "%s: %.*s", path, (int)(n < 300 ? n : 300), p);
	const cJSON *const ph = cJSON_GetObjectItemCaseSensitive(record, "ph");
	const bool metadata =
	    cJSON_IsNumber(ph) ? number(ph) == 4 : strcmp(cJSON_GetStringValue(ph), "M") == 0;
	expect_keys(path, dialect, record, metadata);
	if (!metadata)
		add(g, text_of(record, "name"), 1,
		    number(cJSON_GetObjectItemCaseSensitive(record, "dur")) *
		        (strcmp(dialect, "d5") == 0 ? 1 : 1000));
	cJSON_Delete(record);
}

/* A bracket alone on the first line in d1 and d3, and on the last in d3; a record on each other line. */
static struct groups groups_of_lines(const char *path, const char *dialect, const struct ran *r)
{
	const bool open = strcmp(dialect, "d5") != 0, close = strcmp(dialect, "d3") == 0;
	const char *p = r->out, *end = r->out + r->out_n;
	struct groups g = { NULL, 0 };

	cr_assert(!open || strncmp(p, "[\n", 2) == 0, "%s", path);
	p += open ? 2 : 0;
	cr_assert(!close || end[-1] == ']', "%s", path);
	end -= close;
	cr_assert(p == end || end[-1] == '\n', "%s", path);
	for (const char *nl; p < end; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(end - p));
		take_line(path, dialect, &g, p, (size_t)(nl - p));
	}
	merge(&g);
	return g;
}

/* ---- the comparison ---- */

static bool loses(const struct ran *r, const char *kind)
{
	char word[80];

	snprintf(word, sizeof word, "[dftracer/%s]", kind);
	return strstr(r->err, word) != NULL;
}

static void expect_same(const char *path, const struct ran *r, const struct groups *want,
                        const struct groups *got, uint64_t unit)
{
	if (loses(r, "arrow") || loses(r, "text-cut"))
		return;
	cr_expect_eq(got->n, want->n, "%s: %zu names, should be %zu", path, got->n, want->n);
	for (size_t i = 0; i < want->n && i < got->n; i++) {
		const struct group *const a = &want->list[i], *const b = &got->list[i];
		const uint64_t differs = a->sum > b->sum ? a->sum - b->sum : b->sum - a->sum;
		cr_expect(strcmp(a->name, b->name) == 0 && a->count == b->count &&
		              (differs <= a->count * (unit - 1) || a->sum == UNKNOWN || b->sum == UNKNOWN ||
		               loses(r, "late-end")),
		          "%s: %s: %" PRIu64 " of %" PRIu64 " ns, should be %s: %" PRIu64 " of %" PRIu64,
		          path, b->name, b->count, b->sum, a->name, a->count, a->sum);
	}
}

/* Nothing worse than a note, and nobody takes it for another format. */
static void expect_valid(const char *path, const char *dialect, const struct ran *r)
{
	const struct format *const dftracer = format_by_name("dftracer");
	struct live_batches l;
	bool no_memory = false;

	cr_expect_eq(format_probe(slice_of(r->out, r->out_n < 65536 ? r->out_n : 65536), r->out_n <= 65536,
	                          &no_memory),
	             dftracer, "%s: %s is not recognised", path, dialect);
	live_batches_read(&l, dftracer, input_from_memory(r->out, r->out_n), WANT_TIMES | WANT_FIELDS, 1024);
	cr_expect_eq(l.status, READ_END, "%s", path);
	cr_expect(l.findings.levels[LEVEL_ERROR] == 0 && l.findings.levels[LEVEL_WARNING] == 0,
	          "%s: %s has findings", path, dialect);
	/* what the version in a start record says counts more */
	cr_expect(l.trace.events == 0 || strstr(path, "dftracer/") != NULL ||
	              strcmp(l.trace.dialect, dialect) == 0,
	          "%s: %s is read as %s", path, dialect, l.trace.dialect);
	live_batches_free(&l);
}

static void check(const char *path, const char *dialect, const struct groups *want)
{
	struct ran r = run_tool(
	    (const char *const[]){ "convert", "--to", "dftracer", "--to-dialect", dialect, path, "-", NULL },
	    NULL, 0);

	cr_expect_lt(r.status, 2, "%s: status %d: %s", path, r.status, r.err);
	cr_assert_gt(r.out_n, 0, "%s: %s", path, r.err);
	struct groups got = groups_of_lines(path, dialect, &r);
	expect_same(path, &r, want, &got, strcmp(dialect, "d5") == 0 ? 1 : 1000);
	expect_valid(path, dialect, &r);
	groups_free(&got);
	ran_free(&r);
}

/* The traces of a folder: all as d5, every third as d1 and d3 too. */
static size_t check_folder(const char *dir)
{
	static const char *const not [] = { ".expect", ".md" };
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
		struct groups want = groups_of_stats(path);
		check(path, "d5", &want);
		if (n % 3 == 0)
			check(path, n % 2 == 0 ? "d1" : "d3", &want);
		groups_free(&want);
		n++;
	}
	list_free(names);
	return n;
}

Test(dftracer_write_formats, good_samples)
{
	static const char *const inputs[] = { "htdump", "heph",   "dial9", "dftracer",
		                              "ovni",   "chrome", "ndjson" };
	char dir[128];

	for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
		snprintf(dir, sizeof dir, "testdata/%s/good", inputs[i]);
		cr_expect_gt(check_folder(dir), 3, "%s", dir);
	}
}

/* Small ones. */
Test(dftracer_write_formats, real_traces)
{
	static const char *const names[] = { "heph/no-arrays.bin.log", "htdump/mapped.htdump",
		                             "ovni/good/ovni-sort", "dftracer/posix-v0.pfw",
		                             "dftracer/graph.pfw" };
	const char *const dir = real_traces();
	char path[1024];

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		struct groups want = groups_of_stats(path);
		check(path, "d3", &want);
		groups_free(&want);
	}
}
