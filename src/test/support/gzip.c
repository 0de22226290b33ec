/*
 * Encoder of gzip members (RFC 1952) and zlib streams (RFC 1950), because the output of libraries depends on
 * version and processor.
 */
#include <string.h>

#include "test/support/samples.h"

struct bits {
	unsigned char *out;
	size_t n;
	uint32_t held; /* bits to write, the first in the lowest bit */
	unsigned count;
};

static void put_bits(struct bits *b, uint32_t v, unsigned count)
{
	b->held |= v << b->count;
	for (b->count += count; b->count >= 8; b->count -= 8) {
		b->out[b->n++] = (unsigned char)(b->held & 0xff);
		b->held >>= 8;
	}
}

/* Huffman codes start with their highest bit. */
static void put_code(struct bits *b, uint32_t code, unsigned count)
{
	while (count-- > 0)
		put_bits(b, code >> count & 1, 1);
}

static struct bits begin_member(unsigned char *out)
{
	static const unsigned char head[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255 }; /* no time, no name */

	memcpy(out, head, sizeof head);
	return (struct bits){ .out = out, .n = sizeof head };
}

static size_t end_member(struct bits *b, const unsigned char *p, size_t n)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < n; i++) {
		crc ^= p[i];
		for (unsigned k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	const uint32_t trailer[] = { ~crc, (uint32_t)n };
	for (unsigned i = 0; i < 2; i++) {
		put_bits(b, trailer[i] & 0xffff, 16);
		put_bits(b, trailer[i] >> 16, 16);
	}
	return b->n;
}

size_t gzip_stored(unsigned char *out, const unsigned char *p, size_t n)
{
	struct bits b = begin_member(out);

	put_bits(&b, 1, 8); /* last block, stored */
	put_bits(&b, (uint32_t)n & 0xffff, 16);
	put_bits(&b, ~(uint32_t)n & 0xffff, 16);
	if (n > 0)
		memcpy(out + b.n, p, n);
	b.n += n;
	return end_member(&b, p, n);
}

/* One block of literals in the fixed code. */
static void put_fixed(struct bits *b, const unsigned char *p, size_t n)
{
	put_bits(b, 1, 1); /* last block */
	put_bits(b, 1, 2); /* fixed code */
	for (size_t i = 0; i < n; i++)
		if (p[i] < 144)
			put_code(b, 0x30u + p[i], 8);
		else
			put_code(b, 0x190u + p[i] - 144, 9);
	put_code(b, 0, 7); /* end of block */
	if (b->count > 0)
		put_bits(b, 0, 8 - b->count);
}

size_t gzip_fixed(unsigned char *out, const unsigned char *p, size_t n)
{
	struct bits b = begin_member(out);

	put_fixed(&b, p, n);
	return end_member(&b, p, n);
}

size_t zlib_fixed(unsigned char *out, const unsigned char *p, size_t n)
{
	struct bits b = { .out = out, .n = 2 };
	uint32_t low = 1, high = 0; /* of the Adler checksum */

	out[0] = 0x78;
	out[1] = 0x01;
	put_fixed(&b, p, n);
	for (size_t i = 0; i < n; i++) {
		low = (low + p[i]) % 65521;
		high = (high + low) % 65521;
	}
	const unsigned char sum[] = { (unsigned char)(high >> 8), (unsigned char)high,
		                      (unsigned char)(low >> 8), (unsigned char)low };
	memcpy(out + b.n, sum, sizeof sum);
	return b.n + sizeof sum;
}
