#ifndef HEPH_STREAM_H
#define HEPH_STREAM_H

#include "format/format.h"

struct heph_packet;
struct heph_state;

struct heph_stream {
	uint32_t id;
	uint32_t last; /* counter of its last packet */
	uint64_t end;  /* of the event of that packet */
	const struct track *process;
	const struct track *lost; /* for its gaps; NULL: it had none */
};

/* Streams of small ids are found without hashing. */
#define HEPH_DIRECT 64U

struct heph_streams {
	struct heph_stream *list;
	uint32_t n, cap;
	struct table64 index;         /* id -> list[] */
	uint32_t direct[HEPH_DIRECT]; /* index + 1; 0: not met */
};

void heph_streams_free(struct heph_streams *all);

/* NULL: it was not met yet, or there are too many. */
static inline struct heph_stream *
heph_stream_find(const struct heph_streams *all, uint32_t id)
{
	const uint32_t i = id < HEPH_DIRECT ? all->direct[id] - 1 : table64_get(&all->index, id);

	return i != TABLE_NONE ? &all->list[i] : NULL;
}

/* The stream of a packet that is its first.  NULL: there are too many, which was reported, or no memory,
 * which the state remembers. */
struct heph_stream *heph_stream_new(struct heph_state *st, const struct heph_packet *k);

#endif
