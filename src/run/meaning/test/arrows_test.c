#include "run/meaning/interpret.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static const struct track track_a = { .index = 0 }, track_b = { .index = 1 };
static const struct class class_out = { .index = 0 }, class_in = { .index = 1 };

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

struct end {
	struct slice name;
	uint64_t key, ts;
	bool out;
};

static void add(struct arrows *a, const struct end *e, uint64_t offset)
{
	const struct event at = { .ts = e->ts,
		                  .offset = offset,
		                  .track = e->out ? &track_a : &track_b,
		                  .cls = e->out ? &class_out : &class_in };

	if (e->out)
		arrows_out(a, e->name, e->key, &at);
	else
		arrows_in(a, e->name, e->key, &at);
	cr_assert(!a->failed);
}

/* Returns the index of the in at which the out at index i arrives, by comparing all; n: there is none. */
static size_t arrives_at(const struct end *ends, size_t n, size_t i)
{
	size_t best = n;

	for (size_t k = 0; k < n; k++)
		if (!ends[k].out && slice_equal(ends[k].name, ends[i].name) && ends[k].key == ends[i].key &&
		    ends[k].ts >= ends[i].ts && (best == n || ends[k].ts < ends[best].ts))
			best = k;
	return best;
}

/* Takes all arrows and stores for each out, by its offset, where it arrives.  Returns their number. */
static size_t take_all(struct arrows *a, struct batch *b, bool end, size_t *to)
{
	size_t arrows = 0;
	bool more;

	do {
		uint64_t id = 0;
		b->n = 0;
		more = arrows_give(a, b, end);
		cr_assert(b->n % 2 == 0 && b->n <= b->cap);
		for (uint32_t i = 0; i < b->n; i += 2, arrows++) {
			const struct event *const s = &b->events[i], *const f = s + 1;
			cr_assert(s->phase == PHASE_FLOW_OUT && f->phase == PHASE_FLOW_IN);
			cr_assert(s->track == &track_a && f->track == &track_b && s->cls == &class_out &&
			          f->cls == &class_in);
			cr_assert(slice_equal(s->name, f->name) && s->nfields == 0 && f->nfields == 0);
			cr_assert(s->dur > id && f->dur == s->dur && s->dur <= a->id);
			id = s->dur;
			cr_assert_leq(s->ts, f->ts);
			to[s->offset] = f->offset;
		}
	} while (more);
	return arrows;
}

/* times: range of times; in_order: of the steps between ends. */
static void check_random(uint64_t seed, size_t n, uint64_t keys, uint64_t times, bool in_order)
{
	struct end ends[300];
	size_t to[300], expected = 0;
	struct arrows a;
	struct batch b;

	arrows_init(&a);
	cr_assert(batch_init(&b, 2 + (uint32_t)seed % 9, seed % 2 == 0));
	for (size_t i = 0; i < n; i++) {
		ends[i] = (struct end){ next_random(&seed) % 2 ? SLICE_LIT("wake") : SLICE_LIT("send"),
			                next_random(&seed) % keys, next_random(&seed) % times,
			                next_random(&seed) % 2 };
		if (in_order)
			ends[i].ts = (i > 0 ? ends[i - 1].ts : 0) + ends[i].ts / 2;
		else if (next_random(&seed) % 16 == 0)
			ends[i].ts = UINT64_MAX - ends[i].ts;
		to[i] = n;
		add(&a, &ends[i], i);
	}
	const size_t given = take_all(&a, &b, true, to);
	for (size_t i = 0; i < n; i++) {
		const size_t at = ends[i].out ? arrives_at(ends, n, i) : n;
		cr_assert_eq(to[i], at, "seed %zu: end %zu arrives at %zu, not %zu", (size_t)seed, i, to[i],
		             at);
		expected += at < n;
	}
	cr_assert_eq(given, expected);
	cr_assert_eq(a.dropped, 0);
	arrows_free(&a);
	batch_free(&b);
}

Test(arrows, equal_to_brute_force)
{
	for (uint64_t seed = 0; seed < 400; seed++)
		check_random(seed, seed % 300, 1 + seed % 40, 1 + seed * 7 % 500, false);
}

/* Includes runs of equal times. */
Test(arrows, in_order_of_time_equal_to_brute_force)
{
	for (uint64_t seed = 0; seed < 800; seed++)
		check_random(seed, seed % 300, 1 + seed % 40, 2 + seed % 5, true);
}

Test(arrows, an_in_of_the_same_time_is_reached_and_one_before_is_not)
{
	const struct end ends[] = { { SLICE_LIT("w"), 7, 9, false }, { SLICE_LIT("w"), 7, 10, false },
		                    { SLICE_LIT("w"), 7, 10, true }, { SLICE_LIT("w"), 7, 3, true },
		                    { SLICE_LIT("w"), 8, 1, true },  { SLICE_LIT("w"), 7, 11, true } };
	size_t to[6] = { 9, 9, 9, 9, 9, 9 };
	struct arrows a;
	struct batch b;

	arrows_init(&a);
	cr_assert(batch_init(&b, 2, false));
	for (size_t i = 0; i < 6; i++)
		add(&a, &ends[i], i);
	cr_assert_eq(take_all(&a, &b, true, to), 2);
	cr_assert(to[2] == 1 && to[3] == 0 && to[4] == 9 && to[5] == 9);
	cr_assert_eq(take_all(&a, &b, true, to), 0);
	arrows_free(&a);
	batch_free(&b);
}

