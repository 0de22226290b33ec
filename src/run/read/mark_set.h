#ifndef RUN_READ_MARK_SET_H
#define RUN_READ_MARK_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/os.h"

/*
 * A set of numbers, added in any order and then queried mostly in ascending order: an external sort.
 *
 * An entry is a number; or, with `pages`, for dense numbers, a page: its number, then a bitmap of the
 * MARK_PAGE numbers in it.  Pages remain open for a while, so that numbers slightly out of order need no
 * sorting.
 *
 * Memory: MARK_SET_ROOM words of 8 bytes, twice while they are sorted; MARK_SET_OPEN pages.  Beyond that
 * sorted runs are written to a temporary file, and merged into one at the end.
 */
#define MARK_SET_ROOM (1U << 20)
#define MARK_SET_OPEN 8192U
#define MARK_PAGE_BITS 9U /* low bits of a number: its bit in the page */
#define MARK_PAGE (1U << MARK_PAGE_BITS)
#define MARK_PAGE_WORDS (1U + MARK_PAGE / 64U) /* of an entry */

/* Words in memory per cursor, if the set is in a file. */
#define MARK_SET_BLOCK (64U * MARK_PAGE_WORDS)

struct mark_run {
	uint64_t at;          /* in the file, bytes */
	uint64_t n;           /* entries */
	uint64_t first, last; /* of their numbers */
};

struct mark_set {
	bool pages;            /* entries are pages */
	uint64_t *keys;        /* entries, sorted by mark_set_finish() */
	uint32_t n, cap;       /* words */
	uint32_t max;          /* max words in memory; 0: MARK_SET_ROOM */
	const char *temp_near; /* for spill_open(); borrowed */
	struct mark_page {
		uint64_t words[MARK_PAGE_WORDS];
	} * open; /* MARK_SET_OPEN slots; a page without bits is unused */
	struct spill_file file;
	struct mark_run *runs;
	uint32_t nruns, runs_cap;
	uint64_t total; /* after mark_set_finish(): distinct entries */
	bool no_memory; /* or the file failed: the set is invalid */
};

/* A position in the set.  Zero-initialise. */
struct mark_cursor {
	uint64_t at;              /* index of the least entry >= the last query */
	uint64_t last;            /* the last query */
	uint64_t from;            /* index of the first entry in the block */
	uint32_t n;               /* entries in the block */
	uint64_t *block;          /* NULL: the set is in memory */
	const uint64_t *page;     /* found last; NULL: none */
	uint64_t absent, present; /* numbers of pages: those in [absent, present) do not exist */
};

/* The slot of the page of this number. */
static inline struct mark_page *mark_page_at(const struct mark_set *s, uint64_t number)
{
	/* The high bits are the input number; inputs must not share slots. */
	return &s->open[(number + (number >> 32) * 0x9E3779B1U) % MARK_SET_OPEN];
}

static inline void mark_page_set(struct mark_page *p, uint64_t key)
{
	p->words[1 + key % MARK_PAGE / 64] |= UINT64_C(1) << key % 64;
}

/* mark_set_add() of a number that is not on an open page. */
void mark_set_add_other(struct mark_set *s, uint64_t key);

/* Zero-initialise *s, and set `pages`, `max` and `temp_near` if needed.  Failures are sticky:
 * mark_set_finish() returns them. */
static inline void mark_set_add(struct mark_set *s, uint64_t key)
{
	struct mark_page *const p = s->open != NULL ? mark_page_at(s, key >> MARK_PAGE_BITS) : NULL;

	if (p != NULL && p->words[0] == key >> MARK_PAGE_BITS)
		mark_page_set(p, key);
	else
		mark_set_add_other(s, key);
}

/* Call it after the last number.  Returns false on OOM, or if the file failed (s->file.failed). */
bool mark_set_finish(struct mark_set *s);
void mark_set_free(struct mark_set *s);

/* mark_cursor_has() of a number that is not on the page found last. */
bool mark_cursor_find(struct mark_cursor *c, struct mark_set *s, uint64_t key, bool *failed);

/* Whether the set contains the number.  Cheap if it is not less than the last query of this cursor.  Sets
 * *failed on OOM, or if the file failed. */
static inline bool mark_cursor_has(struct mark_cursor *c, struct mark_set *s, uint64_t key, bool *failed)
{
	const uint64_t number = key >> MARK_PAGE_BITS;

	if (c->page == NULL || *c->page != number)
		return (number < c->absent || number >= c->present) && mark_cursor_find(c, s, key, failed);
	return (c->page[1 + key % MARK_PAGE / 64] >> key % 64 & 1) != 0;
}

/* The least number of the set that is >= key; UINT64_MAX: none.  Cost and failures are those of
 * mark_cursor_has(). */
uint64_t mark_cursor_next(struct mark_cursor *c, struct mark_set *s, uint64_t key, bool *failed);

/* The same for the greatest number of the set that is not above `key`.  Not for sets of pages.  Returns false
 * if there is none. */
bool mark_cursor_floor(struct mark_cursor *c, struct mark_set *s, uint64_t key, uint64_t *floor,
                       bool *failed);

void mark_cursor_free(struct mark_cursor *c);

#endif
