/*
 * Streams of a copy: their numbers and counters, and the options of tracetool that describe their tracks.
 * Memory: a few numbers a stream, and the options that no event has needed yet.
 */
#include <stdlib.h>

#include "heph/heph.h"

/* ---- options that describe a track ---- */

/*
 * Options precede the first event of their track.  If events are left out, the options are deferred until the
 * first selected event of their stream.  If the stream is renumbered, so are its options.
 */

#define NAME_AT HEPH_METADATA_MIN
#define STREAM_AT (NAME_AT + sizeof HEPH_OWN_TRACK - 1)

bool hpw_is_track(struct slice bytes)
{
	return bytes.n >= STREAM_AT + HEPH_OWN_TRACK_IDS &&
	       load_u16(bytes.p + 8, true) == STREAM_AT - NAME_AT &&
	       memcmp(bytes.p + NAME_AT, HEPH_OWN_TRACK, STREAM_AT - NAME_AT) == 0;
}

void hpw_pending_free(struct hpw_pending *h)
{
	text_free(&h->next);
	for (uint32_t i = 0; i < h->n; i++)
		text_free(&h->streams[i]);
	free(h->streams);
	table64_free(&h->index);
}

/* Removes the first packet of a text and returns it. */
static struct slice next_packet(struct slice *rest)
{
	const struct slice k = slice_of(rest->p, load_u32(rest->p + HPW_AT_SIZE, true));

	rest->p += k.n;
	rest->n -= k.n;
	return k;
}

static void write_option(struct text *t, struct slice packet, uint32_t stream)
{
	text_slice(t, packet);
	if (!t->failed)
		hpw_store(t->p + t->n - packet.n + STREAM_AT, stream, 4);
}

static struct text *deferred_of(struct hpw_pending *h, uint32_t stream)
{
	const uint32_t i = table64_get(&h->index, stream);

	return i != TABLE_NONE ? &h->streams[i] : NULL;
}

/* Retains a packet until an event of its stream arrives. */
static bool defer_packet(struct hpw_pending *h, struct slice packet)
{
	const uint32_t stream = load_u32(packet.p + STREAM_AT, true);
	struct text *t = deferred_of(h, stream);

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

static void write_options(struct text *to, struct text *from, uint32_t stream)
{
	struct slice rest = slice_of(from->p, from->n);

	while (rest.n > 0)
		write_option(to, next_packet(&rest), stream);
	text_clear(from);
}

void hpw_pending_add(struct hpw_pending *h, struct text *out, struct slice bytes)
{
	text_slice(&h->next, bytes);
	out->failed |= h->next.failed;
}

void hpw_pending_write(struct hpw_pending *h, struct text *out)
{
	text_add(out, h->next.p, h->next.n);
	text_clear(&h->next);
}

void hpw_pending_defer(struct hpw_pending *h, struct text *out)
{
	struct slice rest = slice_of(h->next.p, h->next.n);

	while (rest.n > 0 && !out->failed)
		out->failed |= !defer_packet(h, next_packet(&rest));
	text_clear(&h->next);
}

void hpw_pending_write_stream(struct hpw_pending *h, struct text *out, const struct hpw_stream *s)
{
	hpw_pending_defer(h, out);
	struct text *const t = deferred_of(h, s->id);
	if (t != NULL)
		write_options(out, t, s->out);
}

static uint32_t count_packets(const struct text *t)
{
	struct slice rest = slice_of(t->p, t->n);
	uint32_t n = 0;

	for (; rest.n > 0; n++)
		next_packet(&rest);
	return n;
}

uint32_t hpw_pending_count(const struct hpw_pending *h)
{
	uint32_t n = count_packets(&h->next);

	for (uint32_t i = 0; i < h->used; i++)
		n += count_packets(&h->streams[i]);
	return n;
}

/* ---- numbers and counters ---- */

/*
 * If packets are left out, or inputs are joined, counters are adjusted so that readers report no new gaps.  A
 * stream of a later input continues the stream with the same number only if its counter does; otherwise it is
 * renumbered.
 */

#define OF_INPUT ((uint64_t)1 << 32)

void hpw_streams_free(struct hpw_streams *all)
{
	free(all->list);
	table64_free(&all->index);
	table64_free(&all->taken);
}

static bool mark_taken(struct hpw_streams *all, uint64_t id)
{
	return table64_put(&all->taken, id, 1);
}

static bool is_taken(const struct hpw_streams *all, uint32_t id)
{
	return table64_get(&all->taken, id) != TABLE_NONE ||
	       table64_get(&all->taken, OF_INPUT | id) != TABLE_NONE;
}

static struct hpw_stream *add_stream(struct hpw_streams *all, uint32_t id)
{
	if (!array_reserve(&all->list, all->n, &all->cap, sizeof *all->list) ||
	    !table64_put(&all->index, id, all->n) || !mark_taken(all, OF_INPUT | id))
		return NULL;
	if (id < HPW_DIRECT)
		all->direct[id] = all->n + 1;
	all->list[all->n] = (struct hpw_stream){ .id = id };
	return &all->list[all->n++];
}

/* Starts the stream of an input, with another number if its own is taken. */
static bool start_stream(struct hpw_streams *all, struct hpw_stream *s, bool *renumbered)
{
	s->out = s->id;
	s->less = s->next = 0;
	*renumbered = table64_get(&all->taken, s->id) != TABLE_NONE;
	/* Threads share stream 0, so readers accept its packets out of order.  Under another number, or with
	 * packets left out, that would look like missing packets. */
	s->in_turn = s->id == 0 && (*renumbered || all->selected);
	while (*renumbered && is_taken(all, s->out))
		s->out = ++all->free;
	return mark_taken(all, s->out);
}

struct hpw_stream *hpw_stream_of(struct hpw_streams *all, uint32_t id, uint32_t counter, uint32_t input,
                                 bool *renumbered)
{
	const uint32_t known = id < HPW_DIRECT ? all->direct[id] - 1 : table64_get(&all->index, id);
	struct hpw_stream *s = known != TABLE_NONE ? &all->list[known] : NULL;
	const bool is_new = s == NULL;

	*renumbered = false;
	if (is_new && (s = add_stream(all, id)) == NULL)
		return NULL;
	if ((is_new || (s->input != input && counter != s->last + 1)) && !start_stream(all, s, renumbered))
		return NULL;
	if (is_new || s->input != input || id != 0 || counter - s->last <= INT32_MAX)
		s->last = counter;
	s->input = input;
	return s;
}

uint32_t hpw_stream_counter(struct hpw_stream *s, uint32_t counter)
{
	return s->in_turn ? s->next++ : counter - s->less;
}
