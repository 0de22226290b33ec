#include <criterion/criterion.h>
#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/numbers.h"
#include "test/support/splitmix.h"

static void check(const char *made, const char *end, const char *want, size_t max, const char *what)
{
	const size_t n = (size_t)(end - made);

	if (n > max || n != strlen(want) || memcmp(made, want, n) != 0)
		cr_assert_fail("%s: %.*s instead of %s", what, (int)n, made, want);
	if (made[max] != '#')
		cr_assert_fail("%s: wrote beyond the room, for %s", what, want);
}

#define CHECK(max, call, what)                                                                               \
	do {                                                                                                 \
		char buf[64];                                                                                \
		memset(buf, '#', sizeof buf);                                                                \
		const char *const end = (call);                                                              \
		check(buf, end, want, (max), what);                                                          \
	} while (0)

static void check_unsigned(uint64_t v)
{
	char want[64];

	(void)snprintf(want, sizeof want, "%" PRIu64, v);
	CHECK(DECIMAL_U64_MAX, decimal_u64(buf, v), "u64");
	CHECK(DECIMAL_U128_MAX, decimal_u128(buf, v), "u128");
	(void)snprintf(want, sizeof want, "%" PRIu64 ".%03u", v / 1000, (unsigned)(v % 1000));
	CHECK(DECIMAL_USEC_MAX, decimal_usec(buf, v), "usec");
	(void)snprintf(want, sizeof want, "0x%" PRIx64, v);
	CHECK(DECIMAL_HEX_MAX, decimal_hex(buf, v), "hex");
}

static void check_signed(int64_t v)
{
	const uint64_t size = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
	char want[64];

	(void)snprintf(want, sizeof want, "%" PRId64, v);
	CHECK(DECIMAL_I64_MAX, decimal_i64(buf, v), "i64");
	(void)snprintf(want, sizeof want, "%s%" PRIu64 ".%03u", v < 0 ? "-" : "", size / 1000,
	               (unsigned)(size % 1000));
	CHECK(DECIMAL_USEC_MAX, decimal_usec_signed(buf, v), "usec_signed");
}

static void check_integer(uint64_t v)
{
	check_unsigned(v);
	check_signed((int64_t)v);
	check_signed((int64_t)(0 - v));
}

Test(decimal, integers_small_and_around_each_power)
{
	for (uint64_t v = 0; v < 20000; v++)
		check_integer(v);
	for (uint64_t power = 1; power <= UINT64_MAX / 10; power *= 10)
		for (uint64_t k = 0; k < 5; k++) {
			check_integer(power * 10 + k - 2);
			check_integer(power / 2 + k);
			check_integer(power * 9 + power / 10 * k);
		}
	for (unsigned bit = 0; bit < 64; bit++)
		for (uint64_t k = 0; k < 5; k++)
			check_integer((UINT64_C(1) << bit) + k - 2);
	check_integer(UINT64_MAX);
}

Test(decimal, integers_at_random)
{
	uint64_t state = 42;

	for (int i = 0; i < 200000; i++) {
		const uint64_t v = splitmix_next(&state);
		check_integer(v >> (v & 63));
	}
}

/* All of 0 to 9999 as the upper, middle, and lower digits of a number. */
Test(decimal, each_group_of_digits)
{
	for (uint64_t v = 0; v < 10000; v++) {
		check_unsigned(v * 10000 + 9999 - v);
		check_unsigned(v * UINT64_C(1000000000000) + v * 100000000 + v);
		check_unsigned(v % 1844 * UINT64_C(10000000000000000) + v);
	}
}

/* Long division, digit by digit. */
static void check_u128(uint128 v)
{
	char digits[40], want[64];
	size_t n = 0;

	for (uint128 rest = v; n == 0 || rest != 0; rest /= 10)
		digits[n++] = (char)('0' + (int)(rest % 10));
	for (size_t i = 0; i < n; i++)
		want[i] = digits[n - 1 - i];
	want[n] = '\0';
	CHECK(DECIMAL_U128_MAX, decimal_u128(buf, v), "u128");
}

Test(decimal, wide_integers)
{
	uint128 power = 1;
	uint64_t state = 5;

	for (int i = 0; i < 38; i++, power *= 10)
		for (unsigned k = 0; k < 5; k++) {
			check_u128(power * 10 + k - 2);
			check_u128(power * 3 + k);
		}
	check_u128(~(uint128)0);
	for (int i = 0; i < 30000; i++) {
		const uint64_t high = splitmix_next(&state);
		check_u128(((uint128)high << 64 | splitmix_next(&state)) >> (high & 127));
	}
}

static void check_f64(double v)
{
	char want[64];

	for (int digits = fabs(v) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
		(void)snprintf(want, sizeof want, "%.*g", digits, v);
		if (strtod(want, NULL) == v)
			break;
	}
	CHECK(DECIMAL_F64_MAX, decimal_f64(buf, v), "f64");
}

