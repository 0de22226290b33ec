#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

/* ---- arena ---- */

struct arena_block;

/*
 * Memory that is given back all at once.  Zero-initialise to start.  Nothing
 * handed out ever moves.  All functions that return a pointer return NULL when
 * there is no memory; the arena stays usable, and remembers it in `failed`
 * until arena_free(): who fills it can ask once, in the end.
 */
struct arena {
	struct arena_block *head;
	size_t used; /* bytes handed out since the last reset, rounding included */
	bool failed; /* memory ran out some time */
};

/* n bytes, not cleared, aligned for any type; n == 0 gives a valid pointer. */
void *arena_alloc(struct arena *a, size_t n);

/* Cleared memory for `count` things of `size` bytes; NULL too when the product overflows. */
void *arena_zalloc(struct arena *a, size_t count, size_t size);

/* A copy of the bytes with a NUL after them (not counted in n); flags are kept.
 * p is NULL when there is no memory. */
struct slice arena_copy(struct arena *a, struct slice s);

/* printf into the arena; p is NULL when there is no memory. */
struct slice arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* All that was handed out by `from` is as if `to` had done it, failures too; `from` is empty then. */
void arena_move(struct arena *to, struct arena *from);

/* Everything handed out becomes invalid; one block is kept for reuse, and `failed`. */
void arena_reset(struct arena *a);
void arena_free(struct arena *a);

/* ---- array ---- */

/*
 * Arrays that grow.  `list` is the address of the caller's pointer (which may be NULL at first, and is given
 * to free() in the end); `size` is that of one thing.  false: no memory; nothing has changed then.
 */

/* Room for one more behind the n that are there. */
bool array_room(void *list, uint32_t n, uint32_t *cap, size_t size);

/* Makes [index] one of the *n places; new ones are zero. */
bool array_reach(void *list, uint32_t *n, uint32_t index, size_t size);

/* ---- radix ---- */

#define RADIX_BITS 8U /* of a digit */

/* Distributes n numbers by the digit that begins at bit `shift`, from `from` to `to`; those of one digit keep
 * their order. */
void radix_pass(const uint64_t *from, uint64_t *to, uint32_t n, unsigned shift);

#endif
