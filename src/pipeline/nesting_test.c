#include "pipeline/nesting.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* The oracle remembers every span and looks at all of them each time. */
struct told {
	struct nest_span at;
	uint16_t lane;
	bool has_parent, forgotten; /* forgotten: came late, never waited */
};

struct oracle {
	struct told *told;
	size_t n;
	bool only_waiting; /* else overlaps with spans that have a parent count too */
};

static uint64_t
next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}

static bool
is_within(struct nest_span a, struct nest_span b)
{
	return b.start <= a.start && a.end <= b.end;
}

static bool
is_crossing(struct nest_span a, struct nest_span b)
{
	return a.start < b.end && b.start < a.end && !is_within(a, b) && !is_within(b, a);
}

static int
by_time(const void *a, const void *b)
{
	const struct nest_span *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static uint64_t
oracle_covered(const struct oracle *o, struct nest_span x)
{
	struct nest_span *in = malloc((o->n + 1) * sizeof *in);
	size_t n = 0;
	uint64_t covered = 0, until = 0;

	for (size_t i = 0; i < o->n; i++)
		if (!o->told[i].has_parent && !o->told[i].forgotten && is_within(o->told[i].at, x))
			in[n++] = o->told[i].at;
	qsort(in, n, sizeof *in, by_time);
	for (size_t i = 0; i < n; i++) {
		uint64_t from = in[i].start > until ? in[i].start : until;
		if (in[i].end > from) {
			covered += in[i].end - from;
			until = in[i].end;
		}
	}
	free(in);
	return covered;
}

static struct nest_result
oracle_span(struct oracle *o, struct nest_span x)
{
	struct nest_result r = { .covered = oracle_covered(o, x) };

	for (size_t i = 0; i < o->n; i++) { /* start again on the next lane at each overlap */
		const struct told *t = &o->told[i];
		if (t->lane != r.lane || t->forgotten || (o->only_waiting && t->has_parent))
			continue;
		if (is_crossing(t->at, x)) {
			r.lane++;
			i = (size_t)-1;
		}
	}
	for (size_t i = 0; i < o->n; i++) {
		struct told *t = &o->told[i];
		if (t->lane != r.lane || t->has_parent || t->forgotten)
			continue;
		if (is_within(t->at, x))
			t->has_parent = true;
		else if (is_within(x, t->at))
			r.late = true;
	}
	o->told[o->n++] = (struct told){ .at = x, .lane = r.lane, .forgotten = r.late };
	return r;
}

static void
expect_like_oracle(const struct nest_span *spans, size_t count, bool only_waiting)
{
	struct oracle o = { .told = malloc(count * sizeof *o.told), .only_waiting = only_waiting };
	struct nesting n;

	nesting_init(&n);
	for (size_t i = 0; i < count; i++) {
		struct nest_result got, want = oracle_span(&o, spans[i]);
		cr_assert(nesting_span(&n, 3, spans[i].start, spans[i].end - spans[i].start, &got));
		cr_assert_eq(got.lane, want.lane, "span %zu: lane %u, expected %u", i, got.lane, want.lane);
		cr_assert_eq(got.covered, want.covered, "span %zu: covered", i);
		cr_assert_eq(got.late, want.late, "span %zu: late", i);
		cr_assert_not(got.dropped);
	}
	nesting_free(&n);
	free(o.told);
}

static int
by_end(const void *a, const void *b)
{
	const struct nest_span *x = a, *y = b;

	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return (x->start < y->start) - (x->start > y->start);
}

static struct nest_result
put(struct nesting *n, uint32_t track, uint64_t start, uint64_t end)
{
	struct nest_result r = { 0 };

	cr_assert(nesting_span(n, track, start, end - start, &r));
	return r;
}

static void
expect_bounds(const struct nesting *n)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < n->ntracks; i++) {
		const struct nest_track *t = &n->tracks[i];
		uint64_t room = t->first.cap;
		cr_assert_leq(t->first.n, t->first.cap);
		for (uint32_t j = 0; j < t->nmore; j++) {
			cr_assert_leq(t->more[j].n, t->more[j].cap);
			room += t->more[j].cap;
		}
		cr_assert_eq(room, t->room);
		cr_assert_leq(room, NEST_TRACK_ROOM);
		total += room;
	}
	cr_assert_eq(total, n->room);
	cr_assert_leq(total, NEST_TOTAL_ROOM);
}

