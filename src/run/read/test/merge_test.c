#include <criterion/criterion.h>
#include <stdlib.h>

#include "run/read/merge.h"

/* A small generator, so that each run has the same sequences. */
static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

#define MOST 80

struct sequence {
	uint64_t keys[MOST];
	uint32_t n, at;
};

/* Returns the source with the least key, by comparing all. */
static uint32_t min(const struct sequence *s, uint32_t n)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < n; i++)
		if (s[i].at < s[i].n && (best == UINT32_MAX || s[i].keys[s[i].at] < s[best].keys[s[best].at]))
			best = i;
	return best;
}

static struct merge_entry present(const struct sequence *s, uint32_t i)
{
	return s[i].at < s[i].n ? (struct merge_entry){ s[i].keys[s[i].at], i } : merge_ended(i);
}

/* Sequences of `n` sources with few different keys, `step` apart, which often are the largest possible
 * key. */
static void try(uint32_t n, uint64_t step, uint64_t *random)
{
	struct sequence *const s = calloc(n, sizeof *s);
	struct merge_entry *const first = calloc(n, sizeof *first);
	struct merge m;

	cr_assert(s != NULL && first != NULL);
	for (uint32_t i = 0; i < n; i++) {
		s[i].n = (uint32_t)(next_random(random) % MOST);
		for (uint32_t k = 0; k < s[i].n; k++)
			s[i].keys[k] = (k > 0 ? s[i].keys[k - 1] : 0) + next_random(random) % 3 * step;
		if (s[i].n > 0 && i % 3 == 0)
			s[i].keys[s[i].n - 1] = UINT64_MAX;
		first[i] = present(s, i);
	}
	cr_assert(merge_init(&m, first, n));
	for (struct merge_entry e = m.first;; e = merge_next(&m, present(s, e.source))) {
		const uint32_t want = min(s, n);
		if (want == UINT32_MAX) {
			cr_expect_geq(e.source, MERGE_ENDED);
			break;
		}
		cr_assert_eq(e.source, want, "%u sources: %u instead of %u", n, e.source, want);
		cr_assert_eq(e.key, s[want].keys[s[want].at]);
		s[want].at++;
	}
	merge_free(&m);
	free(first);
	free(s);
}

Test(merge, as_looking_at_all)
{
	uint64_t random = 1;

	for (uint32_t n = 1; n < 40; n++)
		for (int i = 0; i < 4; i++)
			try(n, 1, &random);
	try(257, 1, &random);
}

/* Clocks of different hosts are years apart: a key and its source do not fit in a word. */
Test(merge, keys_far_apart)
{
	uint64_t random = 2;

	for (uint32_t n = 1; n < 40; n++)
		for (unsigned shift = 32; shift < 57; shift += 3)
			try(n, UINT64_C(1) << shift, &random);
	try(257, UINT64_C(1) << 55, &random);
}
