#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/slice.h"

/* ---- gate ---- */

/*
 * A gate is passed before a change of memory that another thread may read.  gate_pass() returns when no other
 * thread uses the memory; none does until the calling thread hands over its work.
 */
struct gate {
	void (*enter)(struct gate *g);
};

/* NULL: there is no other thread. */
static inline void gate_pass(struct gate *g)
{
	if (g != NULL)
		g->enter(g);
}

/* ---- arena ---- */

struct arena_block;

/*
 * Memory that is freed all at once.  Zero-initialise to start.  Allocations never move.  On OOM functions
 * return NULL and set `failed`, which stays until arena_free(), so that callers can check once, at the end;
 * the arena stays usable.
 */
struct arena {
	struct arena_block *head;
	size_t used;       /* bytes allocated since the last reset, rounded up */
	bool failed;       /* an allocation failed */
	struct gate *gate; /* passed before each allocation; NULL: none */
};

/* n bytes, not cleared, aligned for any type; n == 0 returns a valid pointer. */
void *arena_alloc(struct arena *a, size_t n);

/* Cleared memory for `count` elements of `size` bytes; NULL also if the product overflows. */
void *arena_zalloc(struct arena *a, size_t count, size_t size);

/* A copy of the bytes with a NUL after them (not counted in n), and of the flags.  p is NULL on OOM. */
struct slice arena_copy(struct arena *a, struct slice s);

/* printf into the arena; p is NULL on OOM.  Text of a trace as %.*s would end at a NUL: see arena_join(). */
struct slice arena_printf(struct arena *a, const char *fmt, ...) PRINTF(2, 3);

/* All bytes of the parts, one after the other, with a NUL after them; UTF-8 and JSON if all parts are.  p is
 * NULL on OOM. */
struct slice arena_join(struct arena *a, const struct slice *parts, size_t n);

#define ARENA_JOIN(a, ...)                                                                                   \
	arena_join((a), (const struct slice[]){ __VA_ARGS__ },                                               \
	           sizeof((const struct slice[]){ __VA_ARGS__ }) / sizeof(struct slice))

/* "NAME (2)". */
struct slice arena_numbered(struct arena *a, struct slice name, uint64_t number);

/* Moves all allocations, and `failed`, to another arena; then `from` is empty. */
void arena_move(struct arena *to, struct arena *from);

/* All allocations become invalid; one block, and `failed`, are kept. */
void arena_reset(struct arena *a);
void arena_free(struct arena *a);

/* ---- array ---- */

/*
 * Arrays that grow.  `list` is the address of the caller's pointer, which is NULL at first, and freed by the
 * caller; `size` is that of one element.  Nothing changes on OOM.
 */

/* Changes the number of elements that there is space for. */
bool array_resize(void *list, uint64_t cap, size_t size);

/* Makes space for one more after n elements. */
bool array_reserve(void *list, uint32_t n, uint32_t *cap, size_t size);

/* Extends *n beyond index; new elements are zero. */
bool array_reach(void *list, uint32_t *n, uint32_t index, size_t size);

/* Copies and sorts arrays, of which one without elements may be NULL: memcpy() and qsort() do not allow that.
 */
static inline void array_copy(void *to, const void *from, size_t bytes)
{
	if (bytes > 0)
		memcpy(to, from, bytes);
}

static inline void array_sort(void *list, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	if (n > 0)
		qsort(list, n, size, compare);
}

/* Adds a failure to those that a flag has noted.  Returns `failed`. */
static inline bool note_failure(bool *flag, bool failed)
{
	if (failed)
		*flag = true;
	return failed;
}

/* ---- order of numbers ---- */

/* Negative, 0 or positive, for qsort(). */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* Compares two uint64_t, for qsort(). */
int compare_u64(const void *a, const void *b);

#define RADIX_BITS 8U /* number of bits of a digit */

/* One pass of an LSD radix sort: distributes n numbers by the digit that begins at bit `shift`; equal digits
 * keep their order. */
void radix_pass(const uint64_t *from, uint64_t *to, uint32_t n, unsigned shift);

/* ---- order of time ---- */

/* A time, and the object that it belongs to. */
struct timed {
	uint64_t ts;
	uint32_t at;
};

/* Stable natural merge sort by time: O(n) for a list nearly in order, O(n log r) for r runs.  spare has space
 * for n elements. */
void timed_sort(struct timed *list, uint32_t n, struct timed *spare);

/* Clears an object of at most some hundred bytes, for each event.  For an initializer, and memset() of a
 * constant size above 64, GCC uses `rep stos`, which takes longer to start than these stores take. */
static inline void clear_object(void *object, size_t size)
{
	char *p = object;

	for (; size >= 64; size -= 64, p += 64)
		memset(p, 0, 64);
	memset(p, 0, size);
}

#endif
