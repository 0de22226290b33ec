#ifndef OUT_TIMES_H
#define OUT_TIMES_H

#include "model/event.h"

/* Times for formats that have unsigned ones. */
struct out_times {
	uint64_t start, dur; /* ns; dur: of spans */
	bool negative;       /* the start is before the time 0 that --rebase made, and becomes 0 */
	bool late;           /* the end is beyond 64 bits, and becomes the last time */
};

static inline struct out_times out_times_of(const struct event *e, bool signed_time)
{
	const bool negative = signed_time && e->ts > INT64_MAX;
	const uint64_t start = negative ? 0 : e->ts, left = UINT64_MAX - start;
	const uint64_t dur = e->phase == PHASE_SPAN ? e->dur : 0;

	return (struct out_times){ start, dur < left ? dur : left, negative, dur > left };
}

#endif
