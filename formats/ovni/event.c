#include "ovni/event.h"

/* The size in the low bits of the flags is that of the payload: flags are a field only where other bits are
 * set. */
static bool
add_fields(struct batch *b, struct event *e, uint8_t flags, struct slice payload)
{
	struct field *const f = batch_fields(b, 2);
	uint16_t n = 0;

	if (f == NULL)
		return false;
	if ((flags & (OVNI_FLAG_JUMBO | OVNI_FLAGS_RESERVED)) != 0)
		f[n++] = (struct field){ SLICE_LIT("flags"), { .type = VALUE_U8, .u64 = flags } };
	if (payload.p != NULL)
		f[n++] = (struct field){ SLICE_LIT("payload"),
			                 { .type = VALUE_BYTES, .count = payload.n, .p = payload.p } };
	e->first_field = b->nfields;
	e->nfields = n;
	b->nfields += n;
	return true;
}

bool
ovni_event_add(struct ovni_state *st, struct batch *b, const struct ovni_record *record, struct class *cls)
{
	const bool raw = (st->r->want & WANT_RAW) != 0, big = st->stream.big;
	const bool fields = (st->r->want & WANT_FIELDS) != 0 || class_needs_fields(cls);
	const uint64_t clock = load_u64(record->bytes.p + 4, big);
	struct event *const e = &b->events[b->n];

	*e = (struct event){ .ts = raw ? clock : ovni_offset_add(clock, st->offset),
		             .dur = ovni_copy_number(st),
		             .name = cls->name,
		             .cls = cls,
		             .track = st->stream.track,
		             .offset = record->offset,
		             .first_field = b->nfields,
		             .phase = PHASE_INSTANT,
		             .flags = big ? EVENT_BIG : 0 };
	if (raw && (st->r->want & WANT_BARE) == 0 &&
	    !ovni_raw_add_fields(b, e, record->bytes.p, record->payload, big))
		return false;
	if (!raw && fields && !add_fields(b, e, (uint8_t)record->bytes.p[0], record->payload))
		return false;
	if (b->bytes != NULL)
		b->bytes[b->n] = record->bytes;
	b->n++;
	cls->records++;
	return true;
}

static inline struct slice
payload_of(const char *p, uint32_t n)
{
	return slice_of(n > 0 ? p + OVNI_EVENT_SIZE : NULL, n);
}

/*
 * One check of the remaining bytes serves the longest event, so the last few of a window are for the caller.
 * A time cannot leave its range: the first clock is not made negative, none goes backwards, none is above
 * 2^63 - 1.
 */
static inline const char *
add_fast(struct ovni_state *st, struct batch *b, const char *p, uint32_t most, bool big, bool raw)
{
	const struct ovni_codes *const codes = &((const struct ovni_shared *)st->r->shared)->codes;
	const char *const end = st->r->in->end;
	const bool fields = (st->r->want & WANT_FIELDS) != 0, bare = (st->r->want & WANT_BARE) != 0;
	const uint64_t by = raw ? 0 : (uint64_t)st->offset, number = ovni_copy_number(st);
	struct event *e = b->events + b->n, *const full = e + most;
	uint64_t offset = input_offset(st->r->in, p), last = st->last;

	for (; e < full && end - p >= OVNI_EVENT_SIZE + 16; e++) {
		const uint32_t word = load_u32(p, false), payload = (word & 15) + ((word & 15) != 0);
		const uint64_t clock = load_u64(p + 4, big);
		struct class *const cls = ovni_fast_class(codes, word);
		if (cls == NULL || clock < last || clock > INT64_MAX)
			break;
		*e = (struct event){ .ts = clock + by,
			             .dur = number,
			             .name = cls->name,
			             .cls = cls,
			             .track = st->stream.track,
			             .offset = offset,
			             .first_field = b->nfields,
			             .phase = PHASE_INSTANT,
			             .flags = big ? EVENT_BIG : 0 };
		if (raw) {
			if (!bare && !ovni_raw_add_fields(b, e, p, payload_of(p, payload), big))
				break;
		} else if ((fields || class_needs_fields(cls)) &&
		           !add_fields(b, e, (uint8_t)word, payload_of(p, payload))) {
			break;
		}
		if (b->bytes != NULL)
			b->bytes[e - b->events] = slice_of(p, OVNI_EVENT_SIZE + payload);
		cls->records++;
		last = clock;
		p += OVNI_EVENT_SIZE + payload;
		offset += OVNI_EVENT_SIZE + payload;
	}
	b->n = (uint32_t)(e - b->events);
	st->last = last;
	return p;
}

uint32_t
ovni_events_add_fast(struct ovni_state *st, struct batch *b, uint32_t most)
{
	struct reader *const r = st->r;
	const uint32_t before = b->n;
	const bool raw = (r->want & WANT_RAW) != 0;

	if (!ovni_can_be_fast(st))
		return 0;
	const char *const p = r->in->p;
	if (st->stream.big)
		r->in->p = raw ? add_fast(st, b, p, most, true, true) : add_fast(st, b, p, most, true, false);
	else
		r->in->p =
		    raw ? add_fast(st, b, p, most, false, true) : add_fast(st, b, p, most, false, false);
	r->records += b->n - before;
	r->trace->events += b->n - before;
	return b->n - before;
}
