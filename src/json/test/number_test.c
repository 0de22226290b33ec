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
