#include "out/kind.h"

#include <criterion/criterion.h>

Test(out_times, limits)
{
	static const struct {
		struct event e;
		bool signed_time;
		struct out_times want;
	} rows[] = {
		{ { .ts = 5, .dur = 3, .phase = PHASE_SPAN }, true, { 5, 3, false, false } },
		{ { .ts = 5, .dur = 3, .phase = PHASE_FLOW_IN }, true, { 5, 0, false, false } },
		{ { .ts = 5, .dur = UINT64_MAX, .phase = PHASE_INSTANT }, false, { 5, 0, false, false } },
		{ { .ts = UINT64_MAX, .dur = 0, .phase = PHASE_SPAN },
		  false,
		  { UINT64_MAX, 0, false, false } },
		{ { .ts = UINT64_MAX, .dur = 1, .phase = PHASE_SPAN },
		  false,
		  { UINT64_MAX, 0, false, true } },
		{ { .ts = 2, .dur = UINT64_MAX, .phase = PHASE_SPAN },
		  true,
		  { 2, UINT64_MAX - 2, false, true } },
		{ { .ts = UINT64_MAX, .dur = 4, .phase = PHASE_SPAN }, true, { 0, 4, true, false } },
		{ { .ts = UINT64_MAX, .dur = UINT64_MAX, .phase = PHASE_SPAN },
		  true,
		  { 0, UINT64_MAX, true, false } },
		{ { .ts = INT64_MAX, .dur = 1, .phase = PHASE_SPAN }, true, { INT64_MAX, 1, false, false } },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct out_times t = out_times_of(&rows[i].e, rows[i].signed_time);
		cr_expect_eq(t.start, rows[i].want.start, "row %zu", i);
		cr_expect_eq(t.dur, rows[i].want.dur, "row %zu", i);
		cr_expect_eq(t.negative, rows[i].want.negative, "row %zu", i);
		cr_expect_eq(t.late, rows[i].want.late, "row %zu", i);
	}
}
