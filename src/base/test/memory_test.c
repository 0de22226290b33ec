#include <criterion/criterion.h>
#include <stdalign.h>
#include <stdlib.h>

#include "base/memory.h"

/* ---- slice ---- */

Test(slice, longer_texts_are_cut)
{
	cr_expect_eq(slice_of("", UINT32_MAX).n, UINT32_MAX);
	cr_expect_eq(slice_of("", (size_t)UINT32_MAX + 11).n, UINT32_MAX);
}

/* ---- arena ---- */

static uint32_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

Test(arena, pieces_are_aligned_and_apart)
{
	enum { PIECES = 5000 };
	static unsigned char *piece[PIECES];
	static size_t size[PIECES];
	struct arena a = { 0 };
	uint64_t state = 1;

	for (size_t i = 0; i < PIECES; i++) {
		size[i] = i % 500 == 0 ? 70000 : next_random(&state) % 200;
		piece[i] = arena_alloc(&a, size[i]);
		cr_assert_not_null(piece[i]);
		cr_assert_eq((uintptr_t)piece[i] % alignof(max_align_t), 0);
		memset(piece[i], (int)(i & 0xff), size[i]);
	}
	for (size_t i = 0; i < PIECES; i++)
		for (size_t k = 0; k < size[i]; k++)
			cr_assert_eq(piece[i][k], i & 0xff);
	arena_free(&a);
	cr_assert_null(a.head);
	cr_assert_eq(a.used, 0);
}

Test(arena, used_counts_with_rounding)
{
	struct arena a = { 0 };
	const size_t unit = alignof(max_align_t);

	arena_alloc(&a, 1);
	cr_assert_eq(a.used, unit);
	arena_alloc(&a, unit);
	cr_assert_eq(a.used, 2 * unit);
	arena_alloc(&a, 100000);
	cr_assert_eq(a.used, 2 * unit + (100000 + unit - 1) / unit * unit);
	arena_reset(&a);
	cr_assert_eq(a.used, 0);
	arena_free(&a);
}

Test(arena, nothing_is_something)
{
	struct arena a = { 0 };
	char *p = arena_alloc(&a, 0), *q = arena_alloc(&a, 0);

	cr_assert_not_null(p);
	cr_assert_not_null(q);
	cr_assert_neq(p, q);
	cr_assert_not_null(arena_zalloc(&a, 0, 8));
	cr_assert_not_null(arena_zalloc(&a, 8, 0));
	arena_free(&a);
}

Test(arena, a_large_piece_leaves_the_open_block_in_use)
{
	struct arena a = { 0 };
	char *p = arena_alloc(&a, 16);

	cr_assert_not_null(arena_alloc(&a, 3 << 20));
	cr_assert_eq((char *)arena_alloc(&a, 16), p + 16);
	arena_free(&a);
}

Test(arena, impossible_sizes_are_refused_and_do_no_harm)
{
	struct arena a = { 0 };

	cr_assert_null(arena_alloc(&a, SIZE_MAX));
	cr_assert_null(arena_alloc(&a, SIZE_MAX - 16));
	cr_assert_null(arena_alloc(&a, SIZE_MAX - 64));
	cr_assert_null(arena_zalloc(&a, SIZE_MAX / 2, 3));
	cr_assert_null(arena_zalloc(&a, 3, SIZE_MAX / 2));
	cr_assert_eq(a.used, 0);
	cr_assert_not_null(arena_alloc(&a, 10));
	arena_free(&a);
}

Test(arena, zalloc_clears_used_memory)
{
	struct arena a = { 0 };

	memset(arena_alloc(&a, 4000), 0xff, 4000);
	arena_reset(&a);
	const unsigned char *p = arena_zalloc(&a, 100, 40);
	for (size_t i = 0; i < 4000; i++)
		cr_assert_eq(p[i], 0);
	arena_free(&a);
}

Test(arena, copy_ends_in_nul_and_keeps_flags)
{
	struct arena a = { 0 };
	char text[] = "one\0two";
	const struct slice s = arena_copy(&a, (struct slice){ text, 7, SLICE_UTF8 });

	text[0] = 'x';
	cr_assert_eq(s.n, 7);
	cr_assert_eq(s.flags, SLICE_UTF8);
	cr_assert_arr_eq(s.p, "one\0two", 8);

	const struct slice none = arena_copy(&a, (struct slice){ NULL, 0, SLICE_JSON });
	cr_assert_not_null(none.p);
	cr_assert_eq(none.n, 0);
	cr_assert_eq(none.p[0], '\0');
	arena_free(&a);
}

