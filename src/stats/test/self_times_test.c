/* Self times, totals and recursion, compared with their definitions, span by span. */
#include "stats/stats.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#define NAMES 4U
#define TRACKS 2U

struct one {
	uint64_t start, end;
	uint32_t track, who;
};

static uint64_t draw(uint64_t *state, uint64_t below)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (*state >> 33) % below;
}

/* ---- the oracle: every unit of time is looked at ---- */

static bool is_within(const struct one *s, size_t a, size_t b)
{
	if (s[a].track != s[b].track || a == b)
		return false;
	if (s[a].start == s[b].start && s[a].end == s[b].end)
		return a < b;
	return s[b].start <= s[a].start && s[a].end <= s[b].end;
}

static uint64_t oracle_self(const struct one *s, size_t n, size_t i)
{
	uint64_t self = 0;

	for (uint64_t at = s[i].start; at < s[i].end; at++) {
		bool covered = false;
		for (size_t k = 0; k < n && !covered; k++)
			covered = s[k].start <= at && at < s[k].end && is_within(s, k, i);
		self += !covered;
	}
	return self;
}

static uint64_t oracle_total(const struct one *s, size_t n, uint32_t who, uint64_t last)
{
	uint64_t total = 0;

	for (uint32_t track = 0; track < TRACKS; track++)
		for (uint64_t at = 0; at < last; at++) {
			bool covered = false;
			for (size_t k = 0; k < n && !covered; k++)
				covered = s[k].who == who && s[k].track == track && s[k].start <= at &&
				          at < s[k].end;
			total += covered;
		}
	return total;
}

static void expect_oracle(const struct one *s, size_t n, uint64_t last)
{
	struct self_times t;

	self_times_init(&t);
	for (size_t i = 0; i < n; i++)
		self_times_add(&t, s[i].track, s[i].start, s[i].end - s[i].start, s[i].who, i % 3 == 0,
		               false);
	self_times_end(&t);
	cr_assert_not(t.failed);
	cr_assert_eq(t.inexact, 0);
	for (uint32_t who = 0; who < NAMES; who++) {
		uint64_t self = 0, waiting = 0, recursive = 0;
		for (size_t i = 0; i < n; i++) {
			bool inner = false;
			for (size_t k = 0; k < n && s[i].end > s[i].start; k++)
				inner |= s[k].who == s[i].who && is_within(s, i, k);
			if (s[i].who == who) {
				self += oracle_self(s, n, i);
				waiting += i % 3 == 0 ? oracle_self(s, n, i) : 0;
				recursive += inner;
			}
		}
		const struct self_name *const name = self_times_of(&t, who);
		cr_assert_eq((uint64_t)total_of(name->self), self, "self of %u", who);
		cr_assert_eq((uint64_t)total_of(name->waiting), waiting, "waiting of %u", who);
		cr_assert_eq((uint64_t)total_of(name->total), oracle_total(s, n, who, last), "total of %u",
		             who);
		cr_assert_eq(name->recursive, recursive, "recursive of %u: %lu, expected %lu", who,
		             (unsigned long)name->recursive, (unsigned long)recursive);
	}
	self_times_free(&t);
}

static int by_end(const void *a, const void *b)
{
	const struct one *const x = a, *const y = b;

	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return (x->start < y->start) - (x->start > y->start);
}

static int by_start(const void *a, const void *b)
{
	const struct one *const x = a, *const y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end < y->end) - (x->end > y->end);
}

Test(self_times, random_spans_in_any_order)
{
	uint64_t state = 1;

	for (unsigned round = 0; round < 600; round++) {
		struct one s[48];
		const size_t n = 1 + draw(&state, 47);
		const uint64_t last = 8 + draw(&state, 60), longest = 1 + draw(&state, last);
		for (size_t i = 0; i < n; i++) {
			s[i].start = draw(&state, last);
			s[i].end = s[i].start + draw(&state, longest);
			s[i].end = s[i].end < last ? s[i].end : last;
			s[i].track = (uint32_t)draw(&state, TRACKS);
			s[i].who = (uint32_t)draw(&state, NAMES);
		}
		if (round % 3 == 1)
			qsort(s, n, sizeof *s, by_end);
		if (round % 3 == 2)
			qsort(s, n, sizeof *s, by_start);
		expect_oracle(s, n, last);
	}
}

