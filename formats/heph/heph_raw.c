#include "heph/heph_state.h"

/*
 * Packets as the file has them: all their fields, in file order, with their
 * widths.  Texts and lists tell the lengths that stand before them, types of
 * values those of attributes; attributes keep their names, also where two are
 * equal.
 */

#define TEXT(s)                                                                                              \
	{                                                                                                    \
		(s), sizeof(s) - 1, SLICE_UTF8 | SLICE_JSON                                                  \
	}

const struct class_field heph_raw_event_fields[HEPH_RAW_EVENT_FIELDS] = {
	{ TEXT("magic"), TEXT("u32"), VALUE_U32, 4, NULL },
	{ TEXT("size"), TEXT("u32"), VALUE_U32, 4, "byte" },
	{ TEXT("stream"), TEXT("u32"), VALUE_U32, 4, NULL },
	{ TEXT(HEPH_COUNTER_FIELD), TEXT("u32"), VALUE_U32, 4, NULL },
	{ TEXT("substream"), TEXT("u64"), VALUE_U64, 8, NULL },
	{ TEXT("start"), TEXT("u64"), VALUE_U64, 8, "ns" },
	{ TEXT(HEPH_END_FIELD), TEXT("u64"), VALUE_U64, 8, "ns" },
	{ TEXT("description"), TEXT("string"), VALUE_STRING, 0, NULL },
};

/* The value of an epoch is an integer of 64 bits, other options are as they are. */
const struct class_field heph_raw_option_fields[HEPH_RAW_OPTION_FIELDS] = {
	{ TEXT("magic"), TEXT("u32"), VALUE_U32, 4, NULL },
	{ TEXT("size"), TEXT("u32"), VALUE_U32, 4, "byte" },
	{ TEXT("option"), TEXT("string"), VALUE_STRING, 0, NULL },
	{ TEXT("value"), TEXT("bytes"), VALUE_NONE, 0, NULL },
};

/* The numbers that a packet begins with. */
static void
put_numbers(const struct heph_packet *k, const struct class_field *declared, uint32_t n, struct field *f)
{
	const char *p = k->p;

	for (uint32_t i = 0; i < n; i++) {
		f[i].name = declared[i].name;
		f[i].value =
		    (struct value){ .type = declared[i].value,
			            .u64 = declared[i].size == 4 ? load_u32(p, true) : load_u64(p, true) };
		p += declared[i].size;
	}
}

enum heph_result
heph_raw_add_event(struct heph_packet *k, struct batch *b)
{
	const uint32_t last = HEPH_RAW_EVENT_FIELDS - 1;
	struct field *const f = batch_fields(b, HEPH_RAW_EVENT_FIELDS);

	if (f == NULL)
		return HEPH_NO_MEMORY;
	put_numbers(k, heph_raw_event_fields, last, f);
	f[last] = (struct field){ heph_raw_event_fields[last].name, value_string(k->description) };
	k->nfields = HEPH_RAW_EVENT_FIELDS;
	return HEPH_DONE;
}

enum heph_result
heph_raw_add_option(const struct heph_packet *k, struct slice name, struct value value, struct event *e,
                    struct batch *b)
{
	struct field *const f = batch_fields(b, HEPH_RAW_OPTION_FIELDS);

	if (f == NULL)
		return HEPH_NO_MEMORY;
	put_numbers(k, heph_raw_option_fields, 2, f);
	f[2] = (struct field){ heph_raw_option_fields[2].name, value_string(name) };
	f[3] = (struct field){ heph_raw_option_fields[3].name, value };
	e->first_field = b->nfields;
	e->nfields = HEPH_RAW_OPTION_FIELDS;
	b->nfields += HEPH_RAW_OPTION_FIELDS;
	return HEPH_DONE;
}
