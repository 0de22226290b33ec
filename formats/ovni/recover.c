/*
 * Recovery of damaged streams.  Events have sizes, but no marks to resynchronise on: data after a damaged
 * size cannot be distinguished from events, so a stream is cut only where an event extends past its end.  A
 * damaged header before plausible events is rewritten.
 *
 * With --sort, events between OU[ and OU] are put in the order of their clocks, as ovnisort does: they are
 * sorted with the events before them, back to the last one that is older than the whole region.  For this,
 * HELD_MAX bytes of events are buffered; the work for regions that reach far back is bounded.
 */
#include "ovni/ovni.h"

#include <limits.h>
#include <stdlib.h>

#define RECOVER_BYTES (1U << 20) /* of input that one next() reads */
#define HELD_MAX (32U << 20)     /* bytes of buffered events; then half of them are written */
#define REGION_MAX (128U << 20)  /* bytes with the events of a region, which is not sorted if it is longer */

/* Limit of the events that are visited to sort regions, as a multiple of the events of the stream: else
 * regions that all reach far back take quadratic time. */
#define VISITS_FIRST (4U << 20)
#define VISITS_EACH 16

struct held_event {
	uint64_t clock;
	size_t at;  /* in sorter.bytes */
	uint32_t n; /* bytes */
};

/* A range of the bytes whose order differs from that of the input. */
struct moved_range {
	size_t from, to;
	const char *unsorted; /* reason if it was not sorted; NULL: it was */
};

/* Zero-initialise to start. */
struct sorter {
	char *bytes, *scratch; /* of all buffered events; for sorting, of the same size */
	size_t n, cap;
	struct held_event *events;
	uint32_t nevents, events_cap;
	struct moved_range *moved; /* in order, without overlaps */
	uint32_t nmoved, moved_cap;
	uint32_t region; /* the first event after OU[; 0: outside of regions */
	bool dropped;    /* events before the buffered ones were written */
	uint64_t seen;   /* events in total ... */
	uint64_t visits; /* ... and those visited to sort regions */
	bool no_memory;
};

static const char jumbo_inside[] = "not sorted: a long or damaged jumbo event is in the region";

struct ovni_recover {
	bool started; /* the header was written */
	bool big;
	uint64_t skip; /* bytes of an event that are still to be dropped ... */
	bool passes;   /* ... or kept, as it is longer than --max-record */
	struct sorter sorter;
};

static const char *const structure[] = { "ovni/cut-event",
	                                 "ovni/bad-magic",
	                                 "ovni/cut-header",
	                                 "ovni/bad-version",
	                                 "ovni/jumbo-nibble",
	                                 "ovni/zero-bytes",
	                                 NULL };

/* ---- writing buffered events ---- */

/* Writes the first `count` events, which must not end inside a moved range. */
static void write_held(struct sorter *s, struct recovery *rc, uint32_t count)
{
	const size_t n = count < s->nevents ? s->events[count].at : s->n;
	uint32_t used = 0;
	size_t at = 0;

	if (count == 0)
		return;
	for (; used < s->nmoved && s->moved[used].to <= n; used++) {
		const struct moved_range m = s->moved[used];
		recover_keep_copy(rc, s->bytes + at, m.from - at);
		recover_replace_copy(rc, s->bytes + m.from, m.to - m.from,
		                     &ovni_rules[OVNI_RULE_NEEDS_SORTING],
		                     m.unsorted != NULL ? m.unsorted : "events in the order of their clocks");
		at = m.to;
	}
	recover_keep_copy(rc, s->bytes + at, n - at);
	memmove(s->bytes, s->bytes + n, s->n - n);
	memmove(s->events, s->events + count, (s->nevents - count) * sizeof *s->events);
	if (used > 0)
		memmove(s->moved, s->moved + used, (s->nmoved - used) * sizeof *s->moved);
	s->n -= n;
	s->nevents -= count;
	s->nmoved -= used;
	for (uint32_t i = 0; i < s->nevents; i++)
		s->events[i].at -= n;
	for (uint32_t i = 0; i < s->nmoved; i++) {
		s->moved[i].from -= n;
		s->moved[i].to -= n;
	}
	s->dropped = true;
}

