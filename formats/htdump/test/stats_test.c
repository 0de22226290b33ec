/* What `stats` counts in a .htdump, against EXPECTED.json and the oracle. */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "htdump/test/oracle.h"

/* The counts of all rows with this name, or of all: a name may stand in several categories, and behind a
 * concatenation two classes may have one name. */
static uint64_t count_named(const cJSON *rows, const char *name, const char *path)
{
	const cJSON *row;
	uint64_t count = 0;

	cJSON_ArrayForEach(row, rows)
	{
		const char *const n = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "name"));

		if (n != NULL && (name == NULL || strcmp(n, name) == 0))
			count += number_at(row, "count");
	}
	return count;
}

static void agree_with_expected(const char *dir, const cJSON *want, const char *text)
{
	char path[1024];
	const cJSON *in, *c, *row;
	uint64_t spans = 0, sum = 0;

	(void)text;
	snprintf(path, sizeof path, "%s/%s", dir, want->string);
	cJSON *const report = stats_of(path, &in);
	const cJSON *const rows = cJSON_GetObjectItemCaseSensitive(in, "spans");
	cJSON_ArrayForEach(row, rows)
	{
		spans += number_at(row, "count");
		sum += number_at(cJSON_GetObjectItemCaseSensitive(row, "dur_ns"), "sum");
	}
	cr_expect_eq(spans, number_at(want, "events"), "%s", path);
	cr_expect_eq(sum, number_at(want, "dur_sum_ns"), "%s", path);
	cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(want, "names"))
	{
		cr_expect_eq(count_named(rows, c->string, path), (uint64_t)c->valuedouble, "%s: %s", path,
		             c->string);
	}
	cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(want, "classes"))
	{
		cr_expect_eq(count_named(cJSON_GetObjectItemCaseSensitive(in, "classes"), c->string, path),
		             (uint64_t)c->valuedouble, "%s: class %s", path, c->string);
	}
	cJSON_Delete(report);
}

Test(htdump_stats, agrees_with_expected)
{
	cr_expect_gt(each_expected(real_traces(), "htdump/", agree_with_expected), 0);
}

struct sums {
	uint64_t spans, instants, sum, first, last;
};

static struct sums sums_of(const struct oracle *o)
{
	struct sums s = { .first = UINT64_MAX };

	for (size_t i = 0; i < o->n; i++) {
		const struct oracle_event *const e = &o->events[i];

		s.spans += e->span;
		s.instants += !e->span;
		s.sum += e->dur;
		s.first = e->ts < s.first ? e->ts : s.first;
		s.last = e->ts + e->dur > s.last ? e->ts + e->dur : s.last;
	}
	return s;
}

static void agree_with_oracle(const char *path)
{
	struct oracle o;
	const cJSON *in;
	size_t n;
	char *const p = read_whole(path, &n);

	cr_assert_not_null(p, "%s", path);
	oracle_decode(&o, (const unsigned char *)p, n);
	const struct sums s = sums_of(&o);
	cJSON *const report = stats_of(path, &in);
	cr_expect_eq(number_at(in, "bytes"), n, "%s", path);
	/* One event alone fits both layouts. */
	if (o.records > 1)
		cr_expect_str_eq(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(in, "dialect")),
		                 strcmp(o.id_key, "id") == 0 ? "wire" : "document", "%s", path);
	cr_expect_eq(number_at(in, "records"), o.records, "%s", path);
	cr_expect_eq(number_at(in, "events"), o.n, "%s", path);
	cr_expect_str_eq(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(in, "format")), "htdump", "%s",
	                 path);
	cr_expect_eq(count_named(cJSON_GetObjectItemCaseSensitive(in, "spans"), NULL, path), s.spans, "%s",
	             path);
	cr_expect_eq(count_named(cJSON_GetObjectItemCaseSensitive(in, "instants"), NULL, path), s.instants,
	             "%s", path);
	/* cJSON holds doubles: larger times are looked at as text by other tests. */
	if (o.n > 0 && s.last < UINT64_C(1) << 53) {
		cr_expect_eq(number_at(in, "first_ns"), s.first, "%s", path);
		cr_expect_eq(number_at(in, "last_ns"), s.last, "%s", path);
	} else if (o.n == 0) {
		cr_expect(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(in, "first_ns")), "%s", path);
	}
	for (size_t i = 0; i < o.ncounts; i++) {
		cr_expect_eq(
		    count_named(cJSON_GetObjectItemCaseSensitive(in, "classes"), o.counts[i].name, path),
		    o.counts[i].count, "%s: class %s", path, o.counts[i].name);
	}
	cJSON_Delete(report);
	oracle_free(&o);
	free(p);
}

Test(htdump_stats, good_samples_equal_the_oracle)
{
	char **const names = list_folder("testdata/htdump/good", ".htdump");
	char path[1024];

	cr_expect_not_null(names[0]);
	for (size_t i = 0; names[i] != NULL; i++) {
		snprintf(path, sizeof path, "testdata/htdump/good/%s", names[i]);
		agree_with_oracle(path);
	}
	list_free(names);
}
