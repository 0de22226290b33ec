/*
 * Parents of spans that come in order of start: a stack of open spans for each track.  O(1) a span, as each
 * is pushed and popped once.
 */
#include "out/parents.h"

bool parents_next(struct parents *p, uint32_t track, uint64_t start, uint64_t end, int64_t id,
                  struct parents_found *out)
{
	if (!array_reach(&p->tracks, &p->ntracks, track, sizeof *p->tracks))
		return false;
	struct nested_spans *const t = &p->tracks[track];
	while (t->n > 0 && (t->spans[t->n - 1].end <= start || t->spans[t->n - 1].end < end))
		t->n--;
	const struct nested_span *const parent = nested_spans_last(t);
	const uint32_t more = nested_spans_growth(t);
	out->id = parent != NULL ? (int64_t)parent->what : 0;
	out->depth = t->n;
	out->forgotten = t->n == PARENTS_TRACK || more > PARENTS_ALL - p->capacity;
	if (out->forgotten)
		return true;
	p->capacity += more;
	return nested_spans_push(t, (struct nested_span){ end, (uint64_t)id });
}

void parents_free(struct parents *p)
{
	for (uint32_t i = 0; i < p->ntracks; i++)
		free(p->tracks[i].spans);
	free(p->tracks);
	*p = (struct parents){ .tracks = NULL };
}
