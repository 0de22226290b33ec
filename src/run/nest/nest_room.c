#include "run/nest/nest_room.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 4 /* of a new lane; also the smallest limit of a track */

static inline void
raise(uint64_t *to, uint64_t v)
{
	if (v > *to)
		*to = v;
}

/* Moves spans[from ..] down to spans[to ..].  Of trees that reached below spans[cut] nothing is left there.
 */
static void
move_down(struct nest_lane *l, uint32_t from, uint32_t to, uint32_t cut)
{
	for (uint32_t i = from; i < l->n; i++) {
		const uint32_t largest = i < cut ? 1 : i - cut + 1;
		struct nest_span s = l->spans[i];
		if (s.size > largest)
			s.size = largest;
		l->spans[to + (i - from)] = s;
	}
	l->n -= from - to;
}

/* Forgets spans within others, but for the last `recent` of the lane.  Goes through the trees from the last
 * down to those that it saw before. */
static void
forget_inner(struct nest_lane *l, uint32_t recent)
{
	if (l->n <= recent)
		return;
	const uint32_t from = l->n - recent;
	uint32_t to = from, c = l->n;

	const uint64_t end = l->spans[from - 1].end;
	while (c > from)
		c -= l->spans[c - 1].size;
	while (c > l->flat) {
		l->spans[--to] = l->spans[c - 1];
		c -= l->spans[to].size;
	}
	if (to > c)
		raise(&l->lost_inner, end);
	l->flat = c + (from - to);
	move_down(l, to, c, from);
}

/* Forgets the first `count` spans. */
static void
forget_first(struct nest_lane *l, uint32_t count)
{
	uint32_t c = l->flat >= count ? count : l->n;

	if (count == 0)
		return;
	while (c > count)
		c -= l->spans[c - 1].size;
	if (c > 0)
		raise(&l->lost, l->spans[c - 1].end);
	raise(&l->lost_inner, l->spans[count - 1].end);
	l->flat = l->flat > count ? l->flat - count : 0;
	memmove(l->spans, l->spans + count, l->flat * sizeof *l->spans);
	move_down(l, l->flat + count, l->flat, count);
}

void
nest_room_settle(struct nest_lane *l, const struct nest_span *x)
{
	const uint32_t much = 4 * NEST_WINDOW;

	if (l->n - l->flat > much && x->end < l->spans[l->n - much].end)
		forget_inner(l, NEST_WINDOW);
}

/* Makes do with `keep` (at least one): first goes what is within others. */
static void
lane_reduce(struct nest_lane *l, uint32_t keep)
{
	if (l->n <= keep)
		return;
	forget_inner(l, keep / 2 < NEST_WINDOW ? keep / 2 : NEST_WINDOW);
	if (l->n > keep)
		forget_first(l, l->n - keep);
}

static void
lane_shrink(struct nesting *n, struct nest_track *t, struct nest_lane *l, uint32_t cap)
{
	lane_reduce(l, cap);
	struct nest_span *const spans = realloc(l->spans, cap * sizeof *spans);
	if (spans != NULL)
		l->spans = spans;
	t->room -= l->cap - cap;
	n->room -= l->cap - cap;
	l->cap = cap;
}

/* false: every lane is as small as can be. */
static bool
track_halve(struct nesting *n, struct nest_track *t)
{
	bool any = false;

	for (uint32_t i = 0; i <= t->nmore; i++) {
		struct nest_lane *const l = nest_lane_at(t, i);
		if (l->cap > ROOM_FIRST) {
			lane_shrink(n, t, l, l->cap / 2);
			any = true;
		}
	}
	return any;
}

/* Takes room from lanes that do not use it. */
static void
track_trim(struct nesting *n, struct nest_track *t)
{
	for (uint32_t i = 0; i <= t->nmore; i++) {
		struct nest_lane *const l = nest_lane_at(t, i);
		uint32_t cap = l->cap;
		while (cap > ROOM_FIRST && l->n <= cap / 4)
			cap /= 2;
		if (cap < l->cap)
			lane_shrink(n, t, l, cap);
	}
}

/* All room is given out: collects what is not used, and if that is little, makes everybody do with half.  A
 * sweep looks at every track, so it must be earned by growth (or lower the limit, which happens a few times
 * only). false: nothing to be had. */
static bool
nesting_sweep(struct nesting *n)
{
	if (n->limit <= ROOM_FIRST && n->grown < NEST_TOTAL_ROOM / 8)
		return false;
	n->grown = 0;
	for (uint32_t i = 0; i < n->ntracks; i++)
		track_trim(n, &n->tracks[i]);
	if (n->room <= NEST_TOTAL_ROOM / 4 * 3 || n->limit <= ROOM_FIRST)
		return true;
	n->limit /= 2;
	for (uint32_t i = 0; i < n->ntracks; i++)
		while (n->tracks[i].room > n->limit && track_halve(n, &n->tracks[i]))
			;
	return true;
}

/* Free places for some time, so that what it took to make them is earned. */
static bool
has_room(const struct nest_lane *l)
{
	return l->n < l->cap - l->cap / 4;
}

static uint32_t
lane_wants(const struct nest_lane *l)
{
	return l->cap == 0 ? ROOM_FIRST : l->cap;
}

static bool
lane_drop_half(struct nest_lane *l)
{
	if (l->cap > 0)
		lane_reduce(l, l->cap / 2);
	return has_room(l);
}

/* Makes room within the limit of the track.  true: the lane has free places now and need not grow. */
static bool
track_make_room(struct nesting *n, struct nest_track *t, struct nest_lane *l)
{
	while (!has_room(l) && t->room + lane_wants(l) > n->limit) {
		/* A lane that has most of the room itself helps itself; else all lanes give. */
		if (l->cap > t->room / 2 || !track_halve(n, t)) {
			lane_drop_half(l);
			break;
		}
	}
	return has_room(l);
}

static bool
lane_grow(struct nesting *n, struct nest_track *t, struct nest_lane *l)
{
	const uint32_t more = lane_wants(l);
	struct nest_span *const spans = realloc(l->spans, ((size_t)l->cap + more) * sizeof *spans);

	if (spans == NULL)
		return false;
	l->spans = spans;
	l->cap += more;
	t->room += more;
	n->room += more;
	n->grown += more;
	return true;
}

enum nest_room
nest_room_make(struct nesting *n, struct nest_track *t, struct nest_lane *l)
{
	if (l->cap >= 8 * NEST_WINDOW)
		forget_inner(l, NEST_WINDOW);
	if (has_room(l) || track_make_room(n, t, l))
		return NEST_ROOM_OK;
	while (!has_room(l) && n->room + lane_wants(l) > NEST_TOTAL_ROOM)
		if (!nesting_sweep(n))
			return lane_drop_half(l) ? NEST_ROOM_OK : NEST_ROOM_NONE;
	if (has_room(l))
		return NEST_ROOM_OK;
	return lane_grow(n, t, l) ? NEST_ROOM_OK : NEST_ROOM_NO_MEMORY;
}
