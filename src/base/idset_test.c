#include "base/idset.h"

#include <criterion/criterion.h>

static void
check_shape(const struct idset *s)
{
	cr_assert_leq(s->n, IDSET_MAX_RUNS);
	for (size_t i = 0; i < s->n; i++) {
		cr_assert_leq(s->runs[i].first, s->runs[i].last);
		if (i > 0)
			cr_assert(s->runs[i].first > s->runs[i - 1].last &&
			          s->runs[i].first - s->runs[i - 1].last > 1);
	}
}

Test(idset, a_sequence_is_one_run)
{
	struct idset s = { 0 };

	for (uint64_t id = 100; id < 1000100; id++)
		if (idset_add(&s, id) != IDSET_NEW)
			cr_assert_fail("%llu", (unsigned long long)id);
	cr_assert_eq(s.n, 1);
	cr_assert_eq(idset_add(&s, 100), IDSET_SEEN);
	cr_assert_eq(idset_add(&s, 1000099), IDSET_SEEN);
	cr_assert_eq(idset_add(&s, 99), IDSET_NEW);
	cr_assert_eq(s.n, 1);
	idset_free(&s);
	cr_assert_null(s.runs);
}

/* At random, against one flag for each number: in a small world first, so that runs meet in all ways. */
Test(idset, at_random_against_flags)
{
	for (unsigned world = 1; world <= 30000; world = world * 3 + 1) {
		struct idset s = { 0 };
		bool *seen = calloc(world, sizeof *seen);
		srand(world);
		for (unsigned i = 0; i < world * 3; i++) {
			unsigned id = (unsigned)rand() % world;
			const unsigned run = 1 + (unsigned)rand() % 4;
			for (unsigned k = 0; k < run && id < world; k++, id++) {
				if (idset_add(&s, id) != (seen[id] ? IDSET_SEEN : IDSET_NEW))
					cr_assert_fail("world %u id %u", world, id);
				seen[id] = true;
			}
			if (i % 64 == 0)
				check_shape(&s);
		}
		free(seen);
		idset_free(&s);
	}
}

Test(idset, both_ends_of_the_numbers)
{
	struct idset s = { 0 };

	cr_assert_eq(idset_add(&s, UINT64_MAX), IDSET_NEW);
	cr_assert_eq(idset_add(&s, 0), IDSET_NEW);
	cr_assert_eq(s.n, 2);
	cr_assert_eq(idset_add(&s, UINT64_MAX), IDSET_SEEN);
	cr_assert_eq(idset_add(&s, 0), IDSET_SEEN);
	cr_assert_eq(idset_add(&s, UINT64_MAX - 1), IDSET_NEW);
	cr_assert_eq(idset_add(&s, 1), IDSET_NEW);
	cr_assert_eq(idset_add(&s, UINT64_MAX - 1), IDSET_SEEN);
	cr_assert_eq(s.n, 2);
	check_shape(&s);
	idset_free(&s);
}

/* Full means no new runs; runs still grow, and where two meet a place becomes free. */
Test(idset, the_limit)
{
	struct idset s = { 0 };

	for (uint64_t i = 0; i < IDSET_MAX_RUNS; i++)
		if (idset_add(&s, i * 3) != IDSET_NEW)
			cr_assert_fail("run %llu", (unsigned long long)i);
	cr_assert_eq(s.n, IDSET_MAX_RUNS);

	const uint64_t beyond = (uint64_t)IDSET_MAX_RUNS * 3 + 5;
	cr_assert_eq(idset_add(&s, beyond), IDSET_FULL);
	cr_assert_eq(idset_add(&s, beyond), IDSET_FULL);
	cr_assert_eq(idset_add(&s, 9), IDSET_SEEN);
	cr_assert_eq(idset_add(&s, 10), IDSET_NEW);
	cr_assert_eq(idset_add(&s, 10), IDSET_SEEN);
	cr_assert_eq(s.n, IDSET_MAX_RUNS);
	cr_assert_eq(idset_add(&s, 11), IDSET_NEW);
	cr_assert_eq(s.n, IDSET_MAX_RUNS - 1);
	cr_assert_eq(idset_add(&s, beyond), IDSET_NEW);
	cr_assert_eq(idset_add(&s, beyond), IDSET_SEEN);
	cr_assert_eq(idset_add(&s, beyond + 2), IDSET_FULL);
	check_shape(&s);
	idset_free(&s);
}
