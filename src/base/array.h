#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Arrays that grow.  `list` is the address of the caller's pointer (which may be NULL at first, and is given
 * to free() in the end); `size` is that of one thing.  false: no memory; nothing has changed then.
 */

/* Room for one more behind the n that are there. */
bool array_room(void *list, uint32_t n, uint32_t *cap, size_t size);

/* Makes [index] one of the *n places; new ones are zero. */
bool array_reach(void *list, uint32_t *n, uint32_t index, size_t size);

#endif
