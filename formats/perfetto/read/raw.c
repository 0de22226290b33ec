/*
 * Fields of raw packets, named and typed by the schema, for --raw.  A message is a map in the order of the
 * file, so names of repeated fields occur several times.  A field that the schema does not have is named by
 * its number.
 */
#include "perfetto/read/read.h"

#define MAX_FIELDS 65000U /* of one packet or message */

static struct slice name_of(struct batch *b, const struct pf_field *f, uint32_t number)
{
	return f != NULL ? f->name : arena_printf(&b->scratch, "field %" PRIu32, number);
}

static struct value message_value(struct pf_state *st, struct batch *b, enum pf_message m, struct slice s,
                                  unsigned depth);

/* Returns the value of a field by its wire type. */
static struct value plain_value(const struct pf_wire *w)
{
	const unsigned wire = w->tag & 7;

	if (wire == PF_BYTES)
		return (struct value){ .type = VALUE_BYTES, .count = (uint32_t)w->v, .p = w->bytes };
	return (struct value){ .type = wire == PF_FIXED32 ? VALUE_U32 : VALUE_U64, .u64 = w->v };
}

static struct value field_value(struct pf_state *st, struct batch *b, const struct pf_field *f,
                                const struct pf_wire *w, unsigned depth)
{
	if (f == NULL || (f->type != PF_TYPE_ANY && pf_wire_type(f) != (w->tag & 7)))
		return plain_value(w);
	switch ((enum pf_type)f->type) {
	case PF_TYPE_BOOL:
		return (struct value){ .type = VALUE_BOOL, .u64 = w->v != 0 };
	case PF_TYPE_ENUM:
	case PF_TYPE_I32:
		return (struct value){ .type = VALUE_I32, .i64 = (int32_t)w->v };
	case PF_TYPE_U32:
		return (struct value){ .type = VALUE_U32, .u64 = (uint32_t)w->v };
	case PF_TYPE_I64:
		return (struct value){ .type = VALUE_I64, .u64 = w->v };
	case PF_TYPE_DOUBLE:
		return (struct value){ .type = VALUE_F64, .f64 = pf_wire_double(w) };
	case PF_TYPE_STRING:
		return value_string(textscan_slice(w->bytes, (uint32_t)w->v));
	case PF_TYPE_MESSAGE:
		if (depth < PF_MAX_NESTED)
			return message_value(st, b, (enum pf_message)f->arg, pf_wire_slice(w), depth + 1);
		return plain_value(w);
	default:
		return plain_value(w);
	}
}

static uint32_t count_fields(struct slice s)
{
	struct pf_wire w = pf_wire_on(s);
	uint32_t n = 0;

	while (n < MAX_FIELDS && pf_wire_next(&w))
		n++;
	return n;
}

static struct value message_value(struct pf_state *st, struct batch *b, enum pf_message m, struct slice s,
                                  unsigned depth)
{
	const uint32_t n = count_fields(s);
	struct value *const v = arena_alloc(&b->scratch, 2 * (size_t)n * sizeof *v);
	struct pf_wire w = pf_wire_on(s);

	if (v == NULL)
		return (struct value){ .type = VALUE_NONE };
	for (uint32_t i = 0; i < n && pf_wire_next(&w); i++) {
		const struct pf_field *const f = pf_schema_field(&st->schema, m, pf_wire_number(&w));
		v[2 * (size_t)i] = value_string(name_of(b, f, pf_wire_number(&w)));
		v[2 * (size_t)i + 1] = field_value(st, b, f, &w, depth);
	}
	return (struct value){ .type = VALUE_MAP, .count = n, .values = v };
}

void pf_raw_fields(struct pf_state *st, const struct record *rec, struct batch *b, struct event *e)
{
	const struct slice s = st->packet.s;
	const uint32_t n = rec->role < RECORD_IS_GAP ? count_fields(s) : 0;
	struct field *const f = batch_event_fields(b, e, (uint16_t)n);
	struct pf_wire w = pf_wire_on(s);

	for (uint32_t i = 0; f != NULL && i < n && pf_wire_next(&w); i++) {
		const struct pf_field *const declared =
		    pf_schema_field(&st->schema, PF_MESSAGE_packet, pf_wire_number(&w));
		f[i].name = name_of(b, declared, pf_wire_number(&w));
		f[i].value = field_value(st, b, declared, &w, 0);
	}
}
