#include "model/test/lane_track_test.h"

const struct track *trace_lane(struct trace *t, const struct track *track, uint16_t lane)
{
	for (uint32_t i = 0; i < t->ntracks; i++)
		if (t->tracks[i]->parent == track && t->tracks[i]->lane == lane)
			return t->tracks[i];
	const struct slice name =
	    arena_printf(&t->arena, "%.*s (%u)", (int)track->name.n, track->name.p, lane + 1U);
	struct track *const k = trace_add_thread(t, track, track->id, name);

	if (k == NULL)
		return NULL;
	k->name.flags = track->name.flags;
	k->has_id = track->has_id;
	k->lane = lane;
	return k;
}
