#include "base/open_spans.h"

#include <criterion/criterion.h>

enum { SPANS = 150, LAST = 400 };

static int by_start(const void *x, const void *y)
{
	const uint64_t *const a = x, *const b = y;

	if (a[0] != b[0])
		return a[0] < b[0] ? -1 : 1;
	return a[1] != b[1] ? (a[1] > b[1] ? -1 : 1) : 0;
}

/* The time that later spans inside span i cover. */
static uint64_t slow_covered(const uint64_t (*spans)[2], uint32_t i)
{
	uint64_t covered = 0;

	for (uint64_t t = spans[i][0]; t < spans[i][1]; t++) {
		uint32_t j = i + 1;
		while (j < SPANS && (spans[j][1] > spans[i][1] || t < spans[j][0] || t >= spans[j][1]))
			j++;
		covered += j < SPANS;
	}
	return covered;
}

/* Returns the number of spans that were removed. */
static uint32_t check_ended(struct covered_spans *s, uint64_t time, const uint64_t (*spans)[2])
{
	uint32_t n = 0;

	for (const struct covered_span *o; (o = covered_spans_pop(s, time)) != NULL; n++) {
		cr_assert(o->end <= time);
		cr_assert(o->start == spans[o->what][0] && o->end == spans[o->what][1]);
		cr_assert_eq(o->covered, slow_covered(spans, o->what));
	}
	return n;
}

Test(open_spans, time_is_covered_once_by_spans_inside)
{
	struct covered_spans s = { .spans = NULL };
	uint64_t spans[SPANS][2], random = 1;

	for (unsigned round = 1; round < 100; round++) {
		const struct covered_span *around;
		uint32_t ended = 0;
		for (uint32_t i = 0; i < SPANS; i++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407U;
			spans[i][0] = (random >> 33) % (LAST - round);
			spans[i][1] = spans[i][0] + 1 + (random >> 45) % round;
		}
		qsort(spans, SPANS, sizeof spans[0], by_start);
		s.sweep_at = 0;
		for (uint32_t i = 0; i < SPANS; i++) {
			ended += check_ended(&s, spans[i][0], (const uint64_t(*)[2])spans);
			cr_assert(covered_spans_cover(&s, spans[i][0], spans[i][1], SPANS, &around));
			uint32_t j = i;
			while (j > 0 && spans[j - 1][1] < spans[i][1])
				j--;
			cr_assert(around == NULL ? j == 0 : around->what + 1 == j);
			cr_assert(covered_spans_push(&s, spans[i][0], spans[i][1], i));
		}
		ended += check_ended(&s, UINT64_MAX, (const uint64_t(*)[2])spans);
		cr_assert_eq(ended, SPANS);
	}
	free(s.spans);
}

Test(open_spans, search_stops_at_the_limit_of_runs)
{
	struct covered_spans s = { .spans = NULL };
	const struct covered_span *around;

	for (uint32_t i = 0; i < 5; i++)
		cr_assert(covered_spans_push(&s, i, 10 + i, i)); /* each is a run */
	cr_assert(covered_spans_cover(&s, 5, 6, 5, &around));
	cr_assert_eq(around->what, 4);
	cr_assert_not(covered_spans_cover(&s, 6, 7, 4, &around));
	cr_assert_eq(s.spans[1].covered, 2);
	cr_assert_eq(s.spans[0].covered, 1);
	cr_assert(covered_spans_cover(&s, 6, 20, 1, &around)); /* the other runs end before the last one */
	cr_assert_null(around);
	free(s.spans);
}

Test(open_spans, nested_ones_end_from_the_inside)
{
	struct nested_spans s = { .spans = NULL };

	cr_assert_null(nested_spans_last(&s));
	for (uint64_t i = 0; i < 5; i++) {
		cr_assert_eq(nested_spans_growth(&s), i % 4 == 0 ? 4 : 0);
		cr_assert(nested_spans_push(&s, (struct nested_span){ 100 - i, i }));
	}
	cr_assert_null(nested_spans_pop(&s, 95));
	for (uint64_t i = 5; i-- > 2;)
		cr_assert_eq(nested_spans_pop(&s, 98)->what, i);
	cr_assert_null(nested_spans_pop(&s, 98));
	cr_assert_eq(nested_spans_last(&s)->what, 1);
	free(s.spans);
}
