#include "model/event_traits.h"
#include "out/tracks.h"

#include <criterion/criterion.h>

static uint64_t assign(struct track_numbers *n, uint64_t scope, uint64_t own)
{
	uint64_t number = 0;

	cr_assert(track_numbers_assign(n, scope, &own, &number));
	return number;
}

Test(out_tracks, own_number_is_kept_once_a_scope)
{
	struct track_numbers n = { .generated = 0 };

	cr_assert_eq(assign(&n, 0, 17), 17);
	cr_assert_eq(assign(&n, 0, 17), TRACKS_LAST_PID + 1);
	cr_assert_eq(assign(&n, 1, 17), 17);
	cr_assert_eq(assign(&n, 0, 0), 0);
	track_numbers_free(&n);
}

Test(out_tracks, generated_numbers_leave_out_those_in_use)
{
	struct track_numbers n = { .generated = 0 };
	uint64_t number;

	assign(&n, 3, TRACKS_LAST_PID + 1);
	assign(&n, 3, TRACKS_LAST_PID + 3);
	cr_assert(track_numbers_assign(&n, 3, NULL, &number));
	cr_assert_eq(number, TRACKS_LAST_PID + 2);
	cr_assert_eq(track_numbers_generate(&n, 3), TRACKS_LAST_PID + 4);
	cr_assert_eq(track_numbers_generate(&n, 4), TRACKS_LAST_PID + 5, "one sequence for all scopes");
	track_numbers_free(&n);
}

Test(out_tracks, large_numbers_and_tags)
{
	struct track_numbers n = { .generated = 0 };

	cr_assert(track_numbers_put(&n, 0, UINT64_MAX, 7));
	cr_assert(track_numbers_put(&n, UINT64_MAX, 0, 8));
	cr_assert(track_numbers_put(&n, 1, 0, 9));
	cr_assert_eq(track_numbers_get(&n, 0, UINT64_MAX), 7);
	cr_assert_eq(track_numbers_get(&n, UINT64_MAX, 0), 8);
	cr_assert_eq(track_numbers_get(&n, 1, 0), 9);
	cr_assert_eq(track_numbers_get(&n, 0, (uint64_t)1 << 32), TABLE_NONE);
	track_numbers_free(&n);
}

Test(out_tracks, lanes_and_children_belong_to_a_thread)
{
	const struct track process = { .kind = TRACK_PROCESS, .has_id = true };
	const struct track thread = { .kind = TRACK_THREAD, .has_id = true, .parent = &process };
	const struct track child = {
		.kind = TRACK_THREAD, .is_child = true, .has_id = true, .parent = &thread
	};
	const struct track lane = { .kind = TRACK_THREAD, .lane = 2, .has_id = true, .parent = &child };
	const struct track below_lane = { .kind = TRACK_THREAD, .is_child = true, .parent = &lane };
	const struct track lane_of_lane = { .kind = TRACK_THREAD, .lane = 1, .parent = &lane };
	const struct track of_process = { .kind = TRACK_THREAD, .is_child = true, .parent = &process };

	cr_assert_eq(track_thread(&lane), &thread);
	cr_assert_eq(track_thread(&thread), &thread);
	cr_assert_eq(track_thread(&of_process), &process);
	cr_assert_eq(track_without_lane(&lane_of_lane), &child);
	cr_assert_eq(track_thread_or_null(&below_lane), &thread);
	cr_assert_eq(track_thread_or_null(&lane), &thread);
	cr_assert_null(track_thread_or_null(&of_process));
	cr_assert(track_has_own_tid(&thread));
	cr_assert_not(track_has_own_tid(&child));
	cr_assert_not(track_has_own_tid(&lane));
	cr_assert_not(track_has_own_tid(&process));
}
