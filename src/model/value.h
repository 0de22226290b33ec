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

static inline bool value_is_text(const struct value *v) /* STRING, BYTES, JSON */
{
	return (1U << v->type & (1U << VALUE_STRING | 1U << VALUE_BYTES | 1U << VALUE_JSON)) != 0;
}

static inline bool value_is_list(const struct value *v) /* LIST, MAP */
{
	return (1U << v->type & (1U << VALUE_LIST | 1U << VALUE_MAP)) != 0;
}

static inline uint64_t value_entries(const struct value *v) /* its values, without nested ones */
{
	return v->type == VALUE_MAP ? 2 * (uint64_t)v->count : v->type == VALUE_LIST ? v->count : 0;
}

/* Whether all keys of a MAP are STRINGs; see also value_is_object(). */
static inline bool value_keys_are_text(const struct value *map)
{
	for (uint32_t i = 0; i < map->count; i++)
		if (map->values[2 * (size_t)i].type != VALUE_STRING)
			return false;
	return true;
}

#endif
