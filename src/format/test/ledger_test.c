#include <criterion/criterion.h>

#include "format/ledger.h"

enum { KINDS = 100 };

static void make_kinds(struct loss kinds[KINDS])
{
	for (size_t i = 0; i < KINDS; i++)
		kinds[i] = (struct loss){ .id = "toy/kind", .text = "the same words, another kind" };
}

/* Each kind has its own row, however many there are. */
Test(ledger, many_kinds_stay_apart)
{
	struct loss kinds[KINDS];
	struct ledger l = { .n = 0 };

	make_kinds(kinds);
	for (uint64_t round = 0; round < 3; round++)
		for (uint64_t i = 0; i < KINDS; i++)
			ledger_add(&l, &kinds[i], 1000 * round + i, i + 1);
	cr_assert_eq(l.n, KINDS);
	for (uint64_t i = 0; i < KINDS; i++) {
		cr_expect_eq(l.rows[i].loss, &kinds[i]);
		cr_expect_eq(l.rows[i].count, 3 * (i + 1));
		cr_expect_eq(l.rows[i].first_offset, i);
	}
	cr_expect_not(l.failed);
	ledger_free(&l);
	cr_expect_eq(l.n, 0);
}

/* The ledger that is merged first determines the first offsets and the order of kinds. */
Test(ledger, merging_keeps_the_first_place_and_the_order)
{
	struct loss kinds[KINDS];
	struct ledger a = { .n = 0 }, b = { .n = 0 }, none = { .n = 0 };

	make_kinds(kinds);
	ledger_add(&a, &kinds[7], 70, 1);
	ledger_add(&a, &kinds[3], 30, 2);
	ledger_add(&b, &kinds[9], 5, 4);
	ledger_add(&b, &kinds[3], 6, 8);
	ledger_merge(&a, &none);
	ledger_merge(&a, &b);
	cr_assert_eq(a.n, 3);
	cr_expect(a.rows[0].loss == &kinds[7] && a.rows[0].count == 1 && a.rows[0].first_offset == 70);
	cr_expect(a.rows[1].loss == &kinds[3] && a.rows[1].count == 10 && a.rows[1].first_offset == 30);
	cr_expect(a.rows[2].loss == &kinds[9] && a.rows[2].count == 4 && a.rows[2].first_offset == 5);
	ledger_free(&a);
	ledger_free(&b);
}

Test(ledger, a_failure_is_merged_too)
{
	struct ledger a = { .n = 0 };
	const struct ledger failed = { .failed = true };

	ledger_merge(&a, &failed);
	cr_expect(a.failed);
	ledger_free(&a);
}