static void check_f32(float v)
{
	char want[64];

	for (int digits = fabsf(v) < FLT_MIN ? 1 : 6; digits <= 9; digits++) {
		(void)snprintf(want, sizeof want, "%.*g", digits, (double)v);
		if (strtof(want, NULL) == v)
			break;
	}
	CHECK(DECIMAL_F64_MAX, decimal_f32(buf, v), "f32");
}

Test(decimal, doubles_of_note)
{
	static const double values[] = { 0.0,
		                         1.0,
		                         0.1,
		                         0.2,
		                         0.3,
		                         0.1 + 0.2,
		                         1.0 / 3,
		                         2.0 / 3,
		                         1e15,
		                         1e15 - 1,
		                         1e15 + 1,
		                         999999999999999.9,
		                         99999999999999.95,
		                         1e16,
		                         1e17,
		                         1e21,
		                         1e22,
		                         1e23,
		                         1e300,
		                         1e-3,
		                         1e-4,
		                         9.9999e-5,
		                         1.5e-4,
		                         1e-5,
		                         0.00012345678901234,
		                         0.000123456789012345,
		                         DBL_MAX,
		                         DBL_MIN,
		                         DBL_TRUE_MIN,
		                         DBL_EPSILON,
		                         9007199254740991.0,
		                         9007199254740992.0,
		                         9007199254740993.0,
		                         123456.789,
		                         3.14159265358979,
		                         5e-324,
		                         4.35,
		                         0.5,
		                         1234567890.125,
		                         8.41,
		                         1.1e-4,
		                         100000000000000.1 };

	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
		for (int step = -2; step <= 2; step++) {
			double v = values[i];
			for (int k = 0; k < abs(step); k++)
				v = nextafter(v, step < 0 ? 0 : DBL_MAX);
			check_f64(v);
			check_f64(-v);
		}
	check_f64(-0.0);
}

Test(decimal, doubles_at_random)
{
	uint64_t state = 11;
	double v;

	for (int i = 0; i < 60000; i++) {
		uint64_t bits = splitmix_next(&state);
		memcpy(&v, &bits, sizeof v);
		if (isfinite(v))
			check_f64(v);
		/* Decimals with few digits, and their neighbours. */
		double power = 1;
		for (unsigned k = (unsigned)(bits % 19); k > 0; k--)
			power *= 10;
		v = (double)(splitmix_next(&state) >> (11 + bits % 50)) / power;
		check_f64(v);
		check_f64(-nextafter(v, 0));
		check_f64(v * power);
	}
}

Test(decimal, floats)
{
	static const float values[] = { 0.0f,    1.0f,         0.1f,        0.3f,      1e6f, 999999.0f,
		                        1e7f,    16777216.0f,  1e-4f,       1e-5f,     0.5f, FLT_MAX,
		                        FLT_MIN, FLT_TRUE_MIN, FLT_EPSILON, 3.1415927f };
	uint64_t state = 13;
	float v;

	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		check_f32(values[i]);
		check_f32(-values[i]);
		check_f32(nextafterf(values[i], 0));
		check_f32(nextafterf(values[i], 1));
	}
	for (int i = 0; i < 60000; i++) {
		const uint32_t bits = (uint32_t)splitmix_next(&state);
		memcpy(&v, &bits, sizeof v);
		if (isfinite(v))
			check_f32(v);
		check_f32((float)(bits % 2000000) / 100);
	}
}

Test(decimal, numbers_next_to_0_have_few_digits)
{
	char buf[DECIMAL_F64_MAX + 1];

	*decimal_f64(buf, DBL_TRUE_MIN) = '\0';
	cr_expect_str_eq(buf, "5e-324");
	*decimal_f32(buf, -FLT_TRUE_MIN) = '\0';
	cr_expect_str_eq(buf, "-1e-45");
}

/* Only where such a locale is installed. */
Test(decimal, the_point_is_a_point_in_any_locale)
{
	static const char *const names[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "ps_AF.UTF-8", "fa_IR.UTF-8" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char buf[64];
		if (setlocale(LC_ALL, names[i]) == NULL)
			continue;
		*decimal_f64(buf, -1.0 / 3) = '\0';
		cr_assert_str_eq(buf, "-0.3333333333333333");
		*decimal_f64(buf, 1.5e300) = '\0';
		cr_assert_str_eq(buf, "1.5e+300");
		*decimal_f32(buf, 0.1f) = '\0';
		cr_assert_str_eq(buf, "0.1");
	}
}

/* ---- units ---- */

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
	OK(units_share(SLICE_LIT("0.7%"), &v), 0.007);
	OK(units_rate(SLICE_LIT("100/s"), &v), 100.0);
	OK(units_rate(SLICE_LIT("2.5 / ms"), &v), 2500.0);
	OK(units_rate(SLICE_LIT("60/min"), &v), 1.0);
	OK(units_rate(SLICE_LIT("23/min"), &v), 23.0 / 60);
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
