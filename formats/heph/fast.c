#include "base/utf8.h"
#include "heph/heph.h"

/*
 * Most packets of most traces are sound, and who only checks them, or copies
 * them as they are, needs nothing of them but their end.  Whatever is not plain
 * is left to heph_read_packet(), which looks at the packet again, from its start,
 * and reports what it sees: nothing is remembered of a packet before it is known
 * to be plain.
 */

#define MOST_BYTES (64U << 10) /* of a packet, so that its arrays are below the bound of elements */

/* ---- attributes ---- */

static inline bool is_text(const char *p, uint32_t n)
{
	return heph_is_ascii(p, n) || utf8_valid(p, n);
}

/* The end of a string whose length stands at p; NULL, here and below: look closely. */
static inline const char *skip_string(const char *p, const char *end)
{
	const size_t room = (size_t)(end - p);
	const uint32_t n = room >= 2 ? load_u16(p, true) : 0;

	return room >= 2 && n <= room - 2 && is_text(p + 2, n) ? p + 2 + n : NULL;
}

/* The end of the array whose count stands at p. */
static const char *skip_array(uint8_t type, const char *p, const char *end)
{
	const size_t room = (size_t)(end - p);
	const uint32_t n = room >= 2 ? load_u16(p, true) : 0;

	if (room < 2)
		return NULL;
	if (type != (HEPH_ARRAY | HEPH_STRING))
		return (size_t)n * 8 <= room - 2 ? p + 2 + (size_t)n * 8 : NULL;
	p += 2;
	for (uint32_t i = 0; i < n && p != NULL; i++)
		p = skip_string(p, end);
	return p;
}

/* The end of the value whose type stands at p. */
static inline const char *skip_value(const char *p, const char *end)
{
	const uint8_t type = (uint8_t)*p++;
	const uint8_t inner = type & 0x7F;

	if (inner < HEPH_UNSIGNED || inner > HEPH_STRING)
		return NULL;
	if (type != inner)
		return skip_array(type, p, end);
	if (type == HEPH_STRING)
		return skip_string(p, end);
	return end - p >= 8 ? p + 8 : NULL;
}

/* The names of one event by their signatures, to find those that may come twice. */
struct seen {
	uint64_t bits; /* for each remainder of a signature */
	uint32_t n;
	uint32_t signatures[HEPH_SIGNED_NAMES];
};

/* false: the name may have come before, or there are too many. */
static inline bool add_name(struct seen *seen, struct slice name)
{
	const uint32_t signature = heph_name_signature(name);
	const uint64_t bit = (uint64_t)1 << (signature >> 26);

	if (seen->n == HEPH_SIGNED_NAMES)
		return false;
	if ((seen->bits & bit) != 0)
		for (uint32_t i = 0; i < seen->n; i++)
			if (seen->signatures[i] == signature)
				return false;
	seen->bits |= bit;
	seen->signatures[seen->n++] = signature;
	return true;
}

static inline bool are_plain(const char *p, const char *end)
{
	struct seen seen;

	seen.bits = 0;
	seen.n = 0;
	while (p != NULL && p < end) {
		const size_t room = (size_t)(end - p);
		const uint32_t n = room >= HEPH_ATTRIBUTE_MIN ? load_u16(p, true) : 0;
		if (room < HEPH_ATTRIBUTE_MIN || n > room - 3 || !is_text(p + 2, n) ||
		    !add_name(&seen, slice_of(p + 2, n)))
			return false;
		p = skip_value(p + 2 + n, end);
	}
	return p != NULL;
}

/* ---- packets ---- */

/* The end of the event at p, if all of it is in the window, and what may be another packet behind it. */
static inline const char *plain_end(const char *p, const char *end, uint64_t latest)
{
	const size_t there = (size_t)(end - p);

	if (there < HEPH_EVENT_MIN + 4 || load_u32(p, true) != HEPH_MAGIC_EVENT)
		return NULL;
	const uint32_t size = load_u32(p + 4, true), n = load_u16(p + 40, true);
	const uint64_t stop = load_u64(p + 32, true);
	if (size > MOST_BYTES || size > there - 4 || size < HEPH_EVENT_MIN + n ||
	    stop < load_u64(p + 24, true) || stop > latest || !is_text(p + HEPH_EVENT_MIN, n) ||
	    !are_plain(p + HEPH_EVENT_MIN + n, p + size))
		return NULL;
	return p + size;
}

