#include "run/nest/nesting.h"

#include <stdlib.h>
#include <string.h>

#include "run/nest/nest_cover.h"
#include "run/nest/nest_lane.h"
#include "run/nest/nest_room.h"

/* All costs are bounded for each span, whatever the input: looking at spans that stay, and moving more than
 * NEST_WINDOW, costs credit, of which each new one brings a little; some is there from the start. */
#define LOOKS_SPAN 64
#define LOOKS_MAX (1 << 20)
#define MOVES_SPAN 64
#define MOVES_MAX (1 << 24)

void
nesting_init(struct nesting *n, bool cover)
{
	*n = (struct nesting){
		.limit = NEST_TRACK_ROOM, .looks = LOOKS_MAX, .moves = MOVES_MAX, .cover = cover
	};
}

void
nesting_free(struct nesting *n)
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
static bool
fail(struct nesting *n)
{
	n->failed = true;
	return false;
}

static bool
track_at(struct nesting *n, uint32_t track)
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

/* One lane more; false: there may be none. */
static bool
track_add_lane(struct nesting *n, struct nest_track *t)
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

/* What was found out about one span. */
struct finding_place {
	const struct nest_span *x;
	struct nest_look at; /* in the lane that it fits */
	bool fits;
	uint32_t nholders;
	struct nest_span holders[NEST_LANES]; /* the innermost around it, of each lane that has one */
};

/* Looks at all lanes, or up to the first that fits. */
static void
look_around(struct nesting *n, struct nest_track *t, struct finding_place *f, struct nest_result *out)
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

/* A lane for it.  out->dropped: there is none. */
static void
find_lane(struct nesting *n, struct nest_track *t, struct finding_place *f, struct nest_result *out)
{
	look_around(n, t, f, out);
	if (f->fits)
		return;
	out->dropped = !track_add_lane(n, t);
	f->at = (struct nest_look){ .pos = 0 };
	out->lane = (uint16_t)(out->dropped ? NEST_LANES - 1 : t->nmore);
}

/* The place in a lane whose spans have moved. */
static void
look_again(struct nesting *n, const struct nest_lane *l, struct finding_place *f)
{
	const uint32_t looks = n->looks;

	n->looks = UINT32_MAX;
	nest_lane_look(l, f->x, (struct nest_asked){ n, false, false }, &f->at);
	n->looks = looks;
}

static bool
pays_move(struct nesting *n, uint32_t spans)
{
	const uint32_t cost = spans > NEST_WINDOW ? spans - NEST_WINDOW : 0;

	if (cost > n->moves)
		return false;
	n->moves -= cost;
	return true;
}

/* Puts it in.  false: that would move too much, it may not be right where it is and later ones would rely on
 * it, or there is no room. */
static bool
keep(struct nesting *n, struct nest_track *t, struct finding_place *f, const struct nest_result *r)
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

void
nesting_place(struct nesting *n, uint32_t track, const struct nest_span *x, struct nest_result *out)
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
