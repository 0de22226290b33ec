#ifndef HEPH_LOST_H
#define HEPH_LOST_H

#include "format/format.h"

struct heph_packet;
struct heph_state;

/*
 * Numbers that counters of streams leave out, for who wants gaps.  One of stream 0 may still come, until it
 * is far behind; so its gaps wait here.  They are few in any trace that is sound: where many wait, the latest
 * ones become one.
 */
#define HEPH_LOST 256U

struct heph_lost {
	uint32_t stream, first; /* the lowest number */
	uint64_t span;          /* numbers from the first to the last */
	uint64_t missing;       /* of them, so far */
	uint64_t from, to;      /* ends of the events before and after */
	uint64_t offset;        /* of the packet after */
};

struct heph_losts {
	struct heph_lost own;               /* missing 0: none */
	struct heph_lost shared[HEPH_LOST]; /* of stream 0: a ring */
	uint32_t head, n;
	enum read_status ended; /* how the input did; READ_MORE: packets may come */
};

/* Numbers are missing before the packet: from `first` on, `missing` of them. */
void heph_lost_add(struct heph_state *st, const struct heph_packet *k, uint32_t first, uint32_t missing);

/* One of stream 0 came after all. */
void heph_lost_came(struct heph_state *st, uint32_t number);

/* Whether there are any: rare. */
static inline bool
heph_lost_any(const struct heph_losts *l)
{
	return l->own.missing > 0 || l->n > 0;
}

/* Adds a gap to the batch, which has room, if one is certain.  false: none is. */
bool heph_lost_put(struct heph_state *st, struct batch *b);

#endif
