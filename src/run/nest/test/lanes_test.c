#include "run/nest/lanes.h"

#include <criterion/criterion.h>

#include "model/trace_engine.h"

Test(lanes, overlaps_move)
{
	struct trace trace;
	struct lanes lanes;
	struct ledger ledger = { 0 };

	trace_init(&trace);
	lanes_init(&lanes, false);
	const struct track *p = trace_add_process(&trace, SLICE_LIT("p"));
	const struct track *a = trace_add_thread(&trace, p, 1, SLICE_LIT("a"));
	struct event events[] = {
		{ .ts = 0, .dur = 10, .phase = PHASE_SPAN, .track = a },
		{ .ts = 5, .dur = 10, .phase = PHASE_SPAN, .track = a },
		{ .ts = 5, .dur = 10, .phase = PHASE_INSTANT, .track = a },
		{ .ts = 15, .dur = 1, .phase = PHASE_SPAN, .track = a },
		{ .ts = 6, .dur = 11, .phase = PHASE_SPAN, .track = a },
		{ .phase = PHASE_STRUCTURE },
		{ .ts = 7, .dur = 20, .phase = PHASE_SPAN, .flags = EVENT_ASYNC, .track = a },
	};
	struct batch b = { .events = events, .n = 7 };
	cr_assert(lanes_batch(&lanes, &b, &ledger));
	cr_assert(events[0].track == a && events[2].track == a && events[3].track == a);
	cr_assert(events[1].track != a && events[1].track->lane == 1 && events[1].track->parent == a);
	cr_assert(events[4].track->lane == 2);
	cr_assert(events[6].track == a);
	cr_assert_eq(lanes.ntracks, 2);
	cr_assert_eq(ledger.n, 0);

	/* The next batch: the lane is known. */
	struct event more[] = { { .ts = 7, .dur = 20, .phase = PHASE_SPAN, .track = a },
		                { .ts = 30, .dur = 2, .phase = PHASE_SPAN, .track = a } };
	b = (struct batch){ .events = more, .n = 2 };
	cr_assert(lanes_batch(&lanes, &b, &ledger));
	cr_assert(more[0].track->lane == 3 && more[1].track == a);
	cr_assert_eq(lanes.ntracks, 3);
	lanes_free(&lanes);
	trace_free(&trace);
}

Test(lanes, what_is_left_is_counted)
{
	struct trace trace;
	struct lanes lanes;
	struct ledger ledger = { 0 };
	struct event events[NEST_LANES + 3];

	trace_init(&trace);
	lanes_init(&lanes, false);
	const struct track *a = trace_add_thread(&trace, NULL, 1, SLICE_LIT("a"));
	for (uint64_t i = 0; i < NEST_LANES + 3; i++)
		events[i] =
		    (struct event){ .ts = i, .dur = 500, .phase = PHASE_SPAN, .track = a, .offset = 40 * i };
	struct batch b = { .events = events, .n = NEST_LANES + 3 };
	cr_assert(lanes_batch(&lanes, &b, &ledger));
	cr_assert_eq(ledger.n, 1);
	cr_assert_str_eq(ledger.rows[0].loss->id, "lanes/overlap-left");
	cr_assert_eq(ledger.rows[0].count, 3);
	cr_assert_eq(ledger.rows[0].first_offset, 40 * NEST_LANES);
	cr_assert_eq(events[NEST_LANES + 2].track->lane, NEST_LANES - 1);
	cr_assert_eq(lanes.ntracks, NEST_LANES - 1);
	lanes_free(&lanes);
	trace_free(&trace);
}

Test(lanes, off_counts_overlaps)
{
	struct trace trace;
	struct lanes lanes;
	struct ledger ledger = { 0 };

	trace_init(&trace);
	lanes_init(&lanes, true);
	const struct track *a = trace_add_thread(&trace, NULL, 1, SLICE_LIT("a"));
	struct event events[] = {
		{ .ts = 0, .dur = 10, .phase = PHASE_SPAN, .track = a },
		{ .ts = 5, .dur = 10, .phase = PHASE_SPAN, .track = a, .offset = 7 },
		{ .ts = 6, .dur = 2, .phase = PHASE_SPAN, .track = a },
		{ .ts = 6, .dur = 20, .phase = PHASE_SPAN, .track = a },
	};
	struct batch b = { .events = events, .n = 4 };
	cr_assert(lanes_batch(&lanes, &b, &ledger));
	for (int i = 0; i < 4; i++)
		cr_assert(events[i].track == a);
	cr_assert_eq(ledger.n, 1);
	cr_assert_str_eq(ledger.rows[0].loss->id, "lanes/off");
	cr_assert(ledger.rows[0].count == 2 && ledger.rows[0].first_offset == 7);
	lanes_free(&lanes);
	trace_free(&trace);
}
