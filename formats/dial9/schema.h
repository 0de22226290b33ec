#ifndef DIAL9_SCHEMA_H
#define DIAL9_SCHEMA_H

#include "dial9/type.h"
#include "format/format.h"

/* Schemas, and what this program does with events of each. */

struct d9_made;
struct d9_op;

struct d9_field {
	struct slice name;    /* in events */
	struct slice in_file; /* as the schema has it, for findings, whoever looks at the events */
	uint8_t type;         /* enum d9_type, perhaps with D9_OPTIONAL; as in the file, known or not */
	bool used;            /* by its plan */
};

/* What this program does with an event besides showing it. */
enum d9_kind { D9_KIND_PLAIN, D9_KIND_CLOCK, D9_KIND_FACTS, D9_KIND_SYMBOL, D9_KIND_TRACK };

/* The fields that it does it with. */
enum d9_part { D9_PART_CLOCK, D9_PART_FACTS, D9_PART_ADDRESS, D9_PART_NAME, D9_PART_DEPTH, D9_PARTS };

#define D9_NO_FIELD UINT32_MAX

/* One schema of the trace; segments that register the same share it.  What events point to lies in the
 * trace's arena. */
struct d9_schema {
	struct slice name;
	struct class *cls;
	struct d9_field *fields;
	struct class_field *declared; /* `nhead` of the frame (raw events only), then the same fields for
	                                 others */
	struct d9_op *ops;            /* NULL: measured field by field */
	uint32_t nfields, nhead;
	uint32_t nused;          /* up to the last that is used */
	const struct d9_made *made; /* events that this program wrote: dial9_made.h; NULL: others */
	const struct plan *plan; /* by which they are used; NULL: none, or raw events */
	size_t need; /* an event with so many bytes before the end is measured by steps; SIZE_MAX: none is */
	size_t run_need;          /* the same where an event need only be counted */
	uint32_t parts[D9_PARTS]; /* places of fields, or D9_NO_FIELD */
	uint8_t kind;             /* enum d9_kind */
	bool structure;           /* no event in time */
	bool timed;
	bool readable;
	bool reader_applies; /* the plan */
	bool planned;        /* cls is that of its events; before it is only one of the name */
};

/* Schemas of the trace, and which of them this segment knows. */
struct d9_schemas {
	struct d9_schema **all; /* in order of arrival; owned */
	uint32_t n, cap;
	struct tabletext index;     /* what follows the type_id in the frame -> all[] */
	uint32_t memory;            /* bytes that they cost */
	struct d9_schema **by_type; /* type_id -> schema of this segment, or NULL */
	uint32_t ntypes;            /* places of by_type */
	uint16_t *registered;       /* the type_ids of this segment */
	uint32_t nregistered, registered_cap;
};

void d9_schemas_free(struct d9_schemas *s);
void d9_schemas_forget(struct d9_schemas *s); /* a new segment: no type_id is registered */

static inline struct d9_schema *
d9_schema_find(const struct d9_schemas *s, uint64_t type_id)
{
	return type_id < s->ntypes ? s->by_type[type_id] : NULL;
}

/* Where the values of an event of this schema begin in its frame. */
static inline uint32_t
d9_schema_head(const struct d9_schema *s)
{
	return s->timed ? D9_TIMED_EVENT_HEAD : D9_EVENT_HEAD;
}

#endif
