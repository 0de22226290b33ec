#ifndef OVNI_RECOVER_SORT_H
#define OVNI_RECOVER_SORT_H

#include "format/recover.h"

/*
 * Puts the events between OU[ and OU] where their clocks belong, as ovnisort
 * does: with the events before them, back to the last one that is older than
 * all of the region.  Events are held back for that.
 */

struct ovni_held {
	uint64_t clock;
	size_t at; /* in the bytes */
	uint32_t n;
};

/* A stretch of the bytes that is in another order than in the input. */
struct ovni_moved {
	size_t from, to;
	const char *stuck; /* why it is in the old order all the same; NULL: it is not */
};

/* Zero-initialise to start. */
struct ovni_sort {
	char *bytes, *room; /* of all events that are held; as many again, to sort with */
	size_t n, cap;
	struct ovni_held *events, *others;
	uint32_t nevents, events_cap, others_cap;
	struct ovni_moved *moved;
	uint32_t nmoved, moved_cap;
	uint32_t region; /* the first event behind OU[; 0: outside of regions */
	bool dropped;    /* events before those held were passed on */
	uint64_t seen;   /* events in all ... */
	uint64_t spent;  /* ... and how many were looked at to sort regions */
	bool no_memory;
};

/* The next event of the input, which is whole. */
void ovni_sort_add(struct ovni_sort *s, struct recovery *rc, const char *p, uint32_t n, uint64_t clock);

/* Passes on all that is held. */
void ovni_sort_flush(struct ovni_sort *s, struct recovery *rc);

void ovni_sort_free(struct ovni_sort *s);

#endif