/* Writes the older half, extended to the end of a moved range. */
static void write_half(struct sorter *s, struct recovery *rc)
{
	uint32_t count = s->nevents / 2;

	for (uint32_t i = 0; i < s->nmoved; i++)
		while (count < s->nevents && s->events[count].at > s->moved[i].from &&
		       s->events[count].at < s->moved[i].to)
			count++;
	write_held(s, rc, count);
}

/* ---- sorting a region ---- */

/* Events of equal clocks keep their order. */
static int compare_events(const void *a, const void *b)
{
	const struct held_event *const x = a, *const y = b;

	return x->clock != y->clock ? ORDER(x->clock, y->clock) : ORDER(x->at, y->at);
}

/* Brings the bytes of the events from `first` on, which begin at `from`, into the order of the events. */
static void move_bytes(struct sorter *s, uint32_t first, size_t from)
{
	size_t at = from;

	for (uint32_t i = first; i < s->nevents; i++) {
		memcpy(s->scratch + at, s->bytes + s->events[i].at, s->events[i].n);
		s->events[i].at = at;
		at += s->events[i].n;
	}
	memcpy(s->bytes + from, s->scratch + from, at - from);
}

/* Adds the range from `from` to the end, merged with the ranges that it overlaps. */
static void add_moved(struct sorter *s, size_t from, const char *unsorted)
{
	while (s->nmoved > 0 && s->moved[s->nmoved - 1].to > from) {
		s->nmoved--;
		if (s->moved[s->nmoved].from < from)
			from = s->moved[s->nmoved].from;
		unsorted = unsorted != NULL ? unsorted : s->moved[s->nmoved].unsorted;
	}
	if (array_reserve(&s->moved, s->nmoved, &s->moved_cap, sizeof *s->moved))
		s->moved[s->nmoved++] = (struct moved_range){ from, s->n, unsorted };
	else
		s->no_memory = true;
}

static bool is_sorted(const struct sorter *s, uint32_t first)
{
	for (uint32_t i = first + 1; i < s->nevents; i++)
		if (s->events[i].clock < s->events[i - 1].clock)
			return false;
	return true;
}

/* Sorts the region, whose events are all buffered. */
static void sort_region(struct sorter *s)
{
	uint32_t first = s->region - 1;
	uint64_t oldest = UINT64_MAX; /* clock */

	if (s->visits > VISITS_EACH * s->seen + VISITS_FIRST) {
		add_moved(s, s->events[s->region - 1].at, "not sorted: regions reach back too far too often");
		return;
	}
	for (uint32_t i = s->region; i < s->nevents; i++)
		oldest = s->events[i].clock < oldest ? s->events[i].clock : oldest;
	if (s->region == s->nevents)
		return;
	while (first > 0 && s->events[first - 1].clock >= oldest)
		first--;
	s->visits += s->nevents - first;
	if (is_sorted(s, first))
		return;
	if (first == 0 && s->dropped && s->events[0].clock >= oldest) {
		add_moved(s, s->events[s->region - 1].at,
		          "not sorted: an event is older than the 16 MiB before it");
		return;
	}
	const size_t from = s->events[first].at;
	qsort(s->events + first, s->nevents - first, sizeof *s->events, compare_events);
	move_bytes(s, first, from);
	add_moved(s, from, NULL);
}

/* ---- buffering events ---- */

/* Ends an open region.  `unsorted`: the reason why it is not sorted; NULL: all of its events are buffered. */
static void write_all_held(struct sorter *s, struct recovery *rc, const char *unsorted)
{
	if (s->region > 0 && unsorted != NULL)
		add_moved(s, s->events[s->region - 1].at, unsorted);
	else if (s->region > 0)
		sort_region(s);
	write_held(s, rc, s->nevents);
	s->region = 0;
}

