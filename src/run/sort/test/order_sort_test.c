#include "run/sort/sorter.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

/* The expected order, written separately. */
static int by_all(const void *a, const void *b)
{
	const struct order_key *const x = a, *const y = b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->inv_dur != y->inv_dur)
		return x->inv_dur < y->inv_dur ? -1 : 1;
	return x->position < y->position ? -1 : x->position > y->position;
}

enum shape { RANDOM, SHORT, TRACKS, WIDE, FEW_KEYS, RISING, FALLING, SAWTOOTH, NEARLY, BLOCKS, SHAPES };

static struct order_key key_of(enum shape shape, uint32_t i, uint32_t n, uint64_t *random)
{
	const uint64_t r = next_random(random);
	struct order_key k = { .position = i };

	switch (shape) {
	case RANDOM:
		k.start = (r << 33 ^ next_random(random)) >> 1;
		break;
	case SHORT: /* few digits, and many that differ in the duration only */
		k = (struct order_key){ 1000 + r % 5000, r % 3, 7, i };
		break;
	case TRACKS:
		k = (struct order_key){ r % 100, 5, (uint32_t)next_random(random) % 300, i };
		break;
	case WIDE: /* the digits of start and track take more than 64 bits */
		k = (struct order_key){ r << 33 ^ next_random(random), 5, (uint32_t)r % 4, i };
		break;
	case FEW_KEYS:
		k = (struct order_key){ r % 3, UINT64_MAX - r / 3 % 3, (uint32_t)(r / 9 % 3), i };
		break;
	case RISING:
		k.start = i / 3;
		break;
	case FALLING:
		k.start = n - i;
		break;
	case SAWTOOTH:
		k.start = i % 7 + i / 50;
		break;
	case NEARLY:
		k.start = i + r % 10;
		break;
	default:
		k.start = i % (n / 5 + 1);
		break;
	}
	return k;
}

static void try(enum shape shape, uint32_t n, uint64_t *random)
{
	/* In an allocation of the stated size, so that sanitizers detect any further key. */
	struct order_key *const keys = malloc((n > 0 ? n : 1) * sizeof *keys),
	                        *const want = malloc((n + 1) * sizeof *want),
	                        *const scratch = malloc((n > 0 ? n : 1) * 2 * sizeof *scratch);

	for (uint32_t i = 0; i < n; i++)
		want[i] = keys[i] = key_of(shape, i, n, random);
	qsort(want, n, sizeof *want, by_all);
	order_sort(keys, n, scratch);
	for (uint32_t i = 0; i < n; i++)
		cr_assert_eq(by_all(&keys[i], &want[i]), 0, "shape %d, %u of %u", (int)shape, i, n);
	free(keys);
	free(want);
	free(scratch);
}

Test(order_sort, as_qsort)
{
	uint64_t random = 1;

	for (int shape = 0; shape < SHAPES; shape++) {
		for (uint32_t n = 0; n < 130; n++)
			try((enum shape)shape, n, &random);
		for (uint32_t n = 131; n < 3000; n += 97)
			try((enum shape)shape, n, &random);
		try((enum shape)shape, 100000, &random);
	}
}

/* ---- order_key_of ---- */

static struct order_key key(uint64_t ts, uint64_t dur, uint8_t phase, const struct track *track,
                            enum event_order order, bool is_signed)
{
	const struct event e = { .ts = ts, .dur = dur, .phase = phase, .track = track };

	return order_key_of(&e, (struct order_rule){ .order = order, .signed_time = is_signed });
}

static bool less(struct order_key a, struct order_key b)
{
	return order_key_less(&a, &b) && !order_key_less(&b, &a);
}

static bool equal(struct order_key a, struct order_key b)
{
	return !order_key_less(&a, &b) && !order_key_less(&b, &a);
}

Test(order_sort, keys)
{
	const struct track first = { .index = 0 }, second = { .index = 1 };
	const uint64_t before = (uint64_t)-5;

	/* start, then duration, which only spans have */
	cr_assert(less(key(1, 0, PHASE_SPAN, &first, ORDER_TIME, false),
	               key(2, 9, PHASE_SPAN, &first, ORDER_TIME, false)));
	cr_assert(less(key(1, 9, PHASE_SPAN, &first, ORDER_TIME, false),
	               key(1, 8, PHASE_SPAN, &first, ORDER_TIME, false)));
	cr_assert(less(key(1, 1, PHASE_SPAN, &first, ORDER_TIME, false),
	               key(1, 8, PHASE_FLOW_IN, &first, ORDER_TIME, false)));
	cr_assert(equal(key(1, 0, PHASE_SPAN, &first, ORDER_TIME, false),
	                key(1, UINT64_MAX, PHASE_FLOW_OUT, &second, ORDER_TIME, false)));
	cr_assert(less(key(1, UINT64_MAX, PHASE_SPAN, &first, ORDER_TIME, false),
	               key(1, 0, PHASE_INSTANT, NULL, ORDER_TIME, false)));
	/* signed times */
	cr_assert(less(key(5, 0, PHASE_SPAN, &first, ORDER_TIME, false),
	               key(before, 0, PHASE_SPAN, &first, ORDER_TIME, false)));
	cr_assert(less(key(before, 0, PHASE_SPAN, &first, ORDER_TIME, true),
	               key(5, 0, PHASE_SPAN, &first, ORDER_TIME, true)));
	/* tracks */
	cr_assert(less(key(9, 0, PHASE_SPAN, &first, ORDER_TRACK_TIME, false),
	               key(1, 0, PHASE_SPAN, &second, ORDER_TRACK_TIME, false)));
	cr_assert(less(key(9, 0, PHASE_STRUCTURE, NULL, ORDER_TRACK_TIME, false),
	               key(1, 0, PHASE_SPAN, &first, ORDER_TRACK_TIME, false)));
	cr_assert(less(key(1, 0, PHASE_SPAN, &first, ORDER_TRACK_TIME, false),
	               key(before, 0, PHASE_SPAN, &first, ORDER_TRACK_TIME, false)));
	/* file order */
	cr_assert(equal(key(9, 0, PHASE_SPAN, &second, ORDER_FILE, false),
	                key(1, 5, PHASE_SPAN, &first, ORDER_FILE, false)));
}
