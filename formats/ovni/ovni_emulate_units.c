#include <stdlib.h>

#include "ovni/ovni_emulate.h"

/*
 * Types, tasks and bodies by number.  There may be a million of them, so a unit
 * takes 16 bytes and its slot 4, at most three quarters of the slots in use.
 */

static uint32_t
slot_of(const struct emu_units *t, uint64_t key)
{
	uint32_t i = (uint32_t)hash_u64(key, t->seed) & t->mask;

	while (t->slots[i] != 0 && t->units[t->slots[i] - 1].key != key)
		i = (i + 1) & t->mask;
	return i;
}

uint32_t
emu_unit_find(const struct emu_units *t, uint64_t key)
{
	return t->slots != NULL ? t->slots[slot_of(t, key)] - 1 : TABLE_NONE;
}

static bool
grow_slots(struct emu_units *t)
{
	const uint32_t n = t->slots == NULL ? 64 : (t->mask + 1) * 2;
	uint32_t *const slots = calloc(n, sizeof *slots);

	if (slots == NULL)
		return false;
	free(t->slots);
	t->slots = slots;
	t->mask = n - 1;
	for (uint32_t i = 0; i < t->n; i++)
		t->slots[slot_of(t, t->units[i].key)] = i + 1;
	return true;
}

uint32_t
emu_unit_add(struct emu_units *t, uint64_t key)
{
	if (t->seed == 0)
		t->seed = hash_seed();
	if (t->n >= OVNI_EMU_UNITS || !ovni_room(&t->units, t->n, &t->cap, sizeof *t->units))
		return TABLE_NONE;
	if ((t->slots == NULL || t->n >= (t->mask + 1) / 4 * 3) && !grow_slots(t))
		return TABLE_NONE;
	t->units[t->n] = (struct emu_unit){ .key = key };
	t->slots[slot_of(t, key)] = t->n + 1;
	return t->n++;
}

void
emu_units_free(struct emu_units *t)
{
	free(t->units);
	free(t->slots);
}
