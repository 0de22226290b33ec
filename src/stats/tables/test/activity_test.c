/* The periods of a track, compared with the innermost span at each moment. */
#include <criterion/criterion.h>

#include "stats/tables/open.h"
#include "test/support/splitmix.h"

enum { MOMENTS = 120, SPANS = 40 };

struct seen {
	uint64_t what[MOMENTS];
	uint64_t until;
};

static void spent(void *ctx, const struct track *track, uint64_t from, uint64_t to, uint64_t what)
{
	struct seen *const s = ctx;

	(void)track;
	cr_assert(from == s->until && from < to && to <= MOMENTS, "periods are without holes");
	for (uint64_t i = from; i < to; i++)
		s->what[i] = what;
	s->until = to;
}

Test(activity, is_the_innermost_span)
{
	const struct track track = { .index = 3 };

	for (uint64_t seed = 0; seed < 2000; seed++) {
		uint64_t state = seed, want[MOMENTS], starts[MOMENTS] = { 0 }, ends[MOMENTS] = { 0 },
		         last = 0, first = MOMENTS, at = 0, before = UINT64_MAX;
		struct seen seen = { .until = 0 };
		struct activity a = { .spent = spent, .ctx = &seen };

		for (uint32_t i = 0; i < MOMENTS; i++)
			want[i] = ACTIVITY_IDLE;
		for (uint32_t i = 0; i < SPANS; i++) {
			const uint64_t step = splitmix_next(&state) % 3;
			uint64_t dur = splitmix_next(&state) % 30;
			if (step == 0 && dur > before)
				dur = before; /* of equal starts the longer first */
			at += step;
			before = dur;
			const uint64_t end = at + dur < MOMENTS ? at + dur : MOMENTS;
			if (at >= end)
				continue;
			if (first == MOMENTS)
				first = seen.until = at;
			last = end > last ? end : last;
			for (uint64_t k = at; k < end; k++)
				if (want[k] == ACTIVITY_IDLE || starts[k] != at || ends[k] != end) {
					want[k] = i; /* of equal spans the earlier is the inner one */
					starts[k] = at;
					ends[k] = end;
				}
			cr_assert(activity_add(&a, &track, at, end, i, false));
		}
		activity_end(&a);
		for (uint64_t k = first; k < last; k++)
			cr_assert_eq(seen.what[k], want[k], "seed %zu, moment %zu", (size_t)seed, (size_t)k);
		activity_free(&a);
	}
}
