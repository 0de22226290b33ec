#include "run/nest/nest_cover.h"

#include <stdlib.h>

#define FEW 32

static int
by_start(const void *a, const void *b)
{
	const struct nest_piece *const x = a, *const y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void
sort(struct nest_piece *p, uint32_t n)
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

static inline bool
is_within(const struct nest_piece *p, const struct nest_span *s)
{
	return s->start <= p->start && p->end <= s->end;
}

/* ns of x that is covered by those pieces which lie within it, or within the holder (may be NULL). */
static uint64_t
united(const struct nesting *n, const struct nest_span *x, const struct nest_span *holder)
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

/* True if another one lies within it, so that x has no part of its own in it. */
static bool
is_outer(const struct nest_span *holders, uint32_t n, uint32_t i)
{
	for (uint32_t j = 0; j < n; j++) {
		const bool within = holders[i].start <= holders[j].start && holders[j].end <= holders[i].end;
		const bool equal = holders[i].start == holders[j].start && holders[i].end == holders[j].end;
		if (j != i && within && (!equal || j < i))
			return true;
	}
	return false;
}

static void
add_late(struct nesting *n, const struct nest_span *holder, uint64_t ns, struct nest_result *out)
{
	if (ns > 0)
		n->late[out->nlate++] = (struct nest_late){ ns, holder->who };
}

void
nest_cover(struct nesting *n, const struct nest_span *x, const struct nest_span *holders, uint32_t nholders,
           struct nest_result *out)
{
	const uint64_t dur = x->end - x->start;

	sort(n->pieces, n->npieces);
	out->covered = united(n, x, NULL);
	for (uint32_t i = 0; i < nholders; i++)
		if (!is_outer(holders, nholders, i))
			add_late(n, &holders[i], dur - united(n, x, &holders[i]), out);
}

void
nest_cover_alone(struct nesting *n, const struct nest_span *x, const struct nest_span *holder,
                 uint64_t covered, struct nest_result *out)
{
	out->covered = covered;
	if (holder != NULL)
		add_late(n, holder, x->end - x->start - covered, out);
}
