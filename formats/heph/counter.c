#include "heph/counter.h"

#include "heph/finding.h"
#include "heph/packet.h"
#include "heph/state.h"

/* Counters of streams: each goes up by one with each event. */

/* ---- stream 0 ---- */

static bool
is_set(const struct heph_shared *s, uint32_t n)
{
	return (s->bits[n % HEPH_SHARED_WINDOW / 64] >> n % 64 & 1) != 0;
}

/* Moves the window so that it ends with `last`. */
static void
slide(struct heph_shared *s, uint32_t last)
{
	const uint32_t base = last - HEPH_SHARED_WINDOW + 1;

	if (base - s->base >= HEPH_SHARED_WINDOW)
		memset(s->bits, 0, sizeof s->bits);
	else
		for (uint32_t n = s->base; n != base; n++)
			s->bits[n % HEPH_SHARED_WINDOW / 64] &= ~((uint64_t)1 << n % 64);
	s->base = base;
}

static void
begin_shared(struct heph_shared *s, const struct heph_packet *k)
{
	s->any = true;
	s->base = k->counter - HEPH_SHARED_WINDOW / 2;
	s->lowest = s->highest = k->counter;
	s->bits[k->counter % HEPH_SHARED_WINDOW / 64] |= (uint64_t)1 << k->counter % 64;
	finding_tally_add(&s->first, k->offset, k->ordinal, k->counter, 0);
}

/* Stream 0 is shared by threads, so its packets may change places: only numbers that do not come until the
 * end are missing. */
static void
check_shared(struct heph_state *st, struct heph_shared *s, const struct heph_packet *k)
{
	const uint32_t c = k->counter;

	if (c - s->base > INT32_MAX)
		return; /* thousands of packets late, or another run: nothing is remembered of there */
	if (c - s->base >= HEPH_SHARED_WINDOW)
		slide(s, c);
	if (is_set(s, c))
		return;
	s->bits[c % HEPH_SHARED_WINDOW / 64] |= (uint64_t)1 << c % 64;
	if (c - s->highest <= INT32_MAX) {
		if (c - s->highest > 1) {
			finding_tally_add(&s->jump, k->offset, k->ordinal, c, s->highest);
			heph_lost_add(st, k, s->highest + 1, c - s->highest - 1);
		}
		s->missing += c - s->highest - 1;
		s->highest = c;
	} else if (s->lowest - s->base < HEPH_SHARED_WINDOW && c - s->base < s->lowest - s->base) {
		if (s->lowest - c > 1) {
			finding_tally_add(&s->jump, k->offset, k->ordinal, s->lowest, c);
			heph_lost_add(st, k, c + 1, s->lowest - c - 1);
		}
		s->missing += s->lowest - c - 1;
		s->lowest = c;
		s->first =
		    (struct finding_tally){ .count = 1, .offset = k->offset, .record = k->ordinal, .now = c };
	} else {
		s->missing--;
		heph_lost_came(st, c);
	}
	if (s->missing == 0)
		s->jump.count = 0;
}

/* ---- the other streams ---- */

static void
check_own(struct heph_state *st, const struct heph_packet *k, uint32_t last)
{
	const uint32_t now = k->counter, gap = now - last - 1;

	if (now == last)
		heph_finding_add(st, HEPH_RULE_COUNTER_REPEATED, k, k->p + 12,
		                 "stream %" PRIu32 ": counter %" PRIu32 " is repeated", k->stream, now);
	else if (gap < INT32_MAX) {
		st->r->lost += gap;
		heph_lost_add(st, k, last + 1, gap);
		heph_finding_add(st, HEPH_RULE_COUNTER_GAP, k, k->p + 12,
		                 "stream %" PRIu32 ": counter %" PRIu32 " after %" PRIu32 ", %" PRIu32
		                 " missing",
		                 k->stream, now, last, gap);
	} else
		heph_finding_add(st, HEPH_RULE_COUNTER_BACK, k, k->p + 12,
		                 "stream %" PRIu32 ": counter %" PRIu32 " after %" PRIu32, k->stream, now,
		                 last);
}

/* A stream's first packet. */
static void
begin_stream(struct heph_state *st, const struct heph_packet *k)
{
	struct heph_counters *const all = &st->counters;
	struct heph_stream *const s = heph_stream_new(st, k);

	if (s == NULL)
		return;
	s->last = k->counter;
	s->end = heph_packet_end(k);
	if (k->stream == 0)
		begin_shared(&all->shared, k);
	else if (k->counter != 0)
		finding_tally_add(&all->late_start, k->offset, k->ordinal, k->counter, k->stream);
}

void
heph_counter_check(struct heph_state *st, const struct heph_packet *k)
{
	struct heph_stream *const s = heph_stream_find(&st->streams, k->stream);

	if (s == NULL) {
		begin_stream(st, k);
		return;
	}
	if (k->stream == 0)
		check_shared(st, &st->counters.shared, k);
	else if (k->counter != s->last + 1)
		check_own(st, k, s->last);
	s->last = k->counter;
	s->end = heph_packet_end(k);
}

/* Stream 0 is one of those that begin late: the first of them stands for all. */
static void
add_late_shared(struct heph_counters *all)
{
	const uint64_t others = all->late_start.count;

	if (others == 0 || all->shared.first.offset < all->late_start.offset)
		all->late_start = all->shared.first;
	all->late_start.count = others + 1;
}

void
heph_counters_finish(struct heph_state *st)
{
	const struct heph_shared *const s = &st->counters.shared;
	const struct finding_tally *const late = &st->counters.late_start;

	st->r->lost += s->missing;
	if (s->missing > 0)
		finding_add(st->r->findings, &heph_rules[HEPH_RULE_COUNTER_GAP], s->jump.offset + 12,
		            s->jump.record,
		            "stream 0: %" PRIu64 " counter%s between %" PRIu32 " and %" PRIu32
		            " missing; the first gap is from %" PRIu64 " to %" PRIu64,
		            s->missing, s->missing == 1 ? "" : "s", s->lowest, s->highest, s->jump.before,
		            s->jump.now);
	if (s->any && s->lowest != 0)
		add_late_shared(&st->counters);
	if (late->count > 0)
		finding_add(st->r->findings, &heph_rules[HEPH_RULE_COUNTER_START], late->offset + 12,
		            late->record,
		            "stream %" PRIu64 " begins at counter %" PRIu64 "; %" PRIu64 " stream%s in all",
		            late->before, late->now, late->count, late->count == 1 ? "" : "s");
}
