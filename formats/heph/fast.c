/*
 * Fast path: checks event packets without decoding attributes.  Validation and copying need only the length
 * of a packet.  Valid packets of the common form are counted; all others are left to read_record(), which
 * reads them from their start and reports their faults.
 */
#include "heph/heph.h"

#define MAX_BYTES (64U << 10) /* bytes of a packet, so that its arrays stay below HEPH_MAX_ELEMENTS */

/* ---- attributes ---- */

/* These functions return NULL or false if read_record() must read the packet. */

static inline bool is_utf8(const char *p, uint32_t n)
{
	return heph_is_ascii(p, n) || utf8_valid(p, n);
}

/* Returns the end of the string whose length is at p. */
static inline const char *skip_string(const char *p, const char *end)
{
	const size_t left = (size_t)(end - p);
	const uint32_t n = left >= 2 ? load_u16(p, true) : 0;

	return left >= 2 && n <= left - 2 && is_utf8(p + 2, n) ? p + 2 + n : NULL;
}

/* Returns the end of the array whose count is at p. */
static const char *skip_array(uint8_t type, const char *p, const char *end)
{
	const size_t left = (size_t)(end - p);
	const uint32_t n = left >= 2 ? load_u16(p, true) : 0;

	if (left < 2)
		return NULL;
	if (type != (HEPH_ARRAY | HEPH_STRING))
		return (size_t)n * 8 <= left - 2 ? p + 2 + (size_t)n * 8 : NULL;
	p += 2;
	for (uint32_t i = 0; i < n && p != NULL; i++)
		p = skip_string(p, end);
	return p;
}

/* Returns the end of the value whose type is at p. */
static inline const char *skip_value(const char *p, const char *end)
{
	const uint8_t type = (uint8_t)*p++;
	const uint8_t inner = (uint8_t)(type & ~HEPH_ARRAY);

	if (inner < HEPH_UNSIGNED || inner > HEPH_STRING)
		return NULL;
	if (type != inner)
		return skip_array(type, p, end);
	if (type == HEPH_STRING)
		return skip_string(p, end);
	return end - p >= 8 ? p + 8 : NULL;
}

static inline bool check_attributes(const char *p, const char *end)
{
	struct heph_names names;

	names.seen = names.n = 0;
	while (p != NULL && p < end) {
		const size_t left = (size_t)(end - p);
		const uint32_t n = left >= HEPH_ATTRIBUTE_MIN ? load_u16(p, true) : 0;
		if (left < HEPH_ATTRIBUTE_MIN || n > left - 3 || !is_utf8(p + 2, n) ||
		    !heph_names_add(&names, slice_of(p + 2, n)))
			return false;
		p = skip_value(p + 2 + n, end);
	}
	return p != NULL;
}

/* ---- packets ---- */

/* Returns the end of the event at p if all of it, and the start of another packet after it, are in the
 * window; NULL if it is not of the common form.  Its times must not exceed `latest`, its size not `max`.
 * Unless t is NULL, sets *name: most names are known in the trace, and so is that they are UTF-8. */
static inline const char *check_event(const char *p, const char *end, uint64_t latest, uint32_t max,
                                      struct trace *t, struct slice *name)
{
	const size_t left = (size_t)(end - p);

	if (left < HEPH_EVENT_MIN + 4 || load_u32(p, true) != HEPH_MAGIC_EVENT)
		return NULL;
	const uint32_t size = load_u32(p + HEPH_AT_SIZE, true), n = load_u16(p + HEPH_AT_DESCRIPTION, true);
	const uint64_t stop = load_u64(p + HEPH_AT_END, true);
	if (size > max || size > left - 4 || size < HEPH_EVENT_MIN + n ||
	    heph_packet_min(p + size, end) == 0 || stop < load_u64(p + HEPH_AT_START, true) || stop > latest)
		return NULL;
	if (t != NULL)
		*name = trace_event_name(t, slice_of(p + HEPH_EVENT_MIN, n));
	const bool utf8 = t != NULL ? (name->flags & SLICE_UTF8) != 0 : is_utf8(p + HEPH_EVENT_MIN, n);
	return utf8 && check_attributes(p + HEPH_EVENT_MIN + n, p + size) ? p + size : NULL;
}

