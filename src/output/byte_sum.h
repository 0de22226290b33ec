#ifndef OUTPUT_BYTE_SUM_H
#define OUTPUT_BYTE_SUM_H

#include <isa-l/crc64.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that were written, and their sum: CRC-64/ECMA-182 (reflected), which differs whenever no more than 64
 * bits in a row do.  Zero-initialise to start. */
struct byte_sum {
	uint64_t bytes, sum;
};

static inline void
byte_sum_add(struct byte_sum *s, const char *p, size_t n)
{
	s->bytes += n;
	if (n > 0)
		s->sum = crc64_ecma_refl(s->sum, (const unsigned char *)p, n);
}

static inline bool
byte_sum_equal(const struct byte_sum *a, const struct byte_sum *b)
{
	return a->bytes == b->bytes && a->sum == b->sum;
}

#define BYTE_SUM_DIFFERS "the bytes that are read back are not those that were written"

/* Reads a regular file.  0, or an errno value; EINVAL: it is none. */
int byte_sum_read(struct byte_sum *s, const char *path);

#endif
