/*
 * The keyed hash of the tables: multiply to 128 bits, fold the halves, repeat.
 * Both factors of each product hold a secret, for a factor that an input can
 * make zero would let it choose any number of keys with one hash.
 */
#include "base/table.h"

#include <sys/auxv.h>
#include <unistd.h>

/* Odd numbers without structure: the first fraction digits of pi and of the golden ratio. */
#define HASH_A UINT64_C(0x243f6a8885a308d3)
#define HASH_B UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t
fold(uint64_t a, uint64_t b)
{
	const unsigned __int128 m = (unsigned __int128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint64_t
word(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

static inline uint64_t
half_word(const char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

static inline uint64_t
byte(const char *p)
{
	return (unsigned char)*p;
}

uint64_t
hash_bytes(const char *p, size_t n, uint64_t seed)
{
	const uint64_t secret = (seed << 32 | seed >> 32) ^ HASH_B;
	uint64_t h = seed ^ HASH_A, a = 0, b = 0;

	/* The two loads overlap as much as they must; the length goes in at the end. */
	if (n > 16) {
		const char *const last = p + n - 16;
		for (; p < last; p += 16)
			h = fold(word(p) ^ h, word(p + 8) ^ secret);
		a = word(last);
		b = word(last + 8);
	} else if (n >= 8) {
		a = word(p);
		b = word(p + n - 8);
	} else if (n >= 4) {
		a = half_word(p);
		b = half_word(p + n - 4);
	} else if (n > 0) {
		a = byte(p) << 16 | byte(p + n / 2) << 8 | byte(p + n - 1);
	}
	return fold(fold(a ^ h, b ^ secret) ^ n, secret ^ HASH_A);
}

uint64_t
hash_u64(uint64_t v, uint64_t seed)
{
	return fold(fold(v ^ seed, HASH_A) ^ seed, HASH_B);
}

/* The kernel gives each process 16 random bytes; taking them from there needs no state of our own. */
uint64_t
hash_seed(void)
{
	const unsigned long at = getauxval(AT_RANDOM);
	uint64_t r[2];

	if (at != 0) {
		memcpy(r, (const void *)at, sizeof r);
	} else {
		r[0] = (uint64_t)getpid();
		r[1] = (uint64_t)(uintptr_t)&hash_seed;
	}
	/* Folded, so that the seed does not give away bytes that guard the stack. */
	return fold(r[0] ^ HASH_A, r[1] ^ HASH_B) | 1;
}
