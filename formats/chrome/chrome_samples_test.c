/* The program on every sample of Chrome JSON: what it finds, and where. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chrome/chrome_read.h"
#include "cmd/cli_test_util.h"
#include "format/registry.h"
#include "pipeline/raw_bytes_util_test.h"

/* Line and column of an offset. */
static void
place_of(const char *text, size_t offset, size_t *line, size_t *column)
{
	*line = *column = 1;
	for (size_t i = 0; i < offset; i++) {
		*column = text[i] == '\n' ? 1 : *column + 1;
		*line += text[i] == '\n';
	}
}

static double
number(const cJSON *o, const char *name)
{
	const cJSON *const v = cJSON_GetObjectItemCaseSensitive(o, name);

	return cJSON_IsNumber(v) ? v->valuedouble : -1;
}

/* A report in the form of the .expect files, to be freed. */
static char *
outcome(const struct ran *r, const char *text)
{
	cJSON *const report = cJSON_ParseWithLength(r->out, r->out_n);
	const cJSON *const file = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(report, "files"), 0),
	                   *f;
	char *const to = calloc(1, 8192);

	cr_assert(file != NULL && to != NULL, "no report: %.300s%.300s", r->out, r->err);
	size_t n = (size_t)sprintf(to, "exit %d\nrecords %.0f\n", r->status, number(file, "records"));
	cJSON_ArrayForEach(f, cJSON_GetObjectItemCaseSensitive(file, "findings"))
	{
		const char *const rule = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(f, "rule"));
		size_t line, column;
		n += (size_t)snprintf(to + n, 8192 - n, "%s %.0f\n", rule, number(f, "offset"));
		place_of(text, (size_t)number(f, "offset"), &line, &column);
		if (number(f, "line") >= 0) {
			cr_expect_eq(number(f, "line"), (double)line, "%s: line %.0f", rule,
			             number(f, "line"));
			cr_expect_eq(number(f, "column"), (double)column, "%s: column %.0f", rule,
			             number(f, "column"));
		}
	}
	cJSON_Delete(report);
	return to;
}

static void
expect_outcome(const char *path, const char *given, const char *text, size_t n, const char *want)
{
	struct ran r =
	    run_tool((const char *const[]){ "validate", "--format", "json", given, NULL }, text, n);
	char *const got = outcome(&r, text);

	cr_expect_str_eq(got, want, "%s (%s):\n%swhere this was expected:\n%s", path, given, got, want);
	free(got);
	ran_free(&r);
}

/* As a file, down a pipe, and packed. */
static void
each_sample(const char *folder, char *rules)
{
	char **const names = list_folder(folder, ".json");
	char path[1024];
	size_t n, packed;

	for (char **name = names; *name != NULL; name++) {
		snprintf(path, sizeof path, "%s/%.*s.expect", folder, (int)strlen(*name) - 5, *name);
		char *const want = read_whole(path, &n);
		cr_assert_not_null(want, "%s", path);
		strcat(rules, want);
		snprintf(path, sizeof path, "%s/%s", folder, *name);
		char *const text = read_whole(path, &n);
		expect_outcome(path, path, text, 0, want);
		expect_outcome(path, "-", text, n, want);
		void *const z = gzip_copy(text, n, &packed);
		struct ran r = run_tool((const char *const[]){ "validate", "-", NULL }, z, packed);
		cr_expect_eq(r.status, *(want + 5) - '0', "%s packed: %s", path, r.out);
		ran_free(&r);
		free(z);
		free(text);
		free(want);
	}
	list_free(names);
}

Test(chrome_samples, what_is_found_and_where, .timeout = 120)
{
	static char rules[65536];
	char want[64];

	each_sample("testdata/chrome/good", rules);
	each_sample("testdata/chrome/bad", rules);
	for (const struct rule *r = chrome_rules; r->id != NULL; r++) {
		snprintf(want, sizeof want, "\n%s ", r->id);
		cr_expect(strstr(rules, want) != NULL || strcmp(r->id, "chrome/limit") == 0,
		          "no sample has %s", r->id);
	}
}

/* All events of the sample that has every kind. */
Test(chrome_samples, what_events_become)
{
	static const char *const lines[] = {
		"span c ts=2500 dur=250 track=main name=inner",
		"counter c ts=4000 track=program name=memory used=5 free=2.5",
		"name=memory[2] used=5",
		"span c ts=6000 dur=1000 track=main name=n",
		"span c ts=5000 dur=3000 track=main name=n of=\"task\"",
		"span c ts=5000 dur=2000 track=main name=n",
		"flow-out c ts=2600 track=main name=n",
		"flow-in c ts=6000 track=main name=n",
		"flow-in c ts=9000 track=main name=n",
	};
	struct ran r =
	    run_tool((const char *const[]){ "cat", "testdata/chrome/good/object.json", NULL }, NULL, 0);

	cr_expect_eq(r.status, 0, "%s", r.err);
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		cr_expect_not_null(strstr(r.out, lines[i]), "%s is not in\n%s", lines[i], r.out);
	ran_free(&r);
}

Test(chrome_samples, times_are_exact)
{
	struct ran r =
	    run_tool((const char *const[]){ "cat", "testdata/chrome/good/numbers.json", NULL }, NULL, 0);

	cr_expect_not_null(strstr(r.out, "ts=9007199254740993125 dur=1 "), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "ts=1500000 dur=20 "), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "ts=12500 dur=1000 "), "%s", r.out);
	ran_free(&r);
}

Test(chrome_samples, names_at_the_end_are_found)
{
	struct ran r =
	    run_tool((const char *const[]){ "cat", "testdata/chrome/good/late-names.json", NULL }, NULL, 0);

	cr_expect_not_null(strstr(r.out, "track=late name=a"), "%s", r.out);
	ran_free(&r);
}

Test(chrome_samples, raw_records_are_the_input)
{
	expect_raw_bytes_of_all("chrome", "testdata/chrome/good", ".json");
}
