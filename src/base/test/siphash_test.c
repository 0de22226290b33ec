#include <criterion/criterion.h>

#include "base/siphash.h"

/* Key 00 01 ... 0f and messages 00 01 ... of the paper's appendix and of its reference code's list. */
Test(siphash, published_vectors)
{
	static const struct siphash_key key = { UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908) };
	unsigned char m[16];

	for (unsigned i = 0; i < sizeof m; i++)
		m[i] = (unsigned char)i;
	cr_expect_eq(siphash(&key, m, 15), UINT64_C(0xa129ca6149be45e5));
	cr_expect_eq(siphash(&key, m, 0), UINT64_C(0x726fdb47dd0e0e31));
	cr_expect_eq(siphash(&key, m, 1), UINT64_C(0x74f839c593dc67fd));
	cr_expect_eq(siphash(&key, m, 8), UINT64_C(0x93f5f5799a932462));
}