static struct heph_packet packet_at(const struct heph_state *st, const char *p)
{
	return (struct heph_packet){ .p = p,
		                     .end = p + load_u32(p + 4, true),
		                     .offset = input_offset(st->r->in, p),
		                     .ordinal = st->r->records,
		                     .stream = load_u32(p + 8, true),
		                     .counter = load_u32(p + 12, true),
		                     .substream = load_u64(p + 16, true),
		                     .start = load_u64(p + 24, true),
		                     .stop = load_u64(p + 32, true) };
}

/* Counts a packet of which not all is as expected. */
static void count_closely(struct heph_state *st, const char *p)
{
	const struct heph_packet k = packet_at(st, p);

	heph_counter_check(st, &k);
	heph_epoch_check(st, &k);
}

static inline void count(struct heph_state *st, const char *p)
{
	const uint32_t stream = load_u32(p + 8, true), counter = load_u32(p + 12, true);
	struct heph_stream *const s = heph_stream_find(&st->streams, stream);

	st->r->records++;
	if (s != NULL && stream != 0 && counter == s->last + 1 && st->epoch.known) {
		s->last = counter;
		s->end = load_u64(p + 32, true);
	} else {
		count_closely(st, p);
	}
}

static const struct track *track_far(struct heph_state *st, const char *p)
{
	const struct heph_packet k = packet_at(st, p);
	const struct track *const t = heph_track_far(st, &k);

	st->no_memory |= t == NULL;
	return t;
}

/* The track of a packet: there are no more than the bound, or it is reported.  NULL: no memory. */
static inline const struct track *track_of(struct heph_state *st, const char *p)
{
	const uint32_t stream = load_u32(p + 8, true);
	const uint64_t substream = load_u64(p + 16, true);
	const struct heph_cached *const c = heph_track_cached(st, stream, substream);

	return c->track != NULL && c->stream == stream && c->substream == substream ? c->track
	                                                                            : track_far(st, p);
}

/* ---- runs ---- */

bool heph_run_wanted(const struct heph_state *st)
{
	return st->r->want == WANT_FINDINGS || (st->r->want & (WANT_RUNS | WANT_FIELDS)) == WANT_RUNS;
}

static void add_event(const struct heph_state *st, const char *p, const struct track *track, struct batch *b)
{
	b->events[b->n] = (struct event){ .ts = load_u64(p + 24, true),
		                          .name = st->event_class->name,
		                          .cls = st->event_class,
		                          .track = track,
		                          .offset = input_offset(st->r->in, p),
		                          .phase = PHASE_SPAN };
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(p, (size_t)(st->r->in->p - p));
	b->n++;
}

bool heph_run_read(struct heph_state *st, struct batch *b, uint64_t until)
{
	struct input *const in = st->r->in;
	const char *const first = in->p, *const end = in->end;
	const size_t bytes = (size_t)(until - input_offset(in, first));
	const bool runs = (st->r->want & WANT_RUNS) != 0;
	const uint64_t latest = st->epoch.known ? UINT64_MAX - st->epoch.ns : UINT64_MAX;
	const uint64_t before = st->r->records;
	const struct track *track = NULL;
	const char *p = first, *next;

	while ((size_t)(p - first) < bytes && !st->no_memory && (next = plain_end(p, end, latest)) != NULL) {
		count(st, p);
		if (runs) {
			const struct track *const t = track_of(st, p);
			track = p == first ? t : track;
		}
		p = next;
	}
	in->p = p;
	if (p == first)
		return false;
	st->event_class->records += st->r->records - before;
	st->r->trace->events += st->r->records - before;
	if (runs && !st->no_memory)
		add_event(st, first, track, b);
	return true;
}
