/* What `stats` counts in real traces, against what is known of them. */

#include "cmd/test/samples_test_util.h"
#include "dftracer/test/cli_test_util.h"

/* Times are beyond what a double holds: compared as text. */
static void expect_raw(const char *report, const char *text, const char *key)
{
	char got[40], expected[40];

	raw_value(report, key, got, sizeof got);
	raw_value(text, key, expected, sizeof expected);
	expected[strcspn(expected, "\n ")] = '\0';
	cr_expect_str_eq(got, expected, "%s", key);
}

static void expect_stats(const char *dir, const cJSON *want, const char *text)
{
	char path[1024];
	const cJSON *row, *name;
	uint64_t spans = 0, sum = 0;

	snprintf(path, sizeof path, "%s/%s", dir, want->string);
	struct ran r = run_tool((const char *const[]){ "stats", "--format", "json", path, NULL }, NULL, 0);
	cr_assert_eq(r.status, 0, "%s: exit status %d: %s", path, r.status, r.err);
	cJSON *const report = cJSON_ParseWithLength(r.out, r.out_n);
	const cJSON *const in = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(report, "inputs"), 0);
	const cJSON *const rows = cJSON_GetObjectItemCaseSensitive(in, "spans");
	cJSON_ArrayForEach(row, rows)
	{
		spans += number_at(row, "count");
		sum += number_at(cJSON_GetObjectItemCaseSensitive(row, "dur_ns"), "sum");
	}
	cr_expect_eq(spans, number_at(want, "events"), "%s", path);
	cr_expect_eq(sum, number_at(want, "dur_sum_ns"), "%s", path);
	cJSON_ArrayForEach(name, cJSON_GetObjectItemCaseSensitive(want, "names"))
	{
		uint64_t count = 0;
		cJSON_ArrayForEach(row, rows)
		{
			count +=
			    strcmp(text_of(row, "name"), name->string) == 0 ? number_at(row, "count") : 0;
		}
		cr_expect_eq(count, (uint64_t)name->valuedouble, "%s: %s", path, name->string);
	}
	expect_raw(r.out, strstr(text, want->string), "first_ns");
	expect_raw(r.out, strstr(text, want->string), "last_ns");
	cJSON_Delete(report);
	ran_free(&r);
}

Test(dftracer_stats, agrees_with_expected)
{
	cr_expect_gt(each_expected(real_traces(), "dftracer/", expect_stats), 0);
}
