#include "heph/raw.h"

#include "heph/state.h"

/*
 * Packets as the file has them: all their fields, in file order, with their
 * widths.  The lengths of texts and lists are those that the file has before
 * them, and the types of values those of attributes.  Names of attributes are
 * not changed, also where two are equal.
 */

#define EVENT_FIELDS 8
#define OPTION_FIELDS 4

#define TEXT(s)                                                                                              \
	{                                                                                                    \
		(s), sizeof(s) - 1, SLICE_UTF8 | SLICE_JSON                                                  \
	}

static const struct class_field event_fields[EVENT_FIELDS] = {
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
static const struct class_field option_fields[OPTION_FIELDS] = {
	{ TEXT("magic"), TEXT("u32"), VALUE_U32, 4, NULL },
	{ TEXT("size"), TEXT("u32"), VALUE_U32, 4, "byte" },
	{ TEXT("option"), TEXT("string"), VALUE_STRING, 0, NULL },
	{ TEXT("value"), TEXT("bytes"), VALUE_NONE, 0, NULL },
};

void
heph_raw_declare(struct class *event, struct class *metadata)
{
	event->fields = event_fields;
	event->nfields = EVENT_FIELDS;
	metadata->fields = option_fields;
	metadata->nfields = OPTION_FIELDS;
}

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

bool
heph_raw_add_event(struct heph_packet *k, struct batch *b)
{
	const uint32_t last = EVENT_FIELDS - 1;
	struct field *const f = batch_fields(b, EVENT_FIELDS);

	if (f == NULL)
		return false;
	put_numbers(k, event_fields, last, f);
	f[last] = (struct field){ event_fields[last].name, value_string(k->description) };
	k->nfields = EVENT_FIELDS;
	return true;
}

bool
heph_raw_add_option(const struct heph_packet *k, struct slice name, struct value value, struct event *e,
                    struct batch *b)
{
	struct field *const f = batch_fields(b, OPTION_FIELDS);

	if (f == NULL)
		return false;
	put_numbers(k, option_fields, 2, f);
	f[2] = (struct field){ option_fields[2].name, value_string(name) };
	f[3] = (struct field){ option_fields[3].name, value };
	e->first_field = b->nfields;
	e->nfields = OPTION_FIELDS;
	b->nfields += OPTION_FIELDS;
	return true;
}
