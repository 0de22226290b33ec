#include "output/test/output_test.h"

#include <sys/resource.h>

TestSuite(output_temp, .init = folder_make, .fini = folder_remove);

/* ---- Limits ---- */

Test(output_temp, file_size_limit_leaves_nothing)
{
	static const char *const names[] = { "out.json", "out.json.gz", "out.json.zst" };
	struct bytes b = some_json(4u << 20);
	struct rlimit before, small;
	output_handle_signals();
	cr_assert_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = 100000;
	for (size_t i = 0; i < 3; i++) {
		char why[256] = "", want[256];
		cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
		struct output *o = opened(names[i], 0);
		(void)output_write(o, b.p, b.n);
		const bool ok = output_commit(o, why, sizeof why);
		cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
		(void)sprintf(want, "%s: File too large", names[i]);
		cr_assert_not(ok);
		cr_assert_str_eq(why, want);
		cr_assert_str_eq(listing("."), "");
	}
	free(b.p);
}