/* Nested calls in the order of their ends; returns the end.  want[] gets the time covered by children. */
static uint64_t
call_tree(uint64_t *seed, uint64_t now, int depth, struct nest_span *spans, uint64_t *want, size_t *n,
          size_t max)
{
	uint64_t start = now, covered = 0;
	uint64_t children = depth < 8 ? next_random(seed) % 5 : 0;

	for (uint64_t i = 0; i < children && *n < max; i++) {
		uint64_t from = now + next_random(seed) % 3;
		now = call_tree(seed, from, depth + 1, spans, want, n, max);
		covered += now - from;
	}
	now += 1 + next_random(seed) % 4;
	want[*n] = covered;
	spans[(*n)++] = (struct nest_span){ start, now };
	return now;
}

Test(nesting, call_trees)
{
	enum { MAX = 200000 };
	struct nest_span *spans = malloc((MAX + 16) * sizeof *spans);
	uint64_t *want = malloc((MAX + 16) * sizeof *want), now = 7, seed = 11;
	struct nesting n;
	size_t count = 0;

	while (count < MAX)
		now = call_tree(&seed, now, 0, spans, want, &count, MAX);
	nesting_init(&n);
	for (size_t i = 0; i < count; i++) {
		struct nest_result r = put(&n, 0, spans[i].start, spans[i].end);
		cr_assert_eq(r.lane, 0);
		cr_assert_eq(r.covered, want[i]);
		cr_assert_not(r.late);
	}
	expect_bounds(&n);
	nesting_free(&n);
	free(want);
	free(spans);
}

Test(nesting, any_overlap_in_order_of_end)
{
	enum { COUNT = 700 };
	static struct nest_span spans[COUNT];
	uint64_t seed = 42;

	for (unsigned round = 0; round < 30; round++) {
		uint64_t range = 100 + round * 500, longest = 4 + next_random(&seed) % 120;
		for (size_t i = 0; i < COUNT; i++) {
			spans[i].start = next_random(&seed) % range;
			spans[i].end = spans[i].start + 1 + next_random(&seed) % longest;
			if (i % 50 == 0)
				spans[i].end += next_random(&seed) % (range / 4);
		}
		qsort(spans, COUNT, sizeof *spans, by_end);
		struct nesting n;
		struct nest_result r = { 0 };
		nesting_init(&n);
		size_t fits = 0; /* dense rounds end when the lanes do */
		for (; fits < COUNT && !r.dropped; fits++)
			r = put(&n, 0, spans[fits].start, spans[fits].end);
		nesting_free(&n);
		expect_like_oracle(spans, r.dropped ? fits - 1 : fits, false);
	}
}

Test(nesting, any_order)
{
	enum { COUNT = 500 };
	static struct nest_span spans[COUNT];
	uint64_t seed = 4711;

	for (unsigned round = 0; round < 30; round++) {
		for (size_t i = 0; i < COUNT; i++) {
			spans[i].start = next_random(&seed) % 3000;
			spans[i].end = spans[i].start + 1 + next_random(&seed) % (4 + round);
		}
		expect_like_oracle(spans, COUNT, true);
	}
}

