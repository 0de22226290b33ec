/* The program on every sample of NDJSON: what it finds, and where. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli_test_util.h"
#include "format/registry.h"
#include "pipeline/raw_bytes_util_test.h"

#define REPORT 8192

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
	char *const to = calloc(1, REPORT);

	cr_assert(file != NULL && to != NULL, "no report: %.300s%.300s", r->out, r->err);
	size_t n = (size_t)sprintf(to, "exit %d\nrecords %.0f\n", r->status, number(file, "records"));
	cJSON_ArrayForEach(f, cJSON_GetObjectItemCaseSensitive(file, "findings"))
	{
		const char *const rule = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(f, "rule"));
		size_t line, column;
		n += (size_t)snprintf(to + n, REPORT - n, "%s %.0f\n", rule, number(f, "offset"));
		place_of(text, (size_t)number(f, "offset"), &line, &column);
		cr_expect_eq(number(f, "line"), (double)line, "%s: line %.0f", rule, number(f, "line"));
		cr_expect_eq(number(f, "column"), (double)column, "%s: column %.0f", rule,
		             number(f, "column"));
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

/* As a file and down a pipe. */
static void
each_sample(const char *folder, char *rules)
{
	char **const names = list_folder(folder, ".ndjson");
	char path[1024];
	size_t n;

	for (char **name = names; *name != NULL; name++) {
		snprintf(path, sizeof path, "%s/%.*s.expect", folder, (int)strlen(*name) - 7, *name);
		char *const want = read_whole(path, &n);
		cr_assert_not_null(want, "%s", path);
		strcat(rules, want);
		snprintf(path, sizeof path, "%s/%s", folder, *name);
		char *const text = read_whole(path, &n);
		expect_outcome(path, path, text, 0, want);
		expect_outcome(path, "-", text, n, want);
		free(text);
		free(want);
	}
	list_free(names);
}

Test(ndjson_samples, what_is_found_and_where, .timeout = 120)
{
	static char rules[65536];
	char want[64];

	each_sample("testdata/ndjson/good", rules);
	each_sample("testdata/ndjson/bad", rules);
	for (const struct rule *r = format_by_name("ndjson")->rules; r->id != NULL; r++) {
		snprintf(want, sizeof want, "\n%s ", r->id);
		cr_expect(strstr(rules, want) != NULL || strcmp(r->id, "ndjson/limit") == 0,
		          "no sample has %s", r->id);
	}
}

/* What is left of lines that have a fault. */
Test(ndjson_samples, what_is_whole_is_read)
{
	static const struct {
		const char *path, *line;
	} rows[] = {
		{ "testdata/ndjson/bad/out-of-range.ndjson", "span c ts=18446744073709551615 dur=0" },
		{ "testdata/ndjson/bad/negative-time.ndjson", "span c ts=0 dur=2" },
		{ "testdata/ndjson/bad/duplicate-member.ndjson", "name=n a=1 b=2\n" },
		{ "testdata/ndjson/bad/not-json.ndjson", "span c ts=1 dur=2" },
		{ "testdata/ndjson/bad/unknown-member.ndjson", "span c ts=1 dur=2" },
		{ "testdata/ndjson/good/kinds.ndjson", "name=n u=7 i=-9223372036854775808 h=0xdeadbeef" },
		{ "testdata/ndjson/good/raw.ndjson", "a=1 \"a (2)\"=2" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ran r = run_tool((const char *const[]){ "cat", rows[i].path, NULL }, NULL, 0);
		cr_expect_not_null(strstr(r.out, rows[i].line), "%s: %s is not in\n%s", rows[i].path,
		                   rows[i].line, r.out);
		ran_free(&r);
	}
}

Test(ndjson_samples, raw_records_are_the_input)
{
	expect_raw_bytes_of_all("ndjson", "testdata/ndjson/good", ".ndjson");
}
