#include "output/text_units.h"

#include <criterion/criterion.h>

static void
expect(struct text *t, const char *want)
{
	text_char(t, 0);
	cr_expect_str_eq(t->p, want);
	text_clear(t);
}

Test(text_units, iso8601)
{
	struct text t = { .p = NULL };

	text_iso8601(&t, 0);
	expect(&t, "1970-01-01T00:00:00.000000000Z");
	text_iso8601(&t, UINT64_C(1709210096000000001));
	expect(&t, "2024-02-29T12:34:56.000000001Z");
	text_iso8601(&t, UINT64_MAX);
	expect(&t, "2554-07-21T23:34:33.709551615Z");
	text_free(&t);
}

Test(text_units, kib)
{
	struct text t = { .p = NULL };

	text_kib(&t, 1023);
	expect(&t, "");
	text_kib(&t, 1024);
	expect(&t, " (1.0 KiB)");
	text_kib(&t, 36683);
	expect(&t, " (35.8 KiB)");
	text_kib(&t, 80002017);
	expect(&t, " (76.2 MiB)");
	text_kib(&t, UINT64_MAX);
	expect(&t, " (16777215.9 TiB)");
	text_free(&t);
}
