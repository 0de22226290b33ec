#ifndef PIPELINE_NEST_ROOM_H
#define PIPELINE_NEST_ROOM_H

#include "run/nest/nesting.h"

/* The room of lanes: counted in spans, given out in powers of two, bounded. */

enum nest_room { NEST_ROOM_OK, NEST_ROOM_NONE, NEST_ROOM_NO_MEMORY };

/* A free place in a full lane; spans may have moved or be forgotten, here and in other lanes. */
enum nest_room nest_room_make(struct nesting *n, struct nest_track *t, struct nest_lane *l);

/* Before a look at a lane: if x ended long ago, what is within others there is forgotten, so that the look is
 * short. */
void nest_room_settle(struct nest_lane *l, const struct nest_span *x);

static inline struct nest_lane *
nest_lane_at(struct nest_track *t, uint32_t i)
{
	return i == 0 ? &t->first : &t->more[i - 1];
}

#endif
