/* Findings of the program and their positions for every sample of NDJSON. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "format/registry.h"

Test(ndjson_samples, what_is_found_and_where)
{
	static const struct samples samples = { .suffix = ".ndjson", .records = true, .lines = true };

	expect_samples(&samples, "testdata/ndjson/good");
	expect_samples(&samples, "testdata/ndjson/bad");
}

Test(ndjson_samples, every_rule_has_a_sample)
{
	expect_samples_of_rules("ndjson", (const char *const[]){ "ndjson/limit", NULL });
}

/* Faulty lines are read as far as they are valid. */
Test(ndjson_samples, what_is_whole_is_read)
{
	static const struct {
		const char *path, *line;
	} rows[] = {
		{ "testdata/ndjson/bad/out-of-range.ndjson", "span c ts=18446744073709551615 dur=0" },
		{ "testdata/ndjson/good/early.ndjson", "instant c ts=-4611686018427387904 " },
		{ "testdata/ndjson/bad/duplicate-member.ndjson", "name=n a=1 b=2\n" },
		{ "testdata/ndjson/bad/not-json.ndjson", "span c ts=1 dur=2" },
		{ "testdata/ndjson/bad/unknown-member.ndjson", "span c ts=1 dur=2" },
		{ "testdata/ndjson/good/kinds.ndjson", "name=n u=7 i=-9223372036854775808 h=0xdeadbeef" },
		{ "testdata/ndjson/good/raw.ndjson", "a=1 a=2" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ran r = run_tool((const char *const[]){ "cat", rows[i].path, NULL }, NULL, 0);
		cr_expect_not_null(strstr(r.out, rows[i].line), "%s: %s is not in\n%s", rows[i].path,
		                   rows[i].line, r.out);
		ran_free(&r);
	}
}