#define BLOCK 1000U
#define BLOCKS 1200U

/* Threads write in blocks, the waking thread after the woken one (or every other time before it).  With
 * more ends than the window holds, all arrows are found. */
Test(arrows, blocks_of_threads_longer_than_the_window)
{
	static size_t to[BLOCK * BLOCKS];
	struct arrows a;
	struct batch b;
	size_t given = 0, n = 0;

	arrows_init(&a);
	cr_assert(batch_init(&b, 500, false));
	for (unsigned block = 0; block < BLOCKS; block += 2) {
		for (unsigned k = 0; k < 2 * BLOCK; k++, n++) {
			const bool out = (k >= BLOCK) == (block % 4 == 0);
			const uint64_t i = k % BLOCK;
			const struct end e = { SLICE_LIT("wake"), i % 100,
				               (uint64_t)block * 1000000 + i * 10 + (out ? 0U : 5U), out };
			to[n] = SIZE_MAX;
			add(&a, &e, n);
		}
		given += take_all(&a, &b, false, to);
		cr_assert_leq(a.n, ARROWS_WINDOW + 2 * BLOCK);
	}
	cr_assert_gt(given, 0);
	given += take_all(&a, &b, true, to);
	cr_assert_eq(given, BLOCK * BLOCKS / 2);
	cr_assert_eq(a.dropped, 0);
	for (size_t i = 0; i < n; i++) {
		const bool out = (i % (2 * BLOCK) >= BLOCK) == (i / BLOCK / 2 * 2 % 4 == 0);
		cr_assert_eq(to[i], !out ? SIZE_MAX : i % (2 * BLOCK) >= BLOCK ? i - BLOCK : i + BLOCK);
	}
	arrows_free(&a);
	batch_free(&b);
}

/* Wakes without a run are counted when they leave the window, and apart from these at the end. */
Test(arrows, what_leaves_the_window_is_counted)
{
	static size_t to[4 * ARROWS_WINDOW];
	struct arrows a;
	struct batch b;
	const size_t n = ARROWS_WINDOW + 10;

	arrows_init(&a);
	cr_assert(batch_init(&b, 64, false));
	for (size_t i = 0; i < n; i++)
		add(&a, &(struct end){ SLICE_LIT("wake"), i, i, true }, i);
	cr_assert_eq(take_all(&a, &b, false, to), 0);
	cr_assert_eq(a.n, ARROWS_WINDOW / 2);
	cr_assert_eq(a.dropped, n - ARROWS_WINDOW / 2);
	add(&a, &(struct end){ SLICE_LIT("wake"), n - 1, n, false }, n);
	add(&a, &(struct end){ SLICE_LIT("wake"), 0, n, false }, n + 1);
	cr_assert_eq(take_all(&a, &b, true, to), 1);
	cr_assert_eq(to[n - 1], n);
	cr_assert_eq(a.dropped, n - ARROWS_WINDOW / 2);
	cr_assert_eq(a.endless, ARROWS_WINDOW / 2 - 1);
	arrows_free(&a);
	batch_free(&b);
}

/* Ends may arrive while arrows are given out; memory does not grow if no arrow is fetched. */
Test(arrows, ends_that_come_meanwhile)
{
	static size_t to[4 * ARROWS_WINDOW];
	struct arrows a;
	struct batch b;
	size_t n = 0, given;

	arrows_init(&a);
	cr_assert(batch_init(&b, 4, false));
	for (; n < ARROWS_WINDOW; n++)
		add(&a, &(struct end){ SLICE_LIT("wake"), n / 2, n, n % 2 == 0 }, n);
	cr_assert(arrows_give(&a, &b, false));
	given = b.n / 2;
	for (; n < ARROWS_WINDOW + 5000; n++)
		add(&a, &(struct end){ SLICE_LIT("wake"), n / 2, n, n % 2 == 0 }, n);
	given += take_all(&a, &b, false, to);
	cr_assert_eq(a.n, ARROWS_WINDOW / 2 + 5000);
	given += take_all(&a, &b, true, to);
	cr_assert_eq(given, n / 2);
	for (size_t i = 0; i < 5 * (size_t)ARROWS_WINDOW; i++)
		add(&a, &(struct end){ SLICE_LIT("wake"), i, i, true }, 0);
	cr_assert_eq(a.n, 2 * ARROWS_WINDOW);
	cr_assert_eq(a.dropped, 3 * (size_t)ARROWS_WINDOW);
	arrows_free(&a);
	batch_free(&b);
}
