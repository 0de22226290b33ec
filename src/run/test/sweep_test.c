/* Cut and damaged inputs: whatever the bytes, the program ends, and says why when it is not content. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "test/fuzz/fuzz_sweep.h"
#include "test/support/strength.h"

#define GOOD "testdata/htdump/good"

/* Every prefix of a sample, and some changes of some of its bytes; false: it is not small. */
static bool sweep_sample(const char *name, struct fuzz_swept *all)
{
	char path[512];
	struct fuzz_sweep s = { .light = true, .sparse = 11, .full_every = 128 };
	s.stride = strength(5, 1, 1);
	struct fuzz_swept swept;

	snprintf(path, sizeof path, "%s/%s", GOOD, name);
	char *const p = read_whole(path, &s.n);
	cr_assert_not_null(p, "%s", path);
	s.p = p;
	const bool small = s.n < 8192;
	if (small) {
		cr_expect(fuzz_sweep_run(&s, &swept), "%s: place %zu, byte %d: %s", path, swept.place,
		          swept.byte, swept.result.fault);
		cr_expect_eq(swept.prefixes, s.n / s.stride + 1);
		all->prefixes += swept.prefixes;
		all->changes += swept.changes;
		for (int i = 0; i < 3; i++)
			all->status[i] += swept.status[i];
	}
	free(p);
	return small;
}

Test(sweep, cut_and_damaged_samples_keep_every_promise)
{
	char **const names = list_folder(GOOD, ".htdump");
	struct fuzz_swept all = { .byte = -1 };
	size_t n = 0;

	cr_assert_not_null(names);
	for (char **name = names; *name != NULL; name++)
		n += sweep_sample(*name, &all);
	list_free(names);
	cr_expect_gt(n, 10);
	/* a sweep that meets only one kind of end looks at nothing */
	for (int i = 0; i < 3; i++)
		cr_expect_gt(all.status[i], 0, "exit status %d never came", i);
	cr_expect_gt(all.status[1], all.prefixes / 2, "most prefixes end inside a record");
}

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
