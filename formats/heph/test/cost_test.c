/* Small files that ask for much: what they cost stays in proportion to their size.  Heph repeats each text:
 * there is nothing that a reference makes large. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/test/cli_test_util.h"
#include "heph/test/build.h"

/* What a command writes, in bytes.  CPU seconds are limited to many times what is needed. */
static void expect_in_proportion(const struct heph_build *b, const char *what)
{
	const double most = 50.0 * (double)b->n + (double)(64 << 20);
	char command[200];

	snprintf(command, sizeof command, "ulimit -t ${COST_SECONDS:-300}; \"$0\" %s | wc -c", what);
	struct ran r =
	    run_program((const char *const[]){ "sh", "-c", command, tool_path(), NULL }, b->p, b->n);
	cr_assert_eq(r.status, 0, "%s: status %d: %.500s", what, r.status, r.err);
	cr_expect_leq(atof(r.out), most, "%s: %s bytes of %zu", what, r.out, b->n);
	cr_expect_gt(atof(r.out), 0, "%s: %.500s", what, r.err);
	ran_free(&r);
}

/* Each event is in a substream of its own, and no two have the same description. */
Test(heph_cost, many_substreams_and_names)
{
	struct heph_build b;
	char name[16];

	heph_init(&b);
	for (unsigned i = 0; i < 60000; i++) {
		snprintf(name, sizeof name, "e%u", i);
		heph_event(&b, 1, i, i, i + 1, name);
		heph_end(&b);
	}
	expect_in_proportion(&b, "validate -");
	expect_in_proportion(&b, "stats --format json -");
	expect_in_proportion(&b, "convert --to chrome - -");
	heph_free(&b);
}

/* An event with 20,000 attributes of one name. */
Test(heph_cost, many_attributes)
{
	struct heph_build b;

	heph_init(&b);
	for (unsigned i = 0; i < 10; i++) {
		heph_event(&b, 1, 0, i, i + 1, "e");
		for (unsigned k = 0; k < 20000; k++)
			heph_unsigned(&b, "a", k);
		heph_end(&b);
	}
	expect_in_proportion(&b, "validate -");
	expect_in_proportion(&b, "convert --to ndjson - -");
	heph_free(&b);
}
