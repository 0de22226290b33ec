/* Output read as input gives the same lines and the same statistics. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "format/registry.h"
#include "ndjson/test/agree_test.h"
#include "test/support/strength.h"

static struct ran to_lines(const char *path, const char *text, size_t n)
{
	return run_tool((const char *const[]){ "convert", "-q", "--to", "ndjson", path, "-", NULL }, text, n);
}

/* Removes members that describe the file, not the events. */
static char *stats_text(const char *path, const char *text, size_t n)
{
	static const char *const left_out[] = { "path",    "format", "dialect", "bytes",
		                                "records", "events", "classes" };
	struct ran r = run_tool((const char *const[]){ "stats", "--format", "json", path, NULL }, text, n);
	cJSON *const report = cJSON_ParseWithLength(r.out, r.out_n);
	cJSON *const input = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(report, "inputs"), 0);

	for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++)
		cJSON_DeleteItemFromObjectCaseSensitive(input, left_out[i]);
	char *const printed = input != NULL ? cJSON_PrintUnformatted(input) : NULL;
	cJSON_Delete(report);
	ran_free(&r);
	return printed;
}

static void read_back(const char *path, void *ctx)
{
	size_t *const count = ctx;
	struct ran first = to_lines(path, NULL, 0);

	if (first.out_n > 0) {
		struct ran again = to_lines("-", first.out, first.out_n);
		cr_expect(again.status == 0 && again.out_n == first.out_n &&
		              memcmp(again.out, first.out, first.out_n) == 0,
		          "%s: other lines, status %d: %s", path, again.status, again.err);
		char *const want = stats_text(path, NULL, 0), *const got =
		                                                  stats_text("-", first.out, first.out_n);
		if (want != NULL)
			cr_expect(got != NULL && strcmp(want, got) == 0, "%s:\n%.2000s\n%.2000s", path, want,
			          got != NULL ? got : "no report");
		cJSON_free(want);
		cJSON_free(got);
		ran_free(&again);
		*count += 1;
	}
	ran_free(&first);
}

/* Splits the samples, so that no test is slow. */
#define PARTS 4

struct part {
	size_t i, of, n;
};

static void read_part(const char *path, void *ctx)
{
	struct part *const part = ctx;

	if (part->i++ % PARTS == part->of)
		read_back(path, &part->n);
}

static void expect_part(size_t of)
{
	struct part part = { .of = of };

	agree_samples(read_part, &part);
	cr_expect_gt(part.n, strength(5, 35, 35));
}

Test(ndjson_again, samples_1)
{
	expect_part(0);
}

Test(ndjson_again, samples_2)
{
	expect_part(1);
}

Test(ndjson_again, samples_3)
{
	expect_part(2);
}

Test(ndjson_again, samples_4)
{
	expect_part(3);
}

Test(ndjson_again, own_samples)
{
	size_t n = 0;

	read_back("testdata/ndjson/good/kinds.ndjson", &n);
	read_back("testdata/ndjson/good/raw.ndjson", &n);
	read_back("testdata/ndjson/good/many-fields.ndjson", &n);
	cr_expect_eq(n, 3);
}

Test(ndjson_again, real_traces)
{
	const char *const dir = real_traces();
	static const char find[] = "[ -d \"$0\" ] && { find \"$0\"/htdump \"$0\"/heph \"$0\"/dial9 "
	                           "\"$0\"/dftracer \"$0\"/next -type f ! -name '*.json' -size -200k; "
	                           "find \"$0\"/ovni -mindepth 2 -maxdepth 2 -type d; } 2>/dev/null | sort";
	struct ran r = run_program((const char *const[]){ "sh", "-c", find, dir, NULL }, NULL, 0);
	size_t n = 0;

	if (r.out_n == 0)
		cr_skip_test("no real traces at %s", dir);
	for (char *path = strtok(r.out, "\n"); path != NULL; path = strtok(NULL, "\n"))
		if (strength_takes(path, 4))
			read_back(path, &n);
	cr_expect_gt(n, strength(2, 10, 10));
	ran_free(&r);
}

/* A rebased file stays marked as such, and its wall time is that of the trace. */
Test(ndjson_again, rebased)
{
	static const char path[] = "testdata/ndjson/good/rebased.ndjson";
	struct ran r = to_lines(path, NULL, 0);
	struct ran stats =
	    run_tool((const char *const[]){ "stats", "--format", "json", path, NULL }, NULL, 0);

	cr_expect_not_null(strstr(r.out, "\"rebased\":true"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "\"epoch_ns\":500,\"rebased_by_ns\":1000,"), "%s", r.out);
	cr_expect_not_null(strstr(stats.out, "\"epoch_ns\":1500"), "%s", stats.out);
	ran_free(&r);
	ran_free(&stats);
}

/* The second output contains the losses of the first; raw records become interpreted events. */
Test(ndjson_again, what_was_said_is_said_again)
{
	struct ran r = to_lines("testdata/ndjson/good/kinds.ndjson", NULL, 0);
	struct ran raw = to_lines("testdata/ndjson/good/raw.ndjson", NULL, 0);

	cr_expect_not_null(strstr(r.out, "\"losses\":{\"pairs/no-end\":2}"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "\"records\":40,\"events\":13,\"format\":\"tick\""), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "\"cores\":[1,2]"), "%s", r.out);
	cr_expect_not_null(strstr(raw.out, "\"mode\":\"interpreted\""), "%s", raw.out);
	cr_expect_null(strstr(raw.out, "\"kind\":\"structure\""), "%s", raw.out);
	ran_free(&r);
	ran_free(&raw);
}

/* Compares the trace; members that describe the file differ. */
static size_t events_n(const struct ran *r)
{
	const char *const other = strstr(r->out, "\"otherData\"");

	return other != NULL ? (size_t)(other - r->out) : r->out_n;
}

/* Offsets distinguish async spans: they are those of the first input. */
Test(ndjson_again, other_outputs_are_the_same)
{
	static const char *const paths[] = { "testdata/dial9/good/annotations.dial9",
		                             "testdata/dial9/good/all-types.dial9",
		                             "testdata/htdump/good/overlapping.htdump" };
	static const char *const outputs[] = { "csv", "folded", "chrome" };

	for (size_t i = 0; i < 9; i++) {
		struct ran lines = to_lines(paths[i / 3], NULL, 0);
		struct ran a = run_tool(
		    (const char *const[]){ "convert", "-q", "--to", outputs[i % 3], paths[i / 3], "-", NULL },
		    NULL, 0);
		struct ran b =
		    run_tool((const char *const[]){ "convert", "-q", "--to", outputs[i % 3], "-", "-", NULL },
		             lines.out, lines.out_n);
		cr_expect((i % 3 == 1 || events_n(&a) > 0) && events_n(&a) == events_n(&b) &&
		              memcmp(a.out, b.out, events_n(&a)) == 0,
		          "%s %s:\n%.900s\n%.900s", paths[i / 3], outputs[i % 3], a.out, b.out);
		ran_free(&a);
		ran_free(&b);
		ran_free(&lines);
	}
}
