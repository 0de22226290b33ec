/* The order and the numbers of tracks. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "chrome/test/rig_test.h"
#include "model/test/lane_track_test.h"

/* Returns the sort index of the track of this name in the output; -1: none. */
static double sort_of(const struct chrome_rig *r, const char *name)
{
	double pid = -1, tid = -1, sort = -1;
	const cJSON *e;

	cJSON_ArrayForEach(e, r->events)
	{
		if (strcmp(chrome_text_of(e, "name"), "thread_name") == 0 &&
		    strcmp(chrome_text_of(chrome_args_of(e), "name"), name) == 0) {
			pid = chrome_number_of(e, "pid");
			tid = chrome_number_of(e, "tid");
		}
		if (strcmp(chrome_text_of(e, "name"), "thread_sort_index") == 0 &&
		    chrome_number_of(e, "pid") == pid && chrome_number_of(e, "tid") == tid)
			sort = chrome_number_of(chrome_args_of(e), "sort_index");
	}
	return sort;
}

/* Threads are listed by number, each followed by its lanes and its child tracks, in any order of arrival. */
Test(chrome_tracks, order_of_tracks)
{
	static const char *const order[] = { "process: load",
		                             "process: load (2)",
		                             "b",
		                             "b (2)",
		                             "b: states",
		                             "c",
		                             "a",
		                             "a (2)",
		                             "a (3)",
		                             "a: states",
		                             "a: states (2)",
		                             "a: marks",
		                             "a: marks: deep" };
	struct chrome_rig r;

	chrome_rig_begin(&r);
	const struct track *const a = chrome_rig_thread(&r, 7, "a"), *const b = chrome_rig_thread(&r, 1, "b");
	const struct track *const states = trace_child_track(&r.trace, a, SLICE_LIT("states"));
	trace_lane(&r.trace, a, 2);
	chrome_rig_render(&r);
	trace_lane(&r.trace, b, 1);
	trace_child_track(&r.trace, b, SLICE_LIT("states"));
	chrome_rig_thread(&r, 3, "c");
	trace_lane(&r.trace, trace_child_track(&r.trace, r.process, SLICE_LIT("load")), 1);
	const struct track *const marks = trace_child_track(&r.trace, a, SLICE_LIT("marks"));
	chrome_rig_render(&r);
	trace_child_track(&r.trace, marks, SLICE_LIT("deep"));
	trace_lane(&r.trace, states, 1);
	trace_lane(&r.trace, a, 1);
	chrome_rig_parse(&r);
	for (size_t i = 0; i + 1 < sizeof order / sizeof *order; i++)
		cr_assert(sort_of(&r, order[i]) >= 0 && sort_of(&r, order[i]) < sort_of(&r, order[i + 1]),
		          "%s (%g) before %s (%g)", order[i], sort_of(&r, order[i]), order[i + 1],
		          sort_of(&r, order[i + 1]));
	chrome_rig_finish(&r);
}

/* A child track has a tid that no thread can have, and no true tid. */
Test(chrome_tracks, numbers_of_tracks_below)
{
	struct chrome_rig r;

	chrome_rig_begin(&r);
	const struct track *const a = chrome_rig_thread(&r, 7, "a"), *const below = trace_child_track(
	                                                                 &r.trace, a, SLICE_LIT("states"));
	chrome_rig_event(&r, PHASE_SPAN, "running", below, 1000, 10);
	chrome_rig_event(&r, PHASE_SPAN, "up", trace_child_track(&r.trace, r.process, SLICE_LIT("life")),
	                 1000, 10);
	chrome_rig_event(&r, PHASE_SPAN, "late", trace_lane(&r.trace, below, 1), 1000, 10);
	chrome_rig_parse(&r);
	double seen[3];
	for (int i = 0; i < 3; i++) {
		const cJSON *const e = chrome_rig_next(&r);
		cr_assert_str_eq(chrome_text_of(e, "ph"), "X");
		cr_assert_eq(chrome_number_of(e, "pid"),
		             chrome_number_of(cJSON_GetArrayItem(r.events, 0), "pid"));
		seen[i] = chrome_number_of(e, "tid");
		cr_assert_gt(seen[i], 4194304);
		cr_assert_null(chrome_args_of(e));
	}
	cr_assert(seen[0] != seen[1] && seen[1] != seen[2] && seen[0] != seen[2]);
	chrome_rig_finish(&r);
}

/* Tracks without an id are sorted by the number in their name, before those with an id. */
Test(chrome_tracks, order_of_names)
{
	static const char *const names[] = { "worker 10", "worker 9", "x", "worker 2", "lane 3", "worker" };
	static const char *const order[] = { "lane 3",    "worker", "worker 2", "worker 9",
		                             "worker 10", "x",      "numbered" };
	struct chrome_rig r;

	chrome_rig_begin(&r);
	chrome_rig_thread(&r, 5, "numbered");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct track *const t = trace_add_thread(&r.trace, r.process, 0, slice_str(names[i]));
		cr_assert_not_null(t);
		t->has_id = false;
	}
	chrome_rig_parse(&r);
	for (size_t i = 0; i + 1 < sizeof order / sizeof *order; i++)
		cr_assert(sort_of(&r, order[i]) >= 0 && sort_of(&r, order[i]) < sort_of(&r, order[i + 1]),
		          "%s before %s", order[i], order[i + 1]);
	chrome_rig_finish(&r);
}

/* Many child tracks of one thread are still before the next thread. */
Test(chrome_tracks, many_tracks_below_one)
{
	struct chrome_rig r;
	char name[32];

	chrome_rig_begin(&r);
	const struct track *const a = chrome_rig_thread(&r, 7, "a");
	chrome_rig_thread(&r, 8, "b");
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof name, "%d", i);
		cr_assert_not_null(trace_child_track(&r.trace, a, slice_str(name)));
	}
	chrome_rig_parse(&r);
	cr_assert(sort_of(&r, "a: 0") < sort_of(&r, "a: 1") && sort_of(&r, "a: 1") < sort_of(&r, "a: 62"));
	cr_assert_lt(sort_of(&r, "a: 199"), sort_of(&r, "b"));
	chrome_rig_finish(&r);
}
