#ifndef TEST_SUPPORT_STRENGTH_H
#define TEST_SUPPORT_STRENGTH_H

#include <stdint.h>
#include <stdlib.h>

/* The size of sweeps and random tests: STRENGTH=1 for make test (the default), 10 for CI, 100 for nights. */
static inline unsigned long strength(unsigned long light, unsigned long ci, unsigned long night)
{
	const char *const set = getenv("STRENGTH");
	const unsigned long s = set != NULL ? strtoul(set, NULL, 10) : 1;

	return s >= 100 ? night : s >= 10 ? ci : light;
}

/* The seed of a random test: SEED repeats another run. */
static inline uint64_t test_seed(uint64_t usual)
{
	const char *const set = getenv("SEED");

	return set != NULL ? strtoull(set, NULL, 10) : usual;
}

#endif
