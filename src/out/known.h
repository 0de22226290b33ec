#ifndef OUT_KNOWN_H
#define OUT_KNOWN_H

#include "base/slice.h"

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