/* The segment tree, which is only used where many spans overlap, gives the same results as the stacks. */
Test(self_times, the_tree_of_times_agrees)
{
	uint64_t state = 7;

	for (unsigned round = 0; round < 300; round++) {
		struct one s[40];
		struct self_item items[40];
		uint64_t self[40];
		const size_t n = 1 + draw(&state, 40);
		for (size_t i = 0; i < n; i++) {
			s[i].start = draw(&state, 50);
			s[i].end = s[i].start + 1 + draw(&state, 20);
			s[i].track = s[i].who = 0;
		}
		qsort(s, n, sizeof *s, by_end); /* of equal ones the later lies around the earlier: */
		qsort(s, n, sizeof *s, by_start);
		for (size_t i = 0; i < n; i++)
			items[i] = (struct self_item){ s[i].start, s[i].end, (uint32_t)i };
		cr_assert(self_tree(items, (uint32_t)n, self));
		for (size_t i = 0; i < n; i++) {
			uint64_t own = 0;
			for (uint64_t at = s[i].start; at < s[i].end; at++) {
				bool covered = false;
				for (size_t k = 0; k < n; k++) {
					const bool equal = s[k].start == s[i].start && s[k].end == s[i].end;
					const bool within = s[i].start <= s[k].start && s[k].end <= s[i].end;
					covered |= k != i && within && (!equal || k > i) &&
					           s[k].start <= at && at < s[k].end;
				}
				own += !covered;
			}
			cr_assert_eq(self[i], own, "round %u, span %zu", round, i);
		}
	}
}

/* Up to SELF_ROOM spans of a track are remembered: two passes of nested spans, the second one between the
 * spans of the first. */
Test(self_times, as_many_as_there_is_room_for)
{
	struct self_times t;

	self_times_init(&t);
	for (uint32_t pass = 0; pass < 2; pass++)
		for (uint64_t i = 0; i < SELF_ROOM / 4; i++) {
			self_times_add(&t, 0, 100 * i + 40 * pass, 30, 0, false, false);
			self_times_add(&t, 0, 100 * i + 40 * pass + 10, 10, 1, false, false);
		}
	self_times_end(&t);
	cr_assert_eq(t.inexact, 0);
	cr_assert_eq((uint64_t)total_of(self_times_of(&t, 0)->self), UINT64_C(20) * (SELF_ROOM / 2));
	cr_assert_eq((uint64_t)total_of(self_times_of(&t, 1)->self), UINT64_C(10) * (SELF_ROOM / 2));
	self_times_free(&t);
}

/* SELF_ROOM spans in no order, each of which overlaps thousands in part.  Spans that are never inside
 * another keep all of their time, so the sum of self times is known. */
Test(self_times, all_overlap_in_part)
{
	struct self_times t;
	uint64_t state = 3, dur = 0;
	uint32_t order[4096];

	self_times_init(&t);
	for (uint32_t i = 0; i < 4096; i++)
		order[i] = i;
	for (uint32_t i = 0; i < 4095; i++) {
		const uint32_t k = i + (uint32_t)draw(&state, 4096 - i), moved = order[i];
		order[i] = order[k];
		order[k] = moved;
	}
	for (uint32_t i = 0; i < 4096; i++) {
		self_times_add(&t, 0, 10 * (uint64_t)order[i], 20005, 0, false, false);
		dur += 20005;
	}
	self_times_end(&t);
	cr_assert_eq(t.inexact, 0);
	cr_assert_eq((uint64_t)total_of(self_times_of(&t, 0)->self), dur);
	cr_assert_eq((uint64_t)total_of(self_times_of(&t, 0)->total), 10 * 4095 + 20005);
	cr_assert_eq(self_times_of(&t, 0)->recursive, 0);
	self_times_free(&t);
}

/* A long track: the outermost span is added last, around all removed spans, or first, also with a span of
 * the same name. */
Test(self_times, long_tracks_are_exact_in_order)
{
	const uint64_t n = 3 * (uint64_t)SELF_ROOM;

	for (int starts = 0; starts < 2; starts++) {
		struct self_times t;
		self_times_init(&t);
		if (starts == 1)
			self_times_add(&t, 0, 0, 100 * n, 2, false, false);
		for (uint64_t i = 0; i < n; i++) {
			if (starts == 1)
				self_times_add(&t, 0, 100 * i + 1, 50, 2, false, false);
			self_times_add(&t, 0, 100 * i + 10, 10, 1, false, false);
			if (starts == 0)
				self_times_add(&t, 0, 100 * i + 1, 50, 2, false, false);
		}
		if (starts == 0)
			self_times_add(&t, 0, 0, 100 * n, 2, false, false);
		self_times_end(&t);
		cr_expect_eq(t.inexact, 0);
		cr_expect_eq((uint64_t)total_of(self_times_of(&t, 1)->self), 10 * n);
		cr_expect_eq((uint64_t)total_of(self_times_of(&t, 2)->self), 90 * n);
		cr_expect_eq((uint64_t)total_of(self_times_of(&t, 2)->total), 100 * n);
		cr_expect_eq(self_times_of(&t, 2)->recursive, n);
		self_times_free(&t);
	}
}

