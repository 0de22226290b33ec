#ifndef HEPH_TRACK_H
#define HEPH_TRACK_H

#include "heph/heph_packet.h"
#include "heph/heph_state.h"

/* NULL: no memory. */
const struct track *heph_track_far(struct heph_state *st, const struct heph_packet *k);

static inline uint32_t
heph_track_place(const struct heph_packet *k)
{
	return (uint32_t)((k->stream * 31 + k->substream) % HEPH_CACHED);
}

/* For the gaps of a stream.  NULL: no memory. */
const struct track *heph_track_lost(struct heph_state *st, uint32_t stream);

/* Looks again where the packets of a stream and substream go. */
void heph_track_forget(struct heph_state *st, uint32_t stream, uint64_t substream);

/* The track of a packet's stream and substream; NULL: no memory. */
static inline const struct track *
heph_track(struct heph_state *st, const struct heph_packet *k)
{
	const struct heph_cached *const c = &st->tracks.cache[heph_track_place(k)];

	if (c->track != NULL && c->stream == k->stream && c->substream == k->substream)
		return c->track;
	return heph_track_far(st, k);
}

#endif