Test(nesting, borders)
{
	struct nesting n;

	nesting_init(&n);
	cr_assert_eq(put(&n, 0, 10, 20).lane, 0);
	cr_assert_eq(put(&n, 0, 20, 30).covered, 0, "ends that touch");
	cr_assert_eq(put(&n, 0, 10, 30).covered, 20);
	cr_assert_eq(put(&n, 0, 10, 30).covered, 20, "equal spans nest");
	struct nest_result r = put(&n, 0, 15, 30);
	cr_assert(r.late && r.lane == 0 && r.covered == 0);
	r = put(&n, 0, 10, 11);
	cr_assert(r.late && r.lane == 0);
	r = put(&n, 0, 29, 31);
	cr_assert(!r.late && r.lane == 1 && r.covered == 0);
	cr_assert_eq(put(&n, 0, 10, 31).covered, 21, "the union over both lanes");
	cr_assert_eq(put(&n, 1, 10, 31).covered, 0, "another track");
	nesting_free(&n);
}

Test(nesting, no_length)
{
	struct nesting n;

	nesting_init(&n);
	for (uint64_t at = 0; at < 40; at += 5)
		cr_assert_eq(put(&n, 0, at, at).covered, 0);
	cr_assert_eq(put(&n, 0, 10, 20).covered, 0);
	for (uint64_t at = 0; at < 40; at += 5) {
		struct nest_result r = put(&n, 0, at, at);
		cr_assert(r.lane == 0 && r.covered == 0 && !r.late && !r.dropped);
	}
	cr_assert_eq(n.room, 4, "they are not kept");
	nesting_free(&n);
}

Test(nesting, end_of_time)
{
	struct nesting n;
	struct nest_result r;

	nesting_init(&n);
	cr_assert(nesting_span(&n, 0, UINT64_MAX, UINT64_MAX, &r) && r.lane == 0);
	cr_assert(nesting_span(&n, 0, UINT64_MAX - 10, 100, &r) && r.covered == 0);
	cr_assert(nesting_span(&n, 0, UINT64_MAX - 20, 20, &r) && r.covered == 10);
	cr_assert(nesting_span(&n, 0, UINT64_MAX - 5, 5, &r) && r.late);
	cr_assert(nesting_span(&n, 0, UINT64_MAX - 30, 15, &r) && r.lane == 1);
	cr_assert(nesting_span(&n, 0, 0, UINT64_MAX, &r) && r.lane == 0 && r.covered == 30);
	nesting_free(&n);
}

Test(nesting, lanes_end)
{
	struct nesting n;

	nesting_init(&n);
	for (uint64_t i = 0; i < 2 * NEST_LANES; i++) {
		struct nest_result r = put(&n, 0, i, i + 1000);
		cr_assert_eq(r.lane, i < NEST_LANES ? i : NEST_LANES - 1);
		cr_assert_eq(r.dropped, i >= NEST_LANES);
	}
	cr_assert_eq(put(&n, 0, 0, 2000).covered, 1000 + NEST_LANES - 1);
	expect_bounds(&n);
	nesting_free(&n);
}

/* Everything that was dropped is top level; what remains is the newest. */
Test(nesting, track_is_full)
{
	const uint64_t count = 5 * NEST_TRACK_ROOM + 77;
	struct nesting n;

	nesting_init(&n);
	for (uint64_t i = 0; i < count; i++)
		put(&n, 0, 10 * i, 10 * i + 7);
	expect_bounds(&n);
	cr_assert_eq(put(&n, 0, 10 * (count - 1000), 10 * count).covered, 7000);
	uint64_t covered = put(&n, 0, 0, 10 * count).covered;
	cr_assert(covered >= 7 * (NEST_TRACK_ROOM / 2 - 1000) && covered <= 7 * NEST_TRACK_ROOM + 10000);
	nesting_free(&n);
}

Test(nesting, full_lane_leaves_room_for_the_others)
{
	struct nesting n;

	nesting_init(&n);
	for (uint64_t i = 0; i < 2 * NEST_TRACK_ROOM; i++) {
		cr_assert_eq(put(&n, 0, 10 * i, 10 * i + 6).lane, 0);
		cr_assert_eq(put(&n, 0, 10 * i + 5, 10 * i + 9).lane, 1);
	}
	expect_bounds(&n);
	nesting_free(&n);
}

