#ifndef MODEL_EVENT_H
#define MODEL_EVENT_H

#include "base/slice.h"

/* ---- event order ---- */

/*
 * The orders in which an output can need its events.  Both sorted orders are
 * total: events that are equal in everything below stay in input order.
 *
 * Ties: of two events with the same start the longer span is first, so that a
 * span comes before what it contains.  Only PHASE_SPAN has a duration here;
 * all others count as 0 long.
 */
enum event_order {
	ORDER_FILE,       /* as they come */
	ORDER_TIME,       /* by start */
	ORDER_TRACK_TIME, /* by index of the track, then by start; events without a track come first */
};

/* ---- event ---- */

/* One model of an event for all formats.  Everything that can be reached from a batch is valid until the
 * batch is released; classes, tracks and the text they name live as long as the trace. */

/* clang-format off */
enum value_type {
	VALUE_NONE, VALUE_BOOL, VALUE_U8, VALUE_U16, VALUE_U32, VALUE_U64, VALUE_I8, VALUE_I16, VALUE_I32,
	VALUE_I64, VALUE_F32, VALUE_F64, VALUE_ADDRESS, /* F: held in f64; ADDRESS: unsigned, hexadecimal */
	VALUE_STRING, VALUE_BYTES, VALUE_LIST, /* STRING: any bytes, UTF-8 or not */
	VALUE_MAP, VALUE_JSON, /* MAP: values are key, value, key, value, ...; JSON: valid JSON text */
};

enum phase {
	PHASE_SPAN,      /* from ts, dur long */
	PHASE_BEGIN, PHASE_END, /* opens a span on its track; closes the innermost open one */
	PHASE_INSTANT,
	PHASE_COUNTER,   /* each numeric field is one series */
	PHASE_FLOW_OUT, PHASE_FLOW_IN, /* an arrow leaves; it arrives */
	PHASE_STRUCTURE, /* a record that is no event: a schema, a pool, a mapping */
};

/* clang-format on */

/* 16 bytes.  Widths and signs are kept, so that a trace can be written back in its own format. */
struct value {
	uint8_t type;    /* enum value_type */
	uint8_t flags;   /* STRING: enum slice_flags */
	uint8_t element; /* LIST: the type of all its values, also if it is empty; VALUE_NONE: they differ */
	uint8_t reserved;
	uint32_t count; /* STRING, BYTES, JSON: bytes; LIST, MAP: entries */
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

/* 64 bytes: one cache line. */
struct event {
	uint64_t ts;  /* ns on the trace's own clock */
	uint64_t dur; /* spans: ns; flows, and instants with EVENT_ARROW: the id, equal at both ends */
	struct slice name;
	const struct class *cls;   /* never NULL */
	const struct track *track; /* NULL only for PHASE_STRUCTURE */
	uint64_t offset;           /* of the first byte of its record in the (unpacked) trace */
	uint32_t first_field;      /* in the batch's fields */
	uint16_t nfields;
	uint8_t phase; /* enum phase */
	uint8_t flags; /* enum event_flags, and those of event_traits.h */
};

enum event_flags {
	EVENT_ASYNC = 1, /* a span that overlaps others of its track at will; `offset` tells it from others */
	EVENT_ARROW = 4, /* an instant: an arrow leaves here if a FLOW_IN comes; a FLOW_OUT: of such a one */
	EVENT_BIG = 2,   /* readers: its payload is big-endian */
	EVENT_LEFT_OUT = 8, /* set by the engine: it was not selected; never of structure */
};

/* The text of a STRING, BYTES or JSON value. */
static inline struct slice value_text(const struct value *v)
{
	return (struct slice){ v->p, v->count, v->flags };
}

#endif
