#ifndef PERFETTO_SCHEMA_SCHEMA_H
#define PERFETTO_SCHEMA_SCHEMA_H

/*
 * The messages of Perfetto's protos (schema.def) as tables and as structs, for reader, writer and copier;
 * and names of types in Chrome's descriptors.  wire.h has the encoding.
 */

#include "perfetto/schema/wire.h"

enum pf_message {
#define MESSAGE(message, name, first, last) PF_MESSAGE_##message,
#define FIELD(message, field, number, type, flags, arg)
#include "perfetto/schema/schema.def"
	PF_MESSAGES
};

/* Numbers of fields, such as PF_event_type. */
enum pf_number {
#define MESSAGE(message, name, first, last)
#define FIELD(message, field, number, type, flags, arg) PF_##message##_##field = (number),
#include "perfetto/schema/schema.def"
};

enum { PF_TRACE_PACKET = 1 }; /* number of the only field of Trace that is read */

/* Values of fields. */
enum { PF_CLEARED = 1, PF_NEEDS = 2 };                   /* sequence_flags */
enum { PF_MERGE_NAME = 1, PF_MERGE_NONE, PF_MERGE_KEY }; /* sibling_merge_behavior */
enum { PF_ORDER_EXPLICIT = 1 };                          /* process_ordering, thread_ordering */
enum { PF_UNIT_NS = 1, PF_UNIT_COUNT, PF_UNIT_BYTES };   /* unit of a CounterDescriptor */
/* clang-format off */
enum { /* type of a TrackEvent */
	PF_EVENT_NONE, PF_EVENT_BEGIN, PF_EVENT_END, PF_EVENT_INSTANT, PF_EVENT_COUNTER, PF_EVENT_STATE
};
enum { /* clocks */
	PF_REALTIME = 1, PF_MONOTONIC = 3, PF_MONOTONIC_COARSE = 4, PF_BOOTTIME = 6, PF_TRACE_FILE = 11
};

enum pf_type {
	PF_TYPE_BOOL, PF_TYPE_ENUM, PF_TYPE_U32, PF_TYPE_I32, PF_TYPE_U64, PF_TYPE_I64, /* varints */
	PF_TYPE_FIXED64, PF_TYPE_DOUBLE,
	PF_TYPE_STRING, PF_TYPE_BYTES, PF_TYPE_MESSAGE,
	PF_TYPE_OPAQUE, /* a message whose fields are not read */
	PF_TYPE_ANY,    /* a number of any wire type */
};
/* clang-format on */

enum pf_flags { PF_IS_DATA = 1, PF_IS_REPEATED = 2, PF_IS_PACKED = 4, PF_ONEOF = 8 };

struct pf_field {
	struct slice name;
	uint32_t number;
	uint8_t type;  /* enum pf_type */
	uint8_t flags; /* enum pf_flags; from PF_ONEOF on: number of its oneof */
	int16_t arg;   /* MESSAGE: enum pf_message; ENUM: the greatest value, or -1 */
};

#define PF_DIRECT 136 /* fields of smaller numbers are found without a search */

struct pf_schema {
	const struct pf_field *first[PF_MESSAGES];
	uint32_t n[PF_MESSAGES];
	uint8_t direct[PF_MESSAGES][PF_DIRECT]; /* index + 1 */
};

void pf_schema_init(struct pf_schema *s);

/* Returns NULL if the message has no such field. */
const struct pf_field *pf_schema_field(const struct pf_schema *s, enum pf_message m, uint32_t number);
bool pf_schema_is_extension(enum pf_message m, uint32_t number);
const char *pf_schema_name(enum pf_message m);

/* Returns the wire type of a field. */
static inline unsigned pf_wire_type(const struct pf_field *f)
{
	return f->type <= PF_TYPE_I64                                    ? PF_VARINT
	       : f->type == PF_TYPE_FIXED64 || f->type == PF_TYPE_DOUBLE ? PF_FIXED64
	                                                                 : PF_BYTES;
}

/* ---- messages as structs ---- */

enum pf_as {
	PF_AS_U8, /* a varint, cut to this width */
	PF_AS_U32,
	PF_AS_U64,
	PF_AS_BOOL,
	PF_AS_FIELD, /* bytes of a varint with its tag, as a slice */
	PF_AS_SLICE, /* a message or text */
	PF_AS_MARK,  /* of a message or text only the mark is stored */
};

/* The member that a field is stored in.  Of a repeated field the last one counts. */
struct pf_member {
	uint32_t tag;       /* 0: no such row */
	uint16_t at;        /* offset in the struct */
	uint16_t marked_at; /* offset + 1 of a bool or uint8_t; 0: none */
	uint8_t mark;       /* stored there: which field was read */
	uint8_t as;         /* enum pf_as */
};

/* Rows of a table of members, indexed by the number of the field. */
#define PF_MARKED_AT(number, type, member, kind, offset, value)                                              \
	[number] = { .tag = PF_TAG(number, PF_AS_##kind < PF_AS_SLICE ? PF_VARINT : PF_BYTES),               \
		     .at = offsetof(type, member),                                                           \
		     .marked_at = (offset),                                                                  \
		     .mark = (value),                                                                        \
		     .as = PF_AS_##kind }
#define PF_MEMBER(number, type, member, kind) PF_MARKED_AT(number, type, member, kind, 0, 0)
#define PF_MARKED(number, type, member, kind, marked, value)                                                 \
	PF_MARKED_AT(number, type, member, kind, offsetof(type, marked) + 1, value)

/* Stores the fields of a message, up to one that cannot be read, by a table of n members. */
void pf_read(struct slice message, const struct pf_member *members, uint32_t n, void *to);

#define PF_READ(message, members, to) pf_read(message, members, sizeof(members) / sizeof *(members), to)

/* ---- names of types ---- */

/* Returns the name of a type of thread or process of Chrome; p NULL: none. */
struct slice pf_chrome_thread(uint64_t type);
struct slice pf_chrome_process(uint64_t type);

/* Whether descriptors of this type of process state the command line as its name, beside the type. */
bool pf_chrome_is_renderer(uint64_t type);

#endif
