#include "pipeline/nesting.h"

#include <stdlib.h>
#include <string.h>

/*
 * Room is counted in entries of 16 bytes and given out in powers of two.  All
 * costs are bounded for each span, whatever the input: searches gallop from
 * the newest entry, entries that are summed up are removed, and looking at
 * entries that stay costs credit, of which each span brings a little.
 */
#define ROOM_FIRST 4   /* of a new lane; also the smallest limit of a track */
#define CREDIT_SPAN 64 /* entries of other lanes that each span pays for ... */
#define CREDIT_MAX 65535
#define LANE_LOOK 1024 /* ... but no more than these in any one lane */

enum fit { FIT_APART, FIT_PARENT, FIT_CHILD, FIT_CROSS };

/* spans[lo .. hi) are those that share time with the new one. */
struct spot {
	uint32_t lo, hi;
	enum fit fit;
};

void
nesting_init(struct nesting *n)
{
	*n = (struct nesting){ .limit = NEST_TRACK_ROOM };
}

static struct nest_lane *
lane_at(struct nest_track *t, uint32_t i)
{
	return i == 0 ? &t->first : &t->more[i - 1];
}

void
nesting_free(struct nesting *n)
{
	for (uint32_t i = 0; i < n->ntracks; i++) {
		struct nest_track *t = &n->tracks[i];
		for (uint32_t j = 0; j <= t->nmore; j++)
			free(lane_at(t, j)->spans);
		free(t->more);
	}
	free(n->tracks);
	free(n->scratch);
	*n = (struct nesting){ 0 };
}

/* ---- finding the place ---- */

static inline uint64_t
edge(const struct nest_lane *l, uint32_t i, bool ends)
{
	return ends ? l->spans[i].end : l->spans[i].start;
}

