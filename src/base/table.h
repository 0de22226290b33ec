#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

/* ---- table ---- */

/*
 * Two hash tables that give small numbers to keys.  Open addressing, grown by
 * doubling; hashes are keyed with a random seed of the process, so that no
 * input can be crafted to make them slow.  Nothing may depend on the order of
 * the slots: callers keep their things in arrays, in order of arrival, and the
 * table holds the index.  Zero-initialise to start.
 */
#define TABLE_NONE UINT32_MAX

struct table64_slot {
	uint64_t key;
	uint32_t value; /* TABLE_NONE: empty */
};

/* uint64_t -> uint32_t */
struct table64 {
	struct table64_slot *slots;
	size_t mask; /* slots - 1 */
	size_t used;
	uint64_t seed;
};

/* The value, or TABLE_NONE. */
uint32_t table64_get(const struct table64 *t, uint64_t key);

/* Sets or replaces; `value` is not TABLE_NONE.  false: no memory, nothing changed. */
bool table64_put(struct table64 *t, uint64_t key, uint32_t value);
void table64_free(struct table64 *t);

struct tabletext_slot {
	uint64_t hash;
	const char *p; /* the key's bytes, borrowed */
	uint32_t n;
	uint32_t value; /* TABLE_NONE: empty */
};

/* bytes -> uint32_t */
struct tabletext {
	struct tabletext_slot *slots;
	size_t mask;
	size_t used;
	uint64_t seed;
};

/* The value, or TABLE_NONE.  Empty keys are keys like any other. */
uint32_t tabletext_get(const struct tabletext *t, struct slice key);

/* The bytes first given for this key, or NULL. */
const char *tabletext_key(const struct tabletext *t, struct slice key);

/* Sets or replaces; the key's bytes must outlive the table (they are not copied).  When the key is
 * already there, the bytes first given stay.  false: no memory, nothing changed. */
bool tabletext_put(struct tabletext *t, struct slice key, uint32_t value);
void tabletext_free(struct tabletext *t);

/* The keyed hash itself: good in all 64 bits, made for short keys. */
uint64_t hash_bytes(const char *p, size_t n, uint64_t seed);
uint64_t hash_u64(uint64_t v, uint64_t seed);

/* The random seed of this process (never 0). */
uint64_t hash_seed(void);

/* ---- idset ---- */

/*
 * Remembers sequence numbers, to tell which come twice.  Made for numbers that
 * come nearly in order: a bit each, in pages of 4096, at most 4096 pages, so
 * 2 MiB for any input.  A page gives way to one that lies a multiple of
 * IDSET_SPAN away, so a repeat is seen for certain when fewer than IDSET_SPAN
 * numbers lie between the two.  Zero-initialise to start.
 */
#define IDSET_PAGE 4096
#define IDSET_PAGES 4096
#define IDSET_SPAN ((uint64_t)IDSET_PAGE * IDSET_PAGES)

struct idset_page {
	uint64_t number; /* id / IDSET_PAGE + 1; 0: not in use */
	uint64_t *bits;
};

struct idset {
	struct idset_page *pages;
	bool failed; /* numbers were forgotten for want of memory; stays set */
};

/* Makes the page of id the present one in its place, empty.  NULL: no memory, and `failed` is set. */
uint64_t *idset_turn_page(struct idset *s, uint64_t id);

/* Adds id; true if it is remembered already.  Always O(1).  Without memory it sets `failed`, remembers
 * nothing and answers false. */
static inline bool idset_add(struct idset *s, uint64_t id)
{
	const uint64_t number = id / IDSET_PAGE + 1;
	const struct idset_page *const page = s->pages != NULL ? &s->pages[number % IDSET_PAGES] : NULL;
	uint64_t *const bits = page != NULL && page->number == number ? page->bits : idset_turn_page(s, id);

	if (bits == NULL)
		return false;
	uint64_t *const word = &bits[id % IDSET_PAGE / 64];
	const uint64_t bit = (uint64_t)1 << id % 64;
	const bool seen = (*word & bit) != 0;
	*word |= bit;
	return seen;
}

/* Forgets all numbers; it can be used again. */
void idset_free(struct idset *s);

#endif
