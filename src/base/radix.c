#include "base/radix.h"

#define DIGITS (1U << RADIX_BITS)

void
radix_pass(const uint64_t *from, uint64_t *to, uint32_t n, unsigned shift)
{
	uint32_t places[DIGITS] = { 0 }, sum = 0;

	for (uint32_t i = 0; i < n; i++)
		places[(from[i] >> shift) % DIGITS]++;
	for (uint32_t d = 0; d < DIGITS; d++) {
		const uint32_t count = places[d];
		places[d] = sum;
		sum += count;
	}
	for (uint32_t i = 0; i < n; i++)
		to[places[(from[i] >> shift) % DIGITS]++] = from[i];
}
