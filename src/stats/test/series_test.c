/* Series of counters, compared with their definitions. */
#include "stats/stats.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "model/event.h"

#define MOST 400U
#define TRACKS 3U

struct sample {
	uint64_t ts;
	uint32_t track;
	double v;
};

static uint64_t draw(uint64_t *state, uint64_t below)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (*state >> 33) % below;
}

static int by_number(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void put(struct series_set *set, const struct track *tracks, const struct sample *s)
{
	struct field field = { SLICE_LIT("depth"), { .type = VALUE_F64, .f64 = s->v } };
	const struct event e = {
		.ts = s->ts, .track = &tracks[s->track], .nfields = 1, .phase = PHASE_COUNTER
	};
	const struct batch b = { .fields = &field, .nfields = 1 };

	cr_assert(series_add(set, 0, &b, &e));
}

/* Sorts samples by time, then arrival. */
static void sort_by_time(struct sample *s, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		const struct sample x = s[i];
		size_t to = i;
		for (; to > 0 && s[to - 1].ts > x.ts; to--)
			s[to] = s[to - 1];
		s[to] = x;
	}
}

static double oracle_time_mean(const struct sample *s, size_t n)
{
	double held = 0, ns = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			if (s[k].track == s[i].track) {
				if (s[k].ts >= s[i].ts) {
					held += s[i].v * (double)(s[k].ts - s[i].ts);
					ns += (double)(s[k].ts - s[i].ts);
				}
				break;
			}
	return ns > 0 ? held / ns : NAN;
}

static void expect_near(double got, double want, double part)
{
	cr_assert(fabs(got - want) <= part * fabs(want) + 1e-9, "%g, expected %g", got, want);
}

Test(series, random_values)
{
	struct track tracks[TRACKS];
	uint64_t state = 5;

	for (uint32_t i = 0; i < TRACKS; i++)
		tracks[i] = (struct track){ .index = i };
	for (unsigned round = 0; round < 200; round++) {
		struct sample s[MOST];
		double v[MOST], sum = 0;
		struct series_set set;
		struct arena text = { 0 };
		const size_t n = 1 + draw(&state, MOST);
		uint64_t now = 0;
		series_init(&set, &text);
		for (size_t i = 0; i < n; i++) {
			now += draw(&state, 50);
			s[i] = (struct sample){ now, (uint32_t)draw(&state, TRACKS),
				                round % 2 == 0
				                    ? (double)draw(&state, 200)
				                    : ((double)draw(&state, 1000000) - 300000) / 977 };
			v[i] = s[i].v;
			sum += v[i];
			put(&set, tracks, &s[i]);
		}
		qsort(v, n, sizeof *v, by_number);
		const struct series *const got = &set.list[0];
		cr_assert_eq(set.n > 0 && got->count == n, true);
		expect_near(got->first, s[0].v, 0);
		expect_near(got->last, s[n - 1].v, 0);
		expect_near(got->min, v[0], 0);
		expect_near(got->max, v[n - 1], 0);
		expect_near(series_mean(got), sum / (double)n, 1e-9);
		const double mean = oracle_time_mean(s, n);
		expect_near(series_time_mean(got), isnan(mean) ? sum / (double)n : mean, 1e-9);
		for (unsigned p = 1; p <= 100; p++) {
			const double want = v[(n * p + 99) / 100 - 1];
			expect_near(series_percentile(got, p), want, round % 2 == 0 ? 0 : 0.008);
			cr_assert(series_percentile(got, p) <= got->max);
		}
		series_free(&set);
		arena_free(&text);
	}
}

/* Half a million different values, the largest first: each would move all others.  Beyond the limit, values
 * count at the next one. */
Test(series, falling_values)
{
	const uint32_t n = 1U << 18;
	struct track track = { .index = 0 };
	struct series_set set;
	struct arena text = { 0 };
	struct series *s;

	series_init(&set, &text);
	put(&set, &track, &(struct sample){ 0, 0, 1 });
	s = &set.list[0];
	for (uint32_t round = 0; round < 3; round++)
		for (uint32_t i = 0; i < n; i++)
			cr_assert(series_add_step(
			    &set, s, (int32_t)(2 * (round < 2 ? n - i : i)) - (int32_t)(round == 1), 1));
	cr_expect_eq(s->nsteps, SERIES_STEPS);
	struct series_walk w = { 0 };
	const struct series_step *step;
	uint64_t sum = 0;
	int32_t before = INT32_MIN;
	for (uint32_t i = 0; i < s->nsteps; i++, before = step->key) {
		step = series_next_step(s, &w);
		cr_assert(step != NULL && step->key > before);
		sum += step->count;
	}
	cr_expect_null(series_next_step(s, &w));
	cr_expect_eq(sum, UINT64_C(3) * n + 1);
	series_free(&set);
	arena_free(&text);
}

