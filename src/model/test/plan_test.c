#include "model/plan.h"

#include <criterion/criterion.h>

#include "base/match.h"

/* Matches by the definition of a glob, one byte after the other. */
static bool oracle(const char *p, size_t np, const char *t, size_t nt)
{
	if (np == 0)
		return nt == 0;
	if (*p == '*')
		return oracle(p + 1, np - 1, t, nt) || (nt > 0 && oracle(p, np, t + 1, nt - 1));
	if (nt == 0)
		return false;
	if (*p == '?')
		return oracle(p + 1, np - 1, t + 1, nt - 1);
	if (*p == '\\' && np > 1)
		return p[1] == *t && oracle(p + 2, np - 2, t + 1, nt - 1);
	return *p == *t && oracle(p + 1, np - 1, t + 1, nt - 1);
}

/* All patterns and texts of up to five bytes. */
Test(plan, globs_like_the_slow_way)
{
	static const char of_patterns[] = "ab*?\\", of_texts[] = "ab\\";
	char pattern[5], text[5];
	uint64_t matches = 0;

	for (unsigned np = 0, patterns = 1; np <= 5; np++, patterns *= 5)
		for (unsigned i = 0; i < patterns; i++) {
			for (unsigned k = 0, x = i; k < np; k++, x /= 5)
				pattern[k] = of_patterns[x % 5];
			for (unsigned nt = 0, texts = 1; nt <= 4; nt++, texts *= 3)
				for (unsigned j = 0; j < texts; j++) {
					for (unsigned k = 0, x = j; k < nt; k++, x /= 3)
						text[k] = of_texts[x % 3];
					const bool want = oracle(pattern, np, text, nt);
					matches += want;
					if (glob_fits(slice_of(pattern, np), slice_of(text, nt)) != want)
						cr_assert_fail("%.*s on %.*s: not %d", (int)np, pattern,
						               (int)nt, text, want);
				}
		}
	cr_assert_gt(matches, 1000);
}

/* Many stars on a long text: the time of a product, not of a power. */
Test(plan, globs_are_not_slow)
{
	char pattern[200], text[20000];

	for (size_t i = 0; i < sizeof pattern; i++)
		pattern[i] = i % 2 == 0 ? '*' : 'a';
	memset(text, 'a', sizeof text);
	cr_assert(glob_fits(slice_of(pattern, sizeof pattern), slice_of(text, sizeof text)));
	pattern[sizeof pattern - 1] = 'b';
	cr_assert_not(glob_fits(slice_of(pattern, sizeof pattern), slice_of(text, sizeof text)));
}

Test(plan, words)
{
	static const struct field words[] = { { SLICE_LIT("kind"),
		                                { .type = VALUE_STRING, .count = 4, .p = "push" } } };
	const struct plan m = { .words = words, .nwords = 1 };

	cr_assert(slice_is(plan_word(&m, "kind"), "push"));
	cr_assert_null(plan_word(&m, "kin").p);
}

/* Each part of a meaning may read fields, also of the second meaning in a chain. */
Test(plan, fields_that_are_used)
{
	static const struct plan_part parts[] = { { SLICE_LIT("x"), { .nfields = 0 } },
		                                  { SLICE_LIT(""),
		                                    { .field = { SLICE_LIT("in_name") }, .nfields = 1 } } };
	static const struct plan_template names[] = { { parts, 2 } };
	static const struct plan_track tracks[] = {
		{ .number = { .field = { SLICE_LIT("line") }, .nfields = 1 },
		  .id = { .field = { SLICE_LIT("tid") }, .nfields = 1 } }
	};
	static const struct plan_define defines[] = { { .key = { SLICE_LIT("k1"), SLICE_LIT("k2") },
		                                        .nkeys = 2,
		                                        .value = { .field = { SLICE_LIT("v") },
		                                                   .nfields = 1 } } };
	static const struct plan second = {
		.names = names, .nnames = 1, .epoch = SLICE_LIT("wall"), .facts = SLICE_LIT("entries")
	};
	static const struct plan m = { .key = { .field = { SLICE_LIT("a"), SLICE_LIT("b") }, .nfields = 2 },
		                       .tracks = tracks,
		                       .ntracks = 1,
		                       .defines = defines,
		                       .ndefines = 1,
		                       .duration = SLICE_LIT("d"),
		                       .flow_out = SLICE_LIT("out"),
		                       .flow_in = SLICE_LIT("in"),
		                       .has_layout = true,
		                       .payload = SLICE_LIT("bytes"),
		                       .values = &parts[1].ref.field[0],
		                       .nvalues = 1,
		                       .otherwise = &second };
	static const struct plan none = { .payload = SLICE_LIT("bytes"),
		                          .values = &parts[1].ref.field[0],
		                          .nvalues = 1 };
	static const struct slice used[] = { SLICE_LIT("a"),       SLICE_LIT("b"),      SLICE_LIT("line"),
		                             SLICE_LIT("tid"),     SLICE_LIT("k1"),     SLICE_LIT("k2"),
		                             SLICE_LIT("v"),       SLICE_LIT("d"),      SLICE_LIT("out"),
		                             SLICE_LIT("in"),      SLICE_LIT("bytes"),  SLICE_LIT("wall"),
		                             SLICE_LIT("entries"), SLICE_LIT("in_name") };

	for (size_t i = 0; i < sizeof used / sizeof used[0]; i++) {
		char text[16];
		struct slice field = slice_of(text, used[i].n);
		memcpy(text, used[i].p, used[i].n);
		cr_expect_not(plan_uses(&none, &field), "%s", used[i].p);
		cr_expect(field.p == text);
		cr_expect(plan_uses(&m, &field), "%s", used[i].p);
		cr_expect(field.p != text && slice_equal(field, used[i]), "the plan's own text");
	}
	struct slice other = SLICE_LIT("other");
	cr_expect_not(plan_uses(&m, &other));
	cr_expect_not(plan_uses(NULL, &other));
}
