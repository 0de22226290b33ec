/* Columns of --column at the limits of names and numbers. */
#include <criterion/criterion.h>
#include <string.h>

#include "out/lifted.h"

Test(out_lifted, names_have_a_limit)
{
	char name[LIFTED_NAME + 2];

	memset(name, 'n', sizeof name);
	name[LIFTED_NAME] = '\0';
	cr_expect_null(lifted_mistake(name));
	name[LIFTED_NAME] = 'n';
	name[LIFTED_NAME + 1] = '\0';
	cr_expect_not_null(lifted_mistake(name));
	cr_expect_not_null(lifted_mistake(""));
	cr_expect_not_null(lifted_mistake(":int"));
	cr_expect_not_null(lifted_mistake("a:uint"));
	cr_expect_not_null(lifted_mistake("\xff"));
	cr_expect(lifted_is("A:int", "a"));
	cr_expect_not(lifted_is("ab", "a"));
}

/* Integers beyond 2^53 may be inexact as doubles; those that round to 2^63 or 2^64 must not be converted
 * back. */
Test(out_lifted, integers_rounded_to_doubles)
{
	static const struct {
		uint64_t u64;
		bool is_signed, rounded;
	} rows[] = {
		{ 0, false, false },
		{ UINT64_C(1) << 53, false, false },
		{ (UINT64_C(1) << 53) + 1, false, true },
		{ UINT64_C(1) << 63, false, false },
		{ UINT64_MAX, false, true },
		{ (uint64_t)INT64_MAX, true, true },
		{ (uint64_t)INT64_MIN, true, false },
		{ (uint64_t) - (INT64_C(1) << 53) - 1, true, true },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct value v = { .type = rows[i].is_signed ? VALUE_I64 : VALUE_U64,
			                 .u64 = rows[i].u64 };
		struct lifted_number n;
		cr_assert(lifted_number(LIFTED_FLOAT, &v, &n));
		cr_expect_eq(n.rounded, rows[i].rounded, "row %zu: %.17g", i, n.f);
		cr_expect_eq(lifted_number(LIFTED_INT, &v, &n),
		             rows[i].is_signed || rows[i].u64 <= INT64_MAX);
		cr_expect_eq(lifted_number(LIFTED_BOOL, &v, &n), rows[i].u64 == 0);
	}
}

/* The digits of a text, or of JSON, show whether the double is another number. */
Test(out_lifted, texts_of_numbers_as_doubles)
{
	static const struct {
		const char *text;
		bool is_number, rounded;
	} rows[] = {
		{ "18446744073709551616", true, false },
		{ "18446744073709551617", true, true },
		{ "-9007199254740993", true, true },
		{ "9007199254740992", true, false },
		{ "007", true, false },
		{ "-0", true, false },
		{ "0.1", true, false },
		{ "1e999", false, false },
		{ "-1e999", false, false },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct value v = { .type = VALUE_STRING,
			                 .count = (uint32_t)strlen(rows[i].text),
			                 .p = rows[i].text };
		struct lifted_number n;
		cr_expect_eq(lifted_number(LIFTED_FLOAT, &v, &n), rows[i].is_number, "%s", rows[i].text);
		cr_expect_eq(n.rounded, rows[i].rounded, "%s: %.17g", rows[i].text, n.f);
	}
}
