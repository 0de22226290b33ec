#include "heph/event.h"

#include "heph/attribute.h"
#include "heph/finding.h"
#include "heph/raw.h"
#include "heph/text.h"
#include "heph/track.h"

/* Event packets: a span each, on the track of its stream and substream. */

/* What an event brings besides its attributes.  false: no memory. */
static bool
add_own_fields(struct heph_packet *k, struct batch *b)
{
	struct field *const f = batch_fields(b, 2);

	if (f == NULL)
		return false;
	f[0].name = SLICE_LIT(HEPH_COUNTER_FIELD);
	f[0].value = (struct value){ .type = VALUE_U32, .u64 = k->counter };
	k->nfields = 1;
	if (k->stop < k->start) { /* the span gets no length, so this would be lost */
		f[1].name = SLICE_LIT(HEPH_END_FIELD);
		f[1].value = value_u64(k->stop);
		k->nfields = 2;
	}
	return true;
}

static void
add_event(struct heph_state *st, const struct heph_packet *k, struct batch *b)
{
	const char *const end = k->fault != NULL && !k->followed ? k->fault : k->end;
	struct event *const e = &b->events[b->n];

	e->track = heph_track(st, k);
	if (e->track == NULL) {
		st->no_memory = true;
		return;
	}
	e->ts = k->start;
	e->dur = k->stop < k->start ? 0 : k->stop - k->start;
	e->name = k->description;
	e->cls = st->event_class;
	e->offset = k->offset;
	e->first_field = b->nfields;
	e->nfields = (uint16_t)k->nfields;
	e->phase = PHASE_SPAN;
	e->flags = 0;
	if (st->own.active && !st->raw)
		heph_own_event(st, k, e, b);
	b->nfields += e->nfields;
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(k->p, (size_t)(end - k->p));
	b->n++;
}

/* Its fields, if `build`, and the checks of its attributes, which start at p. */
static void
read_fields(struct heph_state *st, struct heph_packet *k, const char *p, struct batch *b, bool build)
{
	if (build && !(st->raw ? heph_raw_add_event(k, b) : add_own_fields(k, b)))
		st->no_memory = true;
	else if (p < k->end)
		heph_attributes_read(st, k, p, build ? b : NULL);
}

void
heph_event_read(struct heph_state *st, struct heph_packet *k, struct batch *b)
{
	const unsigned want = st->r->want;
	const bool needed = class_needs_fields(st->event_class) || (st->own.active && !st->raw);
	const bool build = (want & WANT_FIELDS) != 0 || ((want & WANT_TIMES) != 0 && needed);
	const uint32_t n = load_u16(k->p + 40, true);
	const size_t room = (size_t)(k->end - k->p) - HEPH_EVENT_MIN;

	k->stream = load_u32(k->p + 8, true);
	k->counter = load_u32(k->p + 12, true);
	k->substream = load_u64(k->p + 16, true);
	k->start = load_u64(k->p + 24, true);
	k->stop = load_u64(k->p + 32, true);
	heph_counter_check(st, k);
	if (n > room) {
		k->fault = k->p + 40;
		heph_report_past_packet(st, k, k->fault, "the description", n, room);
		return;
	}
	k->description = heph_text(k->p + HEPH_EVENT_MIN, n, want != WANT_FINDINGS && (build || !st->raw));
	if ((k->description.flags & SLICE_UTF8) == 0)
		heph_report_text(st, k, "the description", k->description);
	heph_epoch_check(st, k);
	read_fields(st, k, k->description.p + n, b, build);
	st->event_class->records++;
	st->r->trace->events++;
	if ((want & WANT_TIMES) != 0 && !st->no_memory)
		add_event(st, k, b);
}
