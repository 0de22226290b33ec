#ifndef TEST_SUPPORT_STRENGTH_H
#define TEST_SUPPORT_STRENGTH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Returns the size of a sweep or random test: STRENGTH=1 for `make test` (the default), 10 for CI, 100 for
 * nightly runs. */
static inline unsigned long strength(unsigned long light, unsigned long ci, unsigned long night)
{
	const char *const set = getenv("STRENGTH");
	const unsigned long s = set != NULL ? strtoul(set, NULL, 10) : 1;

	return s >= 100 ? night : s >= 10 ? ci : light;
}

/* Whether a sweep includes the sample with this name: always in CI, about every `every`th in `make
 * test`. */
static inline bool strength_takes(const char *name, unsigned every)
{
	uint32_t hash = 2166136261u;

	for (const char *c = name; *c != '\0'; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	return hash % strength(every, 1, 1) == 0;
}

/* Returns the seed of a random test: SEED repeats another run. */
static inline uint64_t test_seed(uint64_t fallback)
{
	const char *const set = getenv("SEED");

	return set != NULL ? strtoull(set, NULL, 10) : fallback;
}

#endif
