#ifndef EVENT_VALUE_H
#define EVENT_VALUE_H

#include "model/event.h"

/* Values made of numbers and texts. */

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

#endif
