#ifndef EVENT_NUMBERS_H
#define EVENT_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Small numbers under small keys, in little room: the types of the tasks of a
 * program that makes them by the hundred thousand before it runs the first.
 * Beyond NUMBERS_MAX the older half is forgotten and counted.
 */
#define NUMBERS_MAX (3U << 18) /* in 2^20 slots of 12 bytes: 12 MiB, and half of that more while it grows */

struct number_slot {
	uint32_t key, value;
	uint16_t whose; /* + 1; 0: free */
	uint16_t era;   /* when it was put: what is older has a smaller one */
};

struct numbers {
	struct number_slot *slots; /* by hash */
	uint32_t n, cap;
	uint32_t era, puts; /* of this era */
	uint64_t forgotten;
};

void numbers_free(struct numbers *t);

/* whose < UINT16_MAX.  false: no memory. */
bool numbers_put(struct numbers *t, uint64_t seed, uint16_t whose, uint32_t key, uint32_t value);

/* false: there is none. */
bool numbers_get(const struct numbers *t, uint64_t seed, uint16_t whose, uint32_t key, uint32_t *value);

/* Takes out a number, if it is there. */
void numbers_drop(struct numbers *t, uint64_t seed, uint16_t whose, uint32_t key);

#endif
