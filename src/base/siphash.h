#ifndef BASE_SIPHASH_H
#define BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

/* A key of 128 bits. */
struct siphash_key {
	uint64_t k0, k1;
};

/* SipHash-2-4 (Aumasson, Bernstein 2012): without the key its values look random.  Same on all machines. */
uint64_t siphash(const struct siphash_key *key, const void *p, size_t n);

#endif
