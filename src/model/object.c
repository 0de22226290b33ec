#include "model/object.h"

#include "base/table.h"

#define FEW 16 /* so many keys are compared with each other */

static struct slice key_at(const struct value *map, uint32_t i)
{
	return value_text(&map->values[2 * (size_t)i]);
}

static bool few_differ(const struct value *map)
{
	for (uint32_t i = 1; i < map->count; i++)
		for (uint32_t k = 0; k < i; k++)
			if (slice_equal(key_at(map, i), key_at(map, k)))
				return false;
	return true;
}

static bool many_differ(const struct value *map)
{
	struct tabletext seen = { .slots = NULL };
	bool differ = true;

	for (uint32_t i = 0; i < map->count && differ; i++)
		differ = tabletext_get(&seen, key_at(map, i)) == TABLE_NONE &&
		         tabletext_put(&seen, key_at(map, i), 1);
	tabletext_free(&seen);
	return differ;
}

bool value_is_object(const struct value *map)
{
	return value_keys_are_text(map) && (map->count <= FEW ? few_differ(map) : many_differ(map));
}
