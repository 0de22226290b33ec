/* cat: each byte of a file is in one record; JSON objects equal the lines and follow the schema. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"

/* ---- cat ---- */

#define SAMPLE "testdata/htdump/good/late-mapping.htdump"
#define MOST 200

static struct ran cat(const char *const *args)
{
	const char *argv[20] = { "cat", "-q" };
	size_t n = 2;

	while (*args != NULL)
		argv[n++] = *args++;
	argv[n] = NULL;
	return run_tool(argv, NULL, 0);
}

#define CAT(...) cat((const char *const[]){ __VA_ARGS__, NULL })

static size_t lines_of(char *text, char **lines)
{
	size_t n = 0;

	for (char *p = strtok(text, "\n"); p != NULL && n < MOST; p = strtok(NULL, "\n"))
		lines[n++] = p;
	return n;
}

/* Every byte of the file is shown by the record that has it, as the whole listing
 * says where records begin. */
static void expect_each_byte(const char *raw)
{
	struct ran all = raw != NULL ? CAT(raw, SAMPLE) : CAT(SAMPLE);
	char *lines[MOST];
	const size_t n = lines_of(all.out, lines);
	size_t size;

	free(read_whole(SAMPLE, &size));
	cr_assert(n > 10 && n < MOST);
	for (size_t i = 0; i < n; i++) {
		const size_t from = strtoull(lines[i] + 1, NULL, 10),
		             end = i + 1 < n ? strtoull(lines[i + 1] + 1, NULL, 10) : size;
		for (int last = 0; last < 2; last++) {
			char at[24];
			snprintf(at, sizeof at, "%zu", last ? end - 1 : from);
			struct ran r = raw != NULL ? CAT(raw, "--at", at, SAMPLE) : CAT("--at", at, SAMPLE);
			cr_expect_eq(r.status, 0, "%s: %s", at, r.err);
			cr_expect(r.out_n == strlen(lines[i]) + 1 &&
			              strncmp(r.out, lines[i], r.out_n - 1) == 0,
			          "--at %s: %s", at, r.out);
			ran_free(&r);
		}
	}
	ran_free(&all);
}

Test(cat, at_a_byte)
{
	expect_each_byte(NULL);
	expect_each_byte("--raw");
}

/* ---- objects ---- */

static const char *text_of(const cJSON *o, const char *key)
{
	const char *const s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));

	return s != NULL ? s : "";
}

/* What the line of text begins with, up to its fields. */
static void expect_same(const char *line, const char *json)
{
	cJSON *const o = cJSON_Parse(json);
	const cJSON *const fields = cJSON_GetObjectItemCaseSensitive(o, "args");
	char want[200];
	int equals = 0;

	cr_assert_not_null(o, "%s", json);
	snprintf(want, sizeof want, "@%.0f %s %s ts=%.0f",
	         cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(o, "offset")), text_of(o, "kind"),
	         text_of(o, "class"), cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(o, "ts_ns")));
	cr_expect_eq(strncmp(line, want, strlen(want)), 0, "%s is not in %s", want, line);
	for (const cJSON *f = fields != NULL ? fields->child : NULL; f != NULL; f = f->next) {
		snprintf(want, sizeof want, " %s=", f->string);
		equals += strstr(line, want) != NULL;
	}
	cr_expect_eq(equals, cJSON_GetArraySize(fields), "%s: %s", line, json);
	cJSON_Delete(o);
}

static void expect_objects(const char *raw, const char *path)
{
	struct ran text = CAT(raw, path), json = CAT(raw, "--format", "json", path);
	char *a[MOST], *b[MOST];
	const size_t n = lines_of(text.out, a), m = lines_of(json.out, b);

	cr_assert(n == m && n > 0 && n < MOST, "%s: %zu lines, %zu objects", path, n, m);
	for (size_t i = 0; i < n; i++)
		expect_same(a[i], b[i]);
	ran_free(&text);
	ran_free(&json);
}

Test(cat, objects)
{
	expect_objects("--limit=150", SAMPLE);
	expect_objects("--raw", SAMPLE);
	expect_objects("--raw", "testdata/heph/good/all-types.bin.log");
	expect_objects("--raw", "testdata/dial9/good/all-types.dial9");
}

