/* The longest items of each group, compared with a sorted list of all; and the limits. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "stats/tables/longest.h"
#include "test/support/splitmix.h"

enum { ITEMS = 5000, GROUPS = 7, LIMIT = 4 };

static int longer_first(const void *a, const void *b)
{
	const struct longest_item *const x = a, *const y = b;

	if (x->length != y->length)
		return x->length < y->length ? 1 : -1;
	return x->number < y->number ? -1 : 1;
}

static void add(struct longest *l, uint32_t group, uint64_t length, uint64_t ts)
{
	const struct longest_item item = { .length = length, .ts = ts };
	char name[32];

	snprintf(name, sizeof name, "%u", group);
	if (longest_wants(l, group, length))
		cr_assert(longest_add(l, group, item, slice_str(name), SLICE_LIT("c"), SLICE_LIT("f")));
}

Test(longest, keeps_the_longest_of_each_group)
{
	static struct longest_item all[GROUPS][ITEMS];
	uint32_t n[GROUPS] = { 0 };
	struct longest l = { .limit = LIMIT };
	uint64_t seed = 5;

	for (uint32_t i = 0; i < ITEMS; i++) {
		const uint32_t group = (uint32_t)(splitmix_next(&seed) % GROUPS);
		const uint64_t length = splitmix_next(&seed) % 300;
		all[group][n[group]++] = (struct longest_item){ .length = length, .ts = i, .number = i };
		add(&l, group, length, i);
	}
	longest_end(&l);
	for (uint32_t g = 0; g < GROUPS; g++) {
		qsort(all[g], n[g], sizeof **all, longer_first);
		cr_assert_eq(longest_of(&l, g)->n, LIMIT);
		for (uint32_t i = 0; i < LIMIT; i++) {
			const struct longest_item *const k = &longest_of(&l, g)->list[i];
			cr_expect_eq(k->length, all[g][i].length);
			cr_expect_eq(k->ts, all[g][i].ts);
			cr_expect_eq(longest_name(k).p[0], (char)('0' + g));
			cr_expect(slice_is(longest_second(k), "c") && slice_is(longest_fields(k), "f"));
		}
	}
	cr_expect_eq(longest_of(&l, GROUPS)->n, 0);
	longest_free(&l);
}

/* 40,000 groups of 10 items: more than 2^18, so each keeps the 5 longest. */
Test(longest, keeps_fewer_of_many_groups)
{
	struct longest l = { .limit = 10 };

	for (uint32_t i = 0; i < 10; i++)
		for (uint32_t g = 0; g < 40000; g++)
			add(&l, g, 100 + i, i);
	longest_end(&l);
	cr_expect_eq(l.limit, 5);
	cr_expect(l.items <= LONGEST_ITEMS);
	for (uint32_t g = 0; g < 40000; g++) {
		cr_assert_eq(longest_of(&l, g)->n, 5);
		cr_assert_eq(longest_of(&l, g)->list[0].length, 109);
		cr_assert_eq(longest_of(&l, g)->list[4].length, 105);
	}
	longest_free(&l);
}

/* More groups than items: the last ones are kept together. */
Test(longest, keeps_further_groups_together)
{
	struct longest l = { .limit = 3 };

	for (uint32_t g = 0; g < LONGEST_ITEMS + 100; g++)
		add(&l, g, g, g);
	longest_end(&l);
	cr_expect_eq(l.limit, 1);
	cr_expect(l.full);
	cr_expect_eq(longest_of(&l, LONGEST_ITEMS - 1)->list[0].length, LONGEST_ITEMS - 1);
	cr_expect_eq(longest_of(&l, LONGEST_ITEMS + 1)->n, 0);
	cr_assert_eq(longest_of(&l, LONGEST_OTHER)->n, 1);
	cr_expect_eq(longest_of(&l, LONGEST_OTHER)->list[0].length, LONGEST_ITEMS + 99);
	cr_expect_eq(longest_fields(&longest_of(&l, LONGEST_OTHER)->list[0]).n, 0);
	longest_free(&l);
}
