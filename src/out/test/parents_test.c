#include "out/tracks.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* Returns the last span before it that encloses it. */
static int64_t slow_parent(const uint64_t (*spans)[2], uint32_t i)
{
	for (uint32_t j = i; j-- > 0;)
		if (spans[j][1] >= spans[i][1] && spans[j][1] > spans[i][0])
			return j + 1;
	return 0;
}

static int by_start(const void *x, const void *y)
{
	const uint64_t *const a = x, *const b = y;

	if (a[0] != b[0])
		return a[0] < b[0] ? -1 : 1;
	return a[1] != b[1] ? (a[1] > b[1] ? -1 : 1) : 0;
}

Test(out_parents, are_the_innermost_spans_around)
{
	uint64_t spans[200][2], random = 1;

	for (unsigned round = 0; round < 200; round++) {
		struct parents p = { .tracks = NULL };
		struct parents_found found;
		for (uint32_t i = 0; i < 200; i++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407U;
			spans[i][0] = (random >> 33) % 300;
			spans[i][1] = spans[i][0] + (random >> 45) % (1 + round);
		}
		qsort(spans, 200, sizeof spans[0], by_start);
		for (uint32_t i = 0; i < 200; i++) {
			cr_assert(parents_next(&p, 3, spans[i][0], spans[i][1], i + 1, &found));
			cr_assert_eq(found.id, slow_parent((const uint64_t(*)[2])spans, i));
		}
		parents_free(&p);
	}
}

Test(out_parents, stack_of_a_track_has_a_limit)
{
	struct parents p = { .tracks = NULL };
	struct parents_found found;

	for (uint32_t i = 0; i < PARENTS_TRACK; i++) {
		cr_assert(parents_next(&p, 0, i, 2 * PARENTS_TRACK - i, i + 1, &found));
		cr_assert_eq(found.id, i);
		cr_assert_eq(found.depth, i);
		cr_assert(!found.forgotten);
	}
	/* a span beyond the limit has a parent, but is no parent */
	for (int64_t id = PARENTS_TRACK + 1; id < PARENTS_TRACK + 4; id++) {
		cr_assert(parents_next(&p, 0, PARENTS_TRACK, PARENTS_TRACK + 1, id, &found));
		cr_assert_eq(found.id, PARENTS_TRACK);
		cr_assert(found.forgotten);
	}
	/* another track, and this one when its spans have ended */
	cr_assert(parents_next(&p, 1, PARENTS_TRACK, PARENTS_TRACK + 1, 9, &found));
	cr_assert(found.id == 0 && !found.forgotten);
	cr_assert(parents_next(&p, 0, 2 * PARENTS_TRACK, 2 * PARENTS_TRACK + 1, 10, &found));
	cr_assert(found.id == 0 && !found.forgotten);
	parents_free(&p);
}
