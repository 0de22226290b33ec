#include <criterion/criterion.h>
#include <string.h>

#include "format/registry.h"
#include "test/support/format_aids.h"
#include "test/support/ids_test.h"

Test(format_aids, belong_to_formats)
{
	cr_assert_not_null(format_aids[0]);
	for (const struct format_aids *const *a = format_aids; *a != NULL; a++) {
		cr_expect_not_null(format_by_name((*a)->format), "%s", (*a)->format);
		cr_expect_eq(format_aids_of((*a)->format), *a, "%s: two lists", (*a)->format);
		for (const char *const *id = (*a)->window_rules; id != NULL && *id != NULL; id++)
			cr_expect_not_null(rule_by_id(*id), "%s", *id);
	}
	cr_expect_null(format_aids_of("none"));
}

static unsigned inputs_named(const char *name)
{
	unsigned n = 0;

	for (const struct format_aids *const *a = format_aids; *a != NULL; a++)
		for (const struct bench_input *in = (*a)->bench_inputs; in != NULL && in->name != NULL; in++)
			n += strcmp(in->name, name) == 0;
	return n;
}

Test(format_aids, inputs_of_benchmarks_have_names_of_their_own)
{
	for (const struct format_aids *const *a = format_aids; *a != NULL; a++)
		for (const struct bench_input *in = (*a)->bench_inputs; in != NULL && in->name != NULL; in++)
			cr_expect_eq(inputs_named(in->name), 1, "%s", in->name);
}
