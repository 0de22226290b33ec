#ifndef MODEL_LANE_TRACK_TEST_H
#define MODEL_LANE_TRACK_TEST_H

#include "model/trace.h"

/* For tests of writers: the extra lane (>= 1) of a track, as the lanes stage would make it, but among the
 * tracks of the trace.  The same one when asked again. */
const struct track *trace_lane(struct trace *t, const struct track *track, uint16_t lane);

#endif
