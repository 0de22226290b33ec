/* Keys that inputs claim, each with one value. */
#include "format/claims.h"

#include <stdlib.h>

void claims_free(struct claims *c)
{
	table64_free(&c->index);
	free(c->values);
}

bool claims_put(struct claims *c, unsigned kind, uint64_t key, uint64_t value, uint64_t weight)
{
	const uint64_t of_kind = hash_u64(key, hash_u64(kind, hash_seed()));
	const uint32_t at = table64_element(&c->index, of_kind, &c->values, &c->n, &c->cap, sizeof *c->values,
	                                    UINT32_MAX - 2);

	value += value < UINT64_MAX; /* 0 means new */
	if (at >= TABLE_FAILED)
		return false;
	if (c->values[at] != 0)
		return c->values[at] == value;
	c->values[at] = value;
	c->keys[kind]++;
	c->weights[kind] += weight;
	return true;
}