/* Names of traces may contain NUL. */
Test(arena, joined_texts_are_whole)
{
	struct arena a = { 0 };
	const struct slice nul = { "one\0two", 7, SLICE_UTF8 };
	const struct slice s = ARENA_JOIN(&a, SLICE_LIT("<"), nul, SLICE_NONE, SLICE_LIT(">"));

	cr_assert_eq(s.n, 9);
	cr_assert_eq(s.flags, SLICE_UTF8);
	cr_assert_arr_eq(s.p, "<one\0two>", 10);
	const struct slice n = arena_numbered(&a, nul, UINT64_MAX);
	cr_assert_eq(n.n, 30);
	cr_assert_arr_eq(n.p, "one\0two (18446744073709551615)", 31);
	cr_assert_not_null(ARENA_JOIN(&a, SLICE_NONE).p);

	const struct slice large = { "", UINT32_MAX, 0 };
	cr_assert_null(ARENA_JOIN(&a, large, SLICE_LIT("x")).p);
	cr_assert(a.failed);
	arena_free(&a);
}

Test(arena, printf_measures_first)
{
	struct arena a = { 0 };
	const struct slice s = arena_printf(&a, "%d-%5000s|", 42, "end");

	cr_assert_eq(s.n, 5004);
	cr_assert_eq(memcmp(s.p, "42- ", 4), 0);
	cr_assert_eq(memcmp(s.p + 5000, "end|", 5), 0);
	cr_assert(slice_is(arena_printf(&a, "%s", ""), ""));
	arena_free(&a);
}

Test(arena, reset_keeps_one_block_but_not_a_huge_one)
{
	struct arena a = { 0 };

	arena_reset(&a);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 1000; i++)
			cr_assert_not_null(arena_alloc(&a, 1000));
		arena_reset(&a);
		cr_assert_not_null(a.head);
	}
	arena_free(&a);
	cr_assert_not_null(arena_alloc(&a, 64 << 20));
	arena_reset(&a);
	cr_assert_null(a.head);
	arena_free(&a);
	arena_free(&a);
}

Test(arena, one_takes_over_what_another_gave)
{
	struct arena a = { .used = 0 }, b = { .used = 0 };
	char *const in_b = arena_alloc(&b, 100), *const large = arena_alloc(&b, 50000);

	cr_assert(in_b != NULL && large != NULL);
	memset(in_b, 'b', 100);
	memset(large, 'l', 50000);
	arena_move(&a, &b);
	cr_expect_eq(b.used, 0);
	cr_expect_null(b.head);
	char *const in_a = arena_alloc(&a, 100);
	cr_assert_not_null(in_a);
	memset(in_a, 'a', 100);
	char *const again = arena_alloc(&b, 100);
	cr_assert_not_null(again);
	memset(again, 'c', 100);
	arena_move(&a, &b);
	arena_move(&a, &b); /* nothing */
	cr_expect(in_a[99] == 'a' && in_b[0] == 'b' && in_b[99] == 'b' && large[49999] == 'l' &&
	          again[99] == 'c');
	arena_free(&b);
	arena_free(&a);
}

/* ---- array ---- */

Test(array, room_keeps_what_is_there)
{
	uint64_t *list = NULL;
	uint32_t cap = 0;

	for (uint32_t n = 0; n < 5000; n++) {
		cr_assert(array_reserve(&list, n, &cap, sizeof *list));
		cr_assert_gt(cap, n);
		cr_assert_leq(cap, n < 4 ? 4 : 2 * n, "%u of %u", cap, n); /* many lists have few elements */
		list[n] = n * UINT64_C(3);
	}
	for (uint32_t i = 0; i < 5000; i++)
		cr_assert_eq(list[i], i * UINT64_C(3));
	cr_expect(array_reserve(&list, 5 * cap, &cap, sizeof *list));
	cr_expect_gt(cap, 25000);
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

	cr_expect_not(array_reserve(&list, cap, &cap, 1));
	cr_expect_eq(cap, UINT32_C(1) << 31);
	cr_expect_not(array_reach(&list, &n, UINT32_MAX, 1));
	cr_expect(n == 0 && list == NULL);
}
