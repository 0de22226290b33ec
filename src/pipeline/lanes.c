#include "pipeline/lanes.h"

#include "pipeline/engine_losses.h"

bool
lanes_init(struct lanes *l, bool off)
{
	l->off = off;
	nesting_init(&l->nesting, false);
	return true;
}

void
lanes_free(struct lanes *l)
{
	nesting_free(&l->nesting);
}

static const struct loss *
loss_of(const struct lanes *l, const struct nest_result *r)
{
	return &engine_losses[l->off && r->lane > 0 ? ENGINE_LOSS_LANES_OFF
	                      : r->dropped          ? ENGINE_LOSS_OVERLAP_LEFT
	                                            : ENGINE_LOSS_OUT_OF_ORDER];
}

bool
lanes_batch(struct lanes *l, struct trace *trace, struct batch *b, struct ledger *ledger)
{
	for (uint32_t i = 0; i < b->n; i++) {
		struct event *e = &b->events[i];
		struct nest_result r;

		if (e->phase != PHASE_SPAN || (e->flags & EVENT_ASYNC) != 0)
			continue;
		if (!nesting_span(&l->nesting, e->track->index, e->ts, e->dur, 0, &r))
			return false;
		if (r.inexact || r.dropped || (l->off && r.lane > 0))
			ledger_add(ledger, loss_of(l, &r), e->offset, 1);
		if (r.lane == 0 || l->off)
			continue;
		e->track = trace_lane(trace, e->track, r.lane);
		if (e->track == NULL)
			return false;
	}
	return true;
}
