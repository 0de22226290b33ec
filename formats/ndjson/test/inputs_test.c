#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/test/samples_test_util.h"
#include "ndjson/test/agree_test.h"

/* What the lines of an input say is what its events hold. */

static void agree_both(const char *path, void *ctx)
{
	size_t *const n = ctx;

	agree_input(path, false, NULL);
	agree_input(path, true, NULL);
	*n += 1;
}

Test(ndjson_inputs, samples_read_back)
{
	size_t n = 0;

	agree_samples(agree_both, &n);
	cr_expect_gt(n, 150);
}

/* `files` and `folders` below the folder of real traces: words for the shell. */
static void expect_read_back(const char *files, const char *folders)
{
	const char *const dir = real_traces();
	char find[300];

	snprintf(find, sizeof find,
	         "cd \"$0\" && { find %s -type f ! -name '*.json'; find %s -mindepth 1 -maxdepth 1 -type d; "
	         "} | sort",
	         files, folders);
	struct ran r = run_program((const char *const[]){ "sh", "-c", find, dir, NULL }, NULL, 0);
	size_t n = 0;

	cr_assert_eq(r.status, 0, "%s", r.err);
	for (char *name = strtok(r.out, "\n"); name != NULL; name = strtok(NULL, "\n")) {
		char path[1024];
		snprintf(path, sizeof path, "%s/%s", dir, name);
		agree_both(path, &n);
	}
	cr_expect_gt(n, 1);
	ran_free(&r);
}

Test(ndjson_inputs, real_traces_read_back)
{
	expect_read_back("htdump heph dftracer", "ovni/good ovni/bad ovni/state");
}

Test(ndjson_inputs, real_traces_of_dial9_read_back)
{
	expect_read_back("dial9 next/dial9", "dial9");
}
