#include <criterion/criterion.h>

#include "json/number.h"

Test(json_number, doubles_that_have_all_digits_of_a_number)
{
	static const struct {
		const char *text;
		bool exact;
	} rows[] = {
		{ "0", true },
		{ "-0.000", true },
		{ "0.1", true },
		{ "1e22", true },
		{ "-123456.789012345e-300", true },
		{ "0.10000000000000001", true },
		{ "0.1000000000000000055511151231257827", true },
		{ "0.100000000000000005", false },
		{ "9007199254740993.0", false },
		{ "9007199254740992.00", true },
		{ "0.12345678901234567890", false },
		{ "4.9e-324", true },
		{ "4e-324", false },
		{ "1e-400", false },
		{ "1.000000000000000000000000000000000000000000000000000000000001", false },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct slice s = slice_str(rows[i].text);
		double v;
		cr_assert(json_double(s, &v), "%s", rows[i].text);
		cr_expect_eq(json_double_is_exact(s, v), rows[i].exact, "%s", rows[i].text);
	}
}

Test(json_number, digits_of_any_length)
{
	static const struct {
		const char *text;
		bool fits;
		uint64_t value;
	} rows[] = {
		{ "", false, 0 },
		{ "7", true, 7 },
		{ "1234567", true, 1234567 },
		{ "12345678", true, 12345678 },
		{ "1234567a", false, 0 },
		{ "/2345678", false, 0 },
		{ "1234567890123456", true, UINT64_C(1234567890123456) },
		{ "123456789012345:", false, 0 },
		{ "9999999999999999999", true, UINT64_C(9999999999999999999) },
		{ "18446744073709551615", true, UINT64_MAX },
		{ "18446744073709551616", false, 0 },
		{ "000000000000000000000000018446744073709551615", true, UINT64_MAX },
		{ "-5", false, 0 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct slice s = slice_str(rows[i].text);
		uint64_t v;
		cr_assert_eq(json_digits_any(s.p, s.n, &v), rows[i].fits, "%s", rows[i].text);
		cr_expect(!rows[i].fits || v == rows[i].value, "%s", rows[i].text);
	}
}
