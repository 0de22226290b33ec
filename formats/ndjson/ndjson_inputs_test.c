#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cli_test_util.h"
#include "ndjson/ndjson_agree_test.h"

/* What the lines of an input say is what its events hold. */

static void
agree_both(const char *path, void *ctx)
{
	size_t *const n = ctx;

	agree_input(path, false, NULL);
	agree_input(path, true, NULL);
	*n += 1;
}

Test(ndjson_inputs, samples_read_back, .timeout = 120)
{
	size_t n = 0;

	agree_samples(agree_both, &n);
	cr_expect_gt(n, 150);
}

Test(ndjson_inputs, real_traces_read_back, .timeout = 240)
{
	const char *const set = getenv("TRACETOOL_TRACES");
	const char *const dir = set != NULL && *set != '\0' ? set : "../shared/traces";
	static const char find[] = "cd \"$0\" 2>/dev/null && { find \"$0\"/htdump \"$0\"/heph \"$0\"/dial9 "
	                           "\"$0\"/dftracer \"$0\"/next -type f ! -name '*.json'; "
	                           "find \"$0\"/ovni -mindepth 2 -maxdepth 2 -type d; } 2>/dev/null | sort";
	struct ran r = run_program((const char *const[]){ "sh", "-c", find, dir, NULL }, NULL, 0);
	size_t n = 0;

	if (r.out_n == 0)
		cr_skip_test("no real traces at %s", dir);
	for (char *path = strtok(r.out, "\n"); path != NULL; path = strtok(NULL, "\n"))
		agree_both(path, &n);
	cr_expect_gt(n, 10);
	ran_free(&r);
}
