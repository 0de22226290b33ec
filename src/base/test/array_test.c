#include "base/memory.h"

#include <criterion/criterion.h>
#include <stdlib.h>

Test(array, room_keeps_what_is_there)
{
	uint64_t *list = NULL;
	uint32_t cap = 0;

	for (uint32_t n = 0; n < 5000; n++) {
		cr_assert(array_room(&list, n, &cap, sizeof *list));
		cr_assert_gt(cap, n);
		list[n] = n * UINT64_C(3);
	}
	for (uint32_t i = 0; i < 5000; i++)
		cr_assert_eq(list[i], i * UINT64_C(3));
	free(list);
}

Test(array, reached_places_are_zero)
{
	uint32_t *list = NULL;
	uint32_t n = 0;

	for (uint32_t index = 0; index < 100000; index = index * 3 + 1) {
		const uint32_t before = n;
		cr_assert(array_reach(&list, &n, index, sizeof *list));
		cr_assert_gt(n, index);
		for (uint32_t i = before; i < n; i++) {
			cr_assert_eq(list[i], 0);
			list[i] = i + 1;
		}
	}
	for (uint32_t i = 0; i < n; i++)
		cr_assert_eq(list[i], i + 1);
	free(list);
}

Test(array, too_large_changes_nothing)
{
	char *list = NULL;
	uint32_t n = 0, cap = UINT32_C(1) << 31;

	cr_expect_not(array_room(&list, cap, &cap, 1));
	cr_expect_eq(cap, UINT32_C(1) << 31);
	cr_expect_not(array_reach(&list, &n, UINT32_MAX, 1));
	cr_expect(n == 0 && list == NULL);
}
