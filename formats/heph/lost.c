#include "heph/lost.h"

#include "heph/packet.h"
#include "heph/state.h"
#include "heph/track.h"

static struct heph_lost *
shared_at(struct heph_losts *l, uint32_t i)
{
	return &l->shared[(l->head + i) % HEPH_LOST];
}

void
heph_lost_add(struct heph_state *st, const struct heph_packet *k, uint32_t first, uint32_t missing)
{
	struct heph_losts *const l = &st->lost;
	const struct heph_stream *const s = heph_stream_find(&st->streams, k->stream);
	const uint64_t end = heph_packet_end(k);

	if (s == NULL || !reader_wants_gaps(st->r))
		return;
	const struct heph_lost one = { k->stream, first, missing, missing, s->end, end, k->offset };
	if (k->stream != 0) {
		l->own = one;
	} else if (l->n < HEPH_LOST) {
		*shared_at(l, l->n++) = one;
	} else {
		struct heph_lost *const last = shared_at(l, HEPH_LOST - 1);
		last->span = (uint64_t)(first - last->first) + missing;
		last->missing += missing;
		last->to = end;
	}
}

void
heph_lost_came(struct heph_state *st, uint32_t number)
{
	struct heph_losts *const l = &st->lost;

	for (uint32_t i = 0; i < l->n; i++) {
		struct heph_lost *const one = shared_at(l, i);
		if (number - one->first >= one->span || one->missing == 0)
			continue;
		one->missing--;
		return;
	}
}

/* Whether all numbers of the gap are too far behind to come. */
static bool
is_certain(const struct heph_state *st, const struct heph_lost *one)
{
	const uint32_t behind = st->counters.shared.base - one->first;

	return st->lost.ended != READ_MORE || (behind <= INT32_MAX && behind >= one->span);
}

/* The next gap that is certain; NULL: none is. */
static const struct heph_lost *
next_certain(struct heph_state *st, struct heph_lost *out)
{
	struct heph_losts *const l = &st->lost;

	if (l->own.missing > 0) {
		*out = l->own;
		l->own.missing = 0;
		return out;
	}
	while (l->n > 0 && (shared_at(l, 0)->missing == 0 || is_certain(st, shared_at(l, 0)))) {
		*out = *shared_at(l, 0);
		l->head = (l->head + 1) % HEPH_LOST;
		l->n--;
		if (out->missing > 0)
			return out;
	}
	return NULL;
}

bool
heph_lost_put(struct heph_state *st, struct batch *b)
{
	struct heph_lost room;
	const struct heph_lost *const one = next_certain(st, &room);

	if (one == NULL)
		return false;
	const struct track *const track = heph_track_lost(st, one->stream);
	st->no_memory |= track == NULL || !reader_gap_put(st->r, b,
	                                                  &(struct reader_gap){ .track = track,
	                                                                        .from = one->from,
	                                                                        .to = one->to,
	                                                                        .missing = one->missing,
	                                                                        .offset = one->offset });
	return true;
}
