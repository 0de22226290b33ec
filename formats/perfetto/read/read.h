/*
 * The private header of the reader of Perfetto traces.
 *
 *   wire.h        fields of protocol buffers
 *   schema.def    the messages that are read; schema.c: their tables
 *   check.c       what the schema says of a packet: wire types, enums, texts
 *   packets.c     frames, the order of work in a packet, compressed packets
 *   raw.c         raw packets: their fields, and copies
 */
#ifndef PERFETTO_READ_READ_H
#define PERFETTO_READ_READ_H

#include <inttypes.h>
#include <stdio.h>

#include "base/table.h"
#include "format/format.h"
#include "perfetto/read/wire.h"

#define PF_COLD __attribute__((cold, noinline))

/* ---- limits ---- */

#define PF_MAX_PACKET (64U << 20)   /* bytes; Perfetto reads none of 256 MiB */
#define PF_MAX_UNPACKED (64U << 20) /* of the packets that a packet has compressed */
#define PF_MAX_NESTED 100           /* depth of messages in a packet */

/* ---- rules ---- */

enum pf_rule {
#define RULE(name, id, level, text, spec, explain) PF_RULE_##name,
#include "perfetto/rules.def"
#undef RULE
	PF_RULE_COUNT
};

extern const struct rule perfetto_rules[PF_RULE_COUNT + 1];

/* ---- schema ---- */

enum pf_message {
#define MESSAGE(message, name, first, last) PF_MESSAGE_##message,
#define FIELD(message, field, number, type, flags, arg)
#include "perfetto/read/schema.def"
#undef MESSAGE
#undef FIELD
	PF_MESSAGES
};

/* Numbers of fields: PF_event_type. */
enum pf_number {
#define MESSAGE(message, name, first, last)
#define FIELD(message, field, number, type, flags, arg) PF_##message##_##field = (number),
#include "perfetto/read/schema.def"
#undef MESSAGE
#undef FIELD
};

/* clang-format off */
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

/* ---- packets ---- */

enum { PF_CLEARED = 1, PF_NEEDS = 2 }; /* sequence_flags */

/* The fields of a packet that concern its sequence and time, and its data. */
struct pf_packet {
	struct slice s; /* its content */
	uint64_t timestamp;
	uint32_t sequence, flags, clock, dropped, machine;
	uint32_t ndata;    /* fields that are data */
	uint32_t kind;     /* number of the first of these; 0: none */
	struct slice data; /* its content */
	struct slice interned, defaults;
	bool has_timestamp, has_sequence, has_clock;
	bool odd; /* it has something that pf_check() may report */
	bool bad; /* its fields cannot be read to the end */
};

/* Unpacked packets of a packet. */
struct pf_inner {
	struct shared_memory memory;
	uint32_t n;
	char bytes[];
};

/* ---- state ---- */

struct pf_state {
	struct reader *r;
	struct pf_schema schema;
	struct pf_packet packet;
	uint64_t offset, ordinal; /* of the record */
	const char *start;        /* of the record in the window */
	bool is_inner;            /* the packet is one of a compressed packet */
	struct slice inner;       /* such packets that are not read yet */
	struct pf_inner *inner_memory;
	bool raw;
	bool searching;            /* for a packet after damage */
	bool lost;                 /* none follows */
	uint64_t kinds[PF_DIRECT]; /* packets by the kind of their data */
	struct class *structure, *event;
};

/* ---- findings ---- */

/* Reports a finding; `at`: in the record, or NULL for its start. */
void pf_report(struct pf_state *st, enum pf_rule rule, const char *at, const char *fmt, ...)
    __attribute__((cold, format(printf, 4, 5)));

/* ---- check.c ---- */

/* Reports what the schema says against the packet. */
void pf_check(struct pf_state *st, const struct pf_packet *k) PF_COLD;

/* ---- packets.c ---- */

extern const struct reader_ops perfetto_reader_ops;

/* ---- raw.c ---- */

void pf_raw_fields(struct pf_state *st, const struct record *rec, struct batch *b, struct event *e);

#endif
