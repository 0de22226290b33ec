#include "base/siphash.h"

struct state {
	uint64_t v0, v1, v2, v3;
};

static inline uint64_t
turn(uint64_t v, unsigned by)
{
	return v << by | v >> (64 - by);
}

static inline void
mix(struct state *s)
{
	s->v0 += s->v1;
	s->v1 = turn(s->v1, 13) ^ s->v0;
	s->v0 = turn(s->v0, 32);
	s->v2 += s->v3;
	s->v3 = turn(s->v3, 16) ^ s->v2;
	s->v0 += s->v3;
	s->v3 = turn(s->v3, 21) ^ s->v0;
	s->v2 += s->v1;
	s->v1 = turn(s->v1, 17) ^ s->v2;
	s->v2 = turn(s->v2, 32);
}

/* Up to eight bytes, little endian. */
static inline uint64_t
load(const unsigned char *p, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

static inline void
take(struct state *s, uint64_t word)
{
	s->v3 ^= word;
	mix(s);
	mix(s);
	s->v0 ^= word;
}

uint64_t
siphash(const struct siphash_key *key, const void *p, size_t n)
{
	/* the constants are the letters of "somepseudorandomlygeneratedbytes" */
	struct state s = { key->k0 ^ UINT64_C(0x736f6d6570736575), key->k1 ^ UINT64_C(0x646f72616e646f6d),
		           key->k0 ^ UINT64_C(0x6c7967656e657261), key->k1 ^ UINT64_C(0x7465646279746573) };
	const unsigned char *at = p;
	size_t left = n;

	for (; left >= 8; left -= 8, at += 8)
		take(&s, load(at, 8));
	take(&s, load(at, left) | (uint64_t)n << 56);
	s.v2 ^= 0xff;
	for (int i = 0; i < 4; i++)
		mix(&s);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
