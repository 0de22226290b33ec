#include "model/test/lane_track_test.h"

const struct track *trace_lane(struct trace *t, const struct track *track, uint16_t lane)
{
	for (uint32_t i = 0; i < t->ntracks; i++)
		if (t->tracks[i]->parent == track && t->tracks[i]->lane == lane)
			return t->tracks[i];
	struct track *const k =
	    trace_add_thread(t, track, track->id, arena_numbered(&t->arena, track->name, lane + 1U));

	if (k == NULL)
		return NULL;
	k->has_id = track->has_id;
	k->lane = lane;
	return k;
}
