/* Sets of numbers, in memory and in a file, compared with a list of bits. */
#include "run/read/mark_set.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/splitmix.h"

#define NUMBERS 20000U

static void expect_set_of(bool pages, uint32_t max, uint32_t added, bool sorted)
{
	static bool in[NUMBERS];
	struct mark_set s = { .pages = pages, .max = max };
	struct mark_cursor c = { .at = 0 };
	uint64_t seed = 7, total = 0;
	bool failed = false;

	memset(in, 0, sizeof in);
	for (uint32_t i = 0; i < added; i++) {
		const uint32_t k = sorted ? i * 3 % NUMBERS : (uint32_t)(splitmix_next(&seed) % NUMBERS);
		total += !in[k];
		in[k] = true;
		mark_set_add(&s, k);
	}
	cr_assert(mark_set_finish(&s));
	if (!pages)
		cr_expect_eq(s.total, total);
	for (uint32_t k = 0; k < NUMBERS; k++)
		cr_assert_eq(mark_cursor_has(&c, &s, k, &failed), in[k], "%u of %u", k, max);
	for (uint32_t i = 0; i < 2000; i++) {
		const uint32_t k = (uint32_t)(splitmix_next(&seed) % NUMBERS);
		cr_assert_eq(mark_cursor_has(&c, &s, k, &failed), in[k], "%u of %u, again", k, max);
	}
	for (uint32_t i = 0; i < 2000; i++) {
		const uint32_t k = (uint32_t)(i % 2 == 0 ? splitmix_next(&seed) : i * 10) % NUMBERS;
		uint32_t next = k;
		while (next < NUMBERS && !in[next])
			next++;
		cr_assert_eq(mark_cursor_next(&c, &s, k, &failed), next < NUMBERS ? next : UINT64_MAX,
		             "after %u of %u", k, max);
	}
	cr_expect_not(mark_cursor_has(&c, &s, UINT64_MAX, &failed));
	cr_expect_not(failed);
	mark_cursor_free(&c);
	mark_set_free(&s);
}

static void expect_set(uint32_t max, uint32_t added, bool sorted)
{
	expect_set_of(false, max, added, sorted);
	expect_set_of(true, max, added, sorted);
}

Test(mark_set, in_memory)
{
	expect_set(0, 0, false);
	expect_set(0, 1, false);
	expect_set(0, 5000, true);
	expect_set(0, 5000, false);
}

Test(mark_set, in_a_file)
{
	expect_set(1, 40, false);
	expect_set(16, 2000, true);
	expect_set(100, 5000, false);
	expect_set(4096, 15000, false);
}

/* Cursors of several inputs query their parts of the set in turn. */
static void expect_several(bool pages)
{
	struct mark_set s = { .pages = pages, .max = 64 };
	struct mark_cursor c[2] = { { .at = 0 }, { .at = 0 } };
	bool failed = false;

	for (uint64_t k = 0; k < 3000; k += 2) {
		mark_set_add(&s, k);
		mark_set_add(&s, UINT64_C(1) << 63 | k);
	}
	cr_assert(mark_set_finish(&s));
	for (uint64_t k = 0; k < 3000; k++) {
		cr_assert_eq(mark_cursor_has(&c[0], &s, k, &failed), k % 2 == 0);
		cr_assert_eq(mark_cursor_has(&c[1], &s, UINT64_C(1) << 63 | k, &failed), k % 2 == 0);
	}
	cr_expect_not(failed);
	mark_cursor_free(&c[0]);
	mark_cursor_free(&c[1]);
	mark_set_free(&s);
}

Test(mark_set, several_cursors)
{
	expect_several(false);
	expect_several(true);
}

/* Numbers so far apart that pages replace each other in their slots, some of them twice. */
Test(mark_set, pages_that_share_a_place)
{
	const uint64_t step = (uint64_t)MARK_PAGE * MARK_SET_OPEN;
	struct mark_set s = { .pages = true, .max = 20 * MARK_PAGE_WORDS };
	struct mark_cursor c = { .at = 0 };
	bool failed = false;

	for (uint64_t round = 0; round < 3; round++)
		for (uint64_t k = 0; k < 100; k++)
			mark_set_add(&s, (99 - k) * step + round * 70);
	cr_assert(mark_set_finish(&s));
	cr_expect_eq(s.total, 100);
	for (uint64_t k = 0; k < 100; k++)
		for (uint64_t i = 0; i < 200; i++)
			cr_assert_eq(mark_cursor_has(&c, &s, k * step + i, &failed), i <= 140 && i % 70 == 0);
	cr_expect_not(failed);
	mark_cursor_free(&c);
	mark_set_free(&s);
}

Test(mark_set, without_a_folder_for_the_file)
{
	struct mark_set s = { .max = 2, .temp_near = "/nowhere/at/all" };
	char why[256];

	for (uint64_t k = 0; k < 8; k++)
		mark_set_add(&s, k * 5);
	cr_expect_not(mark_set_finish(&s));
	cr_expect_eq(s.file.failed, SPILL_CREATE);
	spill_reason(&s.file, "the marks of records", why, sizeof why);
	cr_expect_not_null(strstr(why, "/nowhere/at"), "%s", why);
	mark_set_free(&s);
}
