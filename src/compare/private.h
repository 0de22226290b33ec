#ifndef COMPARE_PRIVATE_H
#define COMPARE_PRIVATE_H

/*
 * Private header of comparisons.
 *
 *   identity.c     identities of events and tracks
 *   canon.c        hashes of values
 *   whole.c        traces as a whole: bytes, digests
 *   differ.c       event by event: both sides merged by time
 *   pending.c      events without a partner: matched later, or paired with the most similar ones
 *   differences.c  one pair: the parts and fields that differ, and whether the ledger of a writer allows them
 */
#include "compare/compare.h"

/* ---- differences.c ---- */

/* Two events and the parts to compare. */
struct event_pair {
	const struct batch *batch[2];
	const struct event *event[2];
	const struct event_fields *fields[2];
	unsigned ignore; /* enum event_part */
};

/* Returns the parts (enum event_part) in which the events differ, without time and track.  OOM sets
 * c->scratch.failed. */
unsigned event_pair_differences(const struct event_pair *x, struct canon *c);

/* ---- differ.c ---- */

/* Returns the row of an event's name, or NULL on OOM. */
struct by_name_row *by_name_row(struct by_name *t, struct slice name);

/* ---- pending.c ---- */

struct pending_limits {
	uint64_t time, dur; /* max differences, ns */
};

/* Adds a copy of event i of the batch.  Returns false on OOM. */
bool pending_add(struct pending *p, const struct batch *b, uint32_t i, const struct event_identity *id,
                 struct wide_hash track, struct wide_hash own, struct wide_hash key);

/* Removes the first event of this key within the limits.  Returns false if there is none. */
bool pending_match(struct pending *p, const struct event_identity *id, struct wide_hash key,
                   struct pending_limits limits);

/* Sets *ts to the time of the first event.  Returns false if there is none. */
bool pending_oldest(struct pending *p, uint64_t *ts);

/* Closes the gaps of removed events; indexes change.  Returns false on OOM. */
bool pending_compact(struct pending *p);
void pending_free(struct pending *p);

/* Pairs the pending events earlier than `before` (UINT64_MAX: all) with the most similar ones of the other
 * side, reports them, and removes them.  Events of the last two tolerances stay, as a similar event of the
 * other side may follow. */
enum differ_status differ_flush(struct differ *d, uint64_t before);

static inline bool within(uint64_t x, uint64_t y, uint64_t limit)
{
	return (x > y ? x - y : y - x) <= limit;
}

#endif
