#include "run/nest/nest_lane.h"

#include <string.h>

#include "base/array.h"

/* The order that nesting.h states; of equal spans the later one lies around the earlier. */
static inline bool
goes_behind(const struct nest_span *s, const struct nest_span *x)
{
	return s->end < x->end || (s->end == x->end && s->start >= x->start);
}

/* Gallops down from the newest, since that is where time is. */
static uint32_t
place_of(const struct nest_lane *l, const struct nest_span *x)
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

static void
add_piece(const struct nest_asked *asked, const struct nest_span *s)
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

/* false: it is used up. */
static inline bool
pay(const struct nest_asked *asked, struct nest_look *at)
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
static void
look_behind(const struct nest_lane *l, const struct nest_span *x, const struct nest_asked *asked,
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

/* Those that end within x, or with it. */
static void
look_before(const struct nest_lane *l, const struct nest_span *x, const struct nest_asked *asked,
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

void
nest_lane_look(const struct nest_lane *l, const struct nest_span *x, struct nest_asked asked,
               struct nest_look *at)
{
	*at = (struct nest_look){ .pos = place_of(l, x), .fits = true };
	look_behind(l, x, &asked, at);
	if ((at->fits || asked.whole) && !at->unsure)
		look_before(l, x, &asked, at);
	at->unsure |= x->start < l->lost ||
	              ((at->holder > 0 || (!at->fits && asked.whole)) && x->start < l->lost_inner);
}

/* Where nothing within others is kept: takes the place of those within it, or is forgotten itself. */
static void
put_flat(struct nest_lane *l, const struct nest_span *x, const struct nest_look *at)
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

void
nest_lane_put(struct nest_lane *l, const struct nest_span *x, const struct nest_look *at)
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
