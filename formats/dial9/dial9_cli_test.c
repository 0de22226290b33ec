/* The program on every dial9 sample: what it finds, by whichever way the bytes come. */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli_test_util.h"
#include "format/registry.h"

#define GOOD "testdata/dial9/good"
#define BAD "testdata/dial9/bad"

/* The findings of `validate --format json` in the form of the .expect files, to be freed. */
static char *
findings_of(const struct ran *r, bool notes, const char *path)
{
	cJSON *const report = cJSON_Parse(r->out);
	const cJSON *const file = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(report, "files"), 0),
	                   *f;
	char *const text = calloc(1, 65536);
	size_t n;

	cr_assert_not_null(file, "%s: no report: %.300s", path, r->err);
	cr_assert_not_null(text);
	n = (size_t)snprintf(text, 65536, "exit %d\n", r->status);
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
expect_findings(struct ran r, const char *want, bool notes, const char *path, const char *way)
{
	char *const got = findings_of(&r, notes, path);

	cr_expect_str_eq(got, want, "%s, %s:\n%swhere this was expected:\n%s", path, way, got, want);
	free(got);
	ran_free(&r);
}

static struct ran
validate(const char *path, const void *in, size_t n)
{
	return run_tool((const char *const[]){ "validate", "--format", "json", path, NULL }, in, n);
}

/* As a file, down a pipe, and packed down a pipe. */
static void
expect_by_all_ways(const char *path, const char *want, bool notes)
{
	size_t n, packed;
	char *const p = read_whole(path, &n);

	cr_assert_not_null(p, "%s", path);
	expect_findings(validate(path, NULL, 0), want, notes, path, "file");
	expect_findings(validate("-", p, n), want, notes, path, "pipe");
	void *const z = gzip_copy(p, n, &packed);
	expect_findings(validate("-", z, packed), want, notes, path, "gzip down a pipe");
	free(z);
	free(p);
}

Test(dial9_cli, bad_samples_say_what_is_expected)
{
	char **const names = list_folder(BAD, ".dial9");
	char path[1024], expect[1024];

	cr_expect_not_null(names[0]);
	for (size_t i = 0; names[i] != NULL; i++) {
		size_t n;
		snprintf(path, sizeof path, BAD "/%s", names[i]);
		snprintf(expect, sizeof expect, BAD "/%.*s.expect",
		         (int)(strlen(names[i]) - strlen(".dial9")), names[i]);
		char *const want = read_whole(expect, &n);
		cr_assert_not_null(want, "%s", expect);
		expect_by_all_ways(path, want, true);
		free(want);
	}
	list_free(names);
}

Test(dial9_cli, good_samples_are_clean)
{
	char **const names = list_folder(GOOD, ".dial9");
	char path[1024];

	cr_expect_not_null(names[0]);
	for (size_t i = 0; names[i] != NULL; i++) {
		snprintf(path, sizeof path, GOOD "/%s", names[i]);
		expect_by_all_ways(path, "exit 0\n", false);
	}
	list_free(names);
}

/* What could be read of a broken trace still makes whole documents. */
Test(dial9_cli, bad_samples_give_whole_documents)
{
	char **const names = list_folder(BAD, ".dial9");
	char path[1024];

	for (size_t i = 0; names[i] != NULL; i++) {
		snprintf(path, sizeof path, BAD "/%s", names[i]);
		struct ran r =
		    run_tool((const char *const[]){ "convert", "--to", "chrome", path, "-", NULL }, NULL, 0);
		cJSON *const json = cJSON_Parse(r.out);
		cr_expect_not_null(json, "%s: no JSON", path);
		cr_expect(r.status == 0 || r.status == 1, "%s: exit status %d", path, r.status);
		cJSON_Delete(json);
		ran_free(&r);
	}
	list_free(names);
}

