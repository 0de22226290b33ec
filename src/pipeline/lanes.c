#include "pipeline/lanes.h"

static const struct loss overlap_dropped = {
	"lanes/overlap-left",
	"spans that overlap others of their track in every lane there may be",
};

static const struct loss out_of_window = {
	"lanes/out-of-order",
	"spans too far out of order to tell whether they overlap others of their track",
};

bool
lanes_init(struct lanes *l)
{
	nesting_init(&l->nesting, false);
	return true;
}

void
lanes_free(struct lanes *l)
{
	nesting_free(&l->nesting);
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
		if (r.dropped)
			ledger_add(ledger, &overlap_dropped, e->offset, 1);
		else if (r.inexact)
			ledger_add(ledger, &out_of_window, e->offset, 1);
		if (r.lane == 0)
			continue;
		e->track = trace_lane(trace, e->track, r.lane);
		if (e->track == NULL)
			return false;
	}
	return true;
}
