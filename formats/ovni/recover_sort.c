#include "ovni/recover_sort.h"

#include <stdlib.h>

#include "ovni/rules.h"
#include "ovni/wire.h"

#define HELD_MOST (32U << 20) /* bytes: then half of them are passed on */
/* Events that are looked at for regions: these, and so many for each of the stream; so that regions that all
 * reach far back do not take for ever. */
#define SPENT_FIRST (4U << 20)
#define SPENT_EACH 16
#define REGION_MOST (128U << 20) /* with the events of a region: it is not sorted if it is longer */

void
ovni_sort_free(struct ovni_sort *s)
{
	free(s->bytes);
	free(s->room);
	free(s->events);
	free(s->others);
	free(s->moved);
}

/* ---- passing on ---- */

/* The first `count` events, which end at no moved stretch's middle. */
static void
pass_on(struct ovni_sort *s, struct recovery *rc, uint32_t count)
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

void
ovni_sort_flush(struct ovni_sort *s, struct recovery *rc)
{
	pass_on(s, rc, s->nevents);
	s->region = 0;
}

/* The older half, but no part of a moved stretch. */
static void
pass_half_on(struct ovni_sort *s, struct recovery *rc)
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
static void
merge(const struct ovni_held *a, uint32_t na, const struct ovni_held *b, uint32_t nb, struct ovni_held *to)
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

static void
sort_events(struct ovni_held *e, struct ovni_held *room, uint32_t n)
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
static void
move_bytes(struct ovni_sort *s, uint32_t first, size_t from)
{
	size_t at = from;

	for (uint32_t i = first; i < s->nevents; i++) {
		memcpy(s->room + at, s->bytes + s->events[i].at, s->events[i].n);
		s->events[i].at = at;
		at += s->events[i].n;
	}
	memcpy(s->bytes + from, s->room + from, at - from);
}

static void
note_moved(struct ovni_sort *s, size_t from, const char *stuck)
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

static bool
is_sorted(const struct ovni_sort *s, uint32_t first)
{
	for (uint32_t i = first + 1; i < s->nevents; i++)
		if (s->events[i].clock < s->events[i - 1].clock)
			return false;
	return true;
}

/* The events behind OU[ are all there. */
static void
end_region(struct ovni_sort *s)
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

static bool
make_room(struct ovni_sort *s, uint32_t n)
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

void
ovni_sort_add(struct ovni_sort *s, struct recovery *rc, const char *p, uint32_t n, uint64_t clock)
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
