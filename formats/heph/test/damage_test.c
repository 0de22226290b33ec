/*
 * Damage and gaps: damage in one packet does not affect the others; missing counters become gaps for
 * consumers that request them.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "format/reader_modes.h"
#include "format/registry.h"
#include "heph/test/build.h"
#include "input/test/memory_input.h"
#include "run/pipeline.h"
#include "run/write/test/recover_rig_test.h"
#include "test/fuzz/live_batches.h"

/* ---- damage ---- */

#define MIXED "testdata/heph/good/mixed.bin.log"
#define MAX_PACKETS 512

/* Finds the offsets of the packets of a valid trace of small packets. */
static size_t offsets_of(const unsigned char *p, size_t n, size_t *offsets)
{
	size_t count = 0;

	for (size_t at = 0; at < n && count < MAX_PACKETS; count++) {
		offsets[count] = at;
		at += (size_t)p[at + 6] << 8 | p[at + 7];
	}
	return count;
}

struct seen {
	uint64_t offsets[MAX_PACKETS];
	size_t n;
	uint64_t errors;
};

static void add_offsets(struct seen *s, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n && s->n < MAX_PACKETS; i++)
		s->offsets[s->n++] = b->events[i].offset;
}

static void closed(void *ctx, const struct source *source)
{
	struct seen *const s = ctx;

	s->errors += source->findings.levels[LEVEL_ERROR];
}

static bool was_seen(const struct seen *s, uint64_t offset)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->offsets[i] == offset)
			return true;
	return false;
}

/* Expects all packets except the damaged one. */
static void expect_others(const unsigned char *p, size_t n, const size_t *offsets, size_t count,
                          size_t damaged, const char *what)
{
	static const char *const paths[] = { "memory" };
	struct seen s = { .n = 0 };
	struct pipeline *f;
	struct batch *b;
	const struct pipeline_job job = { .in.paths = paths,
		                          .in.npaths = 1,
		                          .in.input = input_from_memory((const char *)p, n),
		                          .in.from = format_by_name("heph"),
		                          .read.want = WANT_TIMES | WANT_STRUCTURE,
		                          .to.hooks = { .closed = closed, .ctx = &s } };

	cr_assert(pipeline_open(&f, &job));
	while (pipeline_next(f, &b) == STAGE_MORE) {
		add_offsets(&s, b);
		batch_release(b);
	}
	for (size_t i = 0; i < count; i++)
		if (i != damaged)
			cr_expect(was_seen(&s, offsets[i]), "%s of packet %zu: packet %zu at %zu is lost",
			          what, damaged, i, offsets[i]);
	cr_expect_gt(s.errors, 0, "%s of packet %zu", what, damaged);
	pipeline_close(f);
}

/* Each bit of the magic constants, and sizes that are smaller, larger, or beyond the end of the input. */
Test(heph_damage, other_packets_are_found)
{
	static const int sizes[] = { -1, 1, -7, 30, 57, 100, 300 };
	size_t n, offsets[MAX_PACKETS];
	unsigned char *const p = (unsigned char *)read_whole(MIXED, &n);

	cr_assert_not_null(p);
	const size_t count = offsets_of(p, n, offsets);
	cr_assert_gt(count, 40);
	for (size_t i = 0; i < count; i++) {
		unsigned char *const at = p + offsets[i], size = at[7];
		for (unsigned bit = 0; bit < 32; bit++) {
			at[bit / 8] ^= (unsigned char)(1 << bit % 8);
			expect_others(p, n, offsets, count, i, "magic");
			at[bit / 8] ^= (unsigned char)(1 << bit % 8);
		}
		at[4] = 0x80;
		expect_others(p, n, offsets, count, i, "absurd size");
		at[4] = 0;
		at[5] = 1;
		expect_others(p, n, offsets, count, i, "size past the end");
		at[5] = 0;
		for (size_t k = 0; k < sizeof sizes / sizeof sizes[0] && at[6] == 0 && i + 1 < count; k++) {
			at[6] = (unsigned char)(((int)size + sizes[k]) >> 8);
			at[7] = (unsigned char)((int)size + sizes[k]);
			/* not of options: the value ends with the packet, so a larger size may include whole
			 * packets */
			if (*at == 0xC1)
				expect_others(p, n, offsets, count, i, "size");
			at[6] = 0;
			at[7] = size;
		}
	}
	free(p);
}

/* The recovered trace must end with the packets after the damage. */
static void expect_recovered(const char *p, size_t n, const char *rest, size_t left, size_t damaged)
{
	struct recovered r;

	recover_bytes(&r, format_by_name("heph"), true, p, n, 0);
	cr_expect(r.n >= left && memcmp(r.p + r.n - left, rest, left) == 0,
	          "packets after packet %zu are not recovered", damaged);
	recovered_free(&r);
}

