#ifndef HEPH_TRACK_H
#define HEPH_TRACK_H

#include "heph/packet.h"
#include "heph/state.h"

/* NULL: no memory. */
const struct track *heph_track_far(struct heph_state *st, const struct heph_packet *k);

/* Where it is noted which track the packets of a stream and substream, and others, went to. */
static inline struct heph_cached *
heph_track_cached(struct heph_state *st, uint32_t stream, uint64_t substream)
{
	return &st->tracks.cache[(stream * 31 + substream) % HEPH_CACHED];
}

/* For the gaps of a stream.  NULL: no memory. */
const struct track *heph_track_lost(struct heph_state *st, uint32_t stream);

/* Looks again where the packets of a stream and substream go. */
void heph_track_forget(struct heph_state *st, uint32_t stream, uint64_t substream);

/* The track of a packet's stream and substream; NULL: no memory. */
static inline const struct track *
heph_track(struct heph_state *st, const struct heph_packet *k)
{
	const struct heph_cached *const c = heph_track_cached(st, k->stream, k->substream);

	if (c->track != NULL && c->stream == k->stream && c->substream == k->substream)
		return c->track;
	return heph_track_far(st, k);
}

#endif
