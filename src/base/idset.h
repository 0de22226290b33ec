#ifndef BASE_IDSET_H
#define BASE_IDSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
static inline bool
idset_add(struct idset *s, uint64_t id)
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