/* In order of ends, tens of thousands of spans with gaps between them wait for the span around them. */
Test(self_times, many_spans_wait_for_the_one_around_them)
{
	const uint64_t inner = 30000, outer = 13;
	struct self_times t;
	uint64_t at = 0;

	self_times_init(&t);
	for (uint64_t i = 0; i < outer; i++) {
		const uint64_t start = at;
		at += 3;
		for (uint64_t k = 0; k < inner; k++, at += 10)
			self_times_add(&t, 0, at, 5, 1, false, false);
		self_times_add(&t, 0, start, at - start, 2, false, false);
		at += 7;
	}
	self_times_end(&t);
	cr_expect_eq(t.inexact, 0);
	cr_expect_eq((uint64_t)total_of(self_times_of(&t, 1)->self), 5 * inner * outer);
	cr_expect_eq((uint64_t)total_of(self_times_of(&t, 2)->self), (3 + 5 * inner) * outer);
	self_times_free(&t);
}

/* More tracks, and more spans, than the total limit. */
Test(self_times, many_tracks)
{
	struct self_times t;
	const uint32_t tracks = 40000;
	const uint64_t each = 40;

	self_times_init(&t);
	for (uint64_t i = 0; i < each; i++)
		for (uint32_t k = 0; k < tracks; k++)
			self_times_add(&t, k, 100 * i, 10, k % NAMES, false, false);
	cr_assert_leq(t.space, SELF_TOTAL_ROOM);
	self_times_end(&t);
	uint64_t all = 0;
	for (uint32_t who = 0; who < NAMES; who++) {
		all += (uint64_t)total_of(self_times_of(&t, who)->self);
		cr_expect_eq(total_of(self_times_of(&t, who)->self), total_of(self_times_of(&t, who)->total));
	}
	cr_assert_eq(all, 10 * each * tracks);
	self_times_free(&t);
}

/* Long tracks, whose capacity is halved when the total is used up: the spans that end last are retained. */
Test(self_times, long_tracks)
{
	struct self_times t;
	const uint32_t tracks = 14, children = 99;
	const uint64_t each = 500;

	self_times_init(&t);
	for (uint64_t i = 0; i < each; i++)
		for (uint32_t child = 0; child <= children; child++)
			for (uint32_t k = 0; k < tracks; k++)
				if (child < children)
					self_times_add(&t, k, 1000 * i + 10 * child, 10, 1, false, false);
				else
					self_times_add(&t, k, 1000 * i, 1000, 2, false, false);
	cr_assert_leq(t.space, SELF_TOTAL_ROOM);
	self_times_end(&t);
	cr_expect_eq(t.inexact, 0);
	cr_expect_eq((uint64_t)total_of(self_times_of(&t, 1)->self), 10 * children * each * tracks);
	cr_expect_eq((uint64_t)total_of(self_times_of(&t, 2)->self), 10 * each * tracks);
	self_times_free(&t);
}

/* Adds a span after those inside it, or before them; returns its end. */
static uint64_t add_tree(struct self_times *t, uint64_t *state, uint64_t start, uint64_t length, bool first)
{
	const uint32_t who = (uint32_t)draw(state, NAMES);

	if (first)
		self_times_add(t, 0, start, length, who, draw(state, 4) == 0, false);
	for (uint64_t at = start + draw(state, 3), part; length > 4 && at < start + length; at += part) {
		part = 1 + draw(state, length / 2);
		part = part < start + length - at ? part : start + length - at;
		if (draw(state, 3) > 0)
			add_tree(t, state, at, part, first);
	}
	if (!first)
		self_times_add(t, 0, start, length, who, draw(state, 4) == 0, false);
	return start + length;
}

/* Two spans without a name after each tree overlap in part or not.  This selects, in each evaluation, the
 * walk over spans that nest, or the general one. */
Test(self_times, both_walks_agree)
{
	for (uint64_t round = 0; round < 4; round++) {
		const bool first = round % 2 == 1;
		const uint64_t longest = round < 2 ? 60 : 2000;
		struct self_times t[2];
		for (uint64_t part = 0; part < 2; part++) {
			uint64_t state = round, at = 0;
			self_times_init(&t[part]);
			for (uint32_t i = 0; i < (round < 2 ? 40000 : 1500); i++) {
				at = add_tree(&t[part], &state, at, 10 + draw(&state, longest), first);
				self_times_add(&t[part], 0, at, 5, SELF_NOBODY, false, false);
				self_times_add(&t[part], 0, at + 6 - 2 * part, 5, SELF_NOBODY, false, false);
				at += 20;
			}
			self_times_end(&t[part]);
		}
		cr_expect_eq(t[0].inexact, 0);
		cr_expect_eq(t[1].inexact, 0);
		for (uint32_t who = 0; who < NAMES; who++) {
			const struct self_name *const a = self_times_of(&t[0], who), *const b = self_times_of(
			                                                                 &t[1], who);
			cr_expect(total_of(a->self) > 0 && total_of(a->self) == total_of(b->self));
			cr_expect(total_of(a->total) == total_of(b->total));
			cr_expect(total_of(a->waiting) == total_of(b->waiting));
			cr_expect(a->recursive > 0 && a->recursive == b->recursive);
		}
		self_times_free(&t[0]);
		self_times_free(&t[1]);
	}
}
