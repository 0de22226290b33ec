#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

#include "base/slice.h"

/*
 * The intermediate representation: one model of an event for all formats.
 *
 * Lifetime, one sentence: everything reachable from a batch is valid until the
 * batch is recycled; classes, tracks and the text they name live as long as
 * the trace.
 */

enum value_type {
	VALUE_NONE,
	VALUE_BOOL,
	VALUE_U8,
	VALUE_U16,
	VALUE_U32,
	VALUE_U64,
	VALUE_I8,
	VALUE_I16,
	VALUE_I32,
	VALUE_I64,
	VALUE_F32, /* held in f64; the width says how it was stored */
	VALUE_F64,
	VALUE_ADDRESS, /* an unsigned number that people read in hexadecimal */
	VALUE_STRING,  /* p, count bytes; may be any bytes */
	VALUE_BYTES,
	VALUE_LIST, /* values, count of them */
	VALUE_MAP,  /* values, 2 * count of them: key, value, key, value, ... */
	VALUE_JSON, /* p, count bytes of valid JSON text */
};

/* 16 bytes.  Widths and signs are kept so that a trace can be written back in its own format. */
struct value {
	uint8_t type;  /* enum value_type */
	uint8_t flags; /* of a string: enum slice_flags */
	/* enum value_type of each value of a list, where the format has one type for all of them, so that it
	 * is known of an empty list too; else VALUE_NONE */
	uint8_t element;
	uint8_t reserved;
	uint32_t count; /* strings, bytes, JSON: length; lists and maps: entries */
	union {
		uint64_t u64; /* BOOL, U8..U64, ADDRESS */
		int64_t i64;  /* I8..I64 */
		double f64;
		const char *p;
		const struct value *values;
	};
};

struct field {
	struct slice name;
	struct value value;
};

enum phase {
	PHASE_SPAN,  /* from ts, dur long */
	PHASE_BEGIN, /* opens a span on its track */
	PHASE_END,   /* closes the innermost open one */
	PHASE_INSTANT,
	PHASE_COUNTER,  /* each numeric field is one series */
	PHASE_FLOW_OUT, /* an arrow leaves; dur is the flow's id */
	PHASE_FLOW_IN,  /* an arrow arrives; dur is the flow's id */
	PHASE_STRUCTURE /* a record that is no event: a schema, a pool, a mapping */
};

struct class;
struct track;

/* 64 bytes: one cache line. */
struct event {
	uint64_t ts;  /* ns on the trace's own clock */
	uint64_t dur; /* ns, spans only; flows: the id */
	struct slice name;
	const struct class *cls;   /* never NULL */
	const struct track *track; /* never NULL but for structure */
	uint64_t offset;           /* first byte of its record in the (unpacked) trace */
	uint32_t first_field;      /* in the batch's fields */
	uint16_t nfields;
	uint8_t phase; /* enum phase */
	uint8_t flags; /* enum event_flags */
};

enum event_flags {
	EVENT_ASYNC = 1, /* a span that overlaps others of its track at will; `offset` tells it from others */
	EVENT_BIG = 2,   /* set by readers: the bytes of its payload are in big-endian order */
};

static inline struct value
value_u64(uint64_t v)
{
	return (struct value){ .type = VALUE_U64, .u64 = v };
}

static inline struct value
value_string(struct slice s)
{
	return (struct value){ .type = VALUE_STRING, .flags = (uint8_t)s.flags, .count = s.n, .p = s.p };
}

/* The text of a STRING, BYTES or JSON value. */
static inline struct slice
value_text(const struct value *v)
{
	return (struct slice){ v->p, v->count, v->flags };
}

#endif
