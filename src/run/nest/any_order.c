/* Nesting of the spans of a track, in any order (lanes.h).  Each lane is an array ordered by end, in which
 * a span follows the spans inside it (post-order of a forest).  Appending a span that ends last is amortised
 * O(1); other spans need a binary search and a move.  Capacity is bounded per track and in total; beyond it
 * inner spans are dropped first. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "run/nest/lanes.h"

/* ---- capacity of lanes: in spans, a power of two ---- */

#define MIN_CAPACITY 4 /* of a new lane; also the smallest limit of a track */

enum capacity { CAPACITY_OK, CAPACITY_NONE, CAPACITY_NO_MEMORY };

static inline struct nest_lane *lane_at(struct nest_track *t, uint32_t i)
{
	return i == 0 ? &t->first : &t->more[i - 1];
}

static inline void raise(uint64_t *to, uint64_t v)
{
	if (v > *to)
		*to = v;
}

/* Moves spans[from ..] down to spans[to ..].  Spans below spans[cut] were dropped, so trees that reach below
 * it get smaller. */
static void move_down(struct nest_lane *l, uint32_t from, uint32_t to, uint32_t cut)
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

/* Drops spans inside others, except the last `recent` of the lane, which has more.  Visits the trees from the
 * last one down to l->flat. */
