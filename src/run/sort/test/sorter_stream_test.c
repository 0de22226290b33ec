#define _GNU_SOURCE /* mkdtemp */
#include "run/sort/sorter.h"

#include <sys/resource.h>

#include "output/test/output_test.h"
#include "run/sort/test/sorter_run_test.h"

/* Cheap cases. */

TestSuite(sorter_stream, .init = folder_make, .fini = folder_remove);

static const struct class cls = { .name = SLICE_LIT("class") };
static const struct track tracks[2] = { { .index = 0 }, { .index = 1 } };

static struct sorter sorter_for(enum event_order order, uint64_t memory)
{
	const struct sorter_options options = { .order = { .order = order },
		                                .memory = memory,
		                                .temp_near = "out" };
	struct sorter s;

	sorter_init(&s, &options);
	return s;
}

/* A small event with some text of its own. */
static void put(struct batch *b, uint64_t ts, const char *text)
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

/* Takes all available events, which must be in order.  Returns their number. */
static uint64_t take(struct sorter *s, struct batch *out, uint64_t *last)
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

/* Sorts n events whose times are those of time_of(i). */
static void run(struct sorter *s, uint64_t n, uint64_t (*time_of)(uint64_t i))
{
	struct batch in, out;
	uint64_t last = 0;

	cr_assert(batch_init(&in, 1000, false) && batch_init(&out, 1000, false));
	for (uint64_t i = 0; i < n;) {
		while (in.n < in.cap && i < n)
			put(&in, time_of(i++), "twelve bytes");
		cr_assert(sorter_add(s, &in), "%s", sorter_says(s));
		batch_recycle(&in);
	}
	cr_assert(sorter_end(s), "%s", sorter_says(s));
	cr_assert_eq(take(s, &out, &last), n);
	batch_free(&in);
	batch_free(&out);
}

static uint64_t rising(uint64_t i)
{
	return i;
}

static uint64_t pairs(uint64_t i)
{
	return i ^ 1;
}

static uint64_t falling(uint64_t i)
{
	return 1000000 - i;
}

Test(sorter_stream, in_order_is_not_sorted)
{
	for (int memory = 0; memory < 2; memory++) {
		struct sorter s = sorter_for(ORDER_TIME, memory == 0 ? 0 : SORTER_MEMORY);
		run(&s, 50000, rising);
		cr_assert_eq(s.counts.sorts, 0);
		cr_assert_eq(s.counts.runs, memory == 0);
		cr_assert_eq(s.counts.merges, 0);
		sorter_free(&s);
	}
}

/* A sorted load that follows all earlier events extends the last run.  At least every second time the
 * memory does not end in the middle of a pair. */
Test(sorter_stream, near_order_is_not_merged)
{
	struct sorter s = sorter_for(ORDER_TIME, 0);

	run(&s, 40000, pairs);
	cr_assert_gt(s.counts.sorts, 20);
	cr_assert_leq(s.counts.runs, s.counts.sorts / 2 + 1);
	sorter_free(&s);
}

Test(sorter_stream, falling_order)
{
	struct sorter s = sorter_for(ORDER_TIME, 1 << 19);

	run(&s, 200000, falling);
	cr_assert_gt(s.counts.runs, 10);
	sorter_free(&s);
}
