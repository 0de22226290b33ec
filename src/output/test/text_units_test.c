#include "output/text_units.h"

#include <criterion/criterion.h>

static void expect(struct text *t, const char *want)
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

/* In tables, where one number of digits keeps a percentile from looking larger than the maximum. */
Test(text_units, times_in_tables)
{
	static const struct {
		uint64_t ns;
		const char *want;
	} rows[] = {
		{ 0, "0 ns" },         { 99, "99 ns" },         { 999, "999 ns" },
		{ 1000, "1.00 us" },   { 3632, "3.63 us" },     { 9995, "10.0 us" },
		{ 58110, "58.1 us" },  { 378900, "379 us" },    { 999499, "999 us" },
		{ 999500, "1.00 ms" }, { 123456789, "123 ms" }, { UINT64_C(12345678901234), "12346 s" }
	};

	struct text t = { .p = NULL };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		text_time_short(&t, rows[i].ns);
		expect(&t, rows[i].want);
	}
	text_free(&t);
}

Test(text_units, times)
{
	static const struct {
		unsigned __int128 ns;
		const char *want;
	} rows[] = { { 0, "0 ns" },
		     { 999, "999 ns" },
		     { 1000, "1.000 us" },
		     { 9999, "9.999 us" },
		     { 12344, "12.34 us" },
		     { 999949, "999.9 us" },
		     { 999950, "1.000 ms" },
		     { 999949999, "999.9 ms" },
		     { 999950000, "1.000 s" },
		     { UINT64_C(12345678901234), "12346 s" },
		     { (unsigned __int128)UINT64_MAX * 1000000000, "18446744073709551615 s" } };
	struct text t = { 0 };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		text_time(&t, rows[i].ns);
		expect(&t, rows[i].want);
	}
	text_free(&t);
}

Test(text_units, moments)
{
	struct text t = { .p = NULL };

	text_wall(&t, UINT64_C(1779308082928415749));
	expect(&t, "2026-05-20 20:14:42.928 UTC");
	text_since(&t, 0);
	expect(&t, "+0.000 s");
	text_since(&t, 241000000);
	expect(&t, "+0.241 s");
	text_since(&t, UINT64_C(4100000001000));
	expect(&t, "+4100.000001 s");
	text_since(&t, UINT64_C(1000000001));
	expect(&t, "+1.000000001 s");
	text_since(&t, 999999);
	expect(&t, "+999.999 us");
	text_since(&t, 7);
	expect(&t, "+7 ns");
	text_free(&t);
}
