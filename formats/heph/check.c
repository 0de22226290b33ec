/*
 * Checks of packets: the counters of streams, which increase by one with each event, and their gaps; the
 * epoch, from which all times count.
 *
 * Threads share stream 0, so its packets may be slightly out of order: a bitmap of the latest 4096 numbers
 * contains the missing ones, and only numbers missing at the end are reported.
 */
#include <stdlib.h>

#include "heph/heph.h"

/* ---- streams ---- */

/* Adds the stream of a packet.  Returns NULL on OOM, or at the limit, which is reported. */
static struct heph_stream *add_stream(struct heph_state *st, const struct heph_packet *k)
{
	struct heph_streams *const all = &st->streams;

	if (all->n == HEPH_MAX_STREAMS) {
		heph_report(st, HEPH_RULE_STREAM_LIMIT, k, k->p + HEPH_AT_STREAM,
		            "stream %" PRIu32 " and others are not distinguished", k->stream);
		return NULL;
	}
	if (note_failure(&st->r->no_memory,
	                 !array_reserve(&all->list, all->n, &all->cap, sizeof *all->list) ||
	                     (k->stream >= HEPH_DIRECT && !table64_put(&all->index, k->stream, all->n))))
		return NULL;
	if (k->stream < HEPH_DIRECT)
		all->direct[k->stream] = all->n + 1;
	all->list[all->n] = (struct heph_stream){ .id = k->stream };
	return &all->list[all->n++];
}

/* ---- gaps ---- */

static struct heph_gap *pending_gap(struct heph_gaps *gaps, uint32_t i)
{
	return &gaps->shared[(gaps->head + i) % HEPH_MAX_GAPS];
}

/* Whether all numbers of the gap have left the window. */
static bool is_certain(const struct heph_state *st, const struct heph_gap *gap)
{
	const uint32_t distance = st->shared.base - gap->first;

	return st->gaps.ended || (distance <= INT32_MAX && distance >= gap->span);
}

/* Removes the first pending gap. */
static void drop_gap(struct heph_gaps *gaps)
{
	const struct heph_gap *const gap = pending_gap(gaps, 0);

	if (gaps->first.missing == 0)
		gaps->first = *gap;
	gaps->head = (gaps->head + 1) % HEPH_MAX_GAPS;
	gaps->n--;
}

/* Drops gaps that no consumer wants; only the first one is kept, for the finding. */
static void drop_gaps(struct heph_state *st)
{
	struct heph_gaps *const gaps = &st->gaps;

	while (gaps->n > 0 && (gaps->first.missing > 0 || pending_gap(gaps, 0)->missing == 0 ||
	                       is_certain(st, pending_gap(gaps, 0))))
		drop_gap(gaps);
}

/* Adds a gap before the packet: `missing` numbers from `first` on. */
static void add_gap(struct heph_state *st, const struct heph_packet *k, uint32_t first, uint32_t missing)
{
	struct heph_gaps *const gaps = &st->gaps;
	const struct heph_stream *const s = heph_stream_find(&st->streams, k->stream);
	const uint64_t end = heph_packet_end(k);

	if (s == NULL)
		return;
	if (!reader_wants_gaps(st->r)) {
		drop_gaps(st);
		if (k->stream != 0 || gaps->first.missing > 0)
			return;
	}
	const struct heph_gap gap = {
		k->stream, first, missing, missing, s->end, end, k->offset, k->ordinal
	};
	if (k->stream != 0) {
		gaps->other = gap;
	} else if (gaps->n < HEPH_MAX_GAPS) {
		*pending_gap(gaps, gaps->n++) = gap;
	} else {
		struct heph_gap *const last = pending_gap(gaps, HEPH_MAX_GAPS - 1);
		last->span = (uint64_t)(first - last->first) + missing;
		last->missing += missing;
		last->to = end;
	}
}

/* Removes a number of stream 0 from its gap: its packet arrived late. */
static void fill_gap(struct heph_state *st, uint32_t number)
{
	struct heph_gaps *const gaps = &st->gaps;

	for (uint32_t i = 0; i < gaps->n; i++) {
		struct heph_gap *const gap = pending_gap(gaps, i);
		if (number - gap->first >= gap->span || gap->missing == 0)
			continue;
		gap->missing--;
		return;
	}
}

bool heph_next_gap(struct heph_state *st, bool ended)
{
	struct heph_gaps *const gaps = &st->gaps;
	struct heph_gap *const out = &gaps->next;

	gaps->ended = ended;
	if (gaps->other.missing > 0) {
		*out = gaps->other;
		gaps->other.missing = 0;
		return true;
	}
	while (gaps->n > 0 && (pending_gap(gaps, 0)->missing == 0 || is_certain(st, pending_gap(gaps, 0)))) {
		*out = *pending_gap(gaps, 0);
		drop_gap(gaps);
		if (out->missing > 0)
			return true;
	}
	return false;
}

