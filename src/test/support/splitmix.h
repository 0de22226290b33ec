#ifndef TESTING_SPLITMIX_H
#define TESTING_SPLITMIX_H

#include <stdint.h>

/* Returns the next number of a sequence that depends only on the seed (splitmix64). */
static inline uint64_t splitmix_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

#endif
