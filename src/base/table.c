/* Hash tables with linear probing, and sets of numbers.  The hash is in hash.c. */
#include "base/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables ---- */

#define SLOTS_MIN ((size_t)16)

/* Twice the slots; 0: more than the memory can have. */
static size_t doubled(const void *slots, size_t mask, size_t slot_size)
{
	const size_t n = slots == NULL ? SLOTS_MIN : (mask + 1) * 2;

	return mask >= SIZE_MAX / 4 || n > SIZE_MAX / slot_size ? 0 : n;
}

/* At most three quarters of the slots are used, so that searches are short and end at an empty slot. */
static bool is_crowded(const void *slots, size_t mask, size_t used)
{
	return slots == NULL || used >= (mask + 1) / 4 * 3;
}

/* The slot of the key, or the empty slot for it. */
static struct table64_slot *find64(struct table64_slot *slots, size_t mask, uint64_t seed, uint64_t key)
{
	size_t i = (size_t)hash_u64(key, seed) & mask;

	while (slots[i].value != TABLE_NONE && slots[i].key != key)
		i = (i + 1) & mask;
	return &slots[i];
}

uint32_t table64_get(const struct table64 *t, uint64_t key)
{
	return t->slots == NULL ? TABLE_NONE : find64(t->slots, t->mask, t->seed, key)->value;
}

static bool grow64(struct table64 *t)
{
	const size_t n = doubled(t->slots, t->mask, sizeof *t->slots);
	struct table64_slot *slots = n == 0 ? NULL : malloc(n * sizeof *slots);

	if (slots == NULL)
		return false;
	if (t->slots == NULL)
		t->seed = hash_seed();
	for (size_t i = 0; i < n; i++)
		slots[i] = (struct table64_slot){ 0, TABLE_NONE };
	for (size_t i = 0; t->slots != NULL && i <= t->mask; i++)
		if (t->slots[i].value != TABLE_NONE)
			*find64(slots, n - 1, t->seed, t->slots[i].key) = t->slots[i];
	free(t->slots);
	t->slots = slots;
	t->mask = n - 1;
	return true;
}

bool table64_put(struct table64 *t, uint64_t key, uint32_t value)
{
	struct table64_slot *s = t->slots == NULL ? NULL : find64(t->slots, t->mask, t->seed, key);

	if (s != NULL && s->value != TABLE_NONE) {
		s->value = value;
		return true;
	}
	if (is_crowded(t->slots, t->mask, t->used)) {
		if (!grow64(t))
			return false;
		s = find64(t->slots, t->mask, t->seed, key);
	}
	*s = (struct table64_slot){ key, value };
	t->used++;
	return true;
}

uint32_t table64_element(struct table64 *t, uint64_t key, void *list, uint32_t *n, uint32_t *cap, size_t size,
                         uint32_t max)
{
	const uint32_t known = table64_get(t, key);
	char *first;

	if (known != TABLE_NONE || *n >= max)
		return known;
	if (!array_reserve(list, *n, cap, size) || !table64_put(t, key, *n))
		return TABLE_FAILED;
	memcpy(&first, list, sizeof first);
	memset(first + *n * size, 0, size);
	return (*n)++;
}

bool table64_drop_below(struct table64 *t, uint32_t least)
{
	struct table64 kept = { .slots = NULL };
	bool ok = true;

	for (size_t i = 0; ok && t->slots != NULL && i <= t->mask; i++)
		if (t->slots[i].value != TABLE_NONE && t->slots[i].value >= least)
			ok = table64_put(&kept, t->slots[i].key, t->slots[i].value);
	table64_free(ok ? t : &kept);
	if (ok)
		*t = kept;
	return ok;
}

uint32_t table64_number(struct table64 *t, uint64_t key, uint32_t *n, uint32_t max)
{
	const uint32_t known = table64_get(t, key);

	if (known != TABLE_NONE)
		return known;
	if ((t->used >= max && !table64_drop_below(t, *n - max / 2)) || *n == TABLE_NONE - 1 ||
	    !table64_put(t, key, *n + 1))
		return 0;
	return ++*n;
}

void table64_free(struct table64 *t)
{
	free(t->slots);
	*t = (struct table64){ 0 };
}

/* The entry of the key; NULL: none. */
static inline struct tabletext_entry *find_text(const struct tabletext *t, struct slice key, uint64_t hash)
{
	struct tabletext_entry *const entries = tabletext_entries(t);

	for (size_t i = (size_t)hash & t->mask; t->slots[i].entry != 0; i = (i + 1) & t->mask) {
		if (t->slots[i].tag != (uint32_t)(hash >> 32))
			continue;
		struct tabletext_entry *const e = &entries[t->slots[i].entry - 1];
		if (e->n == key.n && (key.n == 0 || memcmp(e->p, key.p, key.n) == 0))
			return e;
	}
	return NULL;
}

uint32_t tabletext_get(const struct tabletext *t, struct slice key)
{
	if (t->slots == NULL)
		return TABLE_NONE;
	const struct tabletext_entry *const e = find_text(t, key, hash_bytes(key.p, key.n, t->seed));
	return e != NULL ? e->value : TABLE_NONE;
}