void heph_gap_event(struct heph_state *st, struct batch *b, struct event *e)
{
	const struct heph_gap *const gap = &st->gaps.next;
	const struct reader_gap g = { .track = heph_gap_track(st, gap->stream),
		                      .from = gap->from,
		                      .to = gap->to,
		                      .missing = gap->missing,
		                      .offset = gap->offset };

	if (g.track == NULL || !reader_gap_event(st->r, b, &g, e))
		st->r->no_memory = true;
}

/* ---- unexpected counters ---- */

/* Reports a counter that is not the next one; of stream 0 only a repeated one. */
static COLD void report_counter(struct heph_state *st, const struct heph_packet *k, uint32_t last)
{
	const uint32_t now = k->counter, gap = now - last - 1;

	if (now == last) {
		heph_report(st, HEPH_RULE_COUNTER_REPEATED, k, k->p + HEPH_AT_COUNTER,
		            "stream %" PRIu32 ": counter %" PRIu32 " is repeated", k->stream, now);
	} else if (gap < INT32_MAX) {
		st->r->lost += gap;
		add_gap(st, k, last + 1, gap);
		heph_report(st, HEPH_RULE_COUNTER_GAP, k, k->p + HEPH_AT_COUNTER,
		            "stream %" PRIu32 ": counter %" PRIu32 " after %" PRIu32 ", %" PRIu32 " missing",
		            k->stream, now, last, gap);
	} else {
		heph_report(st, HEPH_RULE_COUNTER_BACK, k, k->p + HEPH_AT_COUNTER,
		            "stream %" PRIu32 ": counter %" PRIu32 " after %" PRIu32, k->stream, now, last);
	}
}

/* A tally of one packet so far. */
static struct finding_tally first_at(const struct heph_packet *k, uint64_t now)
{
	return (struct finding_tally){ .count = 1,
		                       .at = { .offset = k->offset, .record = k->ordinal },
		                       .now = now };
}

/* ---- counters of stream 0 ---- */

static uint64_t bit_of(uint32_t n)
{
	return (uint64_t)1 << n % 64;
}

static uint64_t *bits_of(struct heph_shared *s, uint32_t n)
{
	return &s->bits[n % HEPH_SHARED_WINDOW / 64];
}

/* Moves the window so that `last` is its last number. */
static void slide_window(struct heph_shared *s, uint32_t last)
{
	const uint32_t base = last - HEPH_SHARED_WINDOW + 1;

	if (base - s->base >= HEPH_SHARED_WINDOW)
		memset(s->bits, 0, sizeof s->bits);
	else
		for (uint32_t n = s->base; n != base; n++)
			*bits_of(s, n) &= ~bit_of(n);
	s->base = base;
}

/* Counts a packet of stream 0.  Differences are modulo 2^32: at most INT32_MAX means "at or after". */
static void check_shared(struct heph_state *st, struct heph_shared *s, const struct heph_packet *k)
{
	const uint32_t c = k->counter;

	if (c - s->base > INT32_MAX)
		return; /* before the window: thousands of packets late, or of another run */
	if (c - s->base >= HEPH_SHARED_WINDOW)
		slide_window(s, c);
	if ((*bits_of(s, c) & bit_of(c)) != 0) {
		report_counter(st, k, c);
		return;
	}
	*bits_of(s, c) |= bit_of(c);
	if (c - s->highest <= INT32_MAX) {
		if (c - s->highest > 1)
			add_gap(st, k, s->highest + 1, c - s->highest - 1);
		s->missing += c - s->highest - 1;
		s->highest = c;
	} else if (s->lowest - s->base < HEPH_SHARED_WINDOW && c - s->base < s->lowest - s->base) {
		if (s->lowest - c > 1)
			add_gap(st, k, c + 1, s->lowest - c - 1);
		s->missing += s->lowest - c - 1;
		s->lowest = c;
		s->first = first_at(k, c);
	} else {
		s->missing--;
		fill_gap(st, c);
	}
}

/* ---- counters of all streams ---- */

static COLD void start_stream(struct heph_state *st, const struct heph_packet *k)
{
	struct heph_shared *const shared = &st->shared;
	struct heph_stream *const s = add_stream(st, k);

	if (s == NULL)
		return;
	s->last = k->counter;
	s->end = heph_packet_end(k);
	if (k->stream == 0) {
		shared->any = true;
		shared->base = k->counter - HEPH_SHARED_WINDOW / 2;
		shared->lowest = shared->highest = k->counter;
		*bits_of(shared, k->counter) |= bit_of(k->counter);
		finding_tally_add(&shared->first, k->offset, k->ordinal, k->counter, 0);
	} else if (k->counter != 0) {
		finding_tally_add(&st->late_start, k->offset, k->ordinal, k->counter, k->stream);
	}
}

