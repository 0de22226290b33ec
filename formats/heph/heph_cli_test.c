/* The program on every Heph sample: what it finds, by whichever way the bytes come. */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli_test_util.h"
#include "heph/heph_oracle.h"

#define GOOD "testdata/heph/good"
#define BAD "testdata/heph/bad"

/* The findings of `validate --format json` in the form of the .expect files, to be freed; notes only if
 * wanted. */
static char *
findings_text(const struct ran *r, bool notes, const char *path)
{
	cJSON *const report = cJSON_Parse(r->out);
	const cJSON *const file = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(report, "files"), 0),
	                   *f;
	size_t n = 0;
	char *const text = calloc(1, 65536);

	cr_assert(file != NULL && text != NULL, "%s: no report: %.200s%.200s", path, r->out, r->err);
	n += (size_t)sprintf(text, "exit %d\n", r->status);
	cJSON_ArrayForEach(f, cJSON_GetObjectItemCaseSensitive(file, "findings"))
	{
		const char *const rule = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(f, "rule"));
		const char *const level = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(f, "level"));
		const cJSON *const offset = cJSON_GetObjectItemCaseSensitive(f, "offset");

		cr_assert(rule != NULL && level != NULL && cJSON_IsNumber(offset) && n < 60000, "%s", path);
		if (notes || strcmp(level, "note") != 0)
			n += (size_t)snprintf(text + n, 65536 - n, "%s %.0f\n", rule, offset->valuedouble);
	}
	cJSON_Delete(report);
	return text;
}

static void
expect_findings(const char *path, const void *in, size_t n, const char *want, bool notes, const char *way)
{
	struct ran r = run_tool((const char *const[]){ "validate", "--format", "json", path, NULL }, in, n);
	char *const got = findings_text(&r, notes, path);

	cr_expect_str_eq(got, want, "%s:\n%swhere this was expected:\n%s", way, got, want);
	free(got);
	ran_free(&r);
}

/* The same bytes as a file, down a pipe, and compressed. */
static void
expect_by_all_ways(const char *path, const char *want, bool notes)
{
	size_t n, packed;
	char *const p = read_whole(path, &n);

	cr_assert_not_null(p, "%s", path);
	expect_findings(path, NULL, 0, want, notes, path);
	expect_findings("-", p, n, want, notes, path);
	void *const z = gzip_copy(p, n, &packed);
	expect_findings("-", z, packed, want, notes, path);
	free(z);
	free(p);
}

Test(heph_cli, bad_samples_say_what_is_expected)
{
	char **const names = list_folder(BAD, ".bin.log");

	cr_assert_not_null(names[0]);
	for (size_t i = 0; names[i] != NULL; i++) {
		char path[1024], expect[1024];
		size_t n;

		snprintf(path, sizeof path, BAD "/%s", names[i]);
		snprintf(expect, sizeof expect, BAD "/%.*s.expect", (int)strcspn(names[i], "."), names[i]);
		char *const want = read_whole(expect, &n);
		cr_assert_not_null(want, "%s", expect);
		expect_by_all_ways(path, want, true);
		free(want);
	}
	list_free(names);
}

Test(heph_cli, good_samples_are_clean)
{
	char **const names = list_folder(GOOD, ".bin.log");
	char path[1024];

	cr_assert_not_null(names[0]);
	for (size_t i = 0; names[i] != NULL; i++) {
		snprintf(path, sizeof path, GOOD "/%s", names[i]);
		expect_by_all_ways(path, "exit 0\n", false);
	}
	list_free(names);
}

Test(heph_cli, real_traces_are_clean)
{
	const char *const dir = heph_oracle_traces();
	char path[1024];

	if (dir == NULL)
		cr_skip_test("the traces are not here");
	snprintf(path, sizeof path, "%s/heph/actors.bin.log", dir);
	expect_by_all_ways(path, "exit 0\n", true);
	snprintf(path, sizeof path, "%s/heph/no-arrays.bin.log", dir);
	expect_by_all_ways(path, "exit 0\n", true);
}

/* Two traces as one: each is sound, but their times count from different epochs. */
Test(heph_cli, epochs_of_several_inputs)
{
	const char *const args[] = {
		"convert", "--to", "chrome", GOOD "/spec-example.bin.log", GOOD "/max-integers.bin.log",
		"-o",      "-",    NULL
	};
	struct ran r = run_tool(args, NULL, 0);

	cr_expect_eq(r.status, 0, "%s", r.err);
	cr_expect_not_null(strstr(r.err, "[heph/epoch-of-others]"), "%s", r.err);
	cr_expect_not_null(strstr(r.out, "\"epoch_ns\":\"1610113734118010000\""), "%s", r.out);
	ran_free(&r);
}

/* The streams of a file are processes, its substreams threads of these. */
Test(heph_cli, streams_are_processes)
{
	struct ran r = run_tool(
	    (const char *const[]){ "convert", "--to", "chrome", GOOD "/interleaved.bin.log", "-", NULL },
	    NULL, 0);

	cr_expect_not_null(
	    strstr(r.out,
	           "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":3,\"tid\":4194308,"
	           "\"args\":{\"name\":\"stream 3\"}}"),
	    "%s", r.out);
	cr_expect_not_null(strstr(r.out, "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":3,\"tid\":2,"
	                                 "\"args\":{\"name\":\"substream 2\"}}"));
	/* a pid of 0 is none for viewers; the others have their numbers */
	cr_expect_not_null(strstr(r.out, "\"args\":{\"name\":\"stream 0 (coordinator)\",\"true_pid\":0}}"));
	ran_free(&r);
}

Test(heph_cli, structure_is_shown)
{
	struct ran r = run_tool((const char *const[]){ "cat", BAD "/unknown-option.bin.log", NULL }, NULL, 0);

	cr_expect_not_null(
	    strstr(r.out, "@0 structure metadata ts=0 option=\"epoch\" value=1610113734118010000\n"), "%s",
	    r.out);
	cr_expect_not_null(
	    strstr(r.out, "@23 structure metadata ts=0 option=\"host\" value=0x6578616d706c65\n"), "%s",
	    r.out);
	ran_free(&r);
}
