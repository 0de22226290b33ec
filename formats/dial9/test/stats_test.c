/*
 * What `stats` counts in the real traces, against EXPECTED.json.  Events are counted there as frames:
 * symbols, which stand at time 0, and metadata, which may stand at wall time, are among them, while the
 * vocabulary makes them structure.
 */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "dial9/test/oracle.h"

static uint64_t count_of(const cJSON *rows, const char *name)
{
	const cJSON *row;
	uint64_t count = 0;

	cJSON_ArrayForEach(row, rows)
	{
		const char *const n = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "name"));
		if (n != NULL && strcmp(n, name) == 0)
			count += number_at(row, "count");
	}
	return count;
}

/* Frames, as EXPECTED.json names them by their tags, and how the program calls them. */
static void frames_agree(const cJSON *classes, const cJSON *frames)
{
	static const char *const names[][2] = { { "header", "Header" },
		                                { "1", "Schema" },
		                                { "3", "StringPool" },
		                                { "4", "StackPool" },
		                                { "5", "TimestampReset" } };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		cr_expect_eq(count_of(classes, names[i][1]),
		             cJSON_HasObjectItem(frames, names[i][0]) ? number_at(frames, names[i][0]) : 0,
		             "frames %s", names[i][1]);
}

/* What the vocabulary makes structure. */
static const char *const structure[] = { "SymbolTableEntry", "CallframeDefEvent", "SegmentMetadataEvent" };

static bool is_structure(const char *name)
{
	for (size_t i = 0; i < sizeof structure / sizeof structure[0]; i++)
		if (strcmp(name, structure[i]) == 0)
			return true;
	return false;
}

/* The earliest and the latest time of all others. */
static void times_of(const char *path, uint64_t *first, uint64_t *last)
{
	struct d9o o;
	size_t n;
	unsigned char *const p = (unsigned char *)read_unpacked(path, &n);

	*first = UINT64_MAX;
	*last = 0;
	d9o_decode(&o, p, n);
	for (size_t i = 0; i < o.nevents; i++) {
		const uint64_t ts = o.events[i].ts;
		if (is_structure(o.schemas[o.events[i].schema].name))
			continue;
		*first = ts < *first ? ts : *first;
		*last = ts > *last ? ts : *last;
	}
	d9o_free(&o);
	free(p);
}

static void agree(const char *dir, const cJSON *want, const char *text)
{
	char path[1024];
	uint64_t first, last;
	const cJSON *c, *in;
	uint64_t apart = 0;

	(void)text;
	snprintf(path, sizeof path, "%s/%s", dir, want->string);
	cJSON *const report = stats_of(path, &in);
	const cJSON *const rows = cJSON_GetObjectItemCaseSensitive(in, "classes");
	for (size_t i = 0; i < sizeof structure / sizeof structure[0]; i++)
		apart += count_of(rows, structure[i]);
	cr_expect_eq(number_at(in, "events") + apart, number_at(want, "events"), "%s", path);
	times_of(path, &first, &last);
	cr_expect_eq(number_at(in, "first_ns"), first, "%s", path);
	cr_expect_eq(number_at(in, "last_ns"), last, "%s", path);
	cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(want, "names"))
	    cr_expect_eq(count_of(rows, c->string), (uint64_t)c->valuedouble, "%s: %s", path, c->string);
	frames_agree(cJSON_GetObjectItemCaseSensitive(in, "classes"),
	             cJSON_GetObjectItemCaseSensitive(want, "frames"));
	cJSON_Delete(report);
}

Test(dial9_stats, agrees_with_expected)
{
	const char *const dir = real_traces();
	char next[1000];

	snprintf(next, sizeof next, "%s/next", dir);
	cr_expect_eq(each_expected(dir, "dial9/", agree), 2);
	cr_expect_eq(each_expected(next, "dial9/", agree), 3);
}
