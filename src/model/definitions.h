#ifndef MODEL_DEFINITIONS_H
#define MODEL_DEFINITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/table.h"
#include "model/event.h"

/* ---- numbers ---- */

/*
 * A compact hash table from (owner, 32-bit key) to a 32-bit number, for programs that create tasks by the
 * hundred thousand before they run the first.  Beyond NUMBERS_MAX the older half is dropped and counted.
 */
#define NUMBERS_MAX (3U << 18) /* in 2^20 slots of 12 bytes: 12 MiB, half as much again while it grows */

struct number_slot {
	uint32_t key, value;
	uint16_t owner; /* + 1; 0: free */
	uint16_t era;   /* of insertion; ascending */
};

struct numbers {
	struct number_slot *slots; /* by hash */
	uint32_t n, cap;
	uint32_t era, puts; /* of this era */
	bool changed;       /* by the last put */
	uint64_t forgotten;
};

void numbers_free(struct numbers *t);

/* owner < UINT16_MAX. */
bool numbers_put(struct numbers *t, uint64_t seed, uint16_t owner, uint32_t key, uint32_t value);

/* Returns false if there is none. */
bool numbers_get(const struct numbers *t, uint64_t seed, uint16_t owner, uint32_t key, uint32_t *value);

/* Removes a number, if present. */
void numbers_drop(struct numbers *t, uint64_t seed, uint16_t owner, uint32_t key);

/* ---- definitions ---- */

/*
 * Facts that some events state and others look up: the label of a task type, the type of a task, the name of
 * a mark.  A definition is in a numbered table, belongs to a scope (a process, a thread, or the whole trace)
 * and has a key of two numbers (the second is 0 where one suffices).  A later definition replaces an earlier
 * one.
 *
 * Memory is bounded for any input: beyond NUMBERS_MAX numbers of 32 bits under keys of 32 bits, or beyond
 * DEFINITIONS_MAX others, the oldest half of the numbers is dropped (tasks end, types stay).  Texts are not
 * dropped: there are at most DEFINITIONS_TEXTS, so that each dropping frees many slots, of at most
 * DEFINITIONS_TEXT bytes in total.  Dropped definitions are counted.  The same input gives the same answers.
 */
#define DEFINITIONS_MAX (3U << 15) /* in 2^17 slots of 48 bytes: 6 MiB, half as much again while it grows */
#define DEFINITIONS_TEXTS (DEFINITIONS_MAX / 4 * 3)
#define DEFINITIONS_TEXT (16U << 20)
#define DEFINITIONS_WHOLE_TRACE UINT32_MAX /* as scope */
#define DEFINITIONS_TABLES 64U

struct definition_slot;

/* Cache of the last hash and owner of the tables with a number (mod 4): consecutive look-ups of a table
 * mostly have the same scope.  Zero-initialised: empty. */
struct definitions_last {
	uint64_t hashed, key2, hash; /* hashed: table << 32 | scope, + 1, of `hash` */
	uint64_t pair;               /* the same of `owner` */
	uint32_t npairs, owner;      /* npairs: value at the time of the look-up */
};

struct definitions {
	struct definition_slot *slots; /* by hash */
	uint32_t n, cap;
	uint32_t ntexts; /* texts among the n */
	uint64_t seed;   /* of the hash: inputs cannot choose keys that collide */
	uint64_t tick;   /* increases with each definition; age of a slot */
	struct arena text;
	uint32_t text_bytes;
	struct numbers numbers; /* 32-bit numbers under keys that are not in the slots */
	struct table64 pairs;   /* table << 32 | scope -> owner in `numbers` */
	uint32_t npairs;
	struct definitions_last last[4];
	uint64_t forgotten;                   /* dropped definitions, without those of `numbers` */
	uint64_t changes[DEFINITIONS_TABLES]; /* by the table's number, modulo */
	bool failed; /* memory ran out: definitions may be missing without being counted */
};

/* Number of dropped definitions. */
static inline uint64_t definitions_forgotten(const struct definitions *d)
{
	return d->forgotten + d->numbers.forgotten;
}

/* Version of a table: an equal version means equal definitions. */
static inline uint64_t definitions_version(const struct definitions *d, uint8_t table)
{
	return d->changes[table % DEFINITIONS_TABLES] + definitions_forgotten(d);
}

void definitions_free(struct definitions *d);

/* value: a number (U64) or a STRING, whose text is copied.  Sets d->failed on OOM. */
void definitions_put(struct definitions *d, uint8_t table, uint32_t scope, uint64_t key1, uint64_t key2,
                     struct value value);

/* The definition, or one of type VALUE_NONE.  Its text lives as long as d. */
struct value definitions_get(struct definitions *d, uint8_t table, uint32_t scope, uint64_t key1,
                             uint64_t key2);

#endif
