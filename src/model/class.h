#ifndef MODEL_CLASS_H
#define MODEL_CLASS_H

#include "base/slice.h"

/* ---- class field ---- */

/* A field as a class declares it: for `info`, for writers that need a schema, and for plans. */
struct class_field {
	struct slice name;
	struct slice type; /* as the format calls it: "uint32_t", "string" */
	uint8_t value;     /* enum value_type in raw events; VALUE_NONE: it differs or is unknown */
	uint32_t size;     /* bytes in a record; 0: it varies */
	const char *unit;  /* "ns", "us", "byte"; NULL: none, or not known */
};

/* ---- class ---- */

/* clang-format off */

/* The kind of record an event is.  Fixed once planned: other fields make another class of the same name. */
struct class {
	struct slice name, category;      /* category: viewers group by it; usually the name */
	uint32_t index, nfields, nparts;  /* index: in order of planning, from 0 */
	const struct class_field *fields; /* as declared */
	const struct plan *plan;          /* trace_find_plan(); NULL: no vocabulary covers it */
	const struct field *parts;        /* parts of its name, by the plan: fields of all its events */
	const void *declared;             /* set by the writer's declare; NULL before */
	bool reader_applies, planned;     /* the reader applies the plan, not the engine; it has events */
	const struct class *first, *other; /* of the same name: the first class, and the next one */
	char apart[64];                   /* against false sharing: other threads read the above */
	uint64_t records;                 /* counted by the reader */
};

/* clang-format on */

#endif