Test(nesting, tracks_are_many)
{
	enum { TRACKS = 100000, ROUNDS = 18 };
	struct nesting n;

	nesting_init(&n);
	for (uint64_t i = 0; i < ROUNDS; i++)
		for (uint32_t track = 0; track < TRACKS; track++)
			put(&n, track, 10 * i, 10 * i + 5);
	expect_bounds(&n);
	for (uint32_t track = 0; track < TRACKS; track++)
		cr_assert_eq(put(&n, track, 10 * (ROUNDS - 2), 10 * ROUNDS).covered, 10,
		             "two children are still there");
	expect_bounds(&n);
	nesting_free(&n);
}

/* A few busy tracks that fill all room one after the other: the last gets its share. */
Test(nesting, tracks_share)
{
	struct nesting n;

	nesting_init(&n);
	for (uint32_t track = 0; track < 24; track++)
		for (uint64_t i = 0; i < NEST_TRACK_ROOM; i++)
			put(&n, track, 10 * i, 10 * i + 5);
	expect_bounds(&n);
	for (uint32_t track = 0; track < 24; track++)
		cr_assert_geq(put(&n, track, 0, 10 * NEST_TRACK_ROOM).covered, 5 * 8192);
	nesting_free(&n);
}

/* Spans far below the newest are not put in, and cost little. */
Test(nesting, far_out_of_order)
{
	struct nesting n;

	nesting_init(&n);
	for (uint64_t i = 1; i <= 4 * NEST_DEPTH; i++)
		put(&n, 0, 10 * i, 10 * i + 5);
	cr_assert_eq(put(&n, 0, 5, 8).lane, 0);
	cr_assert_eq(n.tracks[0].first.n, 4 * NEST_DEPTH);
	cr_assert_eq(put(&n, 0, 40 * NEST_DEPTH - 995, 40 * NEST_DEPTH - 991).lane, 0);
	cr_assert_eq(n.tracks[0].first.n, 4 * NEST_DEPTH + 1);
	for (int i = 0; i < 20000; i++)
		cr_assert_leq(put(&n, 0, 10, 10 * NEST_DEPTH * 2).covered, 5 * NEST_DEPTH);
	cr_assert_eq(n.tracks[0].first.n, 4 * NEST_DEPTH + 1);
	nesting_free(&n);
}

/* What nobody should send: many lanes that all wait, and spans that would look at all of it each time. */
Test(nesting, hostile_looks_are_bounded)
{
	struct nesting n;

	nesting_init(&n);
	for (uint64_t i = 0; i < 600; i++)
		for (uint64_t lane = 0; lane < 60; lane++)
			put(&n, 0, 1000 * i + lane + 1, 1000 * i + lane + 500);
	for (uint64_t i = 0; i < 20000; i++)
		cr_assert_leq(put(&n, 0, 0, 600000 + i).covered, 600000 + i);
	expect_bounds(&n);
	nesting_free(&n);
}

Test(nesting, same_answers_each_time)
{
	uint64_t sums[2] = { 0, 0 };

	for (int run = 0; run < 2; run++) {
		uint64_t seed = 5;
		struct nesting n;
		nesting_init(&n);
		for (int i = 0; i < 100000; i++) {
			uint64_t start = next_random(&seed) % 1000000;
			struct nest_result r = put(&n, (uint32_t)(next_random(&seed) % 3), start,
			                           start + next_random(&seed) % 900);
			sums[run] = sums[run] * 31 + r.covered + r.lane + r.late * 3u + r.dropped * 5u;
		}
		expect_bounds(&n);
		nesting_free(&n);
	}
	cr_assert_eq(sums[0], sums[1]);
}
