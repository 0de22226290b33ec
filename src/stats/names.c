/* Numbers of names: a hash table with open addressing (names_index() is inline). */
#include "stats/measures.h"

#include <stdlib.h>

void names_init(struct names *t, struct arena *text)
{
	*t = (struct names){ .text = text, .seed = hash_seed() };
}

void names_free(struct names *t)
{
	free(t->names);
	free(t->slots);
	*t = (struct names){ 0 };
}

static void slot_put(struct names *t, uint64_t hash, uint32_t index)
{
	size_t i = hash & t->mask;

	while (t->slots[i].next != 0)
		i = (i + 1) & t->mask;
	t->slots[i] = (struct names_slot){ .tag = (uint32_t)(hash >> 32), .next = index + 1 };
}

/* Doubles the capacity; there are twice as many slots as names. */
static bool names_grow(struct names *t)
{
	uint32_t cap = t->cap == 0 ? 64 : t->cap * 2;

	if (!array_resize(&t->names, cap, sizeof *t->names))
		return false;
	struct names_slot *slots = calloc((size_t)cap * 2, sizeof *slots);
	if (slots == NULL)
		return false;
	free(t->slots);
	t->slots = slots;
	t->mask = (size_t)cap * 2 - 1;
	t->cap = cap;
	for (uint32_t i = 0; i < t->n; i++)
		slot_put(t, names_hash(t, names_text(t, i), t->names[i].with), i);
	return true;
}

uint32_t names_add(struct names *t, struct slice name, uint32_t with, uint64_t hash)
{
	if (t->n == NAMES_MAX || t->text->used > NAMES_MAX_BYTES || name.n > NAMES_MAX_BYTES - t->text->used)
		return NAMES_OTHER;
	if (t->n == t->cap && !names_grow(t))
		return NAMES_FAILED;
	struct slice copy = arena_copy(t->text, name);
	if (copy.p == NULL)
		return NAMES_FAILED;
	t->names[t->n] = (struct name){ .p = copy.p, .n = copy.n, .with = with };
	slot_put(t, hash, t->n);
	return t->n++;
}
