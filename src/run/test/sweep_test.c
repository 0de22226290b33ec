/* Cut inputs: whatever the bytes, the program ends, and says why when it is not content. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "test/support/strength.h"

/* The text report of one prefix: the status it must have, and a line `NAME:@OFFSET: LEVEL: ...` when it is
 * not 0. */
static void expect_explained(const char *p, size_t n)
{
	static const char *const args[] = { "validate", "-", NULL };
	struct ran r = run_tool(args, p, n);

	cr_expect(r.status >= 0 && r.status <= 2, "%zu bytes: exit status %d: %s", n, r.status, r.err);
	cr_expect(r.status == 0 || strstr(r.out, ": error: ") != NULL,
	          "%zu bytes: exit status %d without a finding:\n%s%s", n, r.status, r.out, r.err);
	cr_expect(r.status != 0 || strstr(r.out, ": error: ") == NULL,
	          "%zu bytes: exit status 0 with an error:\n%s", n, r.out);
	ran_free(&r);
}

Test(sweep, the_program_explains_every_cut)
{
	const size_t cuts = strength(50, 200, 1000);
	char path[1024];
	size_t n;

	snprintf(path, sizeof path, "%s/htdump/mapped.htdump", real_traces());
	char *const whole = read_whole(path, &n);
	if (whole == NULL)
		cr_skip_test("no traces of HawkTracer itself at %s", path);
	for (size_t i = 0; i <= cuts; i++)
		expect_explained(whole, n * i / cuts);
	free(whole);
}
