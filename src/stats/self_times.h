#ifndef STATS_SELF_TIMES_H
#define STATS_SELF_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "stats/total.h"

/*
 * How much time the spans of each name take, on all tracks: themselves (`self`: not covered by other spans of
 * their track that lie within them), and together (`total`: the union of the spans of the name, so that what
 * lies in another of the same name counts once).  Of two equal spans the later lies around the earlier.
 *
 * Spans are noted as they come, and looked at together when the room of their track is used up, or at the
 * end: all of a track with at most SELF_ROOM spans, in any order, so the results are exact.  Of a longer one
 * those that are over first are counted and forgotten, but for the time that they cover, which is known for
 * stretches.  A later span that begins within such a stretch is counted as inexact.  When all tracks together
 * need more than SELF_TOTAL_ROOM, each has to do with less.
 *
 * Spans in order of their start or of their end cost least; other orders are sorted.  Spans that overlap in
 * part are no matter, unless more than SELF_RUNS overlap at a time: then all of the room is looked at in a
 * way that takes O(log n) for each span, whatever they are.
 */
#define SELF_ROOM 65536U
#define SELF_TOTAL_ROOM (3U << 18)
#define SELF_RUNS 32U
#define SELF_BLOCKS 4096U          /* of one track */
#define SELF_ALL_BLOCKS (1U << 19) /* beyond that in all tracks, each has 16 */
#define SELF_PIECES (1U << 17)

#define SELF_NOBODY UINT32_MAX       /* the span has no name that counts: it covers others */
#define SELF_OTHER (UINT32_MAX - 1U) /* spans of different names: their times are added up */

struct self_name {
	struct total self, total; /* ns */
	uint64_t recursive;       /* spans that lie in another of the same name and track */
	uint64_t until;           /* of the spans of the name that were met, while a track is looked at */
	uint32_t look;            /* of which `until` is */
	uint32_t piece_track;     /* whose piece is at `piece` */
	uint32_t piece;           /* index + 1; 0: not known */
};

struct self_span {
	uint64_t start, end; /* start < end */
	uint32_t who;
	uint32_t number; /* in order of arrival */
};

/* Time that forgotten spans cover; blocks do not overlap. */
struct self_block {
	uint64_t start, end, covered;
};

struct self_track {
	struct self_span *spans;
	uint32_t n, cap;
	uint32_t number;
	bool by_start, by_end; /* all of them are in this order */
	struct self_block *blocks;
	uint32_t nblocks, blocks_cap, blocks_counted;
};

struct self_item;
struct self_open;
struct self_piece;

struct self_times {
	struct self_track *tracks; /* by index */
	uint32_t ntracks;
	struct self_name *names; /* by who */
	uint32_t nnames;
	struct self_name other;
	uint64_t inexact; /* spans */
	uint32_t limit, room, blocks_cap;
	uint32_t look;
	struct self_piece *pieces;
	uint32_t npieces, pieces_cap;
	struct table64 piece_of; /* track << 32 | who */
	/* what a look needs */
	struct self_item *items;
	uint32_t items_cap;
	struct self_open *open;
	uint32_t open_cap;
	uint64_t *self;
	uint32_t self_cap;
	bool failed; /* no memory some time: the results are of no use */
};

void self_times_init(struct self_times *t);
void self_times_free(struct self_times *t);

/* Room for one more span of the track.  false: no memory. */
bool self_times_make_room(struct self_times *t, uint32_t track);

/* Counts all that was noted; more may follow, but no longer know of it. */
void self_times_end(struct self_times *t);

/* The times of a name so far. */
const struct self_name *self_times_of(const struct self_times *t, uint32_t who);

/* Notes a span; who: small numbers from 0, or one of the above.  An end beyond 2^64 - 1 counts as that. */
static inline void
self_times_add(struct self_times *t, uint32_t track, uint64_t start, uint64_t dur, uint32_t who)
{
	const uint64_t end = dur > UINT64_MAX - start ? UINT64_MAX : start + dur;

	if (start == end)
		return;
	if ((track >= t->ntracks || t->tracks[track].n == t->tracks[track].cap) &&
	    !self_times_make_room(t, track))
		return;
	struct self_track *const k = &t->tracks[track];
	struct self_span *const to = k->spans + k->n;
	if (k->n > 0) {
		const struct self_span *const last = to - 1;
		k->by_start &= start > last->start || (start == last->start && end < last->end);
		k->by_end &= end > last->end || (end == last->end && start <= last->start);
	}
	*to = (struct self_span){ start, end, who, k->number++ };
	k->n++;
}

#endif
