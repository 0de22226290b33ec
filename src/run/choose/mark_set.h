#ifndef PIPELINE_MARK_SET_H
#define PIPELINE_MARK_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/spill_file.h"

/*
 * A set of numbers: first all are added, in any order, then it is asked for them, mostly in ascending order.
 *
 * It consists of entries.  An entry is a number; or, with `pages`, for numbers that lie close together, a
 * page: the number of the page, then a bit for each of the MARK_PAGE numbers in it.  Pages stay open for a
 * while, so that numbers that come a little out of order cost no sorting.
 *
 * Memory: MARK_SET_ROOM words of 8 bytes, and as much again while they are sorted; MARK_SET_OPEN pages.
 * Beyond that sorted runs go to a temporary file, and are merged into one when all were added.
 */
#define MARK_SET_ROOM (1U << 20)
#define MARK_SET_OPEN 8192U

#define MARK_PAGE_BITS 9U /* of a number, that tell its bit in the page */
#define MARK_PAGE (1U << MARK_PAGE_BITS)
#define MARK_PAGE_WORDS (1U + MARK_PAGE / 64U) /* of an entry */

/* Words of one cursor in memory, if the set lies in a file. */
#define MARK_SET_BLOCK (64U * MARK_PAGE_WORDS)

struct mark_run {
	uint64_t at;          /* in the file, bytes */
	uint64_t n;           /* entries */
	uint64_t first, last; /* of their numbers */
};

struct mark_set {
	bool pages;         /* entries are pages */
	uint64_t *keys;     /* entries, not sorted before mark_set_finish() */
	uint32_t n, cap;    /* words */
	uint32_t most;      /* words in memory; 0: MARK_SET_ROOM */
	const char *beside; /* for spill_open(); borrowed */
	struct mark_page {
		uint64_t words[MARK_PAGE_WORDS];
	} * open; /* MARK_SET_OPEN of them; without a bit: none */
	struct spill_file file;
	struct mark_run *runs;
	uint32_t nruns, runs_cap;
	uint64_t total; /* after mark_set_finish(): entries, which differ */
	bool no_memory; /* or the file failed; nothing of this is to be used */
};

/* A place in the set.  Zero-initialise to start. */
struct mark_cursor {
	uint64_t at;          /* index of the least entry that is not less than what was asked for */
	uint64_t last;        /* which is this */
	uint64_t from;        /* index of the first one in the block */
	uint32_t n;           /* entries in the block */
	uint64_t *block;      /* NULL: the set is in memory */
	const uint64_t *page; /* the last one that was found; NULL: none */
};

/* Where the page of this number is, if it is open. */
static inline struct mark_page *
mark_page_at(const struct mark_set *s, uint64_t number)
{
	/* what is high in the number are inputs, which are not to share their places */
	return &s->open[(number + (number >> 32) * 0x9E3779B1U) % MARK_SET_OPEN];
}

static inline void
mark_page_set(struct mark_page *p, uint64_t key)
{
	p->words[1 + key % MARK_PAGE / 64] |= UINT64_C(1) << key % 64;
}

/* mark_set_add() of what is not on an open page. */
void mark_set_add_other(struct mark_set *s, uint64_t key);

/* Zero-initialise *s; `pages`, `most` and `beside` may be set then.  Failures stick: mark_set_finish() tells.
 */
static inline void
mark_set_add(struct mark_set *s, uint64_t key)
{
	struct mark_page *const p = s->open != NULL ? mark_page_at(s, key >> MARK_PAGE_BITS) : NULL;

	if (p != NULL && p->words[0] == key >> MARK_PAGE_BITS)
		mark_page_set(p, key);
	else
		mark_set_add_other(s, key);
}

/* All were added.  false: no memory, or the file failed (s->file.failed). */
bool mark_set_finish(struct mark_set *s);

void mark_set_free(struct mark_set *s);

/* mark_cursor_has() of what is not on the page that was found last. */
bool mark_cursor_find(struct mark_cursor *c, struct mark_set *s, uint64_t key, bool *failed);

/* Whether the set has the number.  Cheap if it is not less than what this cursor was asked for before.  After
 * a failure, as for mark_set_finish(), *failed is set. */
static inline bool
mark_cursor_has(struct mark_cursor *c, struct mark_set *s, uint64_t key, bool *failed)
{
	if (c->page == NULL || *c->page != key >> MARK_PAGE_BITS)
		return mark_cursor_find(c, s, key, failed);
	return (c->page[1 + key % MARK_PAGE / 64] >> key % 64 & 1) != 0;
}

/* The same for the greatest number of the set that is not beyond `key`.  false: there is none.  Not with
 * pages.
 */
bool mark_cursor_floor(struct mark_cursor *c, struct mark_set *s, uint64_t key, uint64_t *floor,
                       bool *failed);

void mark_cursor_free(struct mark_cursor *c);

#endif