static bool reserve_event(struct sorter *s, uint32_t n)
{
	if (n > s->cap - s->n) {
		const size_t cap = s->cap * 2 > s->n + n ? s->cap * 2 : s->n + n + 65536;
		if (!array_resize(&s->bytes, cap, 1) || !array_resize(&s->scratch, cap, 1))
			return false;
		s->cap = cap;
	}
	return array_reserve(&s->events, s->nevents, &s->events_cap, sizeof *s->events);
}

/* Adds the next event of the input, which is complete. */
static void hold_event(struct sorter *s, struct recovery *rc, const char *p, uint32_t n, uint64_t clock)
{
	const bool unordered = p[1] == 'O' && p[2] == 'U';

	if (note_failure(&s->no_memory, s->no_memory || !reserve_event(s, n)))
		return;
	if (unordered && p[3] == ']' && s->region > 0) {
		sort_region(s);
		s->region = 0;
	}
	memcpy(s->bytes + s->n, p, n);
	s->events[s->nevents++] = (struct held_event){ clock, s->n, n };
	s->n += n;
	s->seen++;
	if (unordered && p[3] == '[' && s->region == 0)
		s->region = s->nevents;
	if (s->n > REGION_MAX)
		write_all_held(s, rc, "not sorted: the region has more than 128 MiB");
	else if (s->n > HELD_MAX && s->region == 0)
		write_half(s, rc);
}

/* ---- the header ---- */

/* Returns the size of the event at p, of which 16 bytes are present. */
static uint64_t event_size(const char *p, bool big)
{
	if ((p[0] & OVNI_FLAG_JUMBO) != 0)
		return OVNI_JUMBO_HEAD + (uint64_t)load_u32(p + OVNI_EVENT_SIZE, big);
	return OVNI_EVENT_SIZE + ovni_payload_size((uint8_t)p[0]);
}

/* Whether the OVNI_EVENT_SIZE bytes at p can be of an event; random bytes seldom can. */
static bool is_plausible(const char *p, bool big)
{
	for (int i = 1; i < 4; i++)
		if (p[i] <= ' ' || p[i] > '~')
			return false; /* models, categories and values are printable */
	return ((uint8_t)p[0] & OVNI_FLAGS_RESERVED) == 0 && load_u64(p + 4, big) <= INT64_MAX;
}

/* Counts the first events (at most 64) that are plausible, and whose clocks are in order, if read in this
 * byte order.  Returns UINT_MAX for a single event that fills the rest of the stream. */
static unsigned count_plausible(const struct input *in, const char *p, bool big)
{
	uint64_t last = 0;
	unsigned n = 0;

	while (n < 64 && in->end - p >= OVNI_EVENT_SIZE && is_plausible(p, big)) {
		const bool jumbo = (p[0] & OVNI_FLAG_JUMBO) != 0;
		const uint64_t clock = load_u64(p + 4, big);
		if (clock < last || (jumbo && in->end - p < OVNI_JUMBO_HEAD) ||
		    event_size(p, big) > (size_t)(in->end - p))
			break;
		last = clock;
		n++;
		p += event_size(p, big);
	}
	return n == 1 && p == in->end && in->last ? UINT_MAX : n;
}

/* Whether the events at p show their byte order. */
static bool find_byte_order(const struct input *in, const char *p, bool *big)
{
	const unsigned as_little = count_plausible(in, p, false), as_big = count_plausible(in, p, true);

	*big = as_big > as_little;
	if (as_big == as_little && as_big > 0)
		*big = load_u64(p + 4, true) < load_u64(p + 4, false); /* clocks have leading zeros */
	return as_little >= 2 || as_big >= 2;
}

static const char headers[2][OVNI_HEADER_SIZE] = { { 'o', 'v', 'n', 'i', OVNI_VERSION, 0, 0, 0 },
	                                           { 'o', 'v', 'n', 'i', 0, 0, 0, OVNI_VERSION } };

