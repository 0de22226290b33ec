/* A stack of open spans for each track; spans that the next one outlasts never become the innermost again. */
#include "stats/tables/activity.h"

#include <stdlib.h>

#include "base/memory.h"

/* Passes on the periods of a track up to a time. */
static void advance(struct activity *a, struct activity_track *k, uint64_t until)
{
	while (k->n > 0 && k->at < until) {
		const struct activity_span *const s = &k->open[k->n - 1];
		const uint64_t to = s->end < until ? s->end : until;
		if (to > k->at) {
			a->spent(a->ctx, k->track, k->at, to, s->what);
			k->at = to;
		}
		if (s->end <= until) {
			k->n--;
			a->open--;
		}
	}
}

void activity_advance(struct activity *a, uint32_t track, uint64_t until)
{
	advance(a, &a->tracks[track], until);
}

bool activity_add(struct activity *a, const struct track *track, uint64_t start, uint64_t end, uint64_t what,
                  bool inner)
{
	if (end <= start)
		return true;
	if (!array_reach(&a->tracks, &a->ntracks, track->index, sizeof *a->tracks))
		return false;
	struct activity_track *const k = &a->tracks[track->index];
	if (k->track == NULL)
		*k = (struct activity_track){ .track = track, .at = start };
	advance(a, k, start);
	if (k->at < start) {
		a->spent(a->ctx, track, k->at, start, ACTIVITY_IDLE);
		k->at = start;
	}
	const struct activity_span *const last = k->n > 0 ? &k->open[k->n - 1] : NULL;
	if (last != NULL && last->start == start && last->end == end && !inner)
		return true;
	while (k->n > 0 && k->open[k->n - 1].end <= end) {
		k->n--;
		a->open--;
	}
	if (a->open == ACTIVITY_OPEN) {
		a->missed++;
		return true;
	}
	if (!array_reserve(&k->open, k->n, &k->cap, sizeof *k->open))
		return false;
	k->open[k->n++] = (struct activity_span){ start, end, what };
	a->open++;
	return true;
}

void activity_end(struct activity *a)
{
	for (uint32_t i = 0; i < a->ntracks; i++)
		if (a->tracks[i].track != NULL)
			advance(a, &a->tracks[i], UINT64_MAX);
}

void activity_free(struct activity *a)
{
	for (uint32_t i = 0; i < a->ntracks; i++)
		free(a->tracks[i].open);
	free(a->tracks);
}
