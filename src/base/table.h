#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/memory.h"
#include "base/slice.h"

/* ---- tables ---- */

/*
 * Two hash tables from keys to small numbers.  Open addressing, grown by doubling; hashes are keyed with a
 * random seed of the process, so that no input can be crafted to make them slow.  Do not depend on the order
 * of the slots: callers keep arrays in order of arrival, and store the indices in the table.  Zero-initialise
 * to start.
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

/* Sets or replaces; `value` is not TABLE_NONE.  Changes nothing on OOM. */
bool table64_put(struct table64 *t, uint64_t key, uint32_t value);

#define TABLE_FAILED (UINT32_MAX - 1)

/* Returns the index of a key's element in a list, whose indices are the values of the table.  A new key
 * appends an element of zeros.  TABLE_NONE: the key is new, and the list has `max` elements; TABLE_FAILED:
 * OOM, nothing changed.  list: see array_reserve(). */
uint32_t table64_element(struct table64 *t, uint64_t key, void *list, uint32_t *n, uint32_t *cap, size_t size,
                         uint32_t max);

/* Removes the keys whose values are below `least`.  Changes nothing on OOM. */
bool table64_drop_below(struct table64 *t, uint32_t least);

/* Returns the number of a key: 1, 2, 3 ... in order of arrival; *n is the last one.  Of more than `max` keys
 * the older half is forgotten.  0: OOM, or no number is left. */
uint32_t table64_number(struct table64 *t, uint64_t key, uint32_t *n, uint32_t max);
void table64_free(struct table64 *t);

struct tabletext_slot {
	uint32_t tag;   /* the upper half of the hash */
	uint32_t entry; /* index + 1; 0: empty */
};

struct tabletext_entry {
	uint64_t hash;
	const char *p; /* the key's bytes, borrowed */
	uint32_t n;
	uint32_t value;
};

/* Table from bytes to uint32_t.  Entries are in order of arrival; slots are small, so that looking up a
 * missing key costs one cache miss in a large table. */
struct tabletext {
	struct tabletext_slot *slots; /* followed by the entries */
	size_t mask;
	size_t used; /* entries */
	uint64_t seed;
};

static inline struct tabletext_entry *tabletext_entries(const struct tabletext *t)
{
	return t->slots == NULL ? NULL : (struct tabletext_entry *)(void *)(t->slots + t->mask + 1);
}

/* The value, or TABLE_NONE.  An empty key is valid. */
uint32_t tabletext_get(const struct tabletext *t, struct slice key);

/* The bytes that were first given for this key, or NULL. */
const char *tabletext_key(const struct tabletext *t, struct slice key);

/* Sets or replaces a value; the key's bytes are borrowed and must outlive the table.  A replaced value keeps
 * the bytes that were first given for its key.  Changes nothing on OOM. */
bool tabletext_put(struct tabletext *t, struct slice key, uint32_t value);
void tabletext_free(struct tabletext *t);

/* Adds a name as a unique key: "x", "x (2)", "x (3)", ..., the first one unused.  Returns it; numbered names
 * are in the arena.  Returns p NULL on OOM.  To reserve a name, add it with the value 1. */
struct slice tabletext_unique(struct tabletext *t, struct arena *a, struct slice name);

/* ---- texts that stay ---- */

/* Repeated texts, each stored once, of bounded number and size.  Zero-initialise. */
struct texts {
	struct tabletext known;
	struct arena arena;
	uint32_t bytes; /* total size of all texts */
};

#define TEXTS_LONGEST 256U /* bytes of one text */

/* Returns the only copy of a text, with SLICE_STAYS, valid until texts_free().  Returns `s` itself if it is
 * too long, if the limits are reached, or on OOM. */
struct slice texts_intern(struct texts *t, struct slice s);
bool texts_full(const struct texts *t);
void texts_free(struct texts *t);

/* ---- hashes (hash.c) ---- */

/* The keyed hash of the tables: good in all 64 bits, fast for short keys. */
uint64_t hash_bytes(const char *p, size_t n, uint64_t seed);
uint64_t hash_u64(uint64_t v, uint64_t seed);

/* Multiplies to 128 bits; returns the halves of the product, xored. */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
	const uint128 m = (uint128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

/* The random seed of this process (never 0). */
uint64_t hash_seed(void);

/* A key of 128 bits. */
struct siphash_key {
	uint64_t k0, k1;
};

/* SipHash-2-4 (Aumasson, Bernstein 2012): without the key its values look random.  Equal on all machines. */
uint64_t siphash(const struct siphash_key *key, const void *p, size_t n);

/* ---- seen numbers ---- */

/*
 * A set of sequence numbers, to find duplicates.  The numbers are nearly in order.  Each takes a bit, in
 * pages of 4096 bits; there are at most 4096 pages, so 2 MiB for any input.  A page is replaced by one that
 * is a multiple of IDSET_SPAN away, so a duplicate is found if it is less than IDSET_SPAN numbers away.
 * Zero-initialise to start.
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
	bool failed; /* a number was not added on OOM; never cleared */
};

/* Replaces the page in the slot of id by an empty page for id; for idset_add().  Sets `failed` on OOM. */
uint64_t *idset_turn_page(struct idset *s, uint64_t id);

/* Adds id.  Returns true if it is in the set already.  O(1).  On OOM sets `failed`, adds nothing and returns
 * false. */
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

/* Whether id is in the set.  O(1). */
static inline bool idset_has(const struct idset *s, uint64_t id)
{
	const uint64_t number = id / IDSET_PAGE + 1;
	const struct idset_page *const page = s->pages != NULL ? &s->pages[number % IDSET_PAGES] : NULL;

	return page != NULL && page->number == number &&
	       (page->bits[id % IDSET_PAGE / 64] & (uint64_t)1 << id % 64) != 0;
}

/* Empties the set, which can be used again. */
void idset_free(struct idset *s);

/* ---- numbers of texts by their address ---- */

/*
 * Numbers of texts by their address: a cache for texts with SLICE_STAYS (most names and many values), before
 * a table by their bytes.  Each text has one possible place, which holds the latest text.
 */
struct known_text {
	const char *p; /* NULL: unused */
	uint32_t n;
	uint32_t of; /* second key, at the choice of the writer */
	uint32_t number;
};

#define KNOWN_TEXTS 256

/* The place of a text in a list of `size`, a power of two. */
static inline struct known_text *known_text(struct known_text *list, uint32_t size, struct slice s,
                                            uint32_t of)
{
	const uint64_t key = (uint64_t)(uintptr_t)s.p + ((uint64_t)of << 40);

	return &list[(uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) % size];
}

/* Whether the number at its place is that of the text. */
static inline bool known_text_is(const struct known_text *k, struct slice s, uint32_t of)
{
	return k->p == s.p && k->n == s.n && k->of == of && s.p != NULL;
}

static inline void known_text_set(struct known_text *k, struct slice s, uint32_t of, uint32_t number)
{
	if ((s.flags & SLICE_STAYS) != 0)
		*k = (struct known_text){ s.p, s.n, of, number };
}

#endif