/* A trace keeps a stream without events, since the metadata of the stream stays. */
static void insert_header(struct recovery *rc, const char *at)
{
	if (rc->r->folder > 0)
		recover_replace(rc, at, headers[0], OVNI_HEADER_SIZE, &ovni_rules[OVNI_RULE_CUT_HEADER],
		                "the stream stays, without events");
}

/* Rewrites a damaged header if at least two plausible events follow, or one that ends the stream; else drops
 * the stream. */
static void repair_header(struct recovery *rc)
{
	struct ovni_recover *const s = rc->state;
	struct input *const in = rc->r->in;

	input_need(in, 4096);
	if (find_byte_order(in, in->p + OVNI_HEADER_SIZE, &s->big)) {
		recover_replace(rc, in->p + OVNI_HEADER_SIZE, headers[s->big], OVNI_HEADER_SIZE,
		                &ovni_rules[OVNI_RULE_BAD_MAGIC],
		                "magic or version; the events are %s endian", s->big ? "big" : "little");
	} else {
		recover_drop_for(rc, in->p + OVNI_HEADER_SIZE, &ovni_rules[OVNI_RULE_BAD_MAGIC],
		                 "no header, and nothing that looks like events");
		insert_header(rc, in->p + OVNI_HEADER_SIZE);
		s->skip = UINT64_MAX;
	}
	in->p += OVNI_HEADER_SIZE;
}

static void recover_header(struct recovery *rc)
{
	struct ovni_recover *const s = rc->state;
	struct input *const in = rc->r->in;

	s->started = true;
	if (!input_need(in, OVNI_HEADER_SIZE)) {
		recover_drop_for(rc, in->end, &ovni_rules[OVNI_RULE_CUT_HEADER], "the header is cut");
		in->p = in->end;
		insert_header(rc, in->p);
		return;
	}
	const uint32_t version = load_u32(in->p + 4, false);
	s->big = version == OVNI_VERSION_SWAPPED;
	if (memcmp(in->p, OVNI_MAGIC, 4) != 0 || (version != OVNI_VERSION && !s->big)) {
		repair_header(rc);
		return;
	}
	in->p += OVNI_HEADER_SIZE;
	recover_keep(rc, in->p);
}

/* ---- events ---- */

/* Recovers the event of n bytes at the start of the window. */
static void recover_event(struct recovery *rc, uint64_t n)
{
	struct ovni_recover *const s = rc->state;
	struct input *const in = rc->r->in;
	const char *const p = in->p;

	in->p += n;
	rc->records++;
	if ((*p & OVNI_FLAG_JUMBO) != 0 && (*p & 15) != OVNI_JUMBO_NIBBLE) {
		if (rc->sort)
			write_all_held(&s->sorter, rc, jumbo_inside);
		const char flags = (char)(((uint8_t)*p & ~15U) | OVNI_JUMBO_NIBBLE);
		recover_keep(rc, p);
		recover_replace(rc, p + 1, &flags, 1, &ovni_rules[OVNI_RULE_JUMBO_NIBBLE],
		                "flags 0x%02x: payload size code %u, expected 3", (uint8_t)*p,
		                (uint8_t)*p & 15);
		if (rc->sort)
			recover_keep(rc, in->p);
	} else if (rc->sort) {
		hold_event(&s->sorter, rc, p, (uint32_t)n, load_u64(p + 4, s->big));
	}
}

/* Drops the next n bytes of the stream, or all that follows. */
static void drop_from_here(struct recovery *rc, uint64_t n, enum ovni_rule rule, const char *why)
{
	struct ovni_recover *const s = rc->state;

	if (rc->sort)
		write_all_held(&s->sorter, rc, NULL);
	recover_drop_for(rc, rc->r->in->p, &ovni_rules[rule], why);
	s->skip = n;
}

