/* Floats as HawkTracer 0.11 describes them. */
#include <criterion/criterion.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"

#define BAD "testdata/htdump/bad/"

Test(trust, a_float_that_is_described_as_a_double)
{
	static const char *const files[] = { BAD "float-as-double.htdump", BAD "float-as-double-big.htdump" };

	for (int i = 0; i < 2; i++) {
		struct ran r = run_tool((const char *const[]){ "cat", files[i], NULL }, NULL, 0);
		cr_expect_eq(r.status, 0, "%s", r.err);
		cr_expect_not_null(strstr(r.out, " x=1.5 n=7"), "%s", r.out);
		cr_expect_not_null(strstr(r.out, "work"), "what follows is read too: %s", r.out);
		ran_free(&r);
		r = run_tool((const char *const[]){ "validate", files[i], NULL }, NULL, 0);
		cr_expect_eq(r.status, 0, "%s", r.out);
		cr_expect_not_null(
		    strstr(r.out,
		           "warning: field \"x\" of class \"Own\" (\"float\") is DOUBLE of 4 bytes: it is "
		           "read as FLOAT [htdump/float-as-double]"),
		    "%s", r.out);
		ran_free(&r);
	}
}
