#include "run/nest/lanes.h"

#include <stdlib.h>

#include "base/array.h"
#include "model/trace_engine.h"
#include "run/engine_losses.h"

void
lanes_init(struct lanes *l, bool off)
{
	*l = (struct lanes){ .off = off };
	nesting_init(&l->nesting, false);
}

void
lanes_free(struct lanes *l)
{
	nesting_free(&l->nesting);
	nest_sorted_free(&l->open);
	arena_free(&l->arena);
	free(l->tracks);
	table64_free(&l->places);
}

/* The extra lane (>= 1) of a track, made when it is asked for first.  Without memory the track. */
static const struct track *
lane_of(struct lanes *l, const struct track *track, uint16_t lane)
{
	const uint64_t key = (uint64_t)track->index << 16 | lane;
	const uint32_t known = table64_get(&l->places, key);

	if (known != TABLE_NONE)
		return l->tracks[known];
	struct track *const k = arena_zalloc(&l->arena, 1, sizeof *k);
	const struct slice name =
	    arena_printf(&l->arena, "%.*s (%u)", (int)track->name.n, track->name.p, lane + 1U);
	if (k == NULL || name.p == NULL ||
	    !array_room(&l->tracks, l->ntracks, &l->tracks_cap, sizeof(struct track *)) ||
	    !table64_put(&l->places, key, l->ntracks)) {
		l->nesting.failed = true;
		return track;
	}
	*k = (struct track){
		.index = LANES_FIRST_INDEX + l->ntracks,
		.kind = TRACK_THREAD,
		.lane = lane,
		.has_id = track->has_id,
		.id = track->id,
		.name = name,
	};
	track_put_below(k, track);
	k->name.flags = track->name.flags; /* " (2)" is plain */
	l->tracks[l->ntracks++] = k;
	return k;
}

static const struct loss *
loss_of(const struct lanes *l, const struct nest_result *r)
{
	return &engine_losses[l->off && r->lane > 0 ? ENGINE_LOSS_LANES_OFF
	                      : r->dropped          ? ENGINE_LOSS_OVERLAP_LEFT
	                                            : ENGINE_LOSS_OUT_OF_ORDER];
}

bool
lanes_batch(struct lanes *l, struct batch *b, struct ledger *ledger)
{
	for (uint32_t i = 0; i < b->n; i++) {
		struct event *e = &b->events[i];
		struct nest_result r;

		if (e->phase != PHASE_SPAN || (e->flags & EVENT_ASYNC) != 0)
			continue;
		if (l->sorted)
			nest_sorted_span(&l->open, e->track->index, e->ts, e->dur, &r);
		else
			nesting_span(&l->nesting, e->track->index, e->ts, e->dur, 0, &r);
		if (r.inexact || r.dropped || (l->off && r.lane > 0))
			ledger_add(ledger, loss_of(l, &r), e->offset, 1);
		if (r.lane > 0 && !l->off)
			e->track = lane_of(l, e->track, r.lane);
	}
	return !l->nesting.failed && !l->open.failed;
}

bool
lanes_list(struct lanes *l, struct batch *b)
{
	const uint32_t n = l->ntracks - l->listed;

	if (n == 0)
		return true;
	struct track **const all = arena_alloc(&b->scratch, (b->ntracks + n) * sizeof *all);
	if (all == NULL)
		return false;
	if (b->ntracks > 0)
		memcpy(all, b->tracks, b->ntracks * sizeof *all);
	memcpy(all + b->ntracks, l->tracks + l->listed, n * sizeof *all);
	b->tracks = all;
	b->ntracks += n;
	l->listed = l->ntracks;
	return true;
}

bool
lanes_join(const struct lanes *l, struct trace *trace)
{
	for (uint32_t i = 0; i < l->ntracks; i++) {
		if (!array_room(&trace->tracks, trace->ntracks, &trace->tracks_cap, sizeof(struct track *)))
			return false;
		trace->tracks[trace->ntracks++] = l->tracks[i];
	}
	return true;
}