/* Drops an event of `expected` bytes; only the first `present` bytes exist. */
static void drop_event(struct recovery *rc, uint64_t present, uint64_t expected)
{
	char why[100];

	snprintf(why, sizeof why, "%" PRIu64 " of the event's %" PRIu64 " bytes are present", present,
	         expected);
	drop_from_here(rc, expected, OVNI_RULE_CUT_EVENT, why);
}

/* Starts to copy an event longer than --max-record. */
static void pass_event(struct recovery *rc, uint64_t n)
{
	struct ovni_recover *const s = rc->state;

	if (rc->sort)
		write_all_held(&s->sorter, rc, jumbo_inside);
	reader_report_long(rc->r, rc->r->findings, input_offset(rc->r->in, rc->r->in->p), rc->records + 1,
	                   "a jumbo event", n);
	rc->records++;
	s->passes = true;
	s->skip = n;
}

/* Recovers the events of the window, at most RECOVER_BYTES of them.  Returns false if the window must grow
 * first. */
static bool recover_events(struct recovery *rc)
{
	struct ovni_recover *const s = rc->state;
	struct input *const in = rc->r->in;
	const char *const stop = in->end - in->p > (ptrdiff_t)RECOVER_BYTES ? in->p + RECOVER_BYTES : in->end;

	while (in->p < stop && !s->sorter.no_memory) {
		const size_t present = (size_t)(in->end - in->p);
		const bool jumbo = (*in->p & OVNI_FLAG_JUMBO) != 0;
		const uint64_t n =
		    !jumbo || present >= OVNI_JUMBO_HEAD ? event_size(in->p, s->big) : OVNI_JUMBO_HEAD;
		const bool zeros = present >= OVNI_EVENT_SIZE && ovni_is_zero(in->p);
		if (n <= present && !zeros) {
			recover_event(rc, n);
			continue;
		}
		if (!rc->sort)
			recover_keep(rc, in->p);
		if (zeros) {
			drop_from_here(rc, UINT64_MAX, OVNI_RULE_ZERO_BYTES,
			               "zero bytes where an event should start");
			return true;
		}
		if (!in->last && present < rc->r->max_record)
			return false;
		if (in->last)
			drop_event(rc, present, n);
		else
			pass_event(rc, n);
		return true;
	}
	if (!rc->sort)
		recover_keep(rc, in->p);
	return true;
}

/* Drops or keeps further bytes of an event. */
static void skip_bytes(struct recovery *rc)
{
	struct ovni_recover *const s = rc->state;
	struct input *const in = rc->r->in;
	const size_t present = (size_t)(in->end - in->p), n = s->skip < present ? (size_t)s->skip : present;

	in->p += n;
	s->skip -= n;
	if (s->passes)
		recover_keep(rc, in->p);
	else
		recover_drop(rc, in->p);
	s->passes = s->passes && s->skip > 0;
}

static bool next(struct recovery *rc)
{
	struct ovni_recover *const s = rc->state;
	struct input *const in = rc->r->in;
	const uint64_t start = input_offset(in, in->p);

	if (!s->started)
		recover_header(rc);
	while (input_offset(in, in->p) - start < RECOVER_BYTES && !s->sorter.no_memory) {
		if (in->p == in->end && (in->last || !input_more(in))) {
			write_all_held(&s->sorter, rc, NULL);
			return false;
		}
		if (s->skip > 0)
			skip_bytes(rc);
		else if (!recover_events(rc))
			input_more(in);
	}
	rc->r->no_memory |= s->sorter.no_memory;
	return true;
}

static void close_recovery(struct recovery *rc)
{
	struct sorter *const s = &((struct ovni_recover *)rc->state)->sorter;

	free(s->bytes);
	free(s->scratch);
	free(s->events);
	free(s->moved);
}

const struct recover_ops ovni_recover_ops = {
	.state_size = sizeof(struct ovni_recover),
	.structure = structure,
	.next = next,
	.close = close_recovery,
};
