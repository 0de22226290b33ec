#include "base/numbers.h"

#include <criterion/criterion.h>

#define OK(call, value)                                                                                      \
	do {                                                                                                 \
		cr_expect(call, "%s", #call);                                                                \
		cr_expect_eq(v, value, "%s", #call);                                                         \
	} while (0)

Test(units, times)
{
	uint64_t v;

	OK(units_time(SLICE_LIT("0"), &v), 0);
	OK(units_time(SLICE_LIT("0.0"), &v), 0);
	OK(units_time(SLICE_LIT("5ms"), &v), 5000000);
	OK(units_time(SLICE_LIT("1.5 us"), &v), 1500);
	OK(units_time(SLICE_LIT("0.000000001s"), &v), 1);
	OK(units_time(SLICE_LIT("2 min"), &v), UINT64_C(120000000000));
	OK(units_time(SLICE_LIT("1h"), &v), UINT64_C(3600000000000));
	OK(units_time(SLICE_LIT("18446744073709551615ns"), &v), UINT64_MAX);
	OK(units_time(SLICE_LIT("18446744073.709551615s"), &v), UINT64_MAX);
	static const char *const bad[] = { "",
		                           "5",
		                           "5 m",
		                           "-5ms",
		                           "+5ms",
		                           "1e3ns",
		                           "0.5ns",
		                           ".5ms",
		                           "5.ms",
		                           "5ms ",
		                           " 5ms",
		                           "5msx",
		                           "ms",
		                           "1.2.3s",
		                           "0x5s",
		                           "5000h9",
		                           "18446744073709551616ns",
		                           "5124096h" };
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		cr_expect_not(units_time(slice_str(bad[i]), &v), "%s", bad[i]);
}

Test(units, wall_times)
{
	uint64_t v;

	OK(units_wall(SLICE_LIT("1970-01-01"), &v), 0);
	OK(units_wall(SLICE_LIT("1970-01-01T00:00:00.000000001Z"), &v), 1);
	OK(units_wall(SLICE_LIT("2000-02-29T12:00:00Z"), &v), UINT64_C(951825600000000000));
	OK(units_wall(SLICE_LIT("2026-05-28T20:26:40Z"), &v), UINT64_C(1780000000000000000));
	OK(units_wall(SLICE_LIT("2100-03-01"), &v), UINT64_C(4107542400000000000));
	static const char *const bad[] = { "1969-12-31",
		                           "2026-02-29",
		                           "2100-02-29",
		                           "2026-13-01",
		                           "2026-00-01",
		                           "2026-01-32",
		                           "2026-1-1",
		                           "2026-01-01T",
		                           "2026-01-01T00:00Z",
		                           "2026-01-01T24:00:00Z",
		                           "2026-01-01T00:00:0Z",
		                           "2026-01-01T00:00:00",
		                           "2026-01-01 00:00:00Z",
		                           "2026-01-01T00:61:00Z",
		                           "2555-01-01",
		                           "2026-01-01T00:00:00.0000000001Z" };
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		cr_expect_not(units_wall(slice_str(bad[i]), &v), "%s", bad[i]);
}

Test(units, shares_counts_and_rates)
{
	double v;
	uint64_t n;

	OK(units_share(SLICE_LIT("0%"), &v), 0.0);
	OK(units_share(SLICE_LIT("12.5 %"), &v), 0.125);
	OK(units_share(SLICE_LIT("150%"), &v), 1.5);
	OK(units_rate(SLICE_LIT("100/s"), &v), 100.0);
	OK(units_rate(SLICE_LIT("2.5 / ms"), &v), 2500.0);
	OK(units_rate(SLICE_LIT("60/min"), &v), 1.0);
	cr_expect(units_count(SLICE_LIT("18446744073709551615"), &n) && n == UINT64_MAX);
	cr_expect_not(units_count(SLICE_LIT("18446744073709551616"), &n));
	cr_expect_not(units_count(SLICE_LIT("5 "), &n) || units_count(SLICE_LIT(""), &n) ||
	              units_count(SLICE_LIT("5.0"), &n) || units_count(SLICE_LIT("-1"), &n));
	cr_expect_not(units_share(SLICE_LIT("5"), &v) || units_share(SLICE_LIT("5%%"), &v) ||
	              units_share(SLICE_LIT("-5%"), &v) || units_share(SLICE_LIT("%"), &v));
	cr_expect_not(units_rate(SLICE_LIT("5"), &v) || units_rate(SLICE_LIT("5/"), &v) ||
	              units_rate(SLICE_LIT("5/day"), &v) || units_rate(SLICE_LIT("/s"), &v));
}

Test(units, bytes)
{
	static const char *const bad[] = { "",   "k",       "1.5",          "10 Q", "5 kib",
		                           "-1", "1.0001k", "17179869184G", "1e6" };
	uint64_t v;

	OK(units_bytes(SLICE_LIT("0"), &v), 0);
	OK(units_bytes(SLICE_LIT("104857600"), &v), 104857600);
	OK(units_bytes(SLICE_LIT("64k"), &v), 65536);
	OK(units_bytes(SLICE_LIT("100M"), &v), 104857600);
	OK(units_bytes(SLICE_LIT("1.5 GiB"), &v), 1610612736);
	OK(units_bytes(SLICE_LIT("2.5MB"), &v), 2500000);
	OK(units_bytes(SLICE_LIT("18446744073709551615"), &v), UINT64_MAX);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		cr_expect_not(units_bytes(slice_str(bad[i]), &v), "%s", bad[i]);
}
