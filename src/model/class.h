#ifndef MODEL_CLASS_H
#define MODEL_CLASS_H

#include "base/slice.h"

/* ---- class field ---- */

/* A field as a class declares it: for `info`, for writers that need a schema, and for plans. */
struct class_field {
	struct slice name;
	struct slice type; /* in the format's own words: "uint32_t", "string" */
	uint8_t
	    value; /* enum value_type of its values in raw events; VALUE_NONE: it differs or is not known */
	uint32_t size;    /* bytes in a record; 0: they vary */
	const char *unit; /* "ns", "us", "byte"; NULL: none, or not known */
};

/* ---- class ---- */

/* clang-format off */

/* What kind of record an event is.  Once planned, it stays: other fields are another class of the name. */
struct class {
	struct slice name, category;      /* category: what viewers group by; usually the name */
	uint32_t index, nfields, nparts;  /* index: in the order in which they were planned, from 0 */
	const struct class_field *fields; /* what the class declares: model/class_field.h */
	const struct plan *plan;          /* trace_find_plan(); NULL: no vocabulary speaks of it */
	const struct field *parts;        /* of its name, as the plan says: fields that all its events have */
	const void *declared;             /* what the writer's declare made of it; NULL before */
	bool reader_applies, planned;     /* applies the plan, not the engine; false: it has no events yet */
	const struct class *first, *other; /* of the same name: the first class, and the next one */
	char apart[64];                   /* keeps counting from slowing down who looks at the above */
	uint64_t records;                 /* how many were met; counted by the reader */
};

/* clang-format on */

#endif
