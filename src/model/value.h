#ifndef MODEL_VALUE_H
#define MODEL_VALUE_H

#include "model/event.h"

/* Values from numbers and texts. */

static inline struct value value_u64(uint64_t v)
{
	return (struct value){ .type = VALUE_U64, .u64 = v };
}

static inline struct value value_string(struct slice s)
{
	return (struct value){ .type = VALUE_STRING, .flags = (uint8_t)s.flags, .count = s.n, .p = s.p };
}

static inline struct value value_json(struct slice s)
{
	return (struct value){ .type = VALUE_JSON, .count = s.n, .p = s.p };
}

/* Whether all keys of a MAP are STRINGs: it is an object in JSON then, else a list of pairs. */
static inline bool value_keys_are_text(const struct value *map)
{
	for (uint32_t i = 0; i < map->count; i++)
		if (map->values[2 * (size_t)i].type != VALUE_STRING)
			return false;
	return true;
}

#endif
