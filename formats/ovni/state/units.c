#include "ovni/state/parts.h"

#include <stdlib.h>

/*
 * Types, tasks and bodies by number.  Long runs have more tasks than the table
 * holds: those that have ended are evicted then.
 */

uint32_t
state_unit_find(const struct state_units *t, uint64_t key)
{
	return table64_get(&t->index, key);
}

bool
state_units_are_full(const struct state_units *t)
{
	return t->n >= t->most && t->free == 0;
}

uint32_t
state_unit_add(struct state_units *t, uint64_t key)
{
	const uint32_t i = t->free != 0 ? t->free - 1 : t->n;

	if (state_units_are_full(t) || !array_room(&t->units, t->n, &t->cap, sizeof *t->units) ||
	    !table64_put(&t->index, key, i))
		return TABLE_NONE;
	if (t->free != 0)
		t->free = t->units[i].label;
	else
		t->n++;
	t->units[i] = (struct state_unit){ .key = key };
	return i;
}

/* Places do not change, for stacks and bodies refer to them.  The index cannot remove keys: those that
 * remain are added to a new one. */
bool
state_units_evict(struct state_units *t, uint32_t *evicted)
{
	bool ok = true;

	*evicted = 0;
	table64_free(&t->index);
	for (uint32_t i = 0; i < t->n && ok; i++) {
		struct state_unit *const u = &t->units[i];
		const bool normal = u->key >> 62 >= STATE_UNIT_TASK && !u->parallel;
		if (normal && u->state == STATE_BODY_ENDED) {
			*u = (struct state_unit){ .key = 0, .label = t->free };
			t->free = i + 1;
			++*evicted;
		} else if (u->key != 0) {
			ok = table64_put(&t->index, u->key, i);
		}
	}
	t->evicted |= *evicted > 0;
	return ok;
}

void
state_units_free(struct state_units *t)
{
	free(t->units);
	table64_free(&t->index);
}