/* The lines that `cat` prints, which name every record and its offset, are the same down a pipe. */
Test(dial9_cli, the_same_records_by_file_and_pipe)
{
	char **const names = list_folder(GOOD, ".dial9");
	char path[1024];

	for (size_t i = 0; names[i] != NULL; i++) {
		size_t n;
		if (strcmp(names[i], "late.dial9") == 0 || strcmp(names[i], "symbols.dial9") == 0)
			continue; /* these need a second look */
		snprintf(path, sizeof path, GOOD "/%s", names[i]);
		char *const p = read_whole(path, &n);
		struct ran a = run_tool((const char *const[]){ "cat", "--hex", path, NULL }, NULL, 0);
		struct ran b = run_tool((const char *const[]){ "cat", "--hex", "-", NULL }, p, n);
		cr_expect_eq(a.status, 0, "%s: %s", path, a.err);
		cr_expect_str_eq(a.out, b.out, "%s", path);
		ran_free(&a);
		ran_free(&b);
		free(p);
	}
	list_free(names);
}

Test(dial9_cli, bad_magic_when_the_format_is_named)
{
	const char *const args[] = { "validate", "--format", "json", "--from", "dial9", "-", NULL };

	expect_findings(run_tool(args, "TRQ\0\1", 5), "exit 1\ndial9/bad-magic 0\n", true, "bad magic",
	                "pipe");
	expect_findings(run_tool(args, "TRC\0", 4), "exit 1\ndial9/cut-frame 0\n", true, "half a header",
	                "pipe");
}

/* By the document of 0.3 alone: stack pool, types 6, 14, 15 and 6 and 14 again as optional ones, annotations.
 */
Test(dial9_cli, dialect_0_3)
{
	const char *const newer[] = { "validate",  "--format", "json",
		                      "--dialect", "0.3",      GOOD "/all-types-0.4.dial9",
		                      NULL };
	const char *const headers[] = { "validate",  "--format", "json",
		                        "--dialect", "0.3",      GOOD "/segments.dial9",
		                        NULL };
	const char *const document[] = { "validate",  "--format", "json",
		                         "--dialect", "0.3",      GOOD "/all-types.dial9",
		                         NULL };

	expect_findings(run_tool(newer, NULL, 0),
	                "exit 1\ndial9/not-in-document 29\ndial9/not-in-document 78\ndial9/not-in-document "
	                "85\ndial9/not-in-document 91\n"
	                "dial9/not-in-document 102\ndial9/not-in-document 114\ndial9/not-in-document 115\n",
	                true, newer[5], "file");
	expect_findings(run_tool(headers, NULL, 0),
	                "exit 1\ndial9/not-in-document 157\ndial9/not-in-document 272\n", true, headers[5],
	                "file");
	expect_findings(run_tool(document, NULL, 0), "exit 0\n", true, document[5], "file");
}

/* A cut file says where its last complete frame begins. */
Test(dial9_cli, a_cut_file_names_the_last_complete_frame)
{
	size_t n;
	char *const p = read_whole(GOOD "/document.dial9", &n);
	struct ran r = run_tool((const char *const[]){ "validate", "-", NULL }, p, n - 1);

	cr_expect_eq(r.status, 1);
	cr_expect_not_null(strstr(r.out, "the last complete frame begins at byte 145"), "%s", r.out);
	ran_free(&r);
	free(p);
}

Test(dial9_cli, samples_are_claimed_by_this_format_alone)
{
	char **const names = list_folder(GOOD, ".dial9");
	char path[1024];

	for (size_t i = 0; names[i] != NULL; i++) {
		size_t n;
		snprintf(path, sizeof path, GOOD "/%s", names[i]);
		char *const p = read_whole(path, &n);
		for (const struct format *const *f = formats; *f != NULL; f++)
			if ((*f)->reader != NULL)
				cr_expect_eq((*f)->reader->probe(slice_of(p, n), true) > 0,
				             strcmp((*f)->name, "dial9") == 0, "%s and %s", path, (*f)->name);
		free(p);
	}
	list_free(names);
}
