/* Open spans: a stack for each track, without spans that the next one outlasts, as they never become the
 * innermost again.  Open arrows: starts, in chains by the hash of their id. */
#include "stats/tables/open.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "model/event_traits.h"

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

/* ---- open arrows ---- */

static uint32_t *bucket_of(const struct open_arrows *a, uint64_t id)
{
	return &a->buckets[hash_u64(id, a->seed) % OPEN_ARROWS_MAX];
}

bool open_arrows_start(struct open_arrows *a, const struct event *e, uint32_t what)
{
	if (a->starts == NULL) {
		a->seed = hash_seed();
		a->starts = malloc(OPEN_ARROWS_MAX * sizeof *a->starts);
		a->buckets = calloc(OPEN_ARROWS_MAX, sizeof *a->buckets);
		if (a->starts == NULL || a->buckets == NULL)
			return false;
	}
	uint32_t at = a->free_start;
	if (at != 0) {
		a->free_start = a->starts[at - 1].next;
	} else if (a->nstarts < OPEN_ARROWS_MAX) {
		at = ++a->nstarts;
	} else {
		a->missed++;
		return true;
	}
	uint32_t *const bucket = bucket_of(a, e->dur);
	a->starts[at - 1] = (struct open_arrow){ e->dur, e->ts, e->offset, e->track, what, *bucket };
	*bucket = at;
	a->open++;
	return true;
}

bool open_arrows_end(struct open_arrows *a, const struct event *e, struct open_arrow *start)
{
	if (a->starts == NULL)
		return false;
	for (uint32_t *at = bucket_of(a, e->dur); *at != 0; at = &a->starts[*at - 1].next) {
		struct open_arrow *const found = &a->starts[*at - 1];
		if (found->id != e->dur)
			continue;
		const uint32_t freed = *at;
		*start = *found;
		*at = found->next;
		found->next = a->free_start;
		a->free_start = freed;
		a->open--;
		return true;
	}
	return false;
}

void open_arrows_free(struct open_arrows *a)
{
	free(a->starts);
	free(a->buckets);
}

bool arrow_pairing_add(struct arrow_pairing *a, const struct event *e, uint32_t what, arrow_sink *sink,
                       void *ctx)
{
	struct open_arrow other;

	if (e->phase == PHASE_FLOW_IN) {
		const bool step = event_is_step(e);
		if (!open_arrows_end(&a->starts, e, &other))
			return open_arrows_start(&a->early, e, what) &&
			       (!step || open_arrows_start(&a->starts, e, what));
		if (!sink(ctx, e, what, &other, ARROW_ARRIVES))
			return false;
		if (!step)
			return true;
	}
	if (a->early.open > 0 && open_arrows_end(&a->early, e, &other)) {
		if (other.ts == e->ts)
			return sink(ctx, e, what, &other, ARROW_LEAVES);
		if (!sink(ctx, e, what, &other, ARROW_ALONE))
			return false;
	}
	return open_arrows_start(&a->starts, e, what);
}

void arrow_pairing_free(struct arrow_pairing *a)
{
	open_arrows_free(&a->starts);
	open_arrows_free(&a->early);
}
