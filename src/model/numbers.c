#include "model/numbers.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"

#define FIRST_CAP 64U
#define ERA_PUTS 4096U
#define LAST_ERA UINT16_MAX

void
numbers_free(struct numbers *t)
{
	free(t->slots);
	*t = (struct numbers){ .slots = NULL };
}

/* Where the search for a key starts.  Eight keys in a row share a hash and lie side by side. */
static uint32_t
first_place(const struct numbers *t, uint64_t seed, uint16_t whose, uint32_t key)
{
	return (uint32_t)(hash_u64((uint64_t)whose << 32 | key >> 3, seed) << 3 | (key & 7)) & (t->cap - 1);
}

static uint32_t
place(const struct numbers *t, uint64_t seed, uint16_t whose, uint32_t key)
{
	uint32_t i = first_place(t, seed, whose, key);

	while (t->slots[i].whose != 0 && (t->slots[i].key != key || t->slots[i].whose != whose + 1U))
		i = (i + 1) & (t->cap - 1);
	return i;
}

static bool
grow(struct numbers *t, uint64_t seed)
{
	struct numbers to = *t;

	to.cap = t->cap == 0 ? FIRST_CAP : t->cap * 2;
	to.slots = calloc(to.cap, sizeof *to.slots);
	if (to.slots == NULL)
		return false;
	for (uint32_t i = 0; i < t->cap; i++)
		if (t->slots[i].whose != 0)
			to.slots[place(&to, seed, (uint16_t)(t->slots[i].whose - 1), t->slots[i].key)] =
			    t->slots[i];
	free(t->slots);
	*t = to;
	return true;
}

/* Empties a slot; those behind it that it kept from their places move up. */
static void
take_out(struct numbers *t, uint64_t seed, uint32_t hole)
{
	const uint32_t mask = t->cap - 1;

	for (uint32_t i = (hole + 1) & mask; t->slots[i].whose != 0; i = (i + 1) & mask) {
		const struct number_slot *const s = &t->slots[i];
		const uint32_t home = first_place(t, seed, (uint16_t)(s->whose - 1), s->key);
		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		t->slots[hole] = *s;
		hole = i;
	}
	t->slots[hole].whose = 0;
	t->n--;
}

/* The first era that is kept when at least half of the numbers go, or all but the present one's. */
static bool
first_kept(const struct numbers *t, uint32_t *era)
{
	uint32_t *const counts = calloc((size_t)LAST_ERA + 1, sizeof *counts);
	uint32_t older = 0;

	if (counts == NULL)
		return false;
	for (uint32_t i = 0; i < t->cap; i++)
		if (t->slots[i].whose != 0)
			counts[t->slots[i].era]++;
	for (*era = 0; *era < t->era && older < t->n / 2; ++*era)
		older += counts[*era];
	free(counts);
	return true;
}

static bool
forget(struct numbers *t, uint64_t seed)
{
	uint32_t keep;

	if (!first_kept(t, &keep))
		return false;
	for (uint32_t i = 0; i < t->cap; i++)
		for (; t->slots[i].whose != 0 && t->slots[i].era < keep; t->forgotten++)
			take_out(t, seed, i);
	return true;
}

/* After so many eras that they can no longer be told apart all that is there is equally old. */
static void
count_put(struct numbers *t)
{
	if (++t->puts < ERA_PUTS)
		return;
	t->puts = 0;
	if (++t->era < LAST_ERA)
		return;
	for (uint32_t i = 0; i < t->cap; i++)
		t->slots[i].era = 0;
	t->era = 1;
}

bool
numbers_put(struct numbers *t, uint64_t seed, uint16_t whose, uint32_t key, uint32_t value)
{
	uint32_t i = t->cap > 0 ? place(t, seed, whose, key) : 0;
	const bool there = t->cap > 0 && t->slots[i].whose != 0;

	if (!there && t->n >= t->cap / 4 * 3) {
		if (!(t->n < NUMBERS_MAX ? grow(t, seed) : forget(t, seed)))
			return false;
		i = place(t, seed, whose, key);
	}
	t->n += !there;
	t->slots[i] = (struct number_slot){ key, value, (uint16_t)(whose + 1), (uint16_t)t->era };
	count_put(t);
	return true;
}

bool
numbers_get(const struct numbers *t, uint64_t seed, uint16_t whose, uint32_t key, uint32_t *value)
{
	if (t->cap == 0)
		return false;
	const struct number_slot *const s = &t->slots[place(t, seed, whose, key)];
	*value = s->value;
	return s->whose != 0;
}

void
numbers_drop(struct numbers *t, uint64_t seed, uint16_t whose, uint32_t key)
{
	const uint32_t i = t->cap > 0 ? place(t, seed, whose, key) : 0;

	if (t->cap > 0 && t->slots[i].whose != 0)
		take_out(t, seed, i);
}
