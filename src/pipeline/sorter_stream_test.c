#define _GNU_SOURCE /* mkdtemp */
#include "pipeline/sorter.h"

#include <sys/resource.h>

#include "output/output_test.h"
#include "pipeline/sorter_run_test.h"

/* What is cheap, what comes out early, how much memory it takes. */

TestSuite(sorter_stream, .init = folder_make, .fini = folder_remove);

static const struct class cls = { .name = SLICE_LIT("class") };
static const struct track tracks[2] = { { .index = 0 }, { .index = 1 } };

static struct sorter
sorter_for(enum event_order order, uint64_t memory)
{
	const struct sorter_options options = { .order = { .order = order },
		                                .memory = memory,
		                                .beside = "out" };
	struct sorter s;

	sorter_init(&s, &options);
	return s;
}

/* A small event with some text of its own. */
static void
put(struct batch *b, uint64_t ts, const char *text)
{
	*batch_fields(b, 1) = (struct field){ { "text", 4, SLICE_STAYS }, value_string(slice_str(text)) };
	b->events[b->n++] = (struct event){ .ts = ts,
		                            .cls = &cls,
		                            .track = &tracks[ts % 2],
		                            .phase = PHASE_SPAN,
		                            .offset = ts,
		                            .first_field = b->nfields++,
		                            .nfields = 1 };
}

/* Takes what is there; all of it must be in order.  The number of events. */
static uint64_t
take(struct sorter *s, struct batch *out, uint64_t *last)
{
	uint64_t n = 0;
	enum sorter_status status;

	while ((status = sorter_next(s, out)) == SORTER_MORE) {
		for (uint32_t i = 0; i < out->n; i++) {
			cr_assert_geq(out->events[i].ts, *last);
			*last = out->events[i].ts;
		}
		n += out->n;
		batch_recycle(out);
	}
	cr_assert_neq(status, SORTER_NO_RESULT, "%s", sorter_says(s));
	return n;
}

/* Adds n events whose times are those of time_of(i). */
static uint64_t
run(struct sorter *s, uint64_t n, uint64_t (*time_of)(uint64_t i), uint64_t window)
{
	struct batch in, out;
	uint64_t taken = 0, last = 0;

	cr_assert(batch_init(&in, 1000, false) && batch_init(&out, 1000, false));
	for (uint64_t i = 0; i < n;) {
		while (in.n < in.cap && i < n)
			put(&in, time_of(i++), "twelve bytes");
		cr_assert(sorter_add(s, &in), "%s", sorter_says(s));
		batch_recycle(&in);
		if (window > 0) {
			sorter_set_floor(s, i > window ? i - window : 0);
			taken += take(s, &out, &last);
		}
	}
	cr_assert(sorter_end(s), "%s", sorter_says(s));
	const uint64_t early = taken;
	cr_assert_eq(taken += take(s, &out, &last), n);
	batch_free(&in);
	batch_free(&out);
	return early;
}

static uint64_t
rising(uint64_t i)
{
	return i;
}

/* Some thousand events are out of order. */
static uint64_t
shuffled(uint64_t i)
{
	return i / 4096 * 4096 + i * 1531 % 4096;
}

static uint64_t
pairs(uint64_t i)
{
	return i ^ 1;
}

static uint64_t
falling(uint64_t i)
{
	return 1000000 - i;
}

Test(sorter_stream, in_order_is_not_sorted)
{
	for (int memory = 0; memory < 2; memory++) {
		struct sorter s = sorter_for(ORDER_TIME, memory == 0 ? 0 : SORTER_MEMORY);
		cr_assert_eq(run(&s, 50000, rising, 0), 0);
		cr_assert_eq(s.counts.sorts, 0);
		cr_assert_eq(s.counts.runs, memory == 0);
		cr_assert_eq(s.counts.merges, 0);
		sorter_free(&s);
	}
}

/* What is sorted and comes behind all before it makes the run before it longer.  At least every second time
 * the memory is not full in the middle of a pair. */
Test(sorter_stream, near_order_is_not_merged)
{
	struct sorter s = sorter_for(ORDER_TIME, 0);

	(void)run(&s, 40000, pairs, 0);
	cr_assert_gt(s.counts.sorts, 20);
	cr_assert_leq(s.counts.runs, s.counts.sorts / 2 + 1);
	sorter_free(&s);
}

Test(sorter_stream, falling_order)
{
	struct sorter s = sorter_for(ORDER_TIME, 1 << 20);

	(void)run(&s, 200000, falling, 0);
	cr_assert_gt(s.counts.runs, 10);
	sorter_free(&s);
}

/* With a floor that follows, everything comes out early, and nothing is written. */
Test(sorter_stream, floor)
{
	struct sorter s = sorter_for(ORDER_TIME, 1 << 20);
	cr_assert_gt(run(&s, 300000, rising, 1), 290000);
	cr_assert_eq(s.counts.sorts, 0);
	cr_assert_eq(s.counts.runs, 0);
	sorter_free(&s);

	s = sorter_for(ORDER_TIME, 2 << 20);
	cr_assert_gt(run(&s, 300000, shuffled, 4096), 280000);
	cr_assert_eq(s.counts.runs, 0);
	cr_assert_eq(s.counts.late, 0);
	sorter_free(&s);
}

