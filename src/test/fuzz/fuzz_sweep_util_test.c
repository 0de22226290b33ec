#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/test/cli_test_util.h"
#include "test/fuzz/fuzz_sweep.h"
#include "test/fuzz/fuzz_sweep_test_util.h"
#include "test/support/strength.h"

void expect_sweep(const char *path, size_t sparse)
{
	struct fuzz_sweep s = {
		.light = true, .stride = strength(3, 1, 1), .sparse = sparse, .full_every = 97
	};
	struct fuzz_swept out;
	char *const p = read_whole(path, &s.n);

	cr_assert_not_null(p, "%s", path);
	s.p = p;
	cr_expect(fuzz_sweep_run(&s, &out), "%s: place %zu, byte %d: %s", path, out.place, out.byte,
	          out.result.fault);
	cr_expect(out.prefixes > 0 && out.changes > 0);
	free(p);
}

void expect_promises(const char *folder, const char *suffix)
{
	char **const names = list_folder(folder, suffix);
	struct fuzz_result r;
	char path[1024];

	cr_assert_not_null(names[0], "nothing in %s", folder);
	for (size_t i = 0; names[i] != NULL; i++) {
		size_t n;
		if (!strength_takes(names[i], 4))
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		char *const p = read_whole(path, &n);
		cr_expect(fuzz_check(&r, p, n, NULL, NULL, FUZZ_ALL), "%s: %s", path, r.fault);
		free(p);
	}
	list_free(names);
}
