/* Definitions by table, scope and key: open addressing with a seeded hash.  32-bit numbers under 32-bit keys
 * are in a compact table of their own.  When a table is full, the older half is dropped. */
#include "model/definitions.h"

#include <stdlib.h>

#include "model/value.h"

/* ---- numbers ---- */

#define FIRST_CAP 64U
#define ERA_PUTS 4096U /* puts of one era, the age of a number in 16 bits */
#define LAST_ERA UINT16_MAX

void numbers_free(struct numbers *t)
{
	free(t->slots);
	*t = (struct numbers){ .slots = NULL };
}

/* Start of the probe sequence.  Eight consecutive keys share a hash and are adjacent. */
static uint32_t home_of(const struct numbers *t, uint64_t seed, uint16_t owner, uint32_t key)
{
	return (uint32_t)(hash_u64((uint64_t)owner << 32 | key >> 3, seed) << 3 | (key & 7)) & (t->cap - 1);
}

static uint32_t slot_of(const struct numbers *t, uint64_t seed, uint16_t owner, uint32_t key)
{
	uint32_t i = home_of(t, seed, owner, key);

	while (t->slots[i].owner != 0 && (t->slots[i].key != key || t->slots[i].owner != owner + 1U))
		i = (i + 1) & (t->cap - 1);
	return i;
}

static bool grow_numbers(struct numbers *t, uint64_t seed)
{
	struct numbers to = *t;

	to.cap = t->cap == 0 ? FIRST_CAP : t->cap * 2;
	to.slots = calloc(to.cap, sizeof *to.slots);
	if (to.slots == NULL)
		return false;
	for (uint32_t i = 0; i < t->cap; i++)
		if (t->slots[i].owner != 0)
			to.slots[slot_of(&to, seed, (uint16_t)(t->slots[i].owner - 1), t->slots[i].key)] =
			    t->slots[i];
	free(t->slots);
	*t = to;
	return true;
}

/* Removes a slot with backward shift: displaced slots after it move up. */
static void remove_number(struct numbers *t, uint64_t seed, uint32_t hole)
{
	const uint32_t mask = t->cap - 1;

	for (uint32_t i = (hole + 1) & mask; t->slots[i].owner != 0; i = (i + 1) & mask) {
		const struct number_slot *const s = &t->slots[i];
		const uint32_t home = home_of(t, seed, (uint16_t)(s->owner - 1), s->key);
		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		t->slots[hole] = *s;
		hole = i;
	}
	t->slots[hole].owner = 0;
	t->n--;
}

/* The first era to keep so that at least half of the numbers are dropped, or all but the current era. */
static bool first_kept(const struct numbers *t, uint32_t *era)
{
	uint32_t *const counts = calloc((size_t)LAST_ERA + 1, sizeof *counts);
	uint32_t older = 0;

	if (counts == NULL)
		return false;
	for (uint32_t i = 0; i < t->cap; i++)
		if (t->slots[i].owner != 0)
			counts[t->slots[i].era]++;
	for (*era = 0; *era < t->era && older < t->n / 2; ++*era)
		older += counts[*era];
	free(counts);
	return true;
}

static bool forget_numbers(struct numbers *t, uint64_t seed)
{
	uint32_t keep;

	if (!first_kept(t, &keep))
		return false;
	for (uint32_t i = 0; i < t->cap; i++)
		for (; t->slots[i].owner != 0 && t->slots[i].era < keep; t->forgotten++)
			remove_number(t, seed, i);
	return true;
}

/* When eras overflow, all present numbers count as equally old. */
static void count_put(struct numbers *t)
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