/* The first entry whose start (end) is >= key.  Gallops down from the newest, since that is where time is. */
static inline uint32_t
lane_find(const struct nest_lane *l, uint64_t key, bool ends)
{
	uint32_t hi = l->n, step = 1;

	while (step <= hi && edge(l, hi - step, ends) >= key) {
		hi -= step;
		step *= 2;
	}
	uint32_t lo = step <= hi ? hi - step + 1 : 0;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (edge(l, mid, ends) >= key)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static struct spot
lane_spot(const struct nest_lane *l, struct nest_span x)
{
	struct spot at = { .lo = lane_find(l, x.start + 1, true), .hi = lane_find(l, x.end, false) };

	if (at.lo >= at.hi)
		at.fit = FIT_APART;
	else if (l->spans[at.lo].start >= x.start && l->spans[at.hi - 1].end <= x.end)
		at.fit = FIT_PARENT;
	else if (l->spans[at.lo].start <= x.start && l->spans[at.lo].end >= x.end)
		at.fit = FIT_CHILD;
	else
		at.fit = FIT_CROSS;
	return at;
}

/* ---- room ---- */

static void
lane_drop_half(struct nest_lane *l)
{
	uint32_t keep = l->n / 2;

	if (keep == 0) {
		l->n = 0;
		return;
	}
	memmove(l->spans, l->spans + (l->n - keep), keep * sizeof *l->spans);
	l->n = keep;
}

static void
lane_shrink(struct nesting *n, struct nest_track *t, struct nest_lane *l, uint32_t cap)
{
	if (l->n > cap) {
		memmove(l->spans, l->spans + (l->n - cap), cap * sizeof *l->spans);
		l->n = cap;
	}
	struct nest_span *spans = realloc(l->spans, cap * sizeof *spans);
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
		struct nest_lane *l = lane_at(t, i);
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
		struct nest_lane *l = lane_at(t, i);
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

static uint32_t
lane_wants(const struct nest_lane *l)
{
	return l->cap == 0 ? ROOM_FIRST : l->cap;
}

/* Makes room within the limit of the track.  true: the lane has free places now and need not grow. */
static bool
track_make_room(struct nesting *n, struct nest_track *t, struct nest_lane *l)
{
	while (l->n == l->cap && t->room + lane_wants(l) > n->limit) {
		/* A lane that has most of the room itself helps itself; else all lanes give. */
		if (l->cap > t->room / 2 || !track_halve(n, t)) {
			lane_drop_half(l);
			break;
		}
	}
	return l->n < l->cap;
}

enum room { ROOM_OK, ROOM_NONE, ROOM_NO_MEMORY };

/* A free place in a full lane; entries may have moved or gone. */
static enum room
lane_make_room(struct nesting *n, struct nest_track *t, struct nest_lane *l)
{
	if (track_make_room(n, t, l))
		return ROOM_OK;
	while (l->n == l->cap && n->room + lane_wants(l) > NEST_TOTAL_ROOM)
		if (!nesting_sweep(n)) {
			lane_drop_half(l);
			return l->n < l->cap ? ROOM_OK : ROOM_NONE;
		}
	if (l->n < l->cap)
		return ROOM_OK;

	uint32_t more = lane_wants(l);
	struct nest_span *spans = realloc(l->spans, ((size_t)l->cap + more) * sizeof *spans);
	if (spans == NULL)
		return ROOM_NO_MEMORY;
	l->spans = spans;
	l->cap += more;
	t->room += more;
	n->room += more;
	n->grown += more;
	return ROOM_OK;
}

/* ---- what the children cover ---- */

static bool
scratch_add(struct nesting *n, const struct nest_span *spans, size_t count)
{
	if (count > n->scratch_cap - n->nscratch) {
		size_t cap = n->scratch_cap * 2 + count;
		struct nest_span *p = realloc(n->scratch, cap * sizeof *p);
		if (p == NULL)
			return false;
		n->scratch = p;
		n->scratch_cap = cap;
	}
	memcpy(n->scratch + n->nscratch, spans, count * sizeof *spans);
	n->nscratch += count;
	return true;
}

/* The waiting spans of a lane that stays as it is: at most LANE_LOOK, the newest, and within the track's
 * credit. */
static bool
look_into_lane(struct nesting *n, struct nest_track *t, const struct nest_lane *l, struct nest_span x)
{
	uint32_t lo = lane_find(l, x.start, false);
	uint32_t hi = x.end == UINT64_MAX ? l->n : lane_find(l, x.end + 1, true);

	if (lo >= hi)
		return true;
	uint32_t count = hi - lo < LANE_LOOK ? hi - lo : LANE_LOOK;
	if (count > t->credit)
		count = t->credit;
	t->credit = (uint16_t)(t->credit - count);
	return count == 0 || scratch_add(n, l->spans + (hi - count), count);
}

static int
by_start(const void *a, const void *b)
{
	const struct nest_span *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static uint64_t
scratch_union(struct nesting *n, bool sorted)
{
	uint64_t covered = 0, until = 0;

	if (!sorted)
		qsort(n->scratch, n->nscratch, sizeof *n->scratch, by_start);
	for (size_t i = 0; i < n->nscratch; i++) {
		struct nest_span c = n->scratch[i];
		if (c.start < until)
			c.start = until;
		if (c.end > c.start) {
			covered += c.end - c.start;
			until = c.end;
		}
	}
	return covered;
}

/* The union of the spans within x, over all lanes.  `own`: the lane whose spans[lo .. hi) x will replace
 * (they are all looked at, since they go away), or -1. */
static bool
track_covered(struct nesting *n, struct nest_track *t, struct nest_span x, int own, struct spot at,
              uint64_t *covered)
{
	uint32_t parts = 0;

	n->nscratch = 0;
	for (int i = 0; i <= t->nmore; i++) {
		const struct nest_lane *l = lane_at(t, (uint32_t)i);
		size_t before = n->nscratch;
		bool ok = i != own || at.fit != FIT_PARENT ? look_into_lane(n, t, l, x)
		                                           : scratch_add(n, l->spans + at.lo, at.hi - at.lo);
		if (!ok)
			return false;
		parts += n->nscratch > before;
	}
	*covered = scratch_union(n, parts < 2);
	return true;
}

/* ---- one span ---- */

static bool
track_at(struct nesting *n, uint32_t track)
{
	if (track < n->ntracks)
		return true;
	uint32_t count = n->ntracks < 16 ? 16 : n->ntracks;
	while (count <= track) {
		if (count > UINT32_MAX / 2)
			return false;
		count *= 2;
	}
	struct nest_track *p = realloc(n->tracks, count * sizeof *p);
	if (p == NULL)
		return false;
	memset(p + n->ntracks, 0, (count - n->ntracks) * sizeof *p);
	n->tracks = p;
	n->ntracks = count;
	return true;
}

/* One lane more; *dropped: there may be none. */
static bool
track_add_lane(struct nesting *n, struct nest_track *t, bool *dropped)
{
	*dropped = t->nmore + 1 >= NEST_LANES || n->nextra >= NEST_EXTRA_LANES;
	if (*dropped)
		return true;
	if ((t->nmore & (t->nmore + 1)) == 0) { /* 0, 1, 3, 7, ...: all places are taken */
		struct nest_lane *p = realloc(t->more, ((size_t)t->nmore * 2 + 1) * sizeof *p);
		if (p == NULL)
			return false;
		t->more = p;
	}
	t->more[t->nmore++] = (struct nest_lane){ 0 };
	n->nextra++;
	return true;
}

/* Puts x in place of the entries it covers, or between them.  true when it has been done, or is not to be
 * done. */
static bool
lane_keep(struct nesting *n, struct nest_track *t, struct nest_lane *l, struct nest_span x, struct spot at)
{
	if (at.hi - at.lo != 1 && l->n - at.hi > NEST_DEPTH)
		return true; /* would move too much */
	if (at.lo == at.hi && l->n == l->cap) {
		enum room got = lane_make_room(n, t, l);
		if (got != ROOM_OK)
			return got == ROOM_NONE;
		at = lane_spot(l, x);
	}
	uint32_t tail = l->n - at.hi;
	memmove(l->spans + at.lo + 1, l->spans + at.hi, tail * sizeof *l->spans);
	l->spans[at.lo] = x;
	l->n = at.lo + 1 + tail;
	return true;
}

bool
nesting_place(struct nesting *n, uint32_t track, struct nest_span x, struct nest_result *out)
{
	struct nest_result r = { 0 };
	struct spot at = { 0 };
	uint32_t i = 0;

	if (!track_at(n, track))
		return false;
	if (x.start == x.end) {
		*out = r;
		return true;
	}
	struct nest_track *t = &n->tracks[track];
	t->credit = (uint16_t)(t->credit > CREDIT_MAX - CREDIT_SPAN ? CREDIT_MAX : t->credit + CREDIT_SPAN);
	for (; i <= t->nmore; i++) {
		at = lane_spot(lane_at(t, i), x);
		if (at.fit != FIT_CROSS)
			break;
	}
	if (i > t->nmore) {
		at = (struct spot){ 0 };
		if (!track_add_lane(n, t, &r.dropped))
			return false;
	}
	r.lane = (uint16_t)(r.dropped ? NEST_LANES - 1 : i);
	r.late = at.fit == FIT_CHILD;

	struct nest_lane *l = r.dropped ? NULL : lane_at(t, i);
	/* Children that cannot be removed are looked at like those of any other lane. */
	bool stays = l == NULL || (at.hi - at.lo > 1 && l->n - at.hi > NEST_DEPTH);
	if (!track_covered(n, t, x, stays ? -1 : (int)i, at, &r.covered))
		return false;
	if (l != NULL && at.fit != FIT_CHILD && !lane_keep(n, t, l, x, at))
		return false;
	*out = r;
	return true;
}
