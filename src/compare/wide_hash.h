#ifndef COMPARE_WIDE_HASH_H
#define COMPARE_WIDE_HASH_H

#include "base/cursor.h"

/*
 * A hash of 128 bits without a seed: the same on every machine and in every run, so that two people can
 * compare what they see.  The two lanes mix differently.  It finds accidents; nobody should take it for a
 * signature: who wants two traces with the same hash can make them.
 */
struct wide_hash {
	uint64_t a, b;
};

/* Odd numbers without structure: fraction digits of the square roots of 2, 3 and 5. */
#define WIDE_HASH_A UINT64_C(0x6a09e667f3bcc909)
#define WIDE_HASH_B UINT64_C(0xbb67ae8584caa73b)
#define WIDE_HASH_C UINT64_C(0x3c6ef372fe94f82b)

/* tag: what is hashed; things of different tags are different. */
static inline struct wide_hash
wide_hash_start(uint64_t tag)
{
	return (struct wide_hash){ WIDE_HASH_A ^ tag, WIDE_HASH_B + tag * WIDE_HASH_C };
}

/* Each step can be undone, so after the same beginning no two words give the same. */
static inline void
wide_hash_add(struct wide_hash *h, uint64_t word)
{
	h->a = (h->a ^ word) * WIDE_HASH_B;
	h->a ^= h->a >> 32;
	h->b = h->b + word * WIDE_HASH_A;
	h->b = (h->b << 29 | h->b >> 35) * WIDE_HASH_C;
}

static inline void
wide_hash_add_hash(struct wide_hash *h, struct wide_hash other)
{
	wide_hash_add(h, other.a);
	wide_hash_add(h, other.b);
}

static inline uint64_t
wide_hash_mix(uint64_t v)
{
	v = (v ^ v >> 31) * WIDE_HASH_C;
	v = (v ^ v >> 29) * WIDE_HASH_A;
	return v ^ v >> 32;
}

/* What came out; both lanes depend on all bits of both.  Not needed for what is only compared, or added to
 * another hash; needed for what goes into a sum, or into a table. */
static inline struct wide_hash
wide_hash_end(struct wide_hash h)
{
	const uint64_t a = wide_hash_mix(h.a + (h.b << 17 | h.b >> 47)), b = wide_hash_mix(h.b ^ a);

	return (struct wide_hash){ wide_hash_mix(a + b * WIDE_HASH_B), b };
}

/* The last bytes of a text, 1 to 7, as a word whose further bytes are 0. */
static inline uint64_t
wide_hash_last(const char *p, size_t n)
{
	if (n >= 4)
		return load_u32(p, false) | (uint64_t)load_u32(p + n - 4, false) << (8 * (n - 4));
	return (uint8_t)p[0] | (uint64_t)(uint8_t)p[n / 2] << (8 * (n / 2)) |
	       (uint64_t)(uint8_t)p[n - 1] << (8 * (n - 1));
}

/* Bytes and how many they are.  In pieces: the length first, then pieces of a multiple of 8 bytes each. */
static inline void
wide_hash_add_piece(struct wide_hash *h, const char *p, size_t n)
{
	for (; n >= 8; p += 8, n -= 8)
		wide_hash_add(h, load_u64(p, false));
	if (n > 0)
		wide_hash_add(h, wide_hash_last(p, n));
}

static inline void
wide_hash_add_text(struct wide_hash *h, struct slice s)
{
	wide_hash_add(h, s.n);
	wide_hash_add_piece(h, s.p, s.n);
}

/* Sums do not depend on the order; modulo 2^128. */
static inline void
wide_hash_sum(struct wide_hash *sum, struct wide_hash h)
{
	const uint64_t a = sum->a + h.a;

	sum->b += h.b + (a < h.a);
	sum->a = a;
}

static inline void
wide_hash_subtract(struct wide_hash *sum, struct wide_hash h)
{
	const bool borrow = sum->a < h.a;

	sum->a -= h.a;
	sum->b -= h.b + borrow;
}

static inline bool
wide_hash_equal(struct wide_hash x, struct wide_hash y)
{
	return x.a == y.a && x.b == y.b;
}

#endif
