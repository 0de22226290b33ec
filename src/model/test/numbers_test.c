#include "model/definitions.h"

#include <criterion/criterion.h>

#define KEYS 512U
#define OWNERS 3U

static uint32_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(*state >> 33);
}

/* Compared with a plain array, with keys that collide: puts, replacements and removals. */
Test(numbers, like_an_array)
{
	static uint64_t known[OWNERS][KEYS]; /* value + 1; 0: none */
	struct numbers t = { .slots = NULL };
	uint64_t random = 7;

	for (uint32_t i = 0; i < 200000; i++) {
		const uint16_t whose = (uint16_t)(next_random(&random) % OWNERS);
		const uint32_t k = next_random(&random) % KEYS, key = k % 2 != 0 ? k : k << 20;
		uint32_t value = 0;
		const bool there = numbers_get(&t, 99, whose, key, &value);
		cr_assert_eq(there ? value + UINT64_C(1) : 0, known[whose][k]);
		if (next_random(&random) % 3 == 0) {
			numbers_drop(&t, 99, whose, key);
			known[whose][k] = 0;
		} else {
			cr_assert(numbers_put(&t, 99, whose, key, i));
			known[whose][k] = i + UINT64_C(1);
		}
	}
	cr_assert_eq(t.forgotten, 0);
	numbers_free(&t);
}

/* The newest third always stays, memory does not grow, and dropped numbers are counted. */
Test(numbers, the_older_half_is_forgotten)
{
	const uint32_t n = 3 * NUMBERS_MAX;
	struct numbers t = { .slots = NULL };
	uint32_t there = 0, value;

	for (uint32_t i = 0; i < n; i++)
		cr_assert(numbers_put(&t, 5, 0, i * 2654435761U, i));
	cr_assert_leq(t.n, NUMBERS_MAX);
	for (uint32_t i = 0; i < n; i++) {
		const bool found = numbers_get(&t, 5, 0, i * 2654435761U, &value);
		cr_assert(found ? value == i : i + NUMBERS_MAX / 3 < n, "%u", i);
		there += found;
	}
	cr_assert_eq(there + t.forgotten, n);
	numbers_free(&t);
}

/* When eras run out, they start again, and old and new numbers remain distinct. */
Test(numbers, eras_run_out)
{
	struct numbers t = { .slots = NULL };
	uint32_t value;

	cr_assert(numbers_put(&t, 5, 0, 1, 10));
	t.era = UINT16_MAX - 1; /* as after some 268 million */
	for (uint32_t i = 0; i < 3 * NUMBERS_MAX; i++)
		cr_assert(numbers_put(&t, 5, 1, i, i));
	cr_assert_lt(t.era, UINT16_MAX);
	cr_assert_not(numbers_get(&t, 5, 0, 1, &value));
	cr_assert(numbers_get(&t, 5, 1, 3 * NUMBERS_MAX - 1, &value));
	cr_assert_eq(value, 3 * NUMBERS_MAX - 1);
	numbers_free(&t);
}
