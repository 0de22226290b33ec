/* The keyed hash of the tables (in the manner of wyhash: multiply to 128 bits, xor the halves), and
 * SipHash-2-4 where keys must stay secret.  Both factors of each product depend on the seed: otherwise an
 * input could make a factor zero, and choose any number of keys with the same hash. */
#include <sys/auxv.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/table.h"

/* ---- keyed hash ---- */

/* Odd numbers without structure: fraction digits of pi and of the golden ratio. */
#define HASH_A UINT64_C(0x243f6a8885a308d3)
#define HASH_B UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t byte(const char *p)
{
	return (unsigned char)*p;
}

uint64_t hash_bytes(const char *p, size_t n, uint64_t seed)
{
	const uint64_t secret = (seed << 32 | seed >> 32) ^ HASH_B;
	uint64_t h = seed ^ HASH_A, a = 0, b = 0;

	/* The last loads may overlap; the length is mixed in at the end. */
	if (n > 16) {
		const char *const last = p + n - 16;
		for (; p < last; p += 16)
			h = hash_mix(load_u64(p, false) ^ h, load_u64(p + 8, false) ^ secret);
		a = load_u64(last, false);
		b = load_u64(last + 8, false);
	} else if (n >= 8) {
		a = load_u64(p, false);
		b = load_u64(p + n - 8, false);
	} else if (n >= 4) {
		a = load_u32(p, false);
		b = load_u32(p + n - 4, false);
	} else if (n > 0) {
		a = byte(p) << 16 | byte(p + n / 2) << 8 | byte(p + n - 1);
	}
	return hash_mix(hash_mix(a ^ h, b ^ secret) ^ n, secret ^ HASH_A);
}

uint64_t hash_u64(uint64_t v, uint64_t seed)
{
	return hash_mix(hash_mix(v ^ seed, HASH_A) ^ seed, HASH_B);
}

/* The kernel gives each process 16 random bytes, so no state is needed here. */
uint64_t hash_seed(void)
{
	const unsigned long at = getauxval(AT_RANDOM);
	uint64_t r[2];

	if (at != 0) {
		memcpy(r, (const void *)at, sizeof r);
	} else {
		r[0] = (uint64_t)getpid();
		r[1] = (uint64_t)(uintptr_t)&hash_seed;
	}
	/* Folded, so that the seed does not reveal bytes of the stack protector. */
	return hash_mix(r[0] ^ HASH_A, r[1] ^ HASH_B) | 1;
}

/* ---- siphash ---- */

struct state {
	uint64_t v0, v1, v2, v3;
};

static inline uint64_t rotate(uint64_t v, unsigned by)
{
	return v << by | v >> (64 - by);
}

static inline void mix(struct state *s)
{
	s->v0 += s->v1;
	s->v1 = rotate(s->v1, 13) ^ s->v0;
	s->v0 = rotate(s->v0, 32);
	s->v2 += s->v3;
	s->v3 = rotate(s->v3, 16) ^ s->v2;
	s->v0 += s->v3;
	s->v3 = rotate(s->v3, 21) ^ s->v0;
	s->v2 += s->v1;
	s->v1 = rotate(s->v1, 17) ^ s->v2;
	s->v2 = rotate(s->v2, 32);
}

/* Loads at most eight bytes, little endian. */
static inline uint64_t load(const unsigned char *p, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

static inline void mix_word(struct state *s, uint64_t word)
{
	s->v3 ^= word;
	mix(s);
	mix(s);
	s->v0 ^= word;
}

uint64_t siphash(const struct siphash_key *key, const void *p, size_t n)
{
	/* the constants are the letters of "somepseudorandomlygeneratedbytes" */
	struct state s = { key->k0 ^ UINT64_C(0x736f6d6570736575), key->k1 ^ UINT64_C(0x646f72616e646f6d),
		           key->k0 ^ UINT64_C(0x6c7967656e657261), key->k1 ^ UINT64_C(0x7465646279746573) };
	const unsigned char *at = p;
	size_t left = n;

	for (; left >= 8; left -= 8, at += 8)
		mix_word(&s, load(at, 8));
	mix_word(&s, load(at, left) | (uint64_t)n << 56);
	s.v2 ^= 0xff;
	for (int i = 0; i < 4; i++)
		mix(&s);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
