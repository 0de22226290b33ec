#ifndef OUT_TIMES_H
#define OUT_TIMES_H

#include "model/event.h"

/* Times for formats with unsigned ones. */
struct out_times {
	uint64_t start, dur; /* ns; dur: spans only */
	bool negative;       /* the start is before the time 0 of --rebase; set to 0 */
	bool late;           /* the end exceeds 64 bits; set to the maximum */
};

static inline struct out_times out_times_of(const struct event *e, bool signed_time)
{
	const bool negative = signed_time && e->ts > INT64_MAX;
	const uint64_t start = negative ? 0 : e->ts, left = UINT64_MAX - start;
	const uint64_t dur = e->phase == PHASE_SPAN ? e->dur : 0;

	return (struct out_times){ start, dur < left ? dur : left, negative, dur > left };
}

#endif
