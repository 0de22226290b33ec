#ifndef EVENT_VALUE_MAP_H
#define EVENT_VALUE_MAP_H

#include "model/event.h"

/* Whether all keys of a MAP are STRINGs: then it is an object in JSON, else a list of pairs. */
static inline bool
value_keys_are_text(const struct value *map)
{
	for (uint32_t i = 0; i < map->count; i++)
		if (map->values[2 * (size_t)i].type != VALUE_STRING)
			return false;
	return true;
}

#endif