/* A window that is larger than the memory is spilled, and is right all the same. */
Test(sorter_stream, floor_too_far_back)
{
	struct sorter s = sorter_for(ORDER_TIME, 1 << 20);

	(void)run(&s, 100000, shuffled, 50000);
	cr_assert_gt(s.counts.runs, 0);
	cr_assert_eq(s.counts.late, 0);
	sorter_free(&s);
}

/* Once events were spilled, later ones in memory do not come out before them. */
Test(sorter_stream, floor_after_spilling)
{
	struct sorter s = sorter_for(ORDER_TIME, 0);
	struct batch in, out;
	uint64_t last = 0;

	cr_assert(batch_init(&in, 100, false) && batch_init(&out, 100, false));
	for (uint64_t i = 0; i < 10000;) {
		while (in.n < in.cap)
			put(&in, i++, "text");
		cr_assert(sorter_add(&s, &in));
		batch_recycle(&in);
		sorter_set_floor(&s, i < 5000 ? 0 : i);
		cr_assert_eq(take(&s, &out, &last), 0);
	}
	cr_assert_eq(s.counts.runs, 1);
	cr_assert(sorter_end(&s));
	cr_assert_eq(take(&s, &out, &last), 10000);
	sorter_free(&s);
	batch_free(&in);
	batch_free(&out);
}

Test(sorter_stream, file_order_streams)
{
	struct sorter s = sorter_for(ORDER_FILE, 1 << 20);
	struct batch in, out;
	uint64_t n = 0;

	cr_assert(batch_init(&in, 100, false) && batch_init(&out, 100, false));
	for (uint64_t i = 0; i < 100000;) {
		while (in.n < in.cap)
			put(&in, i++ * 7919 % 10007, "text");
		cr_assert(sorter_add(&s, &in));
		batch_recycle(&in);
		for (; sorter_next(&s, &out) == SORTER_MORE; batch_recycle(&out))
			for (uint32_t k = 0; k < out.n; k++, n++)
				cr_assert_eq(out.events[k].ts, n * 7919 % 10007);
	}
	cr_assert_gt(n, 90000);
	cr_assert_eq(s.counts.runs + s.counts.sorts + s.counts.late, 0);
	sorter_free(&s);
	batch_free(&in);
	batch_free(&out);
}

/* Whoever breaks the promise gets all events all the same; those that come out too late are counted. */
Test(sorter_stream, late)
{
	struct sorter s = sorter_for(ORDER_TIME, 0);
	struct batch in, out;
	uint64_t taken = 0;
	uint32_t n = 0;

	cr_assert(batch_init(&in, 1000, false) && batch_init(&out, 1000, false));
	while (taken == 0) {
		put(&in, 100 + n++, "text");
		cr_assert(sorter_add(&s, &in));
		batch_recycle(&in);
		sorter_set_floor(&s, 100 + n);
		sorter_set_floor(&s, 3);
		if (sorter_next(&s, &out) == SORTER_MORE)
			taken = out.n;
		batch_recycle(&out);
	}
	put(&in, 50, "late");
	put(&in, 100 + n + 1, "not late");
	put(&in, 51, "late");
	cr_assert(sorter_add(&s, &in));
	cr_assert_eq(s.counts.late, 2);
	cr_assert(sorter_end(&s));
	cr_assert_eq(sorter_next(&s, &out), SORTER_MORE);
	cr_assert_eq(out.n, n - taken + 3);
	cr_assert_eq(out.events[0].ts, 50);
	cr_assert_eq(out.events[1].ts, 51);
	cr_assert_eq(out.events[out.n - 1].ts, 100 + n + 1);
	sorter_free(&s);
	batch_free(&in);
	batch_free(&out);
}

/* Events may be added while some are still coming out, though that makes others wait. */
Test(sorter_stream, add_between)
{
	struct sorter s = sorter_for(ORDER_TIME, 0);
	struct batch in, out;
	uint64_t n = 0, taken = 0, last = 0;

	cr_assert(batch_init(&in, 5, false) && batch_init(&out, 3, false));
	for (int i = 0; i < 40000; i++) {
		while (in.n < in.cap) {
			put(&in, n + (n * 7 % 3), "some text");
			n++;
		}
		cr_assert(sorter_add(&s, &in));
		batch_recycle(&in);
		sorter_set_floor(&s, n);
		if (sorter_next(&s, &out) == SORTER_MORE)
			for (uint32_t k = 0; k < out.n; k++, taken++) {
				cr_assert_geq(out.events[k].ts, last);
				last = out.events[k].ts;
				cr_assert(slice_is(value_text(&out.fields[out.events[k].first_field].value),
				                   "some text"));
			}
		batch_recycle(&out);
	}
	cr_assert(sorter_end(&s));
	cr_assert_eq(s.counts.late, 0);
	cr_assert_gt(taken, 0);
	cr_assert_eq(taken + take(&s, &out, &last), n);
	sorter_free(&s);
	batch_free(&in);
	batch_free(&out);
}
