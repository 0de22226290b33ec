#include "base/table.h"

#include <criterion/criterion.h>
#include <stdlib.h>

Test(idset, agrees_with_a_plain_array)
{
	enum { N = 100000 };
	static bool seen[N];
	struct idset s = { .pages = NULL };

	srand(7);
	for (int i = 0; i < 3 * N; i++) {
		const int id = rand() % N;
		cr_assert_eq(idset_add(&s, (uint64_t)id), seen[id], "id %d", id);
		seen[id] = true;
	}
	idset_free(&s);
}

Test(idset, sequences_with_local_disorder)
{
	struct idset s = { .pages = NULL };

	for (uint64_t base = 0; base < 1 << 20; base += 8)
		for (uint64_t i = 8; i-- > 0;)
			cr_assert_not(idset_add(&s, base + i));
	for (uint64_t id = 0; id < 1 << 20; id++)
		cr_assert(idset_add(&s, id));
	idset_free(&s);
}

Test(idset, ends_of_the_range)
{
	const uint64_t ids[] = {
		0, 1, 63, 64, 4095, 4096, UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 4096, (uint64_t)1 << 63
	};
	struct idset s = { .pages = NULL };

	for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
		cr_assert_not(idset_add(&s, ids[i]), "%zu", i);
		cr_assert(idset_add(&s, ids[i]), "%zu", i);
	}
	idset_free(&s);
}

Test(idset, a_page_gives_way_only_to_one_a_span_away)
{
	struct idset s = { .pages = NULL };

	idset_add(&s, 5);
	for (uint64_t id = IDSET_PAGE; id < IDSET_SPAN; id += IDSET_PAGE)
		cr_assert_not(idset_add(&s, id));
	cr_assert(idset_add(&s, 5));
	cr_assert_not(idset_add(&s, 5 + IDSET_SPAN));
	cr_assert_not(idset_add(&s, 5)); /* forgotten, as the header says */
	idset_free(&s);
	cr_assert_not(idset_add(&s, 5)); /* and usable afresh */
	idset_free(&s);
}