/* ---- the schema ---- */

static size_t write_objects(const char *dir, size_t n, const char *raw, const char *path)
{
	struct ran r = CAT(raw, "--format=json", "-x", path, path);
	char *lines[MOST], name[1024];
	const size_t lines_n = lines_of(r.out, lines);

	for (size_t i = 0; i < lines_n; i++) {
		snprintf(name, sizeof name, "%s/%zu.json", dir, n + i);
		cr_assert(write_whole(name, lines[i], strlen(lines[i])));
	}
	ran_free(&r);
	return n + lines_n;
}

/* By an independent validator, which is started once for all documents. */
Test(cat, schema)
{
	char *const dir = make_folder();
	size_t n = write_objects(dir, 0, "--raw", "testdata/heph/good/odd-floats.bin.log");

	n = write_objects(dir, n, "--limit=8", "testdata/htdump/good/overlapping.htdump");
	n = write_objects(dir, n, "--raw", "testdata/dial9/good/max-integers.dial9");
	n = write_objects(dir, n, "--limit=9", "testdata/dial9/good/late.dial9");
	cr_expect_gt(n, 30);
	struct ran r = run_program(
	    (const char *const[]){
	        "sh", "-c",
	        "v=/usr/bin/jsonschema; [ -x $v ] || v=jsonschema; for f in \"$0\"/*; do set -- "
	        "\"$@\" -i \"$f\"; done; exec $v \"$@\" schemas/cat.schema.json",
	        dir, NULL },
	    NULL, 0);
	cr_expect_eq(r.status, 0, "%.2000s%.2000s", r.out, r.err);
	ran_free(&r);
	remove_folder(dir);
}

/* ---- stats ---- */

/* 4,000 spans of one thread, in two passes. */
Test(stats_command, two_passes_over_a_thread)
{
	static const char path[] = "../shared/traces/chrome/made/two-pass-2000.json.gz";

	if (access(path, R_OK) != 0)
		cr_skip("%s is not there", path);
	struct ran r =
	    run_tool((const char *const[]){ "stats", "-q", "--format", "json", path, NULL }, NULL, 0);
	cr_expect_not_null(strstr(r.out, "\"self_inexact\":0"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "\"self_ns\":120000000,\"total_ns\":160000000}"), "%s", r.out);
	ran_free(&r);
}

/* Classes with equal names and no records are shown once. */
Test(info, classes_with_equal_names)
{
	static const char trace[] =
	    "{\"type\":\"trace\",\"version\":1,\"tool\":\"t\",\"mode\":\"interpreted\",\"rebased\":false,"
	    "\"format\":\"tick\",\"dialect\":\"plain\",\"byte_order\":\"little\",\"clock\":\"monotonic\"}\n"
	    "{\"type\":\"class\",\"index\":0,\"name\":\"E\",\"category\":\"k\"}\n"
	    "{\"type\":\"class\",\"index\":1,\"name\":\"E\",\"category\":\"k\",\"fields\":["
	    "{\"name\":\"a\",\"type\":\"uint8_t\",\"value\":\"u8\",\"size\":1}]}\n"
	    "{\"type\":\"class\",\"index\":2,\"name\":\"F\",\"category\":\"k\"}\n"
	    "{\"type\":\"trace_end\",\"records\":0,\"events\":0,\"format\":\"tick\",\"dialect\":\"plain\","
	    "\"byte_order\":\"little\",\"clock\":\"monotonic\",\"losses\":{},\"args\":{}}\n";
	struct ran r =
	    run_tool((const char *const[]){ "info", "--format=json", "-", NULL }, trace, sizeof trace - 1);

	cr_expect_eq(r.status, 0, "%s", r.err);
	cr_expect_not_null(strstr(r.out, "\"classes\":[\n{\"name\":\"E\",\"records\":0,\"fields\":[]},\n"
	                                 "{\"name\":\"F\",\"records\":0,\"fields\":[]}]"),
	                   "%s", r.out);
	ran_free(&r);
}
