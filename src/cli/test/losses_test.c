/* What convert says of losses as JSON and by its status, and what the matrix of formats says beforehand. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "format/registry.h"
#include "test/support/format_aids.h"

#define RUN(...) run_tool((const char *const[]){ __VA_ARGS__, NULL }, NULL, 0)
#define OVERLAPPING "testdata/htdump/good/overlapping.htdump"
#define ARROWS "testdata/chrome/good/object.json"

Test(losses, kinds_that_fail)
{
#define FAIL_ON(kinds) RUN("convert", "-q", "--fail-on-loss-of", kinds, "--to=folded", OVERLAPPING, "-")
	expect_ran(FAIL_ON("folded/fields"), 1, "[folded/fields]");
	expect_ran(FAIL_ON("chrome/too-deep,folded/f*"), 1, "[folded/facts]");
	expect_ran(FAIL_ON("folded/async,lanes/*"), 0, "");
	expect_ran(FAIL_ON("folded/asink"), 3, "did you mean folded/async?");
	expect_ran(FAIL_ON("folded/async,nothing*"), 3, "no kind of loss nothing*");
	expect_ran(RUN("convert", "--fail-on-loss=folded/async", OVERLAPPING, "-"), 3, "takes no argument");
}

/* Lines on stderr. */
static size_t count_lines(const struct ran *r)
{
	size_t n = 0;

	for (const char *p = r->err; *p != '\0'; p++)
		n += *p == '\n';
	return n;
}

/* What no file of a format has is one line, and what fails is said by its name. */
Test(losses, what_a_format_lacks_is_one_line)
{
	struct ran r = RUN("convert", "--to=speedscope", "testdata/dial9/service.bin", "-");

	cr_expect_not_null(strstr(r.err, "tracetool: -: not in it: "), "%s", r.err);
	cr_expect_not_null(strstr(r.err, " instants, "), "%s", r.err);
	cr_expect_not_null(strstr(r.err, ", fields of "), "%s", r.err);
	cr_expect_eq(count_lines(&r), 1, "%s", r.err);
	ran_free(&r);
	r = RUN("convert", "--fail-on-loss", "--to=speedscope", "testdata/dial9/service.bin", "-");
	cr_expect_eq(r.status, 1);
	cr_expect_not_null(strstr(r.err, "[speedscope/fields]"), "%s", r.err);
	ran_free(&r);
}

/* The name of the file is that of the process. */
Test(losses, a_file_name_that_is_not_utf8_is_one_line)
{
	char *const dir = make_folder(), path[1024];
	size_t n;
	char *const bytes = read_whole(OVERLAPPING, &n);

	snprintf(path, sizeof path, "%s/caf\xe9.htdump", dir);
	cr_assert(write_whole(path, bytes, n));
	struct ran r = RUN("convert", "--to=chrome", path, "-");
	cr_expect_eq(r.status, 0);
	cr_expect_not_null(strstr(r.err, ": 6; "), "%s", r.err);
	cr_expect_eq(count_lines(&r), 1, "%s", r.err);
	ran_free(&r);
	free(bytes);
	remove_folder(dir);
}

Test(losses, report_of_an_output)
{
	char *const dir = make_folder(), out[1024], report[1024];
	size_t n;

	snprintf(out, sizeof out, "%s/out.folded", dir);
	snprintf(report, sizeof report, "%s/losses.json", dir);
	expect_ran(RUN("convert", "-q", "--losses", report, OVERLAPPING, out), 0, "");
	char *const text = read_whole(report, &n);
	cJSON *const j = cJSON_Parse(text);
	cr_assert_not_null(j);
	cr_expect_str_eq(cJSON_GetObjectItem(j, "from")->valuestring, "htdump");
	cr_expect_str_eq(cJSON_GetObjectItem(j, "to")->valuestring, "folded");
	cr_expect_str_eq(cJSON_GetObjectItem(j, "output")->valuestring, out);
	cr_expect(cJSON_IsFalse(cJSON_GetObjectItem(j, "lossless")));
	const cJSON *const rows = cJSON_GetObjectItem(j, "losses");
	cr_expect_eq(cJSON_GetArraySize(rows), 3);
	cr_expect_str_eq(cJSON_GetObjectItem(cJSON_GetArrayItem(rows, 0), "id")->valuestring,
	                 "folded/category");
	const cJSON *const row = cJSON_GetArrayItem(rows, 1);
	cr_expect_str_eq(cJSON_GetObjectItem(row, "id")->valuestring, "folded/fields");
	cr_expect_eq(cJSON_GetObjectItem(row, "count")->valuedouble, 6);
	cr_expect_eq(cJSON_GetObjectItem(row, "first_offset")->valuedouble, 2017);
	cr_expect(cJSON_IsFalse(cJSON_GetObjectItem(row, "fails")));
	cJSON_Delete(j);
	free(text);
	/* neither is replaced without -f */
	expect_ran(RUN("convert", "-q", "--losses", report, OVERLAPPING, "/dev/null", "--to=folded"), 2,
	           "already exists");
	expect_ran(RUN("convert", "-qf", "--losses", report, OVERLAPPING, out), 0, "");
	remove_folder(dir);
}

