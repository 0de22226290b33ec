/* How spans of a track nest, for spans in any order (nesting.h): each lane is an array ordered by end, in
 * which a span is preceded by the spans inside it (post-order of a forest).  A span that ends last is
 * appended in O(1) amortised; others need a binary search and moving.  Capacity is bounded for each track and
 * in total; beyond it inner spans are dropped first. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "run/nest/nesting.h"

/* ---- capacity of lanes ---- */

#define ROOM_FIRST 4 /* of a new lane; also the smallest limit of a track */

static inline void raise(uint64_t *to, uint64_t v)
{
	if (v > *to)
		*to = v;
}

/* Moves spans[from ..] down to spans[to ..].  Of trees that reached below spans[cut] nothing is left there.
 */
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

/* Forgets spans within others, but for the last `recent` of the lane.  Goes through the trees from the last
 * down to those that it saw before. */
static void forget_inner(struct nest_lane *l, uint32_t recent)
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

/* Drops the first `count` spans. */
static void forget_first(struct nest_lane *l, uint32_t count)
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

/* Before a look at a lane: if x ended long ago, what is within others there is forgotten, so that the look is
 * short. */
static void nest_room_settle(struct nest_lane *l, const struct nest_span *x)
{
	const uint32_t much = 4 * NEST_WINDOW;

	if (l->n - l->flat > much && x->end < l->spans[l->n - much].end)
		forget_inner(l, NEST_WINDOW);
}

/* Reduces the lane to `keep` > 0 spans: drops inner ones first. */
static void lane_reduce(struct nest_lane *l, uint32_t keep)
{
	if (l->n <= keep)
		return;
	forget_inner(l, keep / 2 < NEST_WINDOW ? keep / 2 : NEST_WINDOW);
	if (l->n > keep)
		forget_first(l, l->n - keep);
}

static void lane_shrink(struct nesting *n, struct nest_track *t, struct nest_lane *l, uint32_t cap)
{
	lane_reduce(l, cap);
	struct nest_span *const spans = realloc(l->spans, cap * sizeof *spans);
	if (spans != NULL)
		l->spans = spans;
	t->room -= l->cap - cap;
	n->room -= l->cap - cap;
	l->cap = cap;
}

/* Returns false if every lane has its minimum capacity. */
static bool track_halve(struct nesting *n, struct nest_track *t)
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

/* Shrinks lanes with unused capacity. */
static void track_trim(struct nesting *n, struct nest_track *t)
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
static bool nesting_sweep(struct nesting *n)
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

/* Frees enough slots at once to amortise the cost. */
static bool has_room(const struct nest_lane *l)
{
	return l->n < l->cap - l->cap / 4;
}

static uint32_t lane_wants(const struct nest_lane *l)
{
	return l->cap == 0 ? ROOM_FIRST : l->cap;
}

static bool lane_drop_half(struct nest_lane *l)
{
	if (l->cap > 0)
		lane_reduce(l, l->cap / 2);
	return has_room(l);
}

/* Frees capacity within the limit of the track.  Returns true if the lane has free slots now. */
static bool track_make_room(struct nesting *n, struct nest_track *t, struct nest_lane *l)
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

static bool lane_grow(struct nesting *n, struct nest_track *t, struct nest_lane *l)
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

/* Ensures a free slot in a full lane; may move or drop spans of all lanes. */
static enum nest_room nest_room_make(struct nesting *n, struct nest_track *t, struct nest_lane *l)
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

/* ---- position of a span in a lane ---- */

/* The order of nesting.h; of equal spans the later one contains the earlier. */
static inline bool goes_behind(const struct nest_span *s, const struct nest_span *x)
{
	return s->end < x->end || (s->end == x->end && s->start >= x->start);
}

