#include <stdlib.h>

#include "heph/own.h"
#include "heph/packet.h"
#include "heph/write.h"

/*
 * Options that describe a track, among packets that are written as they are.
 * They stand before the first event of the track.  Where events are left out
 * they come along with the first one of their stream that stays; where the
 * stream gets another number they get it too.
 */

#define NAME_AT HEPH_METADATA_MIN
#define STREAM_AT (NAME_AT + sizeof HEPH_OWN_TRACK - 1)

bool
hpw_is_track(struct slice bytes)
{
	return bytes.n >= STREAM_AT + HEPH_OWN_TRACK_IDS &&
	       load_u16(bytes.p + 8, true) == STREAM_AT - NAME_AT &&
	       memcmp(bytes.p + NAME_AT, HEPH_OWN_TRACK, STREAM_AT - NAME_AT) == 0;
}

void
hpw_held_free(struct hpw_held *h)
{
	text_free(&h->next);
	for (uint32_t i = 0; i < h->n; i++)
		text_free(&h->streams[i]);
	free(h->streams);
	table64_free(&h->index);
}

/* The first packet of a text, which is cut off it. */
static struct slice
take_packet(struct slice *rest)
{
	const struct slice k = slice_of(rest->p, load_u32(rest->p + HPW_AT_SIZE, true));

	rest->p += k.n;
	rest->n -= k.n;
	return k;
}

static void
put(struct text *t, struct slice packet, uint32_t stream)
{
	text_slice(t, packet);
	if (!t->failed)
		hpw_store(t->p + t->n - packet.n + STREAM_AT, stream, 4);
}

/* ---- of one stream ---- */

static struct text *
withheld(struct hpw_held *h, uint32_t stream)
{
	const uint32_t i = table64_get(&h->index, stream);

	return i != TABLE_NONE ? &h->streams[i] : NULL;
}

/* Keeps a packet until an event of its stream comes.  false: no memory. */
static bool
withhold(struct hpw_held *h, struct slice packet)
{
	const uint32_t stream = load_u32(packet.p + STREAM_AT, true);
	struct text *t = withheld(h, stream);

	if (t == NULL) {
		if (!array_reach(&h->streams, &h->n, h->used, sizeof *h->streams) ||
		    !table64_put(&h->index, stream, h->used))
			return false;
		t = &h->streams[h->used++];
	}
	text_slice(t, packet);
	h->bytes += packet.n;
	return !t->failed;
}

/* ---- all of them ---- */

static void
put_all(struct text *to, struct text *from, uint32_t stream)
{
	struct slice rest = slice_of(from->p, from->n);

	while (rest.n > 0)
		put(to, take_packet(&rest), stream);
	text_clear(from);
}

void
hpw_hold(struct hpw_held *h, struct text *out, struct slice bytes)
{
	text_slice(&h->next, bytes);
	out->failed |= h->next.failed;
}

void
hpw_release_in_place(struct hpw_held *h, struct text *out)
{
	text_add(out, h->next.p, h->next.n);
	text_clear(&h->next);
}

void
hpw_withhold(struct hpw_held *h, struct text *out)
{
	struct slice rest = slice_of(h->next.p, h->next.n);

	while (rest.n > 0 && !out->failed)
		out->failed |= !withhold(h, take_packet(&rest));
	text_clear(&h->next);
}

void
hpw_release(struct hpw_held *h, struct text *out, const struct hpw_stream *s)
{
	hpw_withhold(h, out);
	struct text *const t = withheld(h, s->id);
	if (t != NULL)
		put_all(out, t, s->out);
}

static uint32_t
packets(const struct text *t)
{
	struct slice rest = slice_of(t->p, t->n);
	uint32_t n = 0;

	for (; rest.n > 0; n++)
		take_packet(&rest);
	return n;
}

uint32_t
hpw_waiting(const struct hpw_held *h)
{
	uint32_t n = packets(&h->next);

	for (uint32_t i = 0; i < h->used; i++)
		n += packets(&h->streams[i]);
	return n;
}
