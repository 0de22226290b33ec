/*
 * Parents of spans that come in order of start: a stack of open spans for each track.  O(1) a span, as each
 * is pushed and popped once.
 */
#include "out/parents.h"

#include <stdlib.h>

#include "base/memory.h"

/* Makes space for one more span.  *full: the track, or all of them, may not grow. */
static bool reserve_span(struct parents *p, struct parents_track *t, bool *full)
{
	const uint32_t before = t->cap;

	*full = t->n == PARENTS_TRACK || (t->n == t->cap && p->capacity >= PARENTS_ALL);
	if (*full || t->n < t->cap)
		return true;
	if (!array_reserve(&t->spans, t->n, &t->cap, sizeof *t->spans))
		return false;
	p->capacity += t->cap - before;
	return true;
}

bool parents_next(struct parents *p, uint32_t track, uint64_t start, uint64_t end, int64_t id,
                  struct parents_found *out)
{
	bool full;

	if (!array_reach(&p->tracks, &p->ntracks, track, sizeof *p->tracks))
		return false;
	struct parents_track *const t = &p->tracks[track];
	while (t->n > 0 && (t->spans[t->n - 1].end <= start || t->spans[t->n - 1].end < end))
		t->n--;
	*out = (struct parents_found){ .id = 0 };
	if (t->n > 0) {
		const struct parents_span *const parent = &t->spans[t->n - 1];
		*out = (struct parents_found){ .id = parent->id, .depth = parent->depth + 1 };
	}
	if (!reserve_span(p, t, &full))
		return false;
	out->forgotten = full;
	if (!full)
		t->spans[t->n++] = (struct parents_span){ end, id, out->depth };
	return true;
}

void parents_free(struct parents *p)
{
	for (uint32_t i = 0; i < p->ntracks; i++)
		free(p->tracks[i].spans);
	free(p->tracks);
	*p = (struct parents){ .tracks = NULL };
}