Test(losses, report_has_a_name_of_its_own)
{
	expect_ran(RUN("convert", "--losses=-", "--to=folded", OVERLAPPING, "-"), 3,
	           "the output on standard output is the report of losses on standard output");
	expect_ran(RUN("convert", "--losses", OVERLAPPING, "--to=folded", OVERLAPPING, "/dev/null"), 3,
	           "is the input");
}

/* An arrow that goes on from where it arrives, in outputs that have no place for that, and in others. */
Test(losses, steps_of_arrows)
{
	static const char *const without[] = { "htdump", "dftracer", "ovni", "paraver" };
	static const char *const with[] = { "chrome", "ndjson",  "perfetto", "heph", "dial9",
		                            "csv",    "parquet", "sqlite",   "ctf",  "tsv" };
	char *const dir = make_folder(), out[1024];

#define CONVERT_TO(format)                                                                                   \
	RUN("convert", "-qf", "--fail-on-loss-of", "*/arrow-step", "--to", format, ARROWS, out)
	for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
		snprintf(out, sizeof out, "%s/%s", dir, without[i]);
		expect_ran(CONVERT_TO(without[i]), 1, "/arrow-step]");
	}
	for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
		snprintf(out, sizeof out, "%s/%s", dir, with[i]);
		expect_ran(CONVERT_TO(with[i]), 0, "");
	}
	remove_folder(dir);
}

/* There is no report of an output that there is not. */
Test(losses, no_output_no_report)
{
	char *const dir = make_folder(), report[1024];

	snprintf(report, sizeof report, "%s/losses.json", dir);
	expect_ran(RUN("convert", "--losses", report, "nowhere", "/dev/null", "--to=folded"), 2, "nowhere");
	cr_expect_neq(access(report, F_OK), 0);
	remove_folder(dir);
}

/* ---- the matrix ---- */

Test(losses, matrix)
{
	expect_ran(RUN("formats", "--matrix"), 0, "output ");
	expect_ran(RUN("formats", "--matrix", "heph", "folded"), 0, "folded/fields");
	expect_ran(RUN("formats", "--matrix", "htdump", "htdump"), 0, "copied as they are");
	expect_ran(RUN("formats", "--matrix", "csv", "htdump"), 3, "no format csv that can be read");
	expect_ran(RUN("formats", "--matrix", "heph"), 0, "heph      folded");
	expect_ran(RUN("formats", "--matrix", "a", "b", "c"), 3, "an input format and an output format");
	expect_ran(RUN("formats", "heph", "folded"), 3, "the name of one format");
	expect_ran(RUN("formats", "hep"), 3, "did you mean heph?");
	expect_ran(RUN("formats", "dial9"), 0, "0.3 0.4");
}

/* The ids of one pair; NULL: it is not in the matrix. */
static const cJSON *pair_of(const cJSON *matrix, const char *from, const char *to, const char *list)
{
	const cJSON *pair;

	cJSON_ArrayForEach(pair,
	                   matrix) if (strcmp(cJSON_GetObjectItem(pair, "from")->valuestring, from) == 0 &&
	                               strcmp(cJSON_GetObjectItem(pair, "to")->valuestring, to) ==
	                                   0) return cJSON_GetObjectItem(pair, list);
	return NULL;
}

static bool lists(const cJSON *ids, const char *id)
{
	const cJSON *i;

	cJSON_ArrayForEach(i, ids) if (strcmp(i->valuestring, id) == 0) return true;
	return false;
}

/* Converts it; every loss that is reported has to be in the matrix. */
static void expect_declared(const cJSON *matrix, const char *from, const char *to, const char *in)
{
	char *const dir = make_folder(), out[1024];
	const cJSON *row;

	snprintf(out, sizeof out, "%s/out", dir);
	struct ran r = RUN("convert", "-q", "--losses=-", "--to", to, in, out);
	cJSON *const j = cJSON_Parse(r.out);
	cr_assert_not_null(j, "%s to %s: %s", in, to, r.err);
	cJSON_ArrayForEach(row, cJSON_GetObjectItem(j, "losses"))
	{
		const char *const id = cJSON_GetObjectItem(row, "id")->valuestring;
		cr_expect(lists(pair_of(matrix, from, to, "losses"), id) ||
		              lists(pair_of(matrix, from, to, "on_the_way"), id),
		          "%s to %s loses %s, which is not in the matrix", in, to, id);
	}
	cJSON_Delete(j);
	ran_free(&r);
	remove_folder(dir);
}

Test(losses, matrix_has_all_that_samples_lose)
{
	struct ran r = RUN("formats", "--matrix", "--json");
	cJSON *const matrix = cJSON_Parse(r.out);
	char path[512];

	cr_assert_not_null(matrix);
	for (const struct format_aids *const *a = format_aids; *a != NULL; a++) {
		if ((*a)->fault_samples == NULL)
			continue;
		snprintf(path, sizeof path, "testdata/%s/%s", (*a)->format, (*a)->fault_samples[0]);
		for (const struct format *const *to = formats; *to != NULL; to++)
			if ((*to)->writer != NULL)
				expect_declared(matrix, (*a)->format, (*to)->name, path);
	}
	cJSON_Delete(matrix);
	ran_free(&r);
}
