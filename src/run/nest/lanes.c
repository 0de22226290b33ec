/* Assigns lanes: tracks of their own for spans that overlap others without nesting.  For events in order of
 * time a stack per lane suffices; otherwise any_order.c.  A span goes to the first lane where it fits, so
 * cost grows with the lanes of a track (64 at most). */
#include "run/nest/lanes.h"

#include <stdlib.h>

#include "base/memory.h"
#include "model/trace_engine.h"
#include "run/engine_losses.h"

/* ---- spans in order of time ---- */

/* Whether the last span of the lane contains x; of equal spans the later contains the earlier. */
static bool is_inner(const struct nested_spans *l, const struct nested_span *x)
{
	const struct nested_span *const last = nested_spans_last(l);

	return last != NULL && (last->end > x->end || last->what < x->what);
}

/* Returns false if no capacity is left. */
static bool put(struct nest_sorted *n, struct nested_spans *l, const struct nested_span *x)
{
	const uint32_t more = nested_spans_growth(l);

	if (more > NEST_TOTAL_ROOM - n->capacity)
		return false;
	n->capacity += more;
	n->failed |= !nested_spans_push(l, *x);
	return true;
}

/* Adds a lane.  Returns NULL at the limit. */
static struct nested_spans *add_lane(struct nest_sorted *n, struct nest_open_track *t)
{
	if (t->nmore + 1 >= NEST_LANES || n->nextra >= NEST_EXTRA_LANES)
		return NULL;
	if (note_failure(&n->failed, !array_resize(&t->more, (uint64_t)t->nmore + 1, sizeof *t->more)))
		return NULL;
	n->nextra++;
	t->more[t->nmore] = (struct nested_spans){ .n = 0 };
	return &t->more[t->nmore++];
}

/* Finds the first lane that x fits, or adds one. */
static struct nested_spans *find_lane(struct nest_sorted *n, struct nest_open_track *t,
                                      const struct nested_span *x, struct nest_result *out)
{
	struct nested_spans *l = &t->first;

	for (uint16_t i = 0;; l = &t->more[i - 1]) {
		while (nested_spans_pop(l, x->what) != NULL)
			;
		if (l->n == 0 || nested_spans_last(l)->end >= x->end) {
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

void nest_sorted_span(struct nest_sorted *n, uint32_t track, uint64_t start, uint64_t dur,
                      struct nest_result *out)
{
	const struct nested_span x = { saturating_add(start, dur), start };

	*out = (struct nest_result){ .lane = 0 };
	if (start == x.end)
		return;
	if (note_failure(&n->failed, track >= n->ntracks &&
	                                 !array_reach(&n->tracks, &n->ntracks, track, sizeof *n->tracks)))
		return;
	struct nest_open_track *const t = &n->tracks[track];
	struct nested_spans *const l = find_lane(n, t, &x, out);
	out->inexact = start < t->missed;
	if (l != NULL && !(out->inexact && is_inner(l, &x)) && put(n, l, &x))
		return;
	out->inexact = true;
	if (t->missed < x.end)
		t->missed = x.end;
}

void nest_sorted_free(struct nest_sorted *n)
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

/* ---- lanes ---- */

void lanes_init(struct lanes *l, bool off)
{
	*l = (struct lanes){ .off = off };
	nesting_init(&l->nesting);
}

void lanes_free(struct lanes *l)
{
	nesting_free(&l->nesting);
	nest_sorted_free(&l->open);
	arena_free(&l->arena);
	free(l->tracks);
	table64_free(&l->places);
}

/* Returns the extra lane (>= 1) of a track, created on demand; on OOM the track itself. */
static const struct track *lane_of(struct lanes *l, const struct track *track, uint16_t lane)
{
	const uint64_t key = (uint64_t)track->index << 16 | lane;
	const uint32_t known = table64_get(&l->places, key);

	if (known != TABLE_NONE)
		return l->tracks[known];
	struct track *const k = arena_zalloc(&l->arena, 1, sizeof *k);
	const struct slice name = arena_numbered(&l->arena, track->name, lane + 1U);
	if (note_failure(&l->nesting.failed,
	                 k == NULL || name.p == NULL ||
	                     !array_reserve(&l->tracks, l->ntracks, &l->tracks_cap, sizeof(struct track *)) ||
	                     !table64_put(&l->places, key, l->ntracks)))
		return track;
	*k = (struct track){
		.index = LANES_FIRST_INDEX + l->ntracks,
		.kind = TRACK_THREAD,
		.lane = lane,
		.has_id = track->has_id,
		.id = track->id,
		.name = name,
	};
	track_put_below(k, track);
	k->name.flags = track->name.flags; /* " (2)" is ASCII */
	l->tracks[l->ntracks++] = k;
	return k;
}

static const struct loss *loss_of(const struct lanes *l, const struct nest_result *r)
{
	return &engine_losses[l->off && r->lane > 0 ? ENGINE_LOSS_LANES_OFF
	                      : r->dropped          ? ENGINE_LOSS_OVERLAP_LEFT
	                                            : ENGINE_LOSS_OUT_OF_ORDER];
}

bool lanes_batch(struct lanes *l, struct batch *b, struct ledger *ledger)
{
	for (uint32_t i = 0; i < b->n; i++) {
		struct event *e = &b->events[i];
		struct nest_result r;

		if (e->phase != PHASE_SPAN || (e->flags & EVENT_ASYNC) != 0)
			continue;
		if (l->sorted)
			nest_sorted_span(&l->open, e->track->index, e->ts ^ l->bias, e->dur, &r);
		else
			nesting_span(&l->nesting, e->track->index, e->ts ^ l->bias, e->dur, &r);
		if (r.inexact || r.dropped || (l->off && r.lane > 0))
			ledger_add(ledger, loss_of(l, &r), e->offset, 1);
		if (r.lane > 0 && !l->off)
			e->track = lane_of(l, e->track, r.lane);
	}
	return !l->nesting.failed && !l->open.failed;
}

bool lanes_list(struct lanes *l, struct batch *b)
{
	const uint32_t n = l->ntracks - l->listed;

	if (n == 0)
		return true;
	struct track **const all = arena_alloc(&b->scratch, (b->ntracks + n) * sizeof *all);
	if (all == NULL)
		return false;
	array_copy(all, b->tracks, b->ntracks * sizeof *all);
	memcpy(all + b->ntracks, l->tracks + l->listed, n * sizeof *all);
	b->tracks = all;
	b->ntracks += n;
	l->listed = l->ntracks;
	return true;
}

bool lanes_join(const struct lanes *l, struct trace *trace)
{
	for (uint32_t i = 0; i < l->ntracks; i++) {
		if (!array_reserve(&trace->tracks, trace->ntracks, &trace->tracks_cap,
		                   sizeof(struct track *)))
			return false;
		trace->tracks[trace->ntracks++] = l->tracks[i];
	}
	return true;
}
