#include "run/nest/nest_sorted.h"

#include <stdlib.h>

#include "base/array.h"

#define FIRST_CAP 4U

/* Forgets what is over. */
static void
close_until(struct nest_open_lane *l, uint64_t start)
{
	while (l->n > 0 && l->spans[l->n - 1].end <= start)
		l->n--;
}

static bool
fits(const struct nest_open_lane *l, const struct nest_open *x)
{
	return l->n == 0 || l->spans[l->n - 1].end >= x->end;
}

/* Whether the lane's last span lies around it; of equal ones the later does. */
static bool
is_inner(const struct nest_open_lane *l, const struct nest_open *x)
{
	const struct nest_open *const last = l->n > 0 ? &l->spans[l->n - 1] : NULL;

	return last != NULL && (last->end > x->end || last->start < x->start);
}

/* false: there is no room. */
static bool
put(struct nest_sorted *n, struct nest_open_lane *l, const struct nest_open *x)
{
	if (l->n == l->cap) {
		const uint32_t cap = l->cap > 0 ? 2 * l->cap : FIRST_CAP;
		if (cap - l->cap > NEST_TOTAL_ROOM - n->room)
			return false;
		struct nest_open *const p = realloc(l->spans, cap * sizeof *p);
		if (p == NULL) {
			n->failed = true;
			return false;
		}
		n->room += cap - l->cap;
		l->spans = p;
		l->cap = cap;
	}
	l->spans[l->n++] = *x;
	return true;
}

/* One lane more; NULL: there may be none. */
static struct nest_open_lane *
add_lane(struct nest_sorted *n, struct nest_open_track *t)
{
	if (t->nmore + 1 >= NEST_LANES || n->nextra >= NEST_EXTRA_LANES)
		return NULL;
	struct nest_open_lane *const p = realloc(t->more, ((size_t)t->nmore + 1) * sizeof *p);
	if (p == NULL) {
		n->failed = true;
		return NULL;
	}
	n->nextra++;
	t->more = p;
	p[t->nmore] = (struct nest_open_lane){ .n = 0 };
	return &p[t->nmore++];
}

/* The first lane that it fits, or a new one. */
static struct nest_open_lane *
find_lane(struct nest_sorted *n, struct nest_open_track *t, const struct nest_open *x,
          struct nest_result *out)
{
	struct nest_open_lane *l = &t->first;

	for (uint16_t i = 0;; l = &t->more[i - 1]) {
		close_until(l, x->start);
		if (fits(l, x)) {
			out->lane = i;
			return l;
		}
		if (i++ == t->nmore)
			break;
	}
	l = add_lane(n, t);
	out->dropped = l == NULL;
	out->lane = (uint16_t)(out->dropped ? NEST_LANES - 1 : t->nmore);
	return l;
}

void
nest_sorted_span(struct nest_sorted *n, uint32_t track, uint64_t start, uint64_t dur, struct nest_result *out)
{
	const struct nest_open x = { start, dur > UINT64_MAX - start ? UINT64_MAX : start + dur };

	*out = (struct nest_result){ .covered = 0 };
	if (x.start == x.end)
		return;
	if (track >= n->ntracks && !array_reach(&n->tracks, &n->ntracks, track, sizeof *n->tracks)) {
		n->failed = true;
		return;
	}
	struct nest_open_track *const t = &n->tracks[track];
	struct nest_open_lane *const l = find_lane(n, t, &x, out);
	out->inexact = start < t->missed;
	if (l != NULL && !(out->inexact && is_inner(l, &x)) && put(n, l, &x))
		return;
	out->inexact = true;
	if (t->missed < x.end)
		t->missed = x.end;
}

void
nest_sorted_free(struct nest_sorted *n)
{
	for (uint32_t i = 0; i < n->ntracks; i++) {
		struct nest_open_track *const t = &n->tracks[i];
		free(t->first.spans);
		for (uint32_t j = 0; j < t->nmore; j++)
			free(t->more[j].spans);
		free(t->more);
	}
	free(n->tracks);
	*n = (struct nest_sorted){ .ntracks = 0 };
}
