#include "ovni/state/state_parts.h"

#include <stdlib.h>

/*
 * Types, tasks and bodies by number.  There may be a million of them, so a unit
 * takes 16 bytes and its slot 4, at most three quarters of the slots in use.
 * Long runs have more tasks than that: those that have ended are evicted then.
 */

static uint32_t
slot_of(const struct state_units *t, uint64_t key)
{
	uint32_t i = (uint32_t)hash_u64(key, t->seed) & t->mask;

	while (t->slots[i] != 0 && t->units[t->slots[i] - 1].key != key)
		i = (i + 1) & t->mask;
	return i;
}

uint32_t
state_unit_find(const struct state_units *t, uint64_t key)
{
	return t->slots != NULL ? t->slots[slot_of(t, key)] - 1 : TABLE_NONE;
}

static void
fill_slots(struct state_units *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->units[i].key != 0)
			t->slots[slot_of(t, t->units[i].key)] = i + 1;
}

static bool
grow_slots(struct state_units *t)
{
	const uint32_t n = t->slots == NULL ? 64 : (t->mask + 1) * 2;
	uint32_t *const slots = calloc(n, sizeof *slots);

	if (slots == NULL)
		return false;
	free(t->slots);
	t->slots = slots;
	t->mask = n - 1;
	fill_slots(t);
	return true;
}

bool
state_units_are_full(const struct state_units *t)
{
	return t->n >= t->most && t->free == 0;
}

/* The index of a place that nothing is in. */
static uint32_t
free_place(struct state_units *t)
{
	const uint32_t i = t->free - 1;

	if (t->free == 0)
		return t->n++;
	t->free = t->units[i].label;
	return i;
}

uint32_t
state_unit_add(struct state_units *t, uint64_t key)
{
	if (t->seed == 0)
		t->seed = hash_seed();
	if (state_units_are_full(t) || !array_room(&t->units, t->n, &t->cap, sizeof *t->units))
		return TABLE_NONE;
	if ((t->slots == NULL || t->n >= (t->mask + 1) / 4 * 3) && !grow_slots(t))
		return TABLE_NONE;
	const uint32_t i = free_place(t);
	t->units[i] = (struct state_unit){ .key = key };
	t->slots[slot_of(t, key)] = i + 1;
	return i;
}

/* Places stay what they are, for stacks and bodies name them. */
uint32_t
state_units_evict(struct state_units *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		struct state_unit *const u = &t->units[i];
		if (u->key >> 62 < STATE_UNIT_TASK || u->parallel || u->state != STATE_BODY_ENDED)
			continue;
		*u = (struct state_unit){ .key = 0, .label = t->free };
		t->free = i + 1;
		n++;
	}
	t->evicted |= n > 0;
	if (n > 0) {
		memset(t->slots, 0, ((size_t)t->mask + 1) * sizeof *t->slots);
		fill_slots(t);
	}
	return n;
}

void
state_units_free(struct state_units *t)
{
	free(t->units);
	free(t->slots);
}
