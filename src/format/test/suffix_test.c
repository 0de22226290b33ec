/* Detection of formats by suffix. */
#include <criterion/criterion.h>

#include "format/registry.h"

Test(suffix, longest_suffix_wins)
{
	static const struct writer_ops ops = { .state_size = 1 };
	static const char *const any[] = { ".json", NULL }, *const long_one[] = { ".x.json", ".y", NULL };
	static const struct format a = { .name = "a", .suffixes = any, .writer = &ops },
	                           b = { .name = "b", .suffixes = long_one, .writer = &ops },
	                           c = { .name = "c", .suffixes = long_one };
	static const struct format *const ways[][4] = { { &a, &b, &c, NULL }, { &c, &b, &a, NULL } };

	for (size_t i = 0; i < 2; i++) {
		cr_expect_eq(format_by_suffix_of(ways[i], "t.json"), &a);
		cr_expect_eq(format_by_suffix_of(ways[i], "t.x.json"), &b);
		cr_expect_eq(format_by_suffix_of(ways[i], "t.x.json.gz"), &b);
		cr_expect_eq(format_by_suffix_of(ways[i], "t.x.json.zst"), &b);
		cr_expect_eq(format_by_suffix_of(ways[i], "t.x.json/"), &b);
		cr_expect_eq(format_by_suffix_of(ways[i], "x.json"), &a);
		cr_expect_eq(format_by_suffix_of(ways[i], "t.y"), &b);
		cr_expect_null(format_by_suffix_of(ways[i], ".json"));
		cr_expect_null(format_by_suffix_of(ways[i], "t.y.z"));
	}
}