/* Values that are not numbers are not counted, and very large values do not make a mean that is no number. */
Test(series, odd_values)
{
	struct track track = { .index = 0 };
	struct series_set set;
	struct arena text = { 0 };
	const double values[] = { NAN, INFINITY, -INFINITY, 1.7e308, 1.7e308, -0.0 };

	series_init(&set, &text);
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		put(&set, &track, &(struct sample){ 10 * i, 0, values[i] });
	cr_assert_eq(set.list[0].count, 3);
	cr_assert(isfinite(series_mean(&set.list[0])) && isfinite(series_time_mean(&set.list[0])));
	cr_assert(series_percentile(&set.list[0], 100) <= 1.7e308);
	series_free(&set);
	arena_free(&text);
}

/* As merged tables of many traces have. */
Test(series, more_values_than_32_bits_count)
{
	struct track track = { .index = 0 };
	struct series_set set;
	struct arena text = { 0 };

	series_init(&set, &text);
	put(&set, &track, &(struct sample){ 0, 0, 1 });
	put(&set, &track, &(struct sample){ 1, 0, 2 });
	struct series *const s = &set.list[0];
	for (int i = 0; i < 2; i++)
		cr_expect(series_add_step(&set, s, s->steps[0].key, UINT64_C(3000000000)));
	cr_expect(series_add_step(&set, s, s->steps[1].key, UINT64_C(5000000000)));
	cr_expect_eq(series_percentile(s, 54), 1);
	cr_expect_eq(series_percentile(s, 55), 2);
	cr_expect_not(series_add_step(&set, s, s->steps[1].key, UINT64_MAX));
	series_free(&set);
	arena_free(&text);
}

/* Puts values in an order other than that of time; the mean over time is that of the sorted ones. */
Test(series, the_order_of_arrival_does_not_matter)
{
	struct track tracks[TRACKS];
	uint64_t state = 11;

	for (uint32_t i = 0; i < TRACKS; i++)
		tracks[i] = (struct track){ .index = i };
	for (unsigned round = 0; round < 300; round++) {
		struct sample s[MOST];
		struct series_set set;
		struct arena text = { 0 };
		const size_t n = 1 + draw(&state, round < 100 ? 8 : MOST);
		series_init(&set, &text);
		for (size_t i = 0; i < n; i++) {
			const uint64_t ts = round % 3 == 0   ? 10 * (n - i)
			                    : round % 3 == 1 ? draw(&state, 2 * n)
			                                     : 10 * i + draw(&state, 60);
			s[i] =
			    (struct sample){ ts, (uint32_t)draw(&state, TRACKS), (double)draw(&state, 1000) };
			put(&set, tracks, &s[i]);
		}
		sort_by_time(s, n);
		const double mean = oracle_time_mean(s, n);
		if (!isnan(mean))
			expect_near(series_time_mean(&set.list[0]), mean, 1e-9);
		cr_assert_eq(set.late, 0);
		series_free(&set);
		arena_free(&text);
	}
}

/* Values before all remembered ones are left out of the mean and counted, unless they are the first. */
Test(series, values_far_out_of_order)
{
	struct track track = { .index = 0 };
	struct series_set set;
	struct arena text = { 0 };
	const uint64_t n = 3 * (uint64_t)SERIES_RECENT;

	series_init(&set, &text);
	for (uint64_t i = 1; i <= n; i++)
		put(&set, &track, &(struct sample){ 10 * i, 0, (double)(i % 2) });
	put(&set, &track, &(struct sample){ 15, 0, 1e9 });
	put(&set, &track, &(struct sample){ 25, 0, 1e9 });
	cr_assert_eq(set.late, 2);
	put(&set, &track, &(struct sample){ 0, 0, 1 });
	put(&set, &track, &(struct sample){ 10 * n - 5, 0, 1 });
	cr_assert_eq(set.late, 2);
	cr_assert_eq(set.list[0].held_ns, (double)(10 * n));
	cr_assert_eq(set.list[0].held, (double)(5 * n + 10));
	cr_assert_leq(set.nrecent, SERIES_RECENT);
	series_free(&set);
	arena_free(&text);
}

/* The capacity for all series is used up: values in order are exact with only the last one remembered. */
Test(series, many_series_are_exact_in_order)
{
	struct track *const tracks = calloc(SERIES_ALL_RECENT / 4 + 8, sizeof *tracks);
	const uint32_t n = SERIES_ALL_RECENT / 4 + 8;
	struct series_set set;
	struct arena text = { 0 };

	series_init(&set, &text);
	for (uint32_t i = 0; i < n; i++)
		tracks[i].index = i;
	for (uint64_t k = 0; k < 4; k++)
		for (uint32_t i = 0; i < n; i++)
			put(&set, tracks, &(struct sample){ 10 * k, i, (double)k });
	cr_assert_eq(series_time_mean(&set.list[0]), 1);
	cr_assert(set.late == 0 && set.nrecent == SERIES_ALL_RECENT);
	put(&set, tracks, &(struct sample){ 15, n - 1, 7 });
	cr_assert_eq(set.late, 1);
	cr_assert_eq(series_time_mean(&set.list[0]), 1);
	series_free(&set);
	arena_free(&text);
	free(tracks);
}