static void drop_inner(struct nest_lane *l, uint32_t recent)
{
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

/* Drops the first `count` > 0 spans. */
static void drop_first(struct nest_lane *l, uint32_t count)
{
	uint32_t c = l->flat >= count ? count : l->n;

	while (c > count)
		c -= l->spans[c - 1].size;
	if (c > 0)
		raise(&l->lost, l->spans[c - 1].end);
	raise(&l->lost_inner, l->spans[count - 1].end);
	l->flat = l->flat > count ? l->flat - count : 0;
	memmove(l->spans, l->spans + count, l->flat * sizeof *l->spans);
	move_down(l, l->flat + count, l->flat, count);
}

/* Prepares a search for x: if x ended long before the newest spans, drops inner spans, to keep the search
 * short. */
static void drop_distant(struct nest_lane *l, const struct nest_span *x)
{
	const uint32_t much = 4 * NEST_WINDOW;

	if (l->n - l->flat > much && x->end < l->spans[l->n - much].end)
		drop_inner(l, NEST_WINDOW);
}

/* Reduces the lane to `keep` > 0 spans: drops inner ones first. */
static void lane_reduce(struct nest_lane *l, uint32_t keep)
{
	if (l->n <= keep)
		return;
	drop_inner(l, keep / 2 < NEST_WINDOW ? keep / 2 : NEST_WINDOW);
	if (l->n > keep)
		drop_first(l, l->n - keep);
}

static void lane_shrink(struct nesting *n, struct nest_track *t, struct nest_lane *l, uint32_t cap)
{
	lane_reduce(l, cap);
	(void)array_resize(&l->spans, cap, sizeof *l->spans); /* else it stays as large as it is */
	t->capacity -= l->cap - cap;
	n->capacity -= l->cap - cap;
	l->cap = cap;
}

/* Returns false if every lane has its minimum capacity. */
static bool track_halve(struct nesting *n, struct nest_track *t)
{
	bool any = false;

	for (uint32_t i = 0; i <= t->nmore; i++) {
		struct nest_lane *const l = lane_at(t, i);
		if (l->cap > MIN_CAPACITY) {
			lane_shrink(n, t, l, l->cap / 2);
			any = true;
		}
	}
	return any;
}

/* Shrinks lanes with unused capacity. */
static void track_trim(struct nesting *n, struct nest_track *t)
{
	for (uint32_t i = 0; i <= t->nmore; i++) {
		struct nest_lane *const l = lane_at(t, i);
		uint32_t cap = l->cap;
		while (cap > MIN_CAPACITY && l->n <= cap / 4)
			cap /= 2;
		if (cap < l->cap)
			lane_shrink(n, t, l, cap);
	}
}

/* Frees capacity when the total is used up: trims unused capacity of all tracks, and if that frees little,
 * halves the limit of tracks.  A sweep visits every track, so it runs only after enough growth, or if it
 * lowers the limit, which happens a few times.  Returns false if neither holds. */
static bool sweep(struct nesting *n)
{
	if (n->limit <= MIN_CAPACITY && n->grown < NEST_TOTAL_ROOM / 8)
		return false;
	n->grown = 0;
	for (uint32_t i = 0; i < n->ntracks; i++)
		track_trim(n, &n->tracks[i]);
	if (n->capacity <= NEST_TOTAL_ROOM / 4 * 3 || n->limit <= MIN_CAPACITY)
		return true;
	n->limit /= 2;
	for (uint32_t i = 0; i < n->ntracks; i++)
		while (n->tracks[i].capacity > n->limit && track_halve(n, &n->tracks[i]))
			;
	return true;
}

/* A quarter of the slots: to free fewer would not amortise its cost. */
static bool has_free_slots(const struct nest_lane *l)
{
	return l->n < l->cap - l->cap / 4;
}

static uint32_t lane_growth(const struct nest_lane *l)
{
	return l->cap == 0 ? MIN_CAPACITY : l->cap;
}

static bool lane_drop_half(struct nest_lane *l)
{
	if (l->cap > 0)
		lane_reduce(l, l->cap / 2);
	return has_free_slots(l);
}

/* Frees capacity within the limit of the track.  Returns true if the lane has free slots now. */
static bool track_free_slots(struct nesting *n, struct nest_track *t, struct nest_lane *l)
{
	while (!has_free_slots(l) && t->capacity + lane_growth(l) > n->limit) {
		/* A lane with most of the track's capacity drops its own spans; else all lanes shrink. */
		if (l->cap > t->capacity / 2 || !track_halve(n, t)) {
			lane_drop_half(l);
			break;
		}
	}
	return has_free_slots(l);
}

static bool lane_grow(struct nesting *n, struct nest_track *t, struct nest_lane *l)
{
	const uint32_t more = lane_growth(l);

	if (!array_resize(&l->spans, (uint64_t)l->cap + more, sizeof *l->spans))
		return false;
	l->cap += more;
	t->capacity += more;
	n->capacity += more;
	n->grown += more;
	return true;
}

/* Ensures a free slot in a full lane; may move or drop spans of all lanes. */
static enum capacity make_free_slot(struct nesting *n, struct nest_track *t, struct nest_lane *l)
{
	if (l->cap >= 8 * NEST_WINDOW)
		drop_inner(l, NEST_WINDOW);
	if (has_free_slots(l) || track_free_slots(n, t, l))
		return CAPACITY_OK;
	while (!has_free_slots(l) && n->capacity + lane_growth(l) > NEST_TOTAL_ROOM)
		if (!sweep(n))
			return lane_drop_half(l) ? CAPACITY_OK : CAPACITY_NONE;
	if (has_free_slots(l))
		return CAPACITY_OK;
	return lane_grow(n, t, l) ? CAPACITY_OK : CAPACITY_NO_MEMORY;
}

/* ---- position of a span in a lane ---- */

struct position {
	uint32_t pos;   /* where the span would be inserted */
	uint32_t first; /* if fits: the first span inside it; they end at pos */
	bool within;    /* a span contains it */
	bool fits;      /* no partial overlap with this lane */
	bool unsure;    /* dropped spans, or budget exceeded: the rest may be wrong */
};

/* The order of lanes.h; of equal spans the later one contains the earlier. */
static inline bool sorts_after(const struct nest_span *s, const struct nest_span *x)
{
	return s->end < x->end || (s->end == x->end && s->start >= x->start);
}

/* Returns the index at which x is inserted.  Exponential search from the newest span, since most are near
 * it. */
static uint32_t find_slot(const struct nest_lane *l, const struct nest_span *x)
{
	uint32_t hi = l->n, step = 1;

	while (step <= hi && !sorts_after(&l->spans[hi - step], x)) {
		hi -= step;
		step *= 2;
	}
	uint32_t lo = step <= hi ? hi - step + 1 : 0;
	while (lo < hi) {
		const uint32_t mid = lo + (hi - lo) / 2;
		if (sorts_after(&l->spans[mid], x))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Returns false if the budget is used up. */
static inline bool spend_look(struct nesting *n, struct position *at)
{
	if (n->looks == 0) {
		at->unsure = true;
		at->fits = false;
		return false;
	}
	n->looks--;
	return true;
}

/* Scans spans that end after x: descends the trees that contain at->pos.  A tree that starts above at->pos
 * starts after the end of x. */
static void scan_later(struct nesting *n, const struct nest_lane *l, const struct nest_span *x,
                       struct position *at)
{
	uint32_t c = l->n;

	while (c > at->pos) {
		const struct nest_span *const s = &l->spans[c - 1];
		if (!spend_look(n, at))
			return;
		if (c - s->size > at->pos) {
			c = c <= l->flat ? at->pos + 1 : c - s->size; /* each span below l->flat is a tree */
			continue;
		}
		c--;
		if (s->start > x->start) {
			at->fits = s->start >= x->end;
			return;
		}
		at->within = true;
	}
}

/* Scans spans that end inside x, or with it. */
static void scan_earlier(struct nesting *n, const struct nest_lane *l, const struct nest_span *x,
                         struct position *at)
{
	uint32_t i = at->pos;

	while (i > 0 && l->spans[i - 1].end > x->start) {
		const struct nest_span *const s = &l->spans[i - 1];
		if (!spend_look(n, at))
			return;
		if (s->start < x->start) {
			at->fits = false;
			return;
		}
		i -= s->size;
	}
	at->first = i;
}

/* Finds the position of x in the lane.  Each span that is examined costs one of nesting.looks. */
static void find_position(struct nesting *n, const struct nest_lane *l, const struct nest_span *x,
                          struct position *at)
{
	*at = (struct position){ .pos = find_slot(l, x), .fits = true };
	scan_later(n, l, x, at);
	if (at->fits)
		scan_earlier(n, l, x, at);
	at->unsure |= x->start < l->lost || (at->within && x->start < l->lost_inner);
}

/* Inserts x below l->flat, where no inner spans are stored: x replaces the spans inside it, or is dropped if
 * a span contains it. */
static void insert_flat(struct nest_lane *l, const struct nest_span *x, const struct position *at)
{
	const uint32_t inner = at->pos - at->first;
	struct nest_span *const to = l->spans + at->first;

	if (at->within) {
		raise(&l->lost_inner, x->end);
		return;
	}
	if (inner > 0)
		raise(&l->lost_inner, l->spans[at->pos - 1].end);
	memmove(to + 1, to + inner, (l->n - at->pos) * sizeof *to);
	*to = *x;
	to->size = 1;
	l->n = l->n + 1 - inner;
	l->flat = l->flat + 1 - inner;
}

/* Inserts x at the position of find_position(); the lane has a free slot, and at most NEST_WINDOW spans
 * move. */
static void lane_insert(struct nest_lane *l, const struct nest_span *x, const struct position *at)
{
	struct nest_span *const to = l->spans + at->pos;

	if (at->pos < l->flat) {
		insert_flat(l, x, at);
		return;
	}
	/* The trees that contain x grow. */
	for (uint32_t c = l->n; c > at->pos;) {
		struct nest_span *const s = &l->spans[c - 1];
		const uint32_t size = s->size;
		if (c - size > at->pos || s->start > x->start) {
			c -= size;
		} else {
			s->size = size + 1;
			c--;
		}
	}
	memmove(to + 1, to, (l->n - at->pos) * sizeof *to);
	*to = *x;
	to->size = at->pos - at->first + 1;
	l->n++;
}

/* ---- placing a span ---- */

/* The cost of each span is bounded for any input (token buckets): examining spans that stay, and moving more
 * than NEST_WINDOW, consumes credit.  Each span adds LOOKS_SPAN and MOVES_SPAN; the buckets start full. */
#define LOOKS_SPAN 64
#define LOOKS_MAX (1 << 20)
#define MOVES_SPAN 64
#define MOVES_MAX (1 << 24)

void nesting_init(struct nesting *n)
{
	*n = (struct nesting){ .limit = NEST_TRACK_ROOM, .looks = LOOKS_MAX, .moves = MOVES_MAX };
}

void nesting_free(struct nesting *n)
{
	for (uint32_t i = 0; i < n->ntracks; i++) {
		struct nest_track *const t = &n->tracks[i];
		for (uint32_t j = 0; j <= t->nmore; j++)
			free(lane_at(t, j)->spans);
		free(t->more);
	}
	free(n->tracks);
	*n = (struct nesting){ 0 };
}

/* Returns false. */
static bool fail(struct nesting *n)
{
	n->failed = true;
	return false;
}

/* Adds a lane; returns false at the limit. */
static bool track_add_lane(struct nesting *n, struct nest_track *t)
{
	if (t->nmore + 1 >= NEST_LANES || n->nextra >= NEST_EXTRA_LANES)
		return false;
	if ((t->nmore & (t->nmore + 1)) == 0) { /* 0, 1, 3, 7, ...: the array is full */
		if (!array_resize(&t->more, (uint64_t)t->nmore * 2 + 1, sizeof *t->more))
			return fail(n);
	}
	t->more[t->nmore++] = (struct nest_lane){ 0 };
	n->nextra++;
	return true;
}

/* Searches the lanes for the first that x fits, or adds one; sets out->dropped if there is none. */
static void find_lane(struct nesting *n, struct nest_track *t, const struct nest_span *x, struct position *at,
                      struct nest_result *out)
{
	out->inexact = x->start < t->missed;
	for (uint32_t i = 0; i <= t->nmore; i++) {
		struct nest_lane *const l = lane_at(t, i);

		out->lane = (uint16_t)i;
		if (l->n > 0 && l->spans[l->n - 1].end <= x->start) {
			*at = (struct position){ .pos = l->n, .first = l->n };
			return;
		}
		drop_distant(l, x);
		find_position(n, l, x, at);
		out->inexact |= at->unsure;
		if (at->fits)
			return;
	}
	out->dropped = !track_add_lane(n, t);
	*at = (struct position){ .pos = 0 };
	out->lane = (uint16_t)(out->dropped ? NEST_LANES - 1 : t->nmore);
}

/* Repeats the search in a lane whose spans have moved; costs no credit. */
static void search_again(struct nesting *n, const struct nest_lane *l, const struct nest_span *x,
                         struct position *at)
{
	const uint32_t looks = n->looks;

	n->looks = UINT32_MAX;
	find_position(n, l, x, at);
	n->looks = looks;
}

static bool spend_moves(struct nesting *n, uint32_t spans)
{
	const uint32_t cost = spans > NEST_WINDOW ? spans - NEST_WINDOW : 0;

	if (cost > n->moves)
		return false;
	n->moves -= cost;
	return true;
}

/* Inserts the span.  Returns false if too many spans would move, if the position is uncertain and later
 * results would depend on it, or if no slot is free. */
static bool insert_span(struct nesting *n, struct nest_track *t, const struct nest_span *x,
                        struct position *at, const struct nest_result *r)
{
	struct nest_lane *const l = lane_at(t, r->lane);
	const uint32_t nafter = l->n - at->pos;

	if (!spend_moves(n, nafter) || (r->inexact && (nafter > 0 || x->end < l->lost)))
		return false;
	if (l->n == l->cap) {
		const enum capacity result = make_free_slot(n, t, l);
		n->failed |= result == CAPACITY_NO_MEMORY;
		if (result != CAPACITY_OK)
			return false;
		search_again(n, l, x, at);
		if (!at->fits)
			return false;
	}
	lane_insert(l, x, at);
	return true;
}

void nesting_place(struct nesting *n, uint32_t track, const struct nest_span *x, struct nest_result *out)
{
	struct nest_result r = { 0 };
	struct position at;

	if (x->start == x->end ||
	    !(array_reach(&n->tracks, &n->ntracks, track, sizeof *n->tracks) || fail(n))) {
		*out = r;
		return;
	}
	struct nest_track *const t = &n->tracks[track];
	n->looks = n->looks > LOOKS_MAX - LOOKS_SPAN ? LOOKS_MAX : n->looks + LOOKS_SPAN;
	n->moves = n->moves > MOVES_MAX - MOVES_SPAN ? MOVES_MAX : n->moves + MOVES_SPAN;
	find_lane(n, t, x, &at, &r);
	const bool kept = !r.dropped && insert_span(n, t, x, &at, &r);
	r.inexact |= !kept;
	if (!kept)
		raise(&t->missed, x->end);
	if (!kept || r.lane > 0)
		raise(&t->apart, x->end);
	*out = r;
}
