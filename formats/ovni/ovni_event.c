#include "ovni/ovni_state.h"

/* Events as the engine sees them: instants named by their code.  What a code means is a vocabulary's matter. */

/* The size in the low bits of the flags is that of the payload: flags are shown where they say more. */
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
		f[n++] = (struct field){ SLICE_LIT("payload"), { .type = VALUE_BYTES, .count = payload.n, .p = payload.p } };
	e->first_field = b->nfields;
	e->nfields = n;
	b->nfields += n;
	return true;
}

bool
ovni_event_add(struct ovni_state *st, struct batch *b, struct slice record, struct slice payload, uint64_t offset, struct class *cls)
{
	struct event *const e = &b->events[b->n];

	e->ts = ovni_moved(load_u64(record.p + 4, st->big), st->offset);
	e->dur = 0;
	e->name = cls->name;
	e->cls = cls;
	e->track = st->track;
	e->offset = offset;
	e->phase = PHASE_INSTANT;
	e->flags = st->big ? EVENT_BIG : 0;
	e->first_field = b->nfields;
	e->nfields = 0;
	if (((st->r->want & WANT_FIELDS) != 0 || class_needs_fields(cls)) && !add_fields(b, e, (uint8_t)record.p[0], payload))
		return false;
	if (b->bytes != NULL)
		b->bytes[b->n] = record;
	b->n++;
	return true;
}
