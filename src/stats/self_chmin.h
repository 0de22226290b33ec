#ifndef STATS_SELF_CHMIN_H
#define STATS_SELF_CHMIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A span, or time that forgotten spans cover, of one track. */
struct self_item {
	uint64_t start, end; /* start < end */
	uint32_t index;      /* of the span; SELF_NOBODY: of none */
};

/*
 * What each of the items has of its own, in O(log n) for each of them, however they overlap: self[index] is
 * set for all that have an index.  Items come by start, of equal starts the longer first, of equal ones that
 * first which lies around the other.  false: no memory.
 *
 * From the last item to the first, each point in time is known for the least end among the items that cover
 * it so far.  All of these begin no earlier than the present item; so a point of it is its own unless
 * its least end is within it, too.  These are the points that change when the present end becomes theirs if
 * it is less: one and the same walk over a tree of times, of which each node has the largest value, the time
 * that has it, and the next smaller value (known as "segment tree beats").
 */
bool self_chmin(const struct self_item *items, uint32_t n, uint64_t *self);

#endif
