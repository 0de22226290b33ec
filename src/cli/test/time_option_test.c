#include <criterion/criterion.h>
#include <string.h>

#include "cli/options.h"
#include "cli/say.h"

/* ---- times ---- */

static void expect_time(const char *s, enum select_time_kind kind, uint64_t v)
{
	struct select_time t = { .kind = SELECT_ANY_TIME };

	cr_expect(time_option(s, &t), "%s is refused", s);
	cr_expect_eq(t.kind, kind, "%s: kind %d", s, (int)t.kind);
	cr_expect_eq(t.v, v, "%s: %llu", s, (unsigned long long)t.v);
}

Test(time_option, units_are_exact)
{
	expect_time("0", SELECT_AT, 0);
	expect_time("1727387307981693001", SELECT_AT, UINT64_C(1727387307981693001));
	expect_time("18446744073709551615", SELECT_AT, UINT64_MAX);
	expect_time("12.5ms", SELECT_AT, 12500000);
	expect_time("0.000000001s", SELECT_AT, 1);
	expect_time("1.50000000000s", SELECT_AT, 1500000000);
	expect_time("18446744073.709551615s", SELECT_AT, UINT64_MAX);
	expect_time("+1.5s", SELECT_FROM_FIRST, 1500000000);
	expect_time("-2min", SELECT_BEFORE_LAST, UINT64_C(120000000000));
	expect_time("+1h", SELECT_FROM_FIRST, UINT64_C(3600000000000));
	expect_time("50%", SELECT_FRACTION, SELECT_WHOLE / 2);
	expect_time("99.999999%", SELECT_FRACTION, SELECT_WHOLE - 1);
	expect_time("100%", SELECT_FRACTION, SELECT_WHOLE);
}

/* The seconds are those of date -u -d ... +%s. */
Test(time_option, wall_times)
{
	expect_time("1970-01-01", SELECT_WALL, 0);
	expect_time("2026-11-22T08:30:00.5Z", SELECT_WALL, UINT64_C(1795336200500000000));
	expect_time("2026-11-22T08:30", SELECT_WALL, UINT64_C(1795336200000000000));
	expect_time("2026-11-22T08:30:00+01:00", SELECT_WALL, UINT64_C(1795332600000000000));
	expect_time("2026-11-22T08:30:00-00:30", SELECT_WALL, UINT64_C(1795338000000000000));
	/* as reports show them */
	expect_time("2026-11-22 08:30:00.500 UTC", SELECT_WALL, UINT64_C(1795336200500000000));
	expect_time("2026-11-22 08:30", SELECT_WALL, UINT64_C(1795336200000000000));
	expect_time("2000-02-29", SELECT_WALL, UINT64_C(951782400000000000));
	expect_time("2100-03-01", SELECT_WALL, UINT64_C(4107542400000000000));
}

Test(time_option, what_is_no_time_is_refused)
{
	static const char *const bad[] = {
		"",
		"+",
		"2m",
		"1 %",
		"2026-11-22T08:30:00+24:00",
		"2026-11-22T08:30:00Z01:00",
		"2026-11-22T08:30:00 01:00",
		"-",
		"s",
		"1.",
		".",
		"1 s",
		"1days",
		"0.5",
		"0.5ns",
		"1.0000000001s",
		"18446744073709551616",
		"18446744074s",
		"101%",
		"1.2345678%",
		"--1s",
		"1e9",
		"2026-13-01",
		"2026-02-29",
		"2026-11-22T24:00",
		"2026-11-22T08",
		"2026-11-22T08:30:61",
		"2026-11-22  08:30",
		"2026-11-22 08:30 CET",
		"2026-11-22 08:30 UTC+1",
		"2026-11-22 ",
		"2026-11-22T",
		"12:3-11-22",
		"2026-11-22T08:30:00+1",
		"1969-12-31",
		"2026-11-22T08:30:00.Z",
		"3000-01-01",
	};
	struct select_time t;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		cr_expect_not(time_option(bad[i], &t), "%s is taken", bad[i]);
}

/* ---- messages ---- */

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