bool numbers_put(struct numbers *t, uint64_t seed, uint16_t owner, uint32_t key, uint32_t value)
{
	uint32_t i = t->cap > 0 ? slot_of(t, seed, owner, key) : 0;
	const bool there = t->cap > 0 && t->slots[i].owner != 0;

	if (!there && t->n >= t->cap / 4 * 3) {
		if (!(t->n < NUMBERS_MAX ? grow_numbers(t, seed) : forget_numbers(t, seed)))
			return false;
		i = slot_of(t, seed, owner, key);
	}
	t->n += !there;
	t->changed = !there || t->slots[i].value != value;
	t->slots[i] = (struct number_slot){ key, value, (uint16_t)(owner + 1), (uint16_t)t->era };
	count_put(t);
	return true;
}

bool numbers_get(const struct numbers *t, uint64_t seed, uint16_t owner, uint32_t key, uint32_t *value)
{
	if (t->cap == 0)
		return false;
	const struct number_slot *const s = &t->slots[slot_of(t, seed, owner, key)];
	*value = s->value;
	return s->owner != 0;
}

void numbers_drop(struct numbers *t, uint64_t seed, uint16_t owner, uint32_t key)
{
	const uint32_t i = t->cap > 0 ? slot_of(t, seed, owner, key) : 0;

	if (t->cap > 0 && t->slots[i].owner != 0)
		remove_number(t, seed, i);
}

/* ---- definitions ---- */

/* Open addressing with backward shift. */
struct definition_slot {
	uint64_t key1, key2, tick;
	struct value value;
	uint32_t scope;
	uint8_t table;
	bool used;
};

void definitions_free(struct definitions *d)
{
	free(d->slots);
	numbers_free(&d->numbers);
	table64_free(&d->pairs);
	arena_free(&d->text);
	*d = (struct definitions){ .slots = NULL };
}

/* Where the search for a key starts.  Consecutive keys, such as numbers of tasks, are adjacent: eight of them
 * share a hash. */
static uint32_t home_of_definition(struct definitions *d, uint8_t table, uint32_t scope, uint64_t key1,
                                   uint64_t key2)
{
	const uint64_t pair = (uint64_t)table << 32 | scope;
	struct definitions_last *const last = &d->last[table & 3];

	if (last->hashed != pair + 1 || last->key2 != key2) {
		last->hashed = pair + 1;
		last->key2 = key2;
		last->hash = hash_u64(key2 ^ pair << 24, d->seed);
	}
	const uint64_t h = hash_u64(key1 >> 3 ^ last->hash, d->seed) << 3 | (key1 & 7);

	return (uint32_t)h & (d->cap - 1);
}

static uint32_t find_slot(struct definitions *d, uint8_t table, uint32_t scope, uint64_t key1, uint64_t key2)
{
	for (uint32_t i = home_of_definition(d, table, scope, key1, key2);; i = (i + 1) & (d->cap - 1)) {
		const struct definition_slot *const s = &d->slots[i];
		if (!s->used ||
		    (s->key1 == key1 && s->key2 == key2 && s->scope == scope && s->table == table))
			return i;
	}
}

/* Rehashes to `cap` slots; on OOM the table is unchanged. */
static void rehash(struct definitions *d, uint32_t cap)
{
	struct definitions to = *d;

	to.slots = calloc(cap, sizeof *to.slots);
	if (note_failure(&d->failed, to.slots == NULL))
		return;
	to.cap = cap;
	for (uint32_t i = 0; i < d->cap; i++) {
		const struct definition_slot *const s = &d->slots[i];
		if (s->used)
			to.slots[find_slot(&to, s->table, s->scope, s->key1, s->key2)] = *s;
	}
	free(d->slots);
	*d = to;
}

/* Empties the slots of numbers older than `tick`, and moves the other entries up.  Starts after an empty
 * slot: all entries between that slot and the current one are final, so each entry gets a slot at or before
 * its old one. */
