/*
 * What `stats` counts in the real traces, against EXPECTED.json.  Events are counted there as frames:
 * symbols, which stand at time 0 behind the others, are among them, while the vocabulary makes them
 * structure.
 */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli_test_util.h"
#include "dial9/dial9_oracle.h"

static double
number_at(const cJSON *o, const char *key)
{
	const cJSON *const v = cJSON_GetObjectItemCaseSensitive(o, key);

	cr_assert(cJSON_IsNumber(v), "no number %s", key);
	return v->valuedouble;
}

static double
count_of(const cJSON *rows, const char *name)
{
	const cJSON *row;
	double count = 0;

	cJSON_ArrayForEach(row, rows)
	{
		const char *const n = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "name"));
		if (n != NULL && strcmp(n, name) == 0)
			count += number_at(row, "count");
	}
	return count;
}

/* Frames, as EXPECTED.json names them by their tags, and how the program calls them. */
static void
frames_agree(const cJSON *classes, const cJSON *frames)
{
	static const char *const names[][2] = { { "header", "Header" },
		                                { "1", "Schema" },
		                                { "3", "StringPool" },
		                                { "4", "StackPool" },
		                                { "5", "TimestampReset" } };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		cr_expect_eq(count_of(classes, names[i][1]), number_at(frames, names[i][0]), "frames %s",
		             names[i][1]);
}

/* The earliest time of all events but symbols. */
static double
first_time(const char *path)
{
	uint64_t first = UINT64_MAX;
	struct d9o o;
	size_t n;
	unsigned char *const p = d9o_read(path, &n);

	d9o_decode(&o, p, n);
	for (size_t i = 0; i < o.nevents; i++)
		if (strcmp(o.schemas[o.events[i].schema].name, "SymbolTableEntry") != 0 &&
		    o.events[i].ts < first)
			first = o.events[i].ts;
	d9o_free(&o);
	free(p);
	return (double)first;
}

static void
agree(const char *dir, const cJSON *want)
{
	char path[1024];
	const cJSON *c;

	snprintf(path, sizeof path, "%s/%s", dir, want->string);
	struct ran r = run_tool((const char *const[]){ "stats", "--format", "json", path, NULL }, NULL, 0);
	cJSON *const report = cJSON_Parse(r.out);
	const cJSON *const in = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(report, "inputs"), 0);
	const cJSON *const rows = cJSON_GetObjectItemCaseSensitive(in, "classes");
	cr_assert_not_null(in, "%s: %s", path, r.err);
	cr_expect_eq(r.status, 0, "%s", path);
	cr_expect_eq(number_at(in, "events") + count_of(rows, "SymbolTableEntry"), number_at(want, "events"),
	             "%s", path);
	cr_expect_eq(number_at(in, "first_ns"), first_time(path), "%s", path);
	cr_expect_eq(number_at(in, "last_ns"), number_at(want, "last_ns"), "%s", path);
	cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(want, "names"))
	    cr_expect_eq(count_of(rows, c->string), c->valuedouble, "%s: %s", path, c->string);
	frames_agree(cJSON_GetObjectItemCaseSensitive(in, "classes"),
	             cJSON_GetObjectItemCaseSensitive(want, "frames"));
	cJSON_Delete(report);
	ran_free(&r);
}

Test(dial9_stats, agrees_with_expected)
{
	const char *const dir = d9o_traces();
	char path[1024];
	size_t n, traces = 0;

	if (dir == NULL)
		cr_skip_test("the traces are not here");
	snprintf(path, sizeof path, "%s/EXPECTED.json", dir);
	char *const text = read_whole(path, &n);
	cr_assert_not_null(text);
	cJSON *const all = cJSON_Parse(text);
	const cJSON *want;
	cJSON_ArrayForEach(want, all)
	{
		if (strncmp(want->string, "dial9/", 6) != 0)
			continue;
		agree(dir, want);
		traces++;
	}
	cr_expect_eq(traces, 2);
	cJSON_Delete(all);
	free(text);
}
