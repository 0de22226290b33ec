#ifndef MODEL_EVENT_H
#define MODEL_EVENT_H

#include "base/slice.h"

/* ---- event order ---- */

/* The orders in which a writer can ask for its events.  Of two events with the same start the longer span is
 * first, so that a span precedes those that it contains.  Only PHASE_SPAN has a duration here; all others
 * count as 0 long.  Events that are equal by all criteria stay in input order, except in ORDER_NESTING. */
enum event_order {
	ORDER_FILE,       /* unsorted */
	ORDER_TIME,       /* by start */
	ORDER_NESTING,    /* by start; of spans with the same times, the later contains the earlier */
	ORDER_TRACK_TIME, /* by index of the track, then by start; events without a track are first */
};

/* ---- event ---- */

/* The model of an event, the same for all formats.  Everything reachable from a batch is valid until the
 * batch is released; classes, tracks and their texts live as long as the trace. */

/* clang-format off */
enum value_type {
	VALUE_NONE, VALUE_BOOL, VALUE_U8, VALUE_U16, VALUE_U32, VALUE_U64, VALUE_I8, VALUE_I16, VALUE_I32,
	VALUE_I64, VALUE_F32, VALUE_F64, VALUE_ADDRESS, /* F: stored in f64; ADDRESS: unsigned, hexadecimal */
	VALUE_STRING, VALUE_BYTES, VALUE_LIST, /* STRING: any bytes, UTF-8 or not */
	VALUE_MAP, VALUE_JSON, /* MAP: values are key, value, key, value, ...; JSON: valid JSON text */
};

enum phase {
	PHASE_SPAN,      /* from ts, dur long */
	PHASE_BEGIN, PHASE_END, /* opens a span on its track; closes the innermost */
	PHASE_INSTANT, PHASE_COUNTER, /* COUNTER: each numeric field is one series */
	PHASE_FLOW_OUT, PHASE_FLOW_IN, /* start and end of an arrow */
	PHASE_STRUCTURE, /* a record without an event: a schema, a pool */
};

/* clang-format on */

/* 16 bytes.  Width and sign are retained, so that a trace can be written back in its own format. */
struct value {
	uint8_t type;    /* enum value_type */
	uint8_t flags;   /* STRING: enum slice_flags */
	uint8_t element; /* LIST: type of all values, also if empty; VALUE_NONE: they differ */
	uint8_t outer;   /* metadata: a member of the document, beside the list of events */
	uint32_t count;  /* STRING, BYTES, JSON: bytes; LIST, MAP: entries */
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
	uint64_t dur; /* spans: ns; flows, instants with EVENT_ARROW: id; ends of async spans: equal id */
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
	EVENT_ASYNC = 1,    /* a span that may overlap others; its id: `offset`, of a BEGIN or END dur */
	EVENT_BIG = 2,      /* for readers: its payload is big-endian */
	EVENT_ARROW = 4,    /* an INSTANT where an arrow starts if a FLOW_IN follows, or its FLOW_OUT */
	EVENT_LEFT_OUT = 8, /* set by the engine: not selected; structure has it only with COPIER_REFERS */
};

/* The text of a STRING, BYTES or JSON value. */
static inline struct slice value_text(const struct value *v)
{
	return (struct slice){ v->p, v->count, v->flags };
}

/* ---- classes and tracks ---- */

/* A field as a class declares it: for `info`, for writers that need a schema, and for plans. */
struct class_field {
	struct slice name;
	struct slice type; /* as the format calls it: "uint32_t", "string" */
	uint8_t value;     /* enum value_type in raw events; VALUE_NONE: it differs or is unknown */
	uint32_t size;     /* bytes in a record; 0: it varies */
	const char *unit;  /* "ns", "us", "byte"; NULL: none, or not known */
};

/* clang-format off */

/* The kind of record of an event.  Fixed once planned: other fields make another class of the same name. */
struct class {
	struct slice name, category;      /* category: viewers group by it; usually the name */
	uint32_t index, nfields, nparts;  /* index: in order of planning, from 0 */
	const struct class_field *fields; /* as declared */
	const struct plan *plan;          /* trace_find_plan(); NULL: no vocabulary covers it */
	const struct field *parts;        /* parts of its name, by the plan: fields of all its events */
	const void *declared;             /* set by the writer's declare; NULL before */
	bool reader_applies, planned, table_names; /* reader applies `plan`; has events; tables name these */
	bool shows_stacks;                /* its events have call stacks that are wanted */
	const struct class *first, *other; /* of the same name: the first class, and the next one */
	char apart[64];                   /* against false sharing: other threads read the above */
	uint64_t records;                 /* counted by the reader */
};

/* clang-format on */

enum track_kind { TRACK_PROCESS, TRACK_THREAD };

/* A time line: a process, or a thread (task, stream, ...) of one. */
struct track {
	uint32_t index;       /* in order of arrival, from 0; lanes from 2^31 */
	uint8_t kind;         /* enum track_kind */
	bool has_id, global;  /* without an id writers choose one; global: the same process in all traces */
	bool hidden;          /* none of its events was selected; valid at the end of the trace */
	bool is_child;        /* a part of its parent, a thread or process: its states, its marks */
	uint16_t lane, depth; /* the n-th extra lane, "name (n + 1)", or 0; tracks above it */
	uint64_t id;          /* pid or tid as in the trace, all 64 bits */
	struct slice name, host;              /* host: of a process, if the trace states it; else p NULL */
	const void *declared;                 /* set by the writer's declare; NULL before */
	const struct track *parent, *process; /* next ancestor; topmost ancestor; NULL: a process */
};

/* The process that a track is of; a process itself. */
static inline const struct track *track_process(const struct track *t)
{
	return t->process != NULL ? t->process : t;
}

#endif
