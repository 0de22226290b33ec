#include <stdlib.h>

#include "ovni/ovni.h"

/* ---- recover sort ---- */

#define HELD_MOST (32U << 20) /* bytes: then half of them are passed on */

/* Events that are looked at for regions: these, and so many for each of the stream; so that regions that all
 * reach far back do not take for ever. */
#define SPENT_FIRST (4U << 20)
#define SPENT_EACH 16
#define REGION_MOST (128U << 20) /* with the events of a region: it is not sorted if it is longer */

static void ovni_sort_free(struct ovni_sort *s)
{
	free(s->bytes);
	free(s->room);
	free(s->events);
	free(s->others);
	free(s->moved);
}

/* ---- passing on ---- */

/* The first `count` events, which end at no moved stretch's middle. */
static void pass_on(struct ovni_sort *s, struct recovery *rc, uint32_t count)
{
	const size_t n = count < s->nevents ? s->events[count].at : s->n;
	uint32_t used = 0;
	size_t at = 0;

	if (count == 0)
		return;
	for (; used < s->nmoved && s->moved[used].to <= n; used++) {
		const struct ovni_moved m = s->moved[used];
		recover_keep_copy(rc, s->bytes + at, m.from - at);
		recover_replace_copy(rc, s->bytes + m.from, m.to - m.from,
		                     &ovni_rules[OVNI_RULE_NEEDS_SORTING],
		                     m.stuck != NULL ? m.stuck : "events in the order of their clocks");
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

/* Passes on all that is held. */
static void ovni_sort_flush(struct ovni_sort *s, struct recovery *rc)
{
	pass_on(s, rc, s->nevents);
	s->region = 0;
}

/* The older half, but no part of a moved stretch. */
static void pass_half_on(struct ovni_sort *s, struct recovery *rc)
{
	uint32_t count = s->nevents / 2;

	for (uint32_t i = 0; i < s->nmoved; i++)
		while (count < s->nevents && s->events[count].at > s->moved[i].from &&
		       s->events[count].at < s->moved[i].to)
			count++;
	pass_on(s, rc, count);
}

/* ---- sorting ---- */

/* Merges two neighbouring runs of events, by clock and then by place. */
static void merge(const struct ovni_held *a, uint32_t na, const struct ovni_held *b, uint32_t nb,
                  struct ovni_held *to)
{
	while (na > 0 && nb > 0) {
		const bool second = b->clock < a->clock;
		*to++ = second ? *b++ : *a++;
		nb -= second;
		na -= !second;
	}
	memcpy(to, a, na * sizeof *to);
	memcpy(to + na, b, nb * sizeof *to);
}

static void sort_events(struct ovni_held *e, struct ovni_held *room, uint32_t n)
{
	for (uint32_t width = 1; width<n; width = width> n / 2 ? n : width * 2) {
		for (uint32_t i = 0; i < n; i += 2 * width) {
			const uint32_t a = n - i < width ? n - i : width;
			const uint32_t b = n - i - a < width ? n - i - a : width;
			merge(e + i, a, e + i + a, b, room + i);
			if (n - i <= 2 * width)
				break;
		}
		memcpy(e, room, n * sizeof *e);
	}
}

/* Brings the bytes of the events from `first` on into the order that the events have. */
static void move_bytes(struct ovni_sort *s, uint32_t first, size_t from)
{
	size_t at = from;

	for (uint32_t i = first; i < s->nevents; i++) {
		memcpy(s->room + at, s->bytes + s->events[i].at, s->events[i].n);
		s->events[i].at = at;
		at += s->events[i].n;
	}
	memcpy(s->bytes + from, s->room + from, at - from);
}

static void note_moved(struct ovni_sort *s, size_t from, const char *stuck)
{
	while (s->nmoved > 0 && s->moved[s->nmoved - 1].to > from) {
		s->nmoved--;
		if (s->moved[s->nmoved].from < from)
			from = s->moved[s->nmoved].from;
		stuck = stuck != NULL ? stuck : s->moved[s->nmoved].stuck;
	}
	if (array_room(&s->moved, s->nmoved, &s->moved_cap, sizeof *s->moved))
		s->moved[s->nmoved++] = (struct ovni_moved){ from, s->n, stuck };
	else
		s->no_memory = true;
}

static bool is_sorted(const struct ovni_sort *s, uint32_t first)
{
	for (uint32_t i = first + 1; i < s->nevents; i++)
		if (s->events[i].clock < s->events[i - 1].clock)
			return false;
	return true;
}

/* The events behind OU[ are all there. */
static void end_region(struct ovni_sort *s)
{
	uint32_t first = s->region - 1;
	uint64_t least = UINT64_MAX;

	if (s->spent > SPENT_EACH * s->seen + SPENT_FIRST) {
		note_moved(s, s->events[s->region - 1].at,
		           "not sorted: regions reach back too far too often");
		return;
	}
	for (uint32_t i = s->region; i < s->nevents; i++)
		least = s->events[i].clock < least ? s->events[i].clock : least;
	if (s->region == s->nevents)
		return;
	while (first > 0 && s->events[first - 1].clock >= least)
		first--;
	s->spent += s->nevents - first;
	if (is_sorted(s, first))
		return;
	if (first == 0 && s->dropped && s->events[0].clock >= least) {
		note_moved(s, s->events[s->region - 1].at,
		           "not sorted: an event is older than the 16 MiB before it");
		return;
	}
	const size_t from = s->events[first].at;
	if (!array_reach(&s->others, &s->others_cap, s->nevents, sizeof *s->others)) {
		s->no_memory = true;
		return;
	}
	sort_events(s->events + first, s->others, s->nevents - first);
	move_bytes(s, first, from);
	note_moved(s, from, NULL);
}

/* ---- one event ---- */

static bool make_room(struct ovni_sort *s, uint32_t n)
{
	if (n > s->cap - s->n) {
		const size_t cap = s->cap * 2 > s->n + n ? s->cap * 2 : s->n + n + 65536;
		char *const bytes = realloc(s->bytes, cap);
		if (bytes != NULL)
			s->bytes = bytes;
		char *const room = realloc(s->room, cap);
		if (room != NULL)
			s->room = room;
		if (bytes == NULL || room == NULL)
			return false;
		s->cap = cap;
	}
	return array_room(&s->events, s->nevents, &s->events_cap, sizeof *s->events);
}

/* The next event of the input, which is whole. */
static void ovni_sort_add(struct ovni_sort *s, struct recovery *rc, const char *p, uint32_t n, uint64_t clock)
{
	const bool mark = p[1] == 'O' && p[2] == 'U';

	if (s->no_memory || !make_room(s, n)) {
		s->no_memory = true;
		return;
	}
	if (mark && p[3] == ']' && s->region > 0) {
		end_region(s);
		s->region = 0;
	}
	memcpy(s->bytes + s->n, p, n);
	s->events[s->nevents++] = (struct ovni_held){ clock, s->n, n };
	s->n += n;
	s->seen++;
	if (mark && p[3] == '[' && s->region == 0)
		s->region = s->nevents;
	if (s->n > REGION_MOST)
		ovni_sort_flush(s, rc);
	else if (s->n > HELD_MOST && s->region == 0)
		pass_half_on(s, rc);
}

/* ---- recover ---- */

/*
 * Events have sizes, but no marks: what follows a damaged size cannot be told
 * from events, so a stream is cut only where an event reaches past its end.
 */

#define RECOVER_BYTES (1U << 20)  /* of input, until the engine looks around */
#define LARGEST_EVENT (64U << 20) /* bytes of a jumbo event that are held at a time */

struct ovni_recover {
	bool started; /* the header was passed on */
	bool big;
	uint64_t skip; /* bytes of an event that are still to be dropped */
	struct ovni_sort sort;
};

static const char *const structure[] = {
	"ovni/cut-event", "ovni/bad-magic", "ovni/cut-header", "ovni/bad-version", "ovni/jumbo-nibble", NULL,
};

/* ---- the header ---- */

/* The size of the event at p, of which 16 bytes are there. */
static uint64_t event_size(const char *p, bool big)
{
	const uint32_t nibble = (uint8_t)p[0] & 15;

	if ((p[0] & OVNI_FLAG_JUMBO) != 0)
		return OVNI_JUMBO_HEAD + (uint64_t)load_u32(p + OVNI_EVENT_SIZE, big);
	return OVNI_EVENT_SIZE + nibble + (nibble != 0);
}

/* How many of the first events are in order, if their numbers have this byte order. */
static unsigned in_order(const char *p, const char *end, bool big)
{
	uint64_t last = 0;
	unsigned n = 0;

	while (n < 64 && end - p >= OVNI_JUMBO_HEAD) {
		const uint64_t clock = load_u64(p + 4, big), size = event_size(p, big);
		if (clock < last || clock > INT64_MAX || size > (size_t)(end - p))
			break;
		last = clock;
		n++;
		p += size;
	}
	return n;
}

static const char headers[2][OVNI_HEADER_SIZE] = { { 'o', 'v', 'n', 'i', OVNI_VERSION, 0, 0, 0 },
	                                           { 'o', 'v', 'n', 'i', 0, 0, 0, OVNI_VERSION } };

/* A trace has an empty stream rather than none: its metadata is there. */
static void insert_header(struct recovery *rc, const char *at)
{
	if (rc->r->folder > 0)
		recover_replace(rc, at, headers[0], OVNI_HEADER_SIZE, &ovni_rules[OVNI_RULE_CUT_HEADER],
		                "the stream stays, without events");
}

/* A damaged header in front of events that make sense is made anew. */
static void repair_header(struct recovery *rc)
{
	struct ovni_recover *const s = rc->state;
	struct input *const in = rc->r->in;

	input_need(in, 4096);
	const unsigned little = in_order(in->p + OVNI_HEADER_SIZE, in->end, false);
	const unsigned big = in_order(in->p + OVNI_HEADER_SIZE, in->end, true);
	s->big = big > little;
	if (little + big >= 2) {
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

static void take_header(struct recovery *rc)
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

/* A jumbo event whose size code is wrong; the size itself was right. */
static void repair_code(struct recovery *rc, const char *p)
{
	const char flags = (char)(((uint8_t)*p & ~15U) | OVNI_JUMBO_NIBBLE);

	recover_keep(rc, p);
	recover_replace(rc, p + 1, &flags, 1, &ovni_rules[OVNI_RULE_JUMBO_NIBBLE],
	                "flags 0x%02x: payload size code %u, expected 3", (uint8_t)*p, (uint8_t)*p & 15);
}

/* The event at the start of the window, which is whole. */
static void take_event(struct recovery *rc, uint64_t n)
{
	struct ovni_recover *const s = rc->state;
	struct input *const in = rc->r->in;
	const char *const p = in->p;
	const bool odd = (*p & OVNI_FLAG_JUMBO) != 0 && (*p & 15) != OVNI_JUMBO_NIBBLE;

	in->p += n;
	rc->records++;
	if (odd) {
		if (rc->sort)
			ovni_sort_flush(&s->sort, rc);
		repair_code(rc, p);
		if (rc->sort)
			recover_keep(rc, in->p);
	} else if (rc->sort) {
		ovni_sort_add(&s->sort, rc, p, (uint32_t)n, load_u64(p + 4, s->big));
	}
}

/* The rest of the input, or so much of it, is no event. */
static void drop_event(struct recovery *rc, uint64_t there, uint64_t wanted, const struct rule *rule)
{
	struct ovni_recover *const s = rc->state;
	char why[100];

	if (rc->sort)
		ovni_sort_flush(&s->sort, rc);
	snprintf(why, sizeof why, "%" PRIu64 " of the event's %" PRIu64 " bytes are %s", there, wanted,
	         rule == &ovni_rules[OVNI_RULE_LIMIT] ? "held at most" : "present");
	recover_drop_for(rc, rc->r->in->p, rule, why);
	s->skip = wanted;
}

/* All events of the window, or as many as should be passed on at once.  false: more must come first. */
static bool take_events(struct recovery *rc)
{
	struct ovni_recover *const s = rc->state;
	struct input *const in = rc->r->in;
	const char *const most = in->end - in->p > (ptrdiff_t)RECOVER_BYTES ? in->p + RECOVER_BYTES : in->end;

	while (in->p < most && !s->sort.no_memory) {
		const size_t there = (size_t)(in->end - in->p);
		const bool jumbo = (*in->p & OVNI_FLAG_JUMBO) != 0;
		const uint64_t n =
		    !jumbo || there >= OVNI_JUMBO_HEAD ? event_size(in->p, s->big) : OVNI_JUMBO_HEAD;
		if (n <= there) {
			take_event(rc, n);
			continue;
		}
		if (!rc->sort)
			recover_keep(rc, in->p);
		if (!in->last && (n <= LARGEST_EVENT || there < LARGEST_EVENT))
			return false;
		drop_event(rc, there, n, &ovni_rules[in->last ? OVNI_RULE_CUT_EVENT : OVNI_RULE_LIMIT]);
		return true;
	}
	if (!rc->sort)
		recover_keep(rc, in->p);
	return true;
}

/* Bytes of an event that is dropped. */
static void skip(struct recovery *rc)
{
	struct ovni_recover *const s = rc->state;
	struct input *const in = rc->r->in;
	const size_t there = (size_t)(in->end - in->p), n = s->skip < there ? (size_t)s->skip : there;

	in->p += n;
	s->skip -= n;
	recover_drop(rc, in->p);
}

static enum read_status next(struct recovery *rc)
{
	struct ovni_recover *const s = rc->state;
	struct input *const in = rc->r->in;
	const uint64_t start = input_offset(in, in->p);

	if (!s->started)
		take_header(rc);
	while (input_offset(in, in->p) - start < RECOVER_BYTES && !s->sort.no_memory) {
		if (in->p == in->end && (in->last || !input_more(in))) {
			ovni_sort_flush(&s->sort, rc);
			return READ_END;
		}
		if (s->skip > 0)
			skip(rc);
		else if (!take_events(rc))
			input_more(in);
	}
	return s->sort.no_memory ? READ_NO_MEMORY : READ_MORE;
}

static void close_recovery(struct recovery *rc)
{
	struct ovni_recover *const s = rc->state;

	ovni_sort_free(&s->sort);
}

const struct recover_ops ovni_recover_ops = {
	.state_size = sizeof(struct ovni_recover),
	.structure = structure,
	.next = next,
	.close = close_recovery,
};
