#ifndef EVENT_ORDER_KEY_H
#define EVENT_ORDER_KEY_H

#include "model/batch.h"
#include "model/event_order.h"
#include "model/track.h"

/* How the engine puts events into an order. */

struct order_rule {
	enum event_order order;
	bool signed_time; /* ts is a signed number: after --rebase, earlier times wrap around */
	bool by_part; /* instead: by the part of a split, which stands above the offset; else as they come */
};

/* In events that are sorted by their parts, event.offset has the number of the part from this bit on. */
#define ORDER_PART_SHIFT 44

/* The place of an event in an order.  Compare keys that were made by the same rule. */
struct order_key {
	uint64_t start;    /* unsigned, also where ts is signed */
	uint64_t inv_dur;  /* all bits of the duration inverted: longer is less */
	uint32_t track;    /* index + 1; 0: none, or the order does not ask */
	uint32_t position; /* not compared; for whoever sorts keys */
};

/* A time as it stands in order_key.start. */
static inline uint64_t
order_start(uint64_t ts, struct order_rule rule)
{
	return ts ^ (uint64_t)rule.signed_time << 63;
}

static inline struct order_key
order_key_of(const struct event *e, struct order_rule rule)
{
	if (rule.by_part)
		return (struct order_key){ .track = (uint32_t)(e->offset >> ORDER_PART_SHIFT) };
	if (rule.order == ORDER_FILE)
		return (struct order_key){ .start = 0 };
	return (struct order_key){
		.start = order_start(e->ts, rule),
		.inv_dur = ~(e->phase == PHASE_SPAN ? e->dur : 0),
		.track = rule.order == ORDER_TRACK_TIME && e->track != NULL ? e->track->index + 1 : 0,
	};
}

/* Without a branch, which could not be predicted: x < y, or x == y and the rest is less, is x < y + 1 or x <
 * y. */
static inline bool
order_key_less(const struct order_key *a, const struct order_key *b)
{
	const unsigned __int128 x = (unsigned __int128)a->track << 64 | a->start;
	const unsigned __int128 y = (unsigned __int128)b->track << 64 | b->start;

	return x < y + (a->inv_dur < b->inv_dur);
}

/* Finds out whether events come in an order already; e.g. in a first pass, to do without a sorter.  Set rule
 * and in_order (true), zero the rest. */
struct order_watch {
	struct order_rule rule;
	struct order_key last;
	bool in_order; /* all events so far */
};

static inline void
order_watch_add(struct order_watch *w, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n && w->in_order; i++) {
		const struct order_key key = order_key_of(&b->events[i], w->rule);
		w->in_order = !order_key_less(&key, &w->last);
		w->last = key;
	}
}

#endif
