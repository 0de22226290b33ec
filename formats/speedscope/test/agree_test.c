/* Profiles of all samples and real traces: compares calls and times of frames with `stats`. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "speedscope/test/check_test.h"
#include "test/support/strength.h"

static const char *get_text(const cJSON *object, const char *key)
{
	const char *const text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));

	return text != NULL && *text != '\0' ? text : strcmp(key, "name") == 0 ? "(no name)" : "";
}

static double get_number(const cJSON *object, const char *key)
{
	const cJSON *const item = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsNumber(item) ? item->valuedouble : -1;
}

/* Returns the number of frames compared. */
static size_t expect_totals(const char *path, const cJSON *spans, const struct check *c)
{
	const cJSON *row;
	size_t n = 0;

	cJSON_ArrayForEach(row, spans)
	{
		const char *const name = get_text(row, "name"), *const category = get_text(row, "category");
		const struct check_sum *const sum = check_find(c, name, category);
		if (strstr(name, "\xef\xbf\xbd") != NULL)
			continue; /* different names that are not UTF-8 may be equal with U+FFFD */
		cr_assert_not_null(sum, "%s: no frame %s (%s)", path, name, category);
		cr_expect_eq((double)sum->calls, get_number(row, "count"), "%s: %s: %lu calls", path, name,
		             (unsigned long)sum->calls);
		const double total = get_number(cJSON_GetObjectItemCaseSensitive(row, "dur_ns"), "sum");
		cr_expect(!c->exact || sum->total == total, "%s: %s: %.0f ns instead of %.0f", path, name,
		          sum->total, total);
		n++;
	}
	return n;
}

static size_t expect_agreement(const char *path, uint64_t *samples)
{
	struct ran r =
	    run_tool((const char *const[]){ "stats", "--quiet", "--format", "json", path, NULL }, NULL, 0);
	struct ran out = run_tool((const char *const[]){ "convert", "--quiet", "--keep-partial", "--rebase",
	                                                 "--to", "speedscope", path, "-", NULL },
	                          NULL, 0);
	cJSON *const json = cJSON_Parse(r.out);
	const cJSON *const input = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(json, "inputs"), 0);
	size_t n = 0;

	if (out.out_n > 0) {
		struct check c = check_speedscope(path, out.out, out.out_n);
		n = expect_totals(path, cJSON_GetObjectItemCaseSensitive(input, "spans"), &c);
		for (size_t i = 0; i < c.n; i++)
			*samples += c.sums[i].samples;
		check_free(&c);
	}
	cJSON_Delete(json);
	ran_free(&r);
	ran_free(&out);
	return n;
}

static size_t expect_agreement_of_all(const char *find, const char *dir, uint64_t *samples)
{
	struct ran r = run_program((const char *const[]){ "sh", "-c", find, dir, NULL }, NULL, 0);
	size_t n = 0;
	char *save, *path;

	for (path = strtok_r(r.out, "\n", &save); path != NULL; path = strtok_r(NULL, "\n", &save))
		if (strength_takes(path, 4))
			n += expect_agreement(path, samples);
	ran_free(&r);
	return n;
}

Test(speedscope_agree, calls_and_times_of_samples)
{
	static const char find[] = "find testdata/*/good testdata/*/bad -type f ! -name '*.expect' | sort";
	uint64_t samples = 0;

	cr_expect_gt(expect_agreement_of_all(find, "", &samples), strength(25, 100, 100));
}

Test(speedscope_agree, calls_and_times_of_real_traces)
{
	const char *const dir = real_traces();
	static const char find[] = "{ find \"$0\"/htdump \"$0\"/heph \"$0\"/dial9 "
	                           "\"$0\"/dftracer \"$0\"/next -type f ! -name '*.json'; "
	                           "find \"$0\"/ovni -mindepth 2 -maxdepth 2 -type d; } 2>/dev/null | sort";
	uint64_t samples = 0;

	cr_expect_gt(expect_agreement_of_all(find, dir, &samples), strength(5, 20, 20));
	cr_expect_geq(samples, strength(0, 10000, 10000));
}
