#define _GNU_SOURCE /* mkdtemp */
#include <criterion/criterion.h>

#include "output/test/output_test.h"
#include "run/sort/test/sorter_run_test.h"
#include "test/support/strength.h"

/* Orders of real traces, and others, compared with a plain stable sort: with all events in memory, and
 * with so little memory that most are spilled. */

TestSuite(sorter_orders, .init = folder_make, .fini = folder_remove);

/* Sets the times of events [first, first + b->n) of n. */
typedef void pattern(struct event_samples *s, struct batch *b, uint64_t first, uint64_t n);

#define STREAMS 7U
#define WINDOW 100U

static void sorted(struct event_samples *s, struct batch *b, uint64_t first, uint64_t n)
{
	for (uint32_t i = 0; i < b->n; i++)
		b->events[i].ts = (first + i) / 3;
}

static void nearly_sorted(struct event_samples *s, struct batch *b, uint64_t first, uint64_t n)
{
	for (uint32_t i = 0; i < b->n; i++)
		b->events[i].ts = first + i + event_samples_random(s) % WINDOW;
}

static void reversed(struct event_samples *s, struct batch *b, uint64_t first, uint64_t n)
{
	for (uint32_t i = 0; i < b->n; i++)
		b->events[i].ts = (n - first - i) / 2;
}

/* Streams one after the other, each in order. */
static void streams(struct event_samples *s, struct batch *b, uint64_t first, uint64_t n)
{
	for (uint32_t i = 0; i < b->n; i++)
		b->events[i].ts = (first + i) % (n / STREAMS + 1);
}

/* Streams that take turns, each with its own clock. */
static void interleaved(struct event_samples *s, struct batch *b, uint64_t first, uint64_t n)
{
	for (uint32_t i = 0; i < b->n; i++)
		b->events[i].ts = first + i + (first + i) % STREAMS * n / STREAMS;
}

/* Spans in order of their ends; some contain all earlier ones. */
static void long_spans(struct event_samples *s, struct batch *b, uint64_t first, uint64_t n)
{
	for (uint32_t i = 0; i < b->n; i++) {
		struct event *const e = &b->events[i];
		const uint64_t end = first + i, length = event_samples_random(s) % 500 == 0 ? end : end % 5;
		e->phase = PHASE_SPAN;
		e->ts = end - length;
		e->dur = length;
	}
	if (b->n > 0 && first + b->n == n) { /* the root */
		b->events[b->n - 1].ts = 0;
		b->events[b->n - 1].dur = n;
	}
}

static void all_equal(struct event_samples *s, struct batch *b, uint64_t first, uint64_t n)
{
	for (uint32_t i = 0; i < b->n; i++) {
		b->events[i].ts = UINT64_MAX;
		b->events[i].phase = PHASE_INSTANT;
	}
}

static void at_random(struct event_samples *s, struct batch *b, uint64_t first, uint64_t n)
{
	for (uint32_t i = 0; i < b->n; i++)
		b->events[i].ts = event_samples_random(s) % (n / 2 + 1);
}

static pattern *const patterns[] = { sorted,      nearly_sorted, reversed,  streams,
	                             interleaved, long_spans,    all_equal, at_random };
enum { PATTERNS = sizeof patterns / sizeof *patterns };

static struct batches make(struct event_samples *s, pattern *set, uint32_t n)
{
	struct batches all = { .n = 0 };

	for (uint32_t done = 0, size; done < n; done += size) {
		size = 1 + (uint32_t)(event_samples_random(s) % 700);
		size = size < n - done ? size : n - done;
		struct batch *const b = batches_add(&all, size);
		event_samples_fill(s, b, size);
		set(s, b, done, n);
	}
	return all;
}

static void try(size_t which, struct order_rule rule, uint64_t memory, uint32_t n)
{
	struct event_samples samples;
	const struct sorter_options options = { .order = rule, .memory = memory, .temp_near = "out" };
	struct sorter s;

	event_samples_init(&samples, which + memory);
	struct batches given = make(&samples, patterns[which], n);
	sorter_init(&s, &options);
	for (uint32_t i = 0; i < given.n; i++)
		cr_assert(sorter_add(&s, &given.list[i]), "%s", sorter_says(&s));
	struct batches got = sorter_take_all(&s, 1 + (uint32_t)(event_samples_random(&samples) % 1000));
	cr_expect_eq(s.counts.spilled > 0, memory < SORTER_MEMORY, "pattern %zu", which);
	sorter_free(&s);
	batches_must_be_sorted(&given, &got, rule);
	batches_free(&got);
	batches_free(&given);
}

Test(sorter_orders, as_a_stable_sort_has_them)
{
	static const struct order_rule rules[] = { { .order = ORDER_TIME },
		                                   { .order = ORDER_TIME, .signed_time = true },
		                                   { .order = ORDER_TRACK_TIME } };
	static const uint64_t memories[] = { SORTER_MEMORY_MIN, 300000, SORTER_MEMORY };

	for (size_t p = 0; p < PATTERNS; p++)
		for (size_t r = 0; r < 3; r++)
			for (size_t m = 0; m < 3; m++)
				try(p, rules[r], memories[m], (uint32_t)strength(8000, 20000, 100000));
}

Test(sorter_orders, the_default_memory_has_bounds)
{
	cr_expect_eq(sorter_memory(12345), 12345);
	cr_expect_geq(sorter_memory(0), SORTER_MEMORY);
	cr_expect_leq(sorter_memory(0), SORTER_MEMORY_SHARE);
}
