#include "ovni/raw.h"

#define NAME(s)                                                                                              \
	{                                                                                                    \
		(s), sizeof(s) - 1, SLICE_UTF8 | SLICE_JSON                                                  \
	}

static const struct class_field event_fields[] = {
	{ NAME("flags"), NAME("u8"), VALUE_U8, 1, NULL },
	{ NAME("mcv"), NAME("char[3]"), VALUE_STRING, 3, NULL },
	{ NAME("clock"), NAME("u64"), VALUE_U64, 8, "ns" },
	{ NAME("jumbo_size"), NAME("u32"), VALUE_U32, 4, "byte" },
	{ NAME("payload"), NAME("bytes"), VALUE_BYTES, 0, NULL },
};

static const struct class_field header_fields[] = {
	{ NAME("magic"), NAME("char[4]"), VALUE_STRING, 4, NULL },
	{ NAME("version"), NAME("u32"), VALUE_U32, 4, NULL },
};

#define EVENT_FIELDS (sizeof event_fields / sizeof event_fields[0])
#define HEADER_FIELDS (sizeof header_fields / sizeof header_fields[0])

void
ovni_raw_declare(struct class *cls)
{
	cls->fields = event_fields;
	cls->nfields = EVENT_FIELDS;
}

bool
ovni_raw_add_header(struct reader *r, struct batch *b, struct slice header, bool big)
{
	const struct class like = { .name = SLICE_LIT("header"),
		                    .fields = header_fields,
		                    .nfields = HEADER_FIELDS };
	struct class *const cls = trace_plan_class(r->trace, &like);
	struct field *const f = batch_fields(b, HEADER_FIELDS);

	if (cls == NULL || f == NULL)
		return false;
	f[0] = (struct field){ header_fields[0].name, value_string(textscan_slice(header.p, 4)) };
	f[1] = (struct field){ header_fields[1].name,
		               { .type = VALUE_U32, .u64 = load_u32(header.p + 4, big) } };
	b->events[b->n] = (struct event){ .name = cls->name,
		                          .cls = cls,
		                          .first_field = b->nfields,
		                          .nfields = HEADER_FIELDS,
		                          .phase = PHASE_STRUCTURE,
		                          .flags = big ? EVENT_BIG : 0 };
	if (b->bytes != NULL)
		b->bytes[b->n] = header;
	b->nfields += HEADER_FIELDS;
	b->n++;
	return true;
}

bool
ovni_raw_add_fields(struct batch *b, struct event *e, const char *p, struct slice payload, bool big)
{
	struct field *const f = batch_fields(b, EVENT_FIELDS);
	uint16_t n = 0;

	if (f == NULL)
		return false;
	f[n++] = (struct field){ event_fields[0].name, { .type = VALUE_U8, .u64 = (uint8_t)p[0] } };
	f[n++] = (struct field){ event_fields[1].name, value_string(textscan_slice(p + 1, 3)) };
	f[n++] = (struct field){ event_fields[2].name, value_u64(load_u64(p + 4, big)) };
	if ((p[0] & OVNI_FLAG_JUMBO) != 0)
		f[n++] = (struct field){ event_fields[3].name,
			                 { .type = VALUE_U32, .u64 = load_u32(p + OVNI_EVENT_SIZE, big) } };
	if (payload.p != NULL)
		f[n++] = (struct field){ event_fields[4].name,
			                 { .type = VALUE_BYTES, .count = payload.n, .p = payload.p } };
	e->first_field = b->nfields;
	e->nfields = n;
	b->nfields += n;
	return true;
}
