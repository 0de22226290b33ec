#ifndef STATS_NAMES_H
#define STATS_NAMES_H

#include "base/arena.h"
#include "base/table.h"

/*
 * Numbers for names, 0, 1, 2, ... in order of arrival.  A key is a text and a
 * small number (a category); one lookup answers for both, since this is done for every event.
 * Bounded in number and in bytes: further names have no number of their own.
 */
#define NAMES_MAX 65536
#define NAMES_MAX_BYTES (6 << 20) /* of one arena */
#define NAMES_OTHER UINT32_MAX    /* there are too many */
#define NAMES_FAILED (UINT32_MAX - 1)

struct name {
	const char *p; /* in the arena */
	uint32_t n;
	uint32_t with; /* the small number */
};

struct names_slot {
	uint32_t tag;  /* the upper half of the hash */
	uint32_t next; /* index + 1 of the name; 0: empty */
};

struct names {
	struct arena *text; /* may serve several */
	struct name *names;
	uint32_t n, cap;
	struct names_slot *slots;
	size_t mask;
	uint64_t seed;
};

void names_init(struct names *t, struct arena *text);
void names_free(struct names *t); /* not the arena */

/* Adds a name that is not there: its number, NAMES_OTHER, or NAMES_FAILED when memory is out. */
uint32_t names_add(struct names *t, struct slice name, uint32_t with, uint64_t hash);

static inline uint64_t
names_hash(const struct names *t, struct slice name, uint32_t with)
{
	/* A different start for each `with`; `seed` stays secret. */
	return hash_bytes(name.p, name.n, t->seed + with * UINT64_C(0x9e3779b97f4a7c15));
}

/* The number of a name, new ones are added: or NAMES_OTHER, or NAMES_FAILED when memory is out. */
static inline uint32_t
names_index(struct names *t, struct slice name, uint32_t with)
{
	uint64_t hash = names_hash(t, name, with);

	if (t->slots == NULL)
		return names_add(t, name, with, hash);
	for (size_t i = hash & t->mask; t->slots[i].next != 0; i = (i + 1) & t->mask) {
		if (t->slots[i].tag != (uint32_t)(hash >> 32))
			continue;
		const struct name *k = &t->names[t->slots[i].next - 1];
		if (k->with == with && k->n == name.n && (name.n == 0 || memcmp(k->p, name.p, name.n) == 0))
			return t->slots[i].next - 1;
	}
	return names_add(t, name, with, hash);
}

static inline struct slice
names_text(const struct names *t, uint32_t index)
{
	return slice_of(t->names[index].p, t->names[index].n);
}

#endif
