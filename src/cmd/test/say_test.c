#include "cli/say.h"

#include <criterion/criterion.h>

static void expect(uint64_t at, uint64_t size, uint64_t read, int64_t ms, const char *want)
{
	struct text t = { .p = NULL };

	progress_put(&t, at, size, read, ms);
	text_char(&t, '\0');
	cr_expect_str_eq(t.p, want);
	text_free(&t);
}

Test(say, progress)
{
	const uint64_t mega = 1000000;

	expect(277 * mega, 812 * mega, 277 * mega, 1319, " 34 % of 812 MB, 210 MB/s, 3 s left");
	expect(100 * mega, 20000 * mega, 100 * mega, 1000, "  0 % of 20000 MB, 100 MB/s, 3 min 20 s left");
	expect(812 * mega, 812 * mega, 812 * mega, 4000, "100 % of 812 MB, 203 MB/s");
	expect(276 * mega, 0, 276 * mega, 1314, "276 MB, 210 MB/s"); /* a pipe */
	expect(5 * mega, 9 * mega, 0, 0, " 55 % of 9 MB");           /* just begun */
}