void heph_check_counter_slow(struct heph_state *st, const struct heph_packet *k)
{
	struct heph_stream *const s = heph_stream_find(&st->streams, k->stream);

	if (s == NULL) {
		start_stream(st, k);
		return;
	}
	if (k->stream == 0)
		check_shared(st, &st->shared, k);
	else if (k->counter != s->last + 1)
		report_counter(st, k, s->last);
	s->last = k->counter;
	s->end = heph_packet_end(k);
}

/* Adds stream 0 to the streams that start late.  One finding reports the first of them and their number. */
static void add_late_shared(struct heph_state *st)
{
	const uint64_t others = st->late_start.count;

	if (others == 0 || st->shared.first.at.offset < st->late_start.at.offset)
		st->late_start = st->shared.first;
	st->late_start.count = others + 1;
}

void heph_counters_finish(struct heph_state *st)
{
	const struct heph_shared *const s = &st->shared;
	const struct heph_gap *const gap = &st->gaps.first;

	st->r->lost += s->missing;
	st->gaps.ended = true;
	drop_gaps(st);
	if (s->missing > 0)
		finding_add_line(st->r->findings, &heph_rules[HEPH_RULE_COUNTER_GAP],
		                 (struct finding_place){ .offset = gap->offset + HEPH_AT_COUNTER,
		                                         .record = gap->record,
		                                         .sums = true },
		                 "stream 0: %" PRIu64 " counter%s between %" PRIu32 " and %" PRIu32
		                 " missing; the first gap is from %" PRIu32 " to %" PRIu32,
		                 s->missing, s->missing == 1 ? "" : "s", s->lowest, s->highest,
		                 gap->first - 1, (uint32_t)(gap->first + gap->span));
	if (s->any && s->lowest != 0)
		add_late_shared(st);
	struct finding_tally late = st->late_start;
	late.at.offset += HEPH_AT_COUNTER;
	finding_add_tally(st->r->findings, &heph_rules[HEPH_RULE_COUNTER_START], &late,
	                  "stream %" PRIu64 " begins at counter %" PRIu64, late.before, late.now);
}

/* ---- epoch ---- */

void heph_set_epoch(struct heph_state *st, const struct heph_packet *k, const char *value)
{
	struct trace *const trace = st->r->trace;
	struct heph_epoch *const epoch = &st->epoch;
	const struct finding_tally *const latest = &epoch->latest;
	const uint64_t size = (uint64_t)(k->end - value);

	if (size != HEPH_EPOCH_SIZE) {
		heph_report(st, HEPH_RULE_EPOCH_SIZE, k, value, "the value has %" PRIu64 " byte%s, not %u",
		            size, size == 1 ? "" : "s", (unsigned)HEPH_EPOCH_SIZE);
	} else if (!epoch->known) {
		epoch->known = true;
		epoch->ns = load_u64(value, true);
		if (latest->count > 0 && latest->now > UINT64_MAX - epoch->ns)
			finding_add(st->r->findings, &heph_rules[HEPH_RULE_TIME_OVERFLOW], latest->at.offset,
			            latest->at.record,
			            "time %" PRIu64 ", the latest before the epoch %" PRIu64 " was set",
			            latest->now, epoch->ns);
		trace_change(trace);
		trace->epoch_known = true;
		trace->epoch_ns = epoch->ns;
	} else if (load_u64(value, true) != epoch->ns) {
		heph_report(st, HEPH_RULE_EPOCH_CHANGED, k, value,
		            "%" PRIu64 " after %" PRIu64 "; the first is used", load_u64(value, true),
		            epoch->ns);
	}
}

void heph_check_epoch(struct heph_state *st, const struct heph_packet *k)
{
	const uint64_t latest = k->start > k->stop ? k->start : k->stop;

	if (k->stop < k->start)
		heph_report(st, HEPH_RULE_END_BEFORE_START, k, k->p + HEPH_AT_END,
		            "end %" PRIu64 ", start %" PRIu64, k->stop, k->start);
	if (!st->epoch.known) {
		if (st->epoch.latest.count == 0 || latest > st->epoch.latest.now)
			st->epoch.latest = first_at(k, latest);
	} else if (latest > UINT64_MAX - st->epoch.ns) {
		heph_report(st, HEPH_RULE_TIME_OVERFLOW, k, k->p + (latest == k->start ? 24 : 32),
		            "time %" PRIu64 ", epoch %" PRIu64, latest, st->epoch.ns);
	}
}
