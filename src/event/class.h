#ifndef EVENT_CLASS_H
#define EVENT_CLASS_H

#include "base/slice.h"

/* clang-format off */
/* What kind of record an event is: a class, a schema, a category. */
struct class {
	struct slice name;
	struct slice category;            /* what viewers group by; usually the name */
	uint32_t index, nfields;          /* index: in order of arrival, from 0 */
	const struct class_field *fields; /* what the class declares: event/class_field.h */
	const struct plan *plan;          /* set by trace_mean(); NULL: no vocabulary speaks of it */
	const struct field *parts;        /* of its name, as the plan says: fields that all its events have */
	uint32_t nparts;
	const void *declared;             /* what the writer's declare made of it; NULL before */
	bool reader_applies;              /* the reader applies the plan, not the engine */
	char apart[64];                   /* keeps counting from slowing down who looks at the above */
	uint64_t records;                 /* how many were met; counted by the reader */
};
/* clang-format on */

#endif
