/* What `stats` counts in a Heph trace, against EXPECTED.json and the oracle. */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "heph/test/oracle.h"

static void agree_on_names(const cJSON *in, const cJSON *want, const char *path)
{
	const cJSON *const rows = cJSON_GetObjectItemCaseSensitive(in, "spans");
	const cJSON *row;
	uint64_t sum = 0, count = 0;

	cJSON_ArrayForEach(row, rows)
	{
		const char *const name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "name"));
		cr_expect_eq(number_at(row, "count"),
		             number_at(cJSON_GetObjectItemCaseSensitive(want, "names"), name), "%s: %s", path,
		             name);
		sum += number_at(cJSON_GetObjectItemCaseSensitive(row, "dur_ns"), "sum");
		count++;
	}
	cr_expect_eq(sum, number_at(want, "dur_sum_ns"), "%s", path);
	cr_expect_eq(count, (uint64_t)cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(want, "names")),
	             "%s", path);
}

/* The types of attributes, and the epoch, which `info` shows. */
static void agree_on_bytes(const cJSON *want, const char *path)
{
	const cJSON *const types = cJSON_GetObjectItemCaseSensitive(want, "attribute_types");
	const cJSON *const metadata = cJSON_GetObjectItemCaseSensitive(want, "metadata");
	struct heph_oracle o;
	size_t n;
	char *const p = read_whole(path, &n), key[80];

	heph_oracle_decode(&o, (const unsigned char *)p, n);
	for (unsigned type = 0; type < 256; type++) {
		snprintf(key, sizeof key, "0x%x", type);
		const cJSON *const count = cJSON_GetObjectItemCaseSensitive(types, key);
		cr_expect_eq(o.types[type], count != NULL ? (size_t)count->valuedouble : 0, "%s: type %s",
		             path, key);
	}
	/* cJSON holds doubles */
	cr_expect_eq((double)o.epoch, cJSON_GetObjectItemCaseSensitive(metadata, "epoch")->valuedouble, "%s",
	             path);
	struct ran r = run_tool((const char *const[]){ "info", path, NULL }, NULL, 0);
	snprintf(key, sizeof key, " 0 is %" PRIu64 " ns after 1970", o.epoch);
	cr_expect_not_null(strstr(r.out, key), "%s: no%s in: %s", path, key, r.out);
	ran_free(&r);
	heph_oracle_free(&o);
	free(p);
}

static void agree_with_expected(const char *dir, const cJSON *want, const char *text)
{
	static const char *const keys[] = { "events", "first_ns", "last_ns", "tracks" };
	char path[1024];
	const cJSON *in;

	(void)text;
	snprintf(path, sizeof path, "%s/%s", dir, want->string);
	cJSON *const report = stats_of(path, &in);
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		cr_expect_eq(number_at(in, keys[i]), number_at(want, keys[i]), "%s: %s", path, keys[i]);
	agree_on_names(in, want, path);
	agree_on_bytes(want, path);
	cJSON_Delete(report);
}

Test(heph_stats, agrees_with_expected)
{
	cr_expect_gt(each_expected(real_traces(), "heph/", agree_with_expected), 0);
}

static void agree_with_oracle(const char *path)
{
	struct heph_oracle o;
	const cJSON *in;
	size_t n;
	uint64_t first = UINT64_MAX, last = 0;
	char *const p = read_whole(path, &n);

	cr_assert_not_null(p, "%s", path);
	heph_oracle_decode(&o, (const unsigned char *)p, n);
	for (size_t i = 0; i < o.n; i++) {
		first = o.events[i].start < first ? o.events[i].start : first;
		last = o.events[i].end > last ? o.events[i].end : last;
	}
	cJSON *const report = stats_of(path, &in);
	cr_expect_eq(number_at(in, "bytes"), n, "%s", path);
	cr_expect_eq(number_at(in, "records"), o.packets, "%s", path);
	cr_expect_eq(number_at(in, "events"), o.n, "%s", path);
	cr_expect_eq(number_at(in, "tracks"), o.tracks, "%s", path);
	if (o.n > 0 && last < UINT64_C(1) << 53) {
		cr_expect_eq(number_at(in, "first_ns"), first, "%s", path);
		cr_expect_eq(number_at(in, "last_ns"), last, "%s", path);
	}
	cJSON_Delete(report);
	heph_oracle_free(&o);
	free(p);
}

Test(heph_stats, good_samples_equal_the_oracle)
{
	char **const names = list_folder("testdata/heph/good", ".bin.log");
	char path[1024];

	cr_assert_not_null(names[0]);
	for (size_t i = 0; names[i] != NULL; i++) {
		snprintf(path, sizeof path, "testdata/heph/good/%s", names[i]);
		agree_with_oracle(path);
	}
	list_free(names);
}