/* Sets the current packet, for functions that read_record() calls, too. */
static const struct heph_packet *set_packet(struct heph_state *st, const char *p)
{
	struct heph_packet *const k = &st->packet;

	k->p = p;
	k->end = p + load_u32(p + HEPH_AT_SIZE, true);
	k->offset = input_offset(st->r->in, p);
	k->ordinal = st->r->records;
	heph_read_numbers(k);
	return k;
}

/* Counts the packet at p with all checks. */
static void count_slow(struct heph_state *st, const char *p)
{
	const struct heph_packet *const k = set_packet(st, p);

	heph_check_counter(st, k);
	heph_check_epoch(st, k);
}

/* Counts the packet at p.  Needs no other check if its counter is the next one of its stream. */
static inline void count_packet(struct heph_state *st, const char *p)
{
	const uint32_t stream = load_u32(p + HEPH_AT_STREAM, true),
	               counter = load_u32(p + HEPH_AT_COUNTER, true);
	struct heph_stream *const s = heph_stream_find(&st->streams, stream);

	st->r->records++;
	if (s != NULL && stream != 0 && counter == s->last + 1 && st->epoch.known) {
		s->last = counter;
		s->end = load_u64(p + HEPH_AT_END, true);
	} else {
		count_slow(st, p);
	}
}

static COLD const struct track *find_track_slow(struct heph_state *st, const char *p)
{
	const struct track *const t = heph_track_slow(st, set_packet(st, p));

	st->r->no_memory |= t == NULL;
	return t;
}

/* Returns the track of a packet.  Needed for every packet: also limits and reports the number of tracks. */
static inline const struct track *find_track(struct heph_state *st, const char *p)
{
	const uint32_t stream = load_u32(p + HEPH_AT_STREAM, true);
	const uint64_t substream = load_u64(p + HEPH_AT_SUBSTREAM, true);
	const struct track *const t = heph_track_cached(&st->tracks, stream, substream);

	return t != NULL ? t : find_track_slow(st, p);
}

/* Adds the event of a packet.  Returns false if the batch is full.  Not inlined: slows down validation. */
static NOINLINE bool add_event(struct heph_state *st, const char *p, const struct track *track,
                               struct batch *b, struct slice name)
{
	const uint64_t start = load_u64(p + HEPH_AT_START, true);

	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(p, load_u32(p + HEPH_AT_SIZE, true));
	b->events[b->n++] = (struct event){ .ts = start,
		                            .dur = load_u64(p + HEPH_AT_END, true) - start,
		                            .name = name,
		                            .cls = st->event_class,
		                            .track = track,
		                            .offset = input_offset(st->r->in, p),
		                            .phase = PHASE_SPAN };
	return b->n < b->cap;
}

bool heph_run(struct reader *r, const char *limit, struct batch *b)
{
	struct heph_state *const st = r->state;
	const char *const end = r->in->end;
	const uint64_t latest = st->epoch.known ? UINT64_MAX - st->epoch.ns : UINT64_MAX;
	const uint32_t max = r->max_record < MAX_BYTES ? (uint32_t)r->max_record : MAX_BYTES;
	const uint64_t before = r->records;
	const bool tracks = (r->want & WANT_TIMES) != 0 && r->range == NULL;
	struct trace *const t = tracks && b != NULL ? r->trace : NULL;
	struct slice name = SLICE_NONE;
	const char *p = r->in->p, *next;

	if (b != NULL && (heph_builds_fields(st) || (st->raw && st->own.seen) || reader_wants_gaps(r)))
		return false;
	if (st->search.open || st->long_packet.left > 0)
		return true;
	while (p < limit && !r->no_memory && (next = check_event(p, end, latest, max, t, &name)) != NULL) {
		count_packet(st, p);
		if (tracks) {
			const struct track *const track = find_track(st, p);
			if (b != NULL && !add_event(st, p, track, b, name))
				limit = next;
		} else if (r->range != NULL) {
			reader_range_add(r->range, load_u64(p + HEPH_AT_START, true),
			                 load_u64(p + HEPH_AT_END, true));
		}
		p = next;
	}
	r->in->p = p;
	st->event_class->records += r->records - before;
	r->trace->events += r->records - before;
	return true;
}
