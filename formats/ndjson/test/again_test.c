/* Output read back as input: metadata of the trace, and conversions to other formats. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"

static struct ran to_lines(const char *path, const char *text, size_t n)
{
	return run_tool((const char *const[]){ "convert", "-q", "--to", "ndjson", path, "-", NULL }, text, n);
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