static void remove_older(struct definitions *d, uint64_t tick)
{
	const uint32_t mask = d->cap - 1;
	uint32_t empty = 0;

	while (d->slots[empty].used)
		empty++;
	for (uint32_t i = 1; i <= mask; i++) {
		struct definition_slot *const s = &d->slots[(empty + i) & mask];
		const struct definition_slot one = *s;
		if (!one.used)
			continue;
		*s = (struct definition_slot){ .used = false };
		if (one.value.type != VALUE_STRING && one.tick < tick) {
			d->n--;
			d->forgotten++;
		} else {
			d->slots[find_slot(d, one.table, one.scope, one.key1, one.key2)] = one;
		}
	}
}

/* The k-th smallest, from 0 on, of distinct numbers below `end`, by bisection of the range. */
static uint64_t kth(const uint64_t *numbers, uint32_t n, uint32_t k, uint64_t end)
{
	uint64_t low = 0, high = end;

	while (high - low > 1) {
		const uint64_t middle = low + (high - low) / 2;
		uint32_t below = 0;
		for (uint32_t i = 0; i < n; i++)
			below += numbers[i] < middle;
		if (below <= k)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Forgets the older half of the numbers.  Texts occupy only a part of the slots, so there is space for many
 * new numbers then. */
static void forget_definitions(struct definitions *d)
{
	uint64_t *const ticks = calloc(d->n, sizeof *ticks);
	uint32_t n = 0;

	if (note_failure(&d->failed, ticks == NULL))
		return;
	for (uint32_t i = 0; i < d->cap; i++)
		if (d->slots[i].used && d->slots[i].value.type != VALUE_STRING)
			ticks[n++] = d->slots[i].tick;
	if (n > 0)
		remove_older(d, kth(ticks, n, n / 2, d->tick) + (n == 1));
	free(ticks);
}

/* Ensures a free slot. */
static bool has_space(struct definitions *d)
{
	if (d->n < d->cap / 4 * 3)
		return true;
	if (d->cap < DEFINITIONS_MAX / 3 * 4)
		rehash(d, d->cap == 0 ? FIRST_CAP : d->cap * 2);
	else
		forget_definitions(d);
	return d->n < d->cap / 4 * 3;
}

/* Finds or adds the slot of this key; NULL: no space. */
static struct definition_slot *slot_for(struct definitions *d, struct definition_slot key)
{
	struct definition_slot *const slot =
	    d->cap > 0 ? &d->slots[find_slot(d, key.table, key.scope, key.key1, key.key2)] : NULL;

	if (slot != NULL && (slot->used || d->n < d->cap / 4 * 3))
		return slot;
	return has_space(d) ? &d->slots[find_slot(d, key.table, key.scope, key.key1, key.key2)] : NULL;
}

static void put_in_slots(struct definitions *d, uint8_t table, uint32_t scope, uint64_t key1, uint64_t key2,
                         struct value value)
{
	const struct definition_slot key = {
		.key1 = key1, .key2 = key2, .scope = scope, .table = table, .used = true
	};
	const bool text = value.type == VALUE_STRING;
	struct definition_slot *const s = slot_for(d, key);
	const bool was_text = s != NULL && s->used && s->value.type == VALUE_STRING;
	if (was_text && text && slice_equal(value_text(&s->value), value_text(&value)))
		return;
	if (s == NULL || (text && (value.count > DEFINITIONS_TEXT - d->text_bytes ||
	                           (!was_text && d->ntexts == DEFINITIONS_TEXTS)))) {
		d->forgotten++;
		return;
	}
	if (text) {
		const struct slice kept = arena_copy(&d->text, value_text(&value));
		if (note_failure(&d->failed, kept.p == NULL))
			return;
		d->text_bytes += value.count;
		value = value_string(kept);
		value.flags |= SLICE_STAYS;
	}
	d->n += !s->used;
	d->ntexts += text;
	d->ntexts -= was_text;
	*s = key;
	s->value = value;
	s->tick = d->tick++;
}

/* ---- small numbers ---- */

#define MAX_PAIRS (UINT16_MAX - 1U)

static uint32_t find_owner(struct definitions *d, uint8_t table, uint32_t scope)
{
	const uint64_t pair = (uint64_t)table << 32 | scope;
	struct definitions_last *const last = &d->last[table & 3];

	if (last->pair != pair + 1 || last->npairs != d->npairs) {
		last->pair = pair + 1;
		last->npairs = d->npairs;
		last->owner = table64_get(&d->pairs, pair);
	}
	return last->owner;
}

/* Finds or adds the owner for a table and scope; TABLE_NONE: too many. */
static uint32_t add_owner(struct definitions *d, uint8_t table, uint32_t scope)
{
	const uint32_t known = find_owner(d, table, scope);

	if (known != TABLE_NONE || d->npairs == MAX_PAIRS)
		return known;
	d->failed |= !table64_put(&d->pairs, (uint64_t)table << 32 | scope, d->npairs);
	return d->npairs++;
}

/* Addresses, booleans and reals have another text than an integer of the same bits. */
static bool is_small(uint64_t key1, uint64_t key2, struct value v)
{
	return key2 == 0 && key1 <= UINT32_MAX && v.type >= VALUE_U8 && v.type <= VALUE_I64 &&
	       v.u64 <= UINT32_MAX;
}

/* Stores a 32-bit number in the compact table.  Returns false if that is impossible. */
static bool put_small(struct definitions *d, uint8_t table, uint32_t scope, uint32_t key, uint32_t value)
{
	const uint32_t owner = add_owner(d, table, scope);

	if (owner == TABLE_NONE)
		return false;
	d->failed |= !numbers_put(&d->numbers, d->seed, (uint16_t)owner, key, value);
	d->changes[table % DEFINITIONS_TABLES] += d->numbers.changed;
	return true;
}

static void drop_small(struct definitions *d, uint8_t table, uint32_t scope, uint64_t key1, uint64_t key2)
{
	const uint32_t owner =
	    d->numbers.n > 0 && key2 == 0 && key1 <= UINT32_MAX ? find_owner(d, table, scope) : TABLE_NONE;

	if (owner != TABLE_NONE)
		numbers_drop(&d->numbers, d->seed, (uint16_t)owner, (uint32_t)key1);
}

static struct value get_small(struct definitions *d, uint8_t table, uint32_t scope, uint64_t key1,
                              uint64_t key2)
{
	const struct value none = { .type = VALUE_NONE };
	uint32_t value;

	if (d->numbers.n == 0 || key2 != 0 || key1 > UINT32_MAX)
		return none;
	const uint32_t owner = find_owner(d, table, scope);
	if (owner == TABLE_NONE ||
	    !numbers_get(&d->numbers, d->seed, (uint16_t)owner, (uint32_t)key1, &value))
		return none;
	return value_u64(value);
}

/* ---- both tables ---- */

static bool is_in_slots(struct definitions *d, uint8_t table, uint32_t scope, uint64_t key1, uint64_t key2)
{
	return d->cap > 0 && d->slots[find_slot(d, table, scope, key1, key2)].used;
}

void definitions_put(struct definitions *d, uint8_t table, uint32_t scope, uint64_t key1, uint64_t key2,
                     struct value value)
{
	if (d->seed == 0)
		d->seed = hash_seed() | 1;
	/* look-ups search the slots first */
	if (is_small(key1, key2, value) && !is_in_slots(d, table, scope, key1, key2) &&
	    put_small(d, table, scope, (uint32_t)key1, (uint32_t)value.u64))
		return;
	d->changes[table % DEFINITIONS_TABLES]++;
	drop_small(d, table, scope, key1, key2); /* else it would be found again when the slot is emptied */
	put_in_slots(d, table, scope, key1, key2, value);
}

struct value definitions_get(struct definitions *d, uint8_t table, uint32_t scope, uint64_t key1,
                             uint64_t key2)
{
	const struct definition_slot *const s =
	    d->cap > 0 ? &d->slots[find_slot(d, table, scope, key1, key2)] : NULL;

	return s != NULL && s->used ? s->value : get_small(d, table, scope, key1, key2);
}
