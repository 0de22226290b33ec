#define _GNU_SOURCE /* mkdtemp */
#include "run/sort/sorter.h"

#include <pthread.h>

#include "output/test/output_test.h"
#include "run/sort/test/sorter_run_test.h"
#include "test/support/strength.h"

TestSuite(sorter, .init = folder_make, .fini = folder_remove);

static struct sorter sorter_for(struct order_rule order, uint64_t memory)
{
	const struct sorter_options options = { .order = order, .memory = memory, .temp_near = "out" };
	struct sorter s;

	sorter_init(&s, &options);
	return s;
}

/* Events of all kinds are sorted like qsort() does.  The output is valid after the sorter is freed. */
static struct sorter_counts try(struct event_samples samples, uint32_t n, struct order_rule rule,
                                uint64_t memory, uint32_t cap)
{
	struct event_samples again = samples;
	struct batches given = batches_of_samples(&samples, n);
	struct sorter s = sorter_for(rule, memory);

	sorter_add_samples(&s, &again, n);
	struct batches got = sorter_take_all(&s, cap);
	const struct sorter_counts counts = s.counts;
	cr_assert_str_eq(listing("."), "");
	sorter_free(&s);
	batches_must_be_sorted(&given, &got, rule);
	cr_assert_eq(counts.events, n);
	batches_free(&got);
	batches_free(&given);
	return counts;
}

static const struct order_rule rules[] = { { .order = ORDER_TIME, .signed_time = false },
	                                   { .order = ORDER_TIME, .signed_time = true },
	                                   { .order = ORDER_TRACK_TIME, .signed_time = false },
	                                   { .order = ORDER_TRACK_TIME, .signed_time = true },
	                                   { .order = ORDER_FILE, .signed_time = false } };
enum { RULES = sizeof rules / sizeof *rules };

Test(sorter, in_memory)
{
	struct event_samples s;

	for (size_t i = 0; i < RULES; i++) {
		event_samples_init(&s, i);
		const struct sorter_counts c = try(s, 5000, rules[i], SORTER_MEMORY, 100);
		cr_assert_eq(c.runs, 0);
		cr_assert_eq(c.sorts > 0, rules[i].order != ORDER_FILE);
	}
}

/* Little memory: many runs, merged in several passes. */
Test(sorter, many_runs)
{
	static const uint64_t memories[] = { 0, 1, 70001, 200000 };
	struct event_samples s;

	for (size_t i = 0; i < RULES; i++)
		for (size_t m = i % strength(2, 1, 1); m < 4; m += strength(2, 1, 1)) {
			event_samples_init(&s, 10 + i);
			s.time_range = i % 2 == 0 ? 40 : UINT64_C(1) << 40;
			const struct sorter_counts c =
			    try(s, 25000, rules[i], memories[m], m % 2 == 0 ? 1000 : 7);
			if (rules[i].order == ORDER_FILE)
				continue;
			cr_assert_gt(c.runs, 12, "%llu", (unsigned long long)c.runs);
			cr_assert(m > 1 || c.runs > 40, "%llu", (unsigned long long)c.runs);
			cr_assert_gt(c.merges, m > 1 ? 1 : 12);
		}
}

/* Events that are larger than a batch, than a buffer of the merge, or than all the memory. */
Test(sorter, large_events)
{
	struct event_samples s;

	for (size_t i = 0; i < RULES; i++) {
		event_samples_init(&s, 20 + i);
		s.large = true;
		(void)try(s, 3000, rules[i], i % 2 == 0 ? 0 : 1 << 20, 64);
		(void)try(s, 3000, rules[i], SORTER_MEMORY, 64);
	}
}

Test(sorter, one_event_at_a_time)
{
	struct event_samples s;

	event_samples_init(&s, 30);
	(void)try(s, 2000, rules[0], 0, 1);
	(void)try(s, 2000, rules[2], SORTER_MEMORY, 1);
}

Test(sorter, nothing)
{
	for (size_t i = 0; i < RULES; i++) {
		struct sorter s = sorter_for(rules[i], SORTER_MEMORY);
		struct batch empty = { .cap = 0 }, out;
		cr_assert(batch_init(&out, 1, false));
		cr_assert_eq(sorter_next(&s, &out), SORTER_NEEDS_INPUT);
		cr_assert(sorter_add(&s, &empty));
		cr_assert(sorter_end(&s));
		cr_assert_eq(sorter_next(&s, &out), SORTER_END);
		cr_assert_eq(sorter_next(&s, &out), SORTER_END);
		sorter_free(&s);
		batch_free(&out);
	}
	struct sorter s = sorter_for(rules[0], SORTER_MEMORY);
	sorter_free(&s);
}

/* A sorter that is freed before the end of its output. */
Test(sorter, given_up)
{
	struct event_samples samples;
	struct batch out;
	const int before = open_descriptors();

	for (int when = 0; when < 4; when++) {
		struct sorter s = sorter_for(rules[0], when % 2 == 0 ? 0 : SORTER_MEMORY);
		event_samples_init(&samples, 1);
		cr_assert(batch_init(&out, 10, false));
		sorter_add_samples(&s, &samples, 5000);
		cr_assert_eq(s.file.is_open, when % 2 == 0);
		cr_assert_str_eq(listing("."), "");
		if (when >= 2) {
			cr_assert(sorter_end(&s));
			cr_assert_eq(sorter_next(&s, &out), SORTER_MORE);
		}
		sorter_free(&s);
		batch_free(&out);
	}
	cr_assert_eq(open_descriptors(), before);
	cr_assert_str_eq(listing("."), "");
}

static void *release(void *batches)
{
	batches_free(batches);
	return NULL;
}

Test(sorter, batches_on_other_threads)
{
	struct event_samples samples;
	struct sorter s = sorter_for(rules[0], SORTER_MEMORY);
	pthread_t thread;

	event_samples_init(&samples, 1);
	sorter_add_samples(&s, &samples, 3000);
	struct batches got = sorter_take_all(&s, 10);
	cr_assert_eq(pthread_create(&thread, NULL, release, &got), 0);
	sorter_free(&s);
	cr_assert_eq(pthread_join(thread, NULL), 0);
}
