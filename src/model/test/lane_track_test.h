#ifndef MODEL_LANE_TRACK_TEST_H
#define MODEL_LANE_TRACK_TEST_H

#include "model/trace.h"

/* For tests of writers: returns the extra lane (>= 1) of a track, as the lanes stage makes it, but as a
 * track of the trace.  Creates it on the first call. */
const struct track *trace_lane(struct trace *t, const struct track *track, uint16_t lane);

#endif
