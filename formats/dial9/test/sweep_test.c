/* Cut anywhere, any byte changed: no promise is broken.  The full sweeps are made by fuzz_replay. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/test/cli_test_util.h"
#include "format/registry.h"
#include "test/fuzz/fuzz_sweep.h"

static void sweep(const char *name, size_t stride)
{
	struct fuzz_swept swept;
	char path[256];
	size_t n;

	snprintf(path, sizeof path, "testdata/dial9/good/%s.dial9", name);
	char *const p = read_whole(path, &n);
	cr_assert_not_null(p, "%s", path);
	const struct fuzz_sweep s = { .p = p,
		                      .n = n,
		                      .format = format_by_name("dial9"),
		                      .light = true,
		                      .stride = stride,
		                      .sparse = stride,
		                      .full_every = 64 };
	cr_expect(fuzz_sweep_run(&s, &swept), "%s: %s %zu to %d: %s", path,
	          swept.byte < 0 ? "cut at" : "changed byte", swept.place, swept.byte, swept.result.fault);
	cr_expect_gt(swept.prefixes, 0);
	free(p);
}

Test(dial9_sweep, every_good_sample)
{
	static const char *const names[] = { "document", "all-types", "all-types-0.4", "segments", "symbols",
		                             "pools",    "late",      "annotations",   "tracks",   "deep" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		sweep(names[i], 3);
}
