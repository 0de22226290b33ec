#ifndef EVENT_CLASS_H
#define EVENT_CLASS_H

#include "base/slice.h"

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
