#ifndef STATS_TABLES_ACTIVITY_H
#define STATS_TABLES_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

#include "model/event.h"

/*
 * Activity of each track over time: the innermost of its open spans, that is, the one that started last; of
 * two spans with the same times the earlier one, unless the later is `inner` (EVENT_INNER).  Add spans in
 * order of start, of equal starts the longer first; they may overlap, but must not be async.  Each period is
 * passed to `spent` when it is over.
 *
 * Memory is bounded: at most ACTIVITY_OPEN open spans of all tracks.  Further spans are missed, and their
 * time is that of the span around them.
 */
#define ACTIVITY_OPEN (1U << 20)
#define ACTIVITY_IDLE UINT64_MAX /* between two spans of a track */

struct activity_span {
	uint64_t start, end, what;
};

struct activity_track {
	const struct track *track;  /* NULL: no span yet */
	struct activity_span *open; /* their ends descend */
	uint32_t n, cap;
	uint64_t at; /* periods before it were passed to `spent` */
};

/* Set `spent` and `ctx`, zero-initialise the rest. */
struct activity {
	void (*spent)(void *ctx, const struct track *track, uint64_t from, uint64_t to, uint64_t what);
	void *ctx;
	struct activity_track *tracks; /* by index */
	uint32_t ntracks, open;
	uint64_t missed; /* spans */
};

/* Adds a span of a track.  Returns false on OOM. */
bool activity_add(struct activity *a, const struct track *track, uint64_t start, uint64_t end, uint64_t what,
                  bool inner);

/* Passes on the periods of a track, by index, up to a time.  Its next span must not start before. */
void activity_advance(struct activity *a, uint32_t track, uint64_t until);

/* Passes on the periods of all open spans. */
void activity_end(struct activity *a);
void activity_free(struct activity *a);

#endif