const char *tabletext_key(const struct tabletext *t, struct slice key)
{
	if (t->slots == NULL)
		return NULL;
	const struct tabletext_entry *const e = find_text(t, key, hash_bytes(key.p, key.n, t->seed));
	return e != NULL ? e->p : NULL;
}

static void put_slot(struct tabletext *t, uint64_t hash, uint32_t entry)
{
	size_t i = (size_t)hash & t->mask;

	while (t->slots[i].entry != 0)
		i = (i + 1) & t->mask;
	t->slots[i] = (struct tabletext_slot){ (uint32_t)(hash >> 32), entry };
}

static bool grow_text(struct tabletext *t)
{
	const size_t n = doubled(t->slots, t->mask, sizeof *t->slots + sizeof(struct tabletext_entry));
	struct tabletext to = { .mask = n - 1, .used = t->used, .seed = t->seed };

	if (n == 0 || n > UINT32_MAX)
		return false;
	to.slots = calloc(1, n * sizeof *to.slots + n / 4 * 3 * sizeof(struct tabletext_entry));
	if (to.slots == NULL)
		return false;
	struct tabletext_entry *const entries = tabletext_entries(&to);
	array_copy(entries, tabletext_entries(t), t->used * sizeof *entries);
	for (size_t i = 0; i < t->used; i++)
		put_slot(&to, entries[i].hash, (uint32_t)i + 1);
	free(t->slots);
	*t = to;
	return true;
}

bool tabletext_put(struct tabletext *t, struct slice key, uint32_t value)
{
	if (t->slots == NULL)
		t->seed = hash_seed();

	const uint64_t hash = hash_bytes(key.p, key.n, t->seed);
	struct tabletext_entry *const e = t->slots == NULL ? NULL : find_text(t, key, hash);
	if (e != NULL) {
		e->value = value;
		return true;
	}
	if (is_crowded(t->slots, t->mask, t->used) && !grow_text(t))
		return false;
	tabletext_entries(t)[t->used] = (struct tabletext_entry){ hash, key.p, key.n, value };
	put_slot(t, hash, (uint32_t)++t->used);
	return true;
}

struct slice tabletext_unique(struct tabletext *t, struct arena *a, struct slice name)
{
	uint32_t number = tabletext_get(t, name);

	if (name.p == NULL)
		name.p = ""; /* p NULL would mean OOM */
	if (number == TABLE_NONE)
		return tabletext_put(t, name, 1) ? name : SLICE_NONE;
	char *const p = arena_alloc(a, (size_t)name.n + sizeof " (4294967295)");
	if (p == NULL)
		return SLICE_NONE;
	struct slice unique = { p, 0, name.flags & (SLICE_UTF8 | SLICE_JSON) };
	memcpy(p, name.p, name.n); /* the name may contain NUL */
	do
		unique.n = name.n + (uint32_t)sprintf(p + name.n, " (%" PRIu32 ")", ++number);
	while (tabletext_get(t, unique) != TABLE_NONE);
	return tabletext_put(t, unique, 1) && tabletext_put(t, name, number) ? unique : SLICE_NONE;
}

void tabletext_free(struct tabletext *t)
{
	free(t->slots);
	*t = (struct tabletext){ 0 };
}

/* ---- texts that stay ---- */

#define MAX_TEXTS 32768U
#define MAX_TEXT_BYTES (2U << 20) /* total bytes of all texts */

bool texts_full(const struct texts *t)
{
	return t->known.used == MAX_TEXTS;
}

struct slice texts_intern(struct texts *t, struct slice s)
{
	const uint32_t flags = s.flags | SLICE_STAYS;

	if (s.n == 0 || s.n > TEXTS_LONGEST)
		return s;
	const char *const known = tabletext_key(&t->known, s);
	if (known != NULL)
		return (struct slice){ known, s.n, flags };
	if (texts_full(t) || s.n > MAX_TEXT_BYTES - t->bytes)
		return s;
	const struct slice copy = arena_copy(&t->arena, s);
	if (copy.p == NULL || !tabletext_put(&t->known, copy, 0))
		return s;
	t->bytes += s.n;
	return (struct slice){ copy.p, s.n, flags };
}

void texts_free(struct texts *t)
{
	tabletext_free(&t->known);
	arena_free(&t->arena);
	*t = (struct texts){ .bytes = 0 };
}

/* ---- seen numbers ---- */

uint64_t *idset_turn_page(struct idset *s, uint64_t id)
{
	const uint64_t number = id / IDSET_PAGE + 1;

	if (s->pages == NULL)
		s->pages = calloc(IDSET_PAGES, sizeof *s->pages);
	if (note_failure(&s->failed, s->pages == NULL))
		return NULL;
	struct idset_page *const page = &s->pages[number % IDSET_PAGES];
	if (page->bits == NULL)
		page->bits = calloc(IDSET_PAGE / 64, sizeof *page->bits);
	else
		memset(page->bits, 0, IDSET_PAGE / 8);
	if (note_failure(&s->failed, page->bits == NULL))
		return NULL;
	page->number = number;
	return page->bits;
}

void idset_free(struct idset *s)
{
	for (size_t i = 0; s->pages != NULL && i < IDSET_PAGES; i++)
		/* Frees only used pages: calls for the others, nearly all, would cost more than a small
		 * trace. */
		if (s->pages[i].bits != NULL)
			free(s->pages[i].bits);
	free(s->pages);
	s->pages = NULL;
}
