#ifndef STATS_TABLES_OPEN_H
#define STATS_TABLES_OPEN_H

#include <stdbool.h>
#include <stdint.h>

#include "model/event.h"

/* ---- activity ---- */

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

/* ---- arrows ---- */

/*
 * Starts of arrows whose end is not read yet, by id.  Of several starts with one id the latest is taken
 * first.  At most OPEN_ARROWS_MAX; further starts are missed.  Zero-initialise to start.
 */
#define OPEN_ARROWS_MAX 65536

struct open_arrow {
	uint64_t id, ts, offset;
	const struct track *track;
	uint32_t what; /* of the caller */
	uint32_t next; /* index + 1 in its bucket or in the list of free ones; 0: none */
};

struct open_arrows {
	struct open_arrow *starts; /* OPEN_ARROWS_MAX; NULL before the first */
	uint32_t *buckets;         /* index + 1 of the first start with an id of this hash; 0: none */
	uint32_t nstarts, free_start;
	uint64_t seed;
	uint64_t open;   /* starts without an end so far */
	uint64_t missed; /* starts beyond OPEN_ARROWS_MAX */
};

/* e: a PHASE_FLOW_OUT, or a PHASE_FLOW_IN that is a step.  Returns false on OOM. */
bool open_arrows_start(struct open_arrows *a, const struct event *e, uint32_t what);

/* Removes the start of the arrow that ends here.  Returns false if there is none. */
bool open_arrows_end(struct open_arrows *a, const struct event *e, struct open_arrow *start);

/* Returns the time from its start to this end; 0 if the end is earlier. */
static inline uint64_t open_arrow_delay(const struct open_arrow *start, const struct event *e)
{
	return e->ts > start->ts ? e->ts - start->ts : 0;
}

void open_arrows_free(struct open_arrows *a);

/*
 * Pairs starts and ends of arrows.  Add them in order of time; at one time, an end may precede its start.
 * Zero-initialise to start.
 */
struct arrow_pairing {
	struct open_arrows starts; /* starts without an end so far */
	struct open_arrows early;  /* ends without a start so far */
};

enum arrow_end {
	ARROW_ARRIVES, /* `e` is the end, `other` its start */
	ARROW_LEAVES,  /* `e` is the start, `other` its end, which was read before */
	ARROW_ALONE,   /* `other` is an end without a start; it has no relation to `e` */
};

/* Returns false on OOM. */
typedef bool arrow_sink(void *ctx, const struct event *e, uint32_t what, const struct open_arrow *other,
                        enum arrow_end end);

/* e: event_is_flow().  what: its number, later in `other`.  Returns false if the sink does, or on OOM. */
bool arrow_pairing_add(struct arrow_pairing *a, const struct event *e, uint32_t what, arrow_sink *sink,
                       void *ctx);

void arrow_pairing_free(struct arrow_pairing *a);

#endif
