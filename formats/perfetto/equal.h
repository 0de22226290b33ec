#ifndef PERFETTO_EQUAL_H
#define PERFETTO_EQUAL_H

#include "base/slice.h"

/* Whether two texts are the same, made for short ones: most names and keys have less than 32 bytes, and a
 * call takes longer than to look at them. */
static inline bool
perfetto_equal(struct slice a, struct slice b)
{
	const uint32_t n = a.n;
	uint64_t x, y, differ = 0;
	uint32_t i = 0;

	if (n != b.n)
		return false;
	if (n > 32)
		return memcmp(a.p, b.p, n) == 0;
	if (n < 8) {
		for (; i < n; i++)
			differ |= (uint64_t)(a.p[i] ^ b.p[i]);
		return differ == 0;
	}
	for (; i + 8 < n; i += 8) {
		memcpy(&x, a.p + i, 8);
		memcpy(&y, b.p + i, 8);
		differ |= x ^ y;
	}
	memcpy(&x, a.p + n - 8, 8);
	memcpy(&y, b.p + n - 8, 8);
	return (differ | (x ^ y)) == 0;
}

#endif
