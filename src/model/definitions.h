#ifndef MODEL_DEFINITIONS_H
#define MODEL_DEFINITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/table.h"
#include "model/event.h"

/* ---- numbers ---- */

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

/* ---- definitions ---- */

/*
 * What events say for others to look up: the label of a task type, the type of
 * a task, the name of a mark.  A definition stands in a numbered table, belongs
 * to a scope (a process, a thread, or the whole trace) and has a key of two
 * numbers (the second is 0 where one is enough).  The latest one counts.
 *
 * Memory is bounded for any input: beyond NUMBERS_MAX small numbers under small
 * keys (both of 32 bits), or beyond DEFINITIONS_MAX others, the oldest half of
 * those that are numbers is forgotten (tasks end, types stay).  Texts are not
 * forgotten: there are DEFINITIONS_TEXTS at most, so that each forgetting makes
 * much room, and they take DEFINITIONS_TEXT bytes at most in all.  What was not
 * kept is counted.  The same input gives the same answers.
 */
#define DEFINITIONS_MAX                                                                                      \
	(3U << 15) /* in 2^17 slots of 48 bytes at most: 6 MiB, and half of that more while it grows */
#define DEFINITIONS_TEXTS (DEFINITIONS_MAX / 4 * 3)
#define DEFINITIONS_TEXT (16U << 20)
#define DEFINITIONS_WHOLE_TRACE UINT32_MAX /* as scope */

struct definition_slot;

struct definitions {
	struct definition_slot *slots; /* by hash */
	uint32_t n, cap;
	uint32_t ntexts; /* of the n */
	uint64_t seed;   /* of the hash, so that no input can choose keys that meet */
	uint64_t tick;   /* grows with each definition; tells old from new */
	struct arena text;
	uint32_t text_bytes;
	struct numbers numbers; /* the small ones, for keys that the slots do not have */
	struct table64 pairs;   /* table << 32 | scope -> whose they are */
	uint32_t npairs;
	uint64_t forgotten; /* definitions that were not kept, but for small numbers */
	bool failed;        /* memory ran out some time: definitions may be missing that were not counted */
};

/* Definitions that were not kept. */
static inline uint64_t definitions_forgotten(const struct definitions *d)
{
	return d->forgotten + d->numbers.forgotten;
}

void definitions_free(struct definitions *d);

/* value: a number (U64) or a STRING, whose text is copied.  Without memory d->failed is set. */
void definitions_put(struct definitions *d, uint8_t table, uint32_t scope, uint64_t key1, uint64_t key2,
                     struct value value);

/* The definition, or one of type VALUE_NONE.  Its text lives as long as d. */
struct value definitions_get(const struct definitions *d, uint8_t table, uint32_t scope, uint64_t key1,
                             uint64_t key2);

#endif