/* The size then reaches into the next packet, and what is read from the damaged one may fit it. */
Test(heph_damage, missing_bytes)
{
	static const size_t missing[] = { 1, 3, 8, 16 }, places[] = { 4, 9, 24, 41, SIZE_MAX };
	size_t n, offsets[MAX_PACKETS + 1], moved[MAX_PACKETS];
	char *const p = read_whole(MIXED, &n), *const q = malloc(n);

	cr_assert(p != NULL && q != NULL);
	const size_t count = offsets_of((const unsigned char *)p, n, offsets);
	offsets[count] = n;
	for (size_t i = 0; i + 1 < count; i++)
		for (size_t k = 0; k < sizeof missing / sizeof *missing * 5; k++) {
			const size_t less = missing[k / 5], size = offsets[i + 1] - offsets[i];
			const size_t place = places[k % 5] != SIZE_MAX ? places[k % 5] : size - less;
			if (place + less > size)
				continue;
			const size_t at = offsets[i] + place, left = n - offsets[i + 1];
			memcpy(q, p, at);
			memcpy(q + at, p + at + less, n - at - less);
			for (size_t j = 0; j < count; j++)
				moved[j] = offsets[j] - (j > i ? less : 0);
			expect_others((unsigned char *)q, n - less, moved, count, i, "missing bytes");
			expect_recovered(q, n - less, p + offsets[i + 1], left, i);
		}
	free(q);
	free(p);
}

/* ---- gaps ---- */

struct lost {
	uint64_t n, missing, from, to, offset; /* of the last gap; missing: of all gaps */
	char track[40];
	uint64_t events;
};

static struct lost read_gaps(const struct heph_build *b, unsigned want, uint32_t cap)
{
	struct live_batches l;
	struct lost sum = { 0 };

	live_batches_read(&l, format_by_name("heph"), input_from_memory((const char *)b->p, b->n), want, cap);
	cr_assert_eq(l.status, READ_END);
	for (size_t i = 0; i < l.n; i++)
		for (uint32_t k = 0; k < l.batches[i]->n; k++) {
			const struct event *const e = &l.batches[i]->events[k];
			const struct field *const f = l.batches[i]->fields + e->first_field;
			cr_assert_leq(l.batches[i]->n, cap);
			if (!slice_is(e->cls->category, "lost"))
				continue;
			sum.n++;
			cr_assert(e->nfields == 1 && slice_is(f->name, "missing"));
			sum.missing += f->value.u64;
			sum.from = e->ts;
			sum.to = e->ts + e->dur;
			sum.offset = e->offset;
			snprintf(sum.track, sizeof sum.track, "%.*s", (int)e->track->name.n,
			         e->track->name.p);
			cr_expect(e->track->is_child && slice_is(e->name, "lost records"));
		}
	sum.events = l.trace.events;
	cr_expect_eq(live_batches_free(&l), 0);
	return sum;
}

#define GAPS (WANT_TIMES | WANT_FIELDS | WANT_GAPS)

Test(heph_lost, between_the_events_around_it)
{
	struct heph_build b;

	heph_init(&b);
	heph_event_at(&b, 1, UINT32_MAX, 1, 10, 20, "before");
	heph_event_at(&b, 2, 0, 1, 10, 25, "another stream");
	const size_t at = heph_event_at(&b, 1, 3, 1, 15, 40, "after, around the lost ones");
	const struct lost one = read_gaps(&b, GAPS, 1);
	cr_expect(one.n == 1 && one.missing == 3 && one.from == 20 && one.to == 40 && one.offset == at);
	cr_expect_str_eq(one.track, "stream 1: lost");
	cr_expect_eq(one.events, 3, "gaps are not events");
	cr_expect_eq(read_gaps(&b, WANT_TIMES | WANT_FIELDS, 50).n, 0);
	cr_expect_eq(read_gaps(&b, GAPS | WANT_RAW | WANT_STRUCTURE, 50).n, 0);
	heph_free(&b);
}

/* An event that ends before its predecessor. */
Test(heph_lost, times_that_go_back)
{
	struct heph_build b;

	heph_init(&b);
	heph_event_at(&b, 1, 0, 1, 10, 90, "before");
	heph_event_at(&b, 1, 2, 1, 30, 20, "after, and ends before it begins");
	const struct lost one = read_gaps(&b, GAPS, 50);
	cr_expect(one.n == 1 && one.from == 30 && one.to == 90);
	heph_free(&b);
}

/* In stream 0 only numbers that never arrive are missing. */
Test(heph_lost, a_shared_stream)
{
	struct heph_build b;

	heph_init(&b);
	for (uint32_t i = 1000; i < 20000; i++)
		if (i != 7000 && i != 12001)
			heph_event_at(&b, 0, i ^ 2, 1, i, i + 1, "shared");
	const struct lost two = read_gaps(&b, GAPS, 50);
	cr_expect(two.n == 2 && two.missing == 2, "%" PRIu64, two.n);
	cr_expect(two.from >= 11995 && two.from <= two.to && two.to < 12010, "%" PRIu64, two.from);
	heph_free(&b);
}

/* Every other number is missing: gaps beyond the limit are combined, and all numbers counted. */
Test(heph_lost, more_than_can_wait)
{
	struct heph_build b;

	heph_init(&b);
	for (uint32_t i = 0; i < 3000; i++)
		heph_event_at(&b, 0, 2 * i, 1, i, i + 1, "shared");
	for (uint32_t cap = 1; cap <= 64; cap *= 4) {
		const struct lost all = read_gaps(&b, GAPS, cap);
		cr_expect(all.n >= 256 && all.n < 2999, "%" PRIu64, all.n);
		cr_expect_eq(all.missing, 2999);
	}
	for (uint32_t i = 0; i < 2000; i++) /* packets for the last gaps arrive late */
		heph_event_at(&b, 0, 5997 - 2 * i, 1, i, i + 1, "late");
	cr_expect_eq(read_gaps(&b, GAPS, 50).missing, 999);
	heph_free(&b);
}
