#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include "base/slice.h"

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

#endif