/* Exponential search from the newest span, as most are near it. */
static uint32_t place_of(const struct nest_lane *l, const struct nest_span *x)
{
	uint32_t hi = l->n, step = 1;

	while (step <= hi && !goes_behind(&l->spans[hi - step], x)) {
		hi -= step;
		step *= 2;
	}
	uint32_t lo = step <= hi ? hi - step + 1 : 0;
	while (lo < hi) {
		const uint32_t mid = lo + (hi - lo) / 2;
		if (goes_behind(&l->spans[mid], x))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void add_piece(const struct nest_asked *asked, const struct nest_span *s)
{
	struct nesting *const n = asked->n;

	if (!asked->pieces)
		return;
	if (!array_room(&n->pieces, n->npieces, &n->pieces_cap, sizeof *n->pieces)) {
		n->failed = true;
		return;
	}
	n->pieces[n->npieces++] = (struct nest_piece){ s->start, s->end };
}

/* Returns false if the budget is used up. */
static inline bool pay(const struct nest_asked *asked, struct nest_look *at)
{
	if (asked->n->looks == 0) {
		at->unsure = true;
		at->fits = false;
		return false;
	}
	asked->n->looks--;
	return true;
}

/* Those that end later.  Goes down the trees that `pos` lies in; a tree that begins behind it begins when x
 * is over. */
static void look_behind(const struct nest_lane *l, const struct nest_span *x, const struct nest_asked *asked,
                        struct nest_look *at)
{
	uint32_t c = l->n;

	while (c > at->pos) {
		const struct nest_span *const s = &l->spans[c - 1];
		if (!pay(asked, at))
			return;
		if (c - s->size > at->pos) {
			c = c <= l->flat ? at->pos + 1
			                 : c - s->size; /* each of those below is its own tree */
			continue;
		}
		c--;
		if (s->start <= x->start) {
			at->holder = c + 1;
			continue;
		}
		if (s->start >= x->end)
			return;
		at->fits = false;
		if (!asked->whole)
			return;
		add_piece(asked, s);
	}
}

/* Spans that end inside x, or with it. */
static void look_before(const struct nest_lane *l, const struct nest_span *x, const struct nest_asked *asked,
                        struct nest_look *at)
{
	uint32_t i = at->pos;

	while (i > 0 && l->spans[i - 1].end > x->start) {
		const struct nest_span *const s = &l->spans[i - 1];
		if (!pay(asked, at))
			return;
		if (s->start >= x->start) {
			at->covered += s->end - s->start;
			i -= s->size;
		} else {
			at->fits = false;
			if (!asked->whole)
				return;
			i--;
		}
		add_piece(asked, s);
	}
	at->first = i;
}

/* Sets nesting.failed on OOM. */
static void nest_lane_look(const struct nest_lane *l, const struct nest_span *x, struct nest_asked asked,
                           struct nest_look *at)
{
	*at = (struct nest_look){ .pos = place_of(l, x), .fits = true };
	look_behind(l, x, &asked, at);
	if ((at->fits || asked.whole) && !at->unsure)
		look_before(l, x, &asked, at);
	at->unsure |= x->start < l->lost ||
	              ((at->holder > 0 || (!at->fits && asked.whole)) && x->start < l->lost_inner);
}

/* In the part without inner spans: replaces the spans inside it, or is dropped. */
static void put_flat(struct nest_lane *l, const struct nest_span *x, const struct nest_look *at)
{
	const uint32_t inner = at->pos - at->first;
	struct nest_span *const to = l->spans + at->first;

	if (at->holder > 0) {
		if (l->lost_inner < x->end)
			l->lost_inner = x->end;
		return;
	}
	if (inner > 0 && l->lost_inner < l->spans[at->pos - 1].end)
		l->lost_inner = l->spans[at->pos - 1].end;
	memmove(to + 1, to + inner, (l->n - at->pos) * sizeof *to);
	*to = *x;
	to->size = 1;
	l->n = l->n + 1 - inner;
	l->flat = l->flat + 1 - inner;
}

/* Inserts it at the position of nest_lane_look(); there is a free slot, and at most NEST_WINDOW spans move.
 */
static void nest_lane_put(struct nest_lane *l, const struct nest_span *x, const struct nest_look *at)
{
	struct nest_span *const to = l->spans + at->pos;

	if (at->pos < l->flat) {
		put_flat(l, x, at);
		return;
	}
	/* The trees that it is put into grow. */
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

/* ---- covered time ---- */

#define FEW 32

static int by_start(const void *a, const void *b)
{
	const struct nest_piece *const x = a, *const y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void sort(struct nest_piece *p, uint32_t n)
{
	if (n > FEW) {
		qsort(p, n, sizeof *p, by_start);
		return;
	}
	for (uint32_t i = 1; i < n; i++) {
		const struct nest_piece moved = p[i];
		uint32_t j = i;
		for (; j > 0 && p[j - 1].start > moved.start; j--)
			p[j] = p[j - 1];
		p[j] = moved;
	}
}

static inline bool is_within(const struct nest_piece *p, const struct nest_span *s)
{
	return s->start <= p->start && p->end <= s->end;
}

/* ns of x covered by the pieces inside it, or inside the holder (may be NULL). */
static uint64_t united(const struct nesting *n, const struct nest_span *x, const struct nest_span *holder)
{
	uint64_t covered = 0, until = x->start;

	for (uint32_t i = 0; i < n->npieces; i++) {
		const struct nest_piece *const p = &n->pieces[i];
		if (!is_within(p, x) && (holder == NULL || !is_within(p, holder)))
			continue;
		const uint64_t from = p->start > until ? p->start : until,
		               to = p->end < x->end ? p->end : x->end;
		if (to > from) {
			covered += to - from;
			until = to;
		}
	}
	return covered;
}

/* Whether another holder is inside it. */
static bool is_outer(const struct nest_span *holders, uint32_t n, uint32_t i)
{
	for (uint32_t j = 0; j < n; j++) {
		const bool within = holders[i].start <= holders[j].start && holders[j].end <= holders[i].end;
		const bool equal = holders[i].start == holders[j].start && holders[i].end == holders[j].end;
		if (j != i && within && (!equal || j < i))
			return true;
	}
	return false;
}

static void add_late(struct nesting *n, const struct nest_span *holder, uint64_t ns, struct nest_result *out)
{
	if (ns > 0)
		n->late[out->nlate++] = (struct nest_late){ ns, holder->who };
}

/* From nesting.pieces: what of x is covered, and what it takes from the spans around it, `holders`, of which
 * there is at most one in a lane: the innermost.  Sets covered and nlate of *out, and nesting.late. */
static void nest_cover(struct nesting *n, const struct nest_span *x, const struct nest_span *holders,
                       uint32_t nholders, struct nest_result *out)
{
	const uint64_t dur = x->end - x->start;

	sort(n->pieces, n->npieces);
	out->covered = united(n, x, NULL);
	for (uint32_t i = 0; i < nholders; i++)
		if (!is_outer(holders, nholders, i))
			add_late(n, &holders[i], dur - united(n, x, &holders[i]), out);
}

/* The same if x fits into the only lane, where `covered` ns of it are covered.  holder: NULL if there is
 * none. */
static void nest_cover_alone(struct nesting *n, const struct nest_span *x, const struct nest_span *holder,
                             uint64_t covered, struct nest_result *out)
{
	out->covered = covered;
	if (holder != NULL)
		add_late(n, holder, x->end - x->start - covered, out);
}

/* ---- placing a span ---- */

/* All costs are bounded for each span, whatever the input: looking at spans that stay, and moving more than
 * NEST_WINDOW, costs credit, of which each new one brings a little; some is there from the start. */
#define LOOKS_SPAN 64
#define LOOKS_MAX (1 << 20)
#define MOVES_SPAN 64
#define MOVES_MAX (1 << 24)

void nesting_init(struct nesting *n, bool cover)
{
	*n = (struct nesting){
		.limit = NEST_TRACK_ROOM, .looks = LOOKS_MAX, .moves = MOVES_MAX, .cover = cover
	};
}

void nesting_free(struct nesting *n)
{
	for (uint32_t i = 0; i < n->ntracks; i++) {
		struct nest_track *const t = &n->tracks[i];
		for (uint32_t j = 0; j <= t->nmore; j++)
			free(nest_lane_at(t, j)->spans);
		free(t->more);
	}
	free(n->tracks);
	free(n->pieces);
	*n = (struct nesting){ 0 };
}

/* Always false. */
static bool fail(struct nesting *n)
{
	n->failed = true;
	return false;
}

static bool track_at(struct nesting *n, uint32_t track)
{
	if (track < n->ntracks)
		return true;
	uint32_t count = n->ntracks < 16 ? 16 : n->ntracks;
	while (count <= track) {
		if (count > UINT32_MAX / 2)
			return fail(n);
		count *= 2;
	}
	struct nest_track *const p = realloc(n->tracks, count * sizeof *p);
	if (p == NULL)
		return fail(n);
	memset(p + n->ntracks, 0, (count - n->ntracks) * sizeof *p);
	n->tracks = p;
	n->ntracks = count;
	return true;
}

/* Adds a lane; returns false at the limit. */
static bool track_add_lane(struct nesting *n, struct nest_track *t)
{
	if (t->nmore + 1 >= NEST_LANES || n->nextra >= NEST_EXTRA_LANES)
		return false;
	if ((t->nmore & (t->nmore + 1)) == 0) { /* 0, 1, 3, 7, ...: all places are taken */
		struct nest_lane *const p = realloc(t->more, ((size_t)t->nmore * 2 + 1) * sizeof *p);
		if (p == NULL)
			return fail(n);
		t->more = p;
	}
	t->more[t->nmore++] = (struct nest_lane){ 0 };
	n->nextra++;
	return true;
}

/* Results of the search for one span. */
struct finding_place {
	const struct nest_span *x;
	struct nest_look at; /* in the lane that it fits */
	bool fits;
	uint32_t nholders;
	struct nest_span holders[NEST_LANES]; /* the innermost around it, of each lane that has one */
};

/* Searches all lanes, or up to the first that fits. */
static void look_around(struct nesting *n, struct nest_track *t, struct finding_place *f,
                        struct nest_result *out)
{
	const struct nest_asked asked = { n, n->cover, n->cover };

	n->npieces = 0;
	for (uint32_t i = 0; i <= t->nmore && !(f->fits && !n->cover); i++) {
		struct nest_lane *const l = nest_lane_at(t, i);
		struct nest_look at = { .pos = l->n, .first = l->n, .fits = true };

		if (!nest_lane_is_before(l, f->x)) {
			nest_room_settle(l, f->x);
			nest_lane_look(l, f->x, asked, &at);
		}
		out->inexact |= at.unsure;
		if (at.holder > 0)
			f->holders[f->nholders++] = l->spans[at.holder - 1];
		if (at.fits && !f->fits) {
			f->at = at;
			f->fits = true;
			out->lane = (uint16_t)i;
		}
	}
	out->inexact |= f->x->start < t->missed;
	if (n->cover && t->nmore == 0 && f->fits)
		nest_cover_alone(n, f->x, f->nholders > 0 ? f->holders : NULL, f->at.covered, out);
	else if (n->cover)
		nest_cover(n, f->x, f->holders, f->nholders, out);
}

/* Chooses its lane; sets out->dropped if there is none. */
static void find_lane(struct nesting *n, struct nest_track *t, struct finding_place *f,
                      struct nest_result *out)
{
	look_around(n, t, f, out);
	if (f->fits)
		return;
	out->dropped = !track_add_lane(n, t);
	f->at = (struct nest_look){ .pos = 0 };
	out->lane = (uint16_t)(out->dropped ? NEST_LANES - 1 : t->nmore);
}

/* Its position in a lane whose spans have moved. */
static void look_again(struct nesting *n, const struct nest_lane *l, struct finding_place *f)
{
	const uint32_t looks = n->looks;

	n->looks = UINT32_MAX;
	nest_lane_look(l, f->x, (struct nest_asked){ n, false, false }, &f->at);
	n->looks = looks;
}

static bool pays_move(struct nesting *n, uint32_t spans)
{
	const uint32_t cost = spans > NEST_WINDOW ? spans - NEST_WINDOW : 0;

	if (cost > n->moves)
		return false;
	n->moves -= cost;
	return true;
}

/* Puts it in.  false: that would move too much, it may not be right where it is and later ones would rely on
 * it, or there is no room. */
static bool keep(struct nesting *n, struct nest_track *t, struct finding_place *f,
                 const struct nest_result *r)
{
	struct nest_lane *const l = nest_lane_at(t, r->lane);
	const uint32_t behind = l->n - f->at.pos;

	if (!pays_move(n, behind) || (r->inexact && (behind > 0 || f->x->end < l->lost)))
		return false;
	if (l->n == l->cap) {
		const enum nest_room room = nest_room_make(n, t, l);
		n->failed |= room == NEST_ROOM_NO_MEMORY;
		if (room != NEST_ROOM_OK)
			return false;
		look_again(n, l, f);
		if (!f->at.fits)
			return false;
	}
	nest_lane_put(l, f->x, &f->at);
	return true;
}

void nesting_place(struct nesting *n, uint32_t track, const struct nest_span *x, struct nest_result *out)
{
	struct nest_result r = { 0 };
	struct finding_place f;

	if (x->start == x->end || !track_at(n, track)) {
		*out = r;
		return;
	}
	struct nest_track *const t = &n->tracks[track];
	n->looks = n->looks > LOOKS_MAX - LOOKS_SPAN ? LOOKS_MAX : n->looks + LOOKS_SPAN;
	n->moves = n->moves > MOVES_MAX - MOVES_SPAN ? MOVES_MAX : n->moves + MOVES_SPAN;
	f.x = x;
	f.fits = false;
	f.nholders = 0;
	find_lane(n, t, &f, &r);
	const bool kept = !r.dropped && keep(n, t, &f, &r);
	r.inexact |= !kept;
	if (r.inexact)
		r.nlate = 0; /* what was forgotten may have taken it already */
	if (!kept && t->missed < x->end)
		t->missed = x->end;
	if ((!kept || r.lane > 0) && t->apart < x->end)
		t->apart = x->end;
	*out = r;
}
