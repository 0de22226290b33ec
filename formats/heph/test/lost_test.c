#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "format/reader_modes.h"
#include "format/registry.h"
#include "test/fuzz/live_batches.h"
#include "heph/test/build.h"

/* Missing numbers of counters, as spans for who asks for them. */

struct lost {
	uint64_t n, missing, from, to, offset; /* the last one's; missing: of all */
	char track[40];
	uint64_t events;
};

static struct lost lost_of(const struct heph_build *b, unsigned want, uint32_t cap)
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
	const struct lost one = lost_of(&b, GAPS, 1);
	cr_expect(one.n == 1 && one.missing == 3 && one.from == 20 && one.to == 40 && one.offset == at);
	cr_expect_str_eq(one.track, "stream 1: lost");
	cr_expect_eq(one.events, 3, "gaps are no events");
	cr_expect_eq(lost_of(&b, WANT_TIMES | WANT_FIELDS, 50).n, 0);
	cr_expect_eq(lost_of(&b, GAPS | WANT_RAW | WANT_STRUCTURE, 50).n, 0);
	heph_free(&b);
}

/* An event that ends before the one before it. */
Test(heph_lost, times_that_go_back)
{
	struct heph_build b;

	heph_init(&b);
	heph_event_at(&b, 1, 0, 1, 10, 90, "before");
	heph_event_at(&b, 1, 2, 1, 30, 20, "after, and ends before it begins");
	const struct lost one = lost_of(&b, GAPS, 50);
	cr_expect(one.n == 1 && one.from == 30 && one.to == 90);
	heph_free(&b);
}

/* Of stream 0 only what never comes is missing. */
Test(heph_lost, a_shared_stream)
{
	struct heph_build b;

	heph_init(&b);
	for (uint32_t i = 1000; i < 20000; i++)
		if (i != 7000 && i != 12001)
			heph_event_at(&b, 0, i ^ 2, 1, i, i + 1, "shared");
	const struct lost two = lost_of(&b, GAPS, 50);
	cr_expect(two.n == 2 && two.missing == 2, "%" PRIu64, two.n);
	cr_expect(two.from >= 11995 && two.from <= two.to && two.to < 12010, "%" PRIu64, two.from);
	heph_free(&b);
}

/* Every other number: what does not fit is put together, and nothing is miscounted. */
Test(heph_lost, more_than_can_wait)
{
	struct heph_build b;

	heph_init(&b);
	for (uint32_t i = 0; i < 3000; i++)
		heph_event_at(&b, 0, 2 * i, 1, i, i + 1, "shared");
	for (uint32_t cap = 1; cap <= 64; cap *= 4) {
		const struct lost all = lost_of(&b, GAPS, cap);
		cr_expect(all.n >= 256 && all.n < 2999, "%" PRIu64, all.n);
		cr_expect_eq(all.missing, 2999);
	}
	for (uint32_t i = 0; i < 2000; i++) /* all of the last ones come after all */
		heph_event_at(&b, 0, 5997 - 2 * i, 1, i, i + 1, "late");
	cr_expect_eq(lost_of(&b, GAPS, 50).missing, 999);
	heph_free(&b);
}
