/* MD5 (RFC 1321), from which tracers cut their hashes. */
#include "dftracer/write/write.h"

#define BLOCK 64
#define WORDS 4

/* floor(2^32 * |sin(i + 1)|) */
static const uint32_t sines[BLOCK] = {
	0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
	0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
	0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
	0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
	0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
	0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
	0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
	0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

static const unsigned shifts[4][4] = {
	{ 7, 12, 17, 22 }, { 5, 9, 14, 20 }, { 4, 11, 16, 23 }, { 6, 10, 15, 21 }
};

static uint32_t mix(unsigned round, uint32_t b, uint32_t c, uint32_t d)
{
	switch (round) {
	case 0:
		return (b & c) | (~b & d);
	case 1:
		return (d & b) | (~d & c);
	case 2:
		return b ^ c ^ d;
	default:
		return c ^ (b | ~d);
	}
}

static void add_block(uint32_t state[WORDS], const unsigned char *p)
{
	static const unsigned steps[4][2] = { { 1, 0 }, { 5, 1 }, { 3, 5 }, { 7, 0 } };
	uint32_t words[16], a = state[0], b = state[1], c = state[2], d = state[3];

	for (unsigned i = 0; i < 16; i++)
		words[i] = (uint32_t)p[4 * i] | (uint32_t)p[4 * i + 1] << 8 | (uint32_t)p[4 * i + 2] << 16 |
		           (uint32_t)p[4 * i + 3] << 24;
	for (unsigned i = 0; i < BLOCK; i++) {
		const unsigned round = i / 16, shift = shifts[round][i % 4];
		const uint32_t word = words[(i * steps[round][0] + steps[round][1]) % 16];
		const uint32_t sum = a + mix(round, b, c, d) + sines[i] + word;
		a = d;
		d = c;
		c = b;
		b += sum << shift | sum >> (32 - shift);
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
}

void dft_md5(struct slice s, unsigned char digest[DFT_MD5_SIZE])
{
	uint32_t state[WORDS] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 };
	unsigned char last[2 * BLOCK] = { 0 };
	const uint64_t bits = (uint64_t)s.n * 8;
	const unsigned char *p = (const unsigned char *)s.p;
	uint32_t left = s.n;

	for (; left >= BLOCK; p += BLOCK, left -= BLOCK)
		add_block(state, p);
	if (left > 0)
		memcpy(last, p, left);
	last[left] = 0x80;
	const uint32_t n = left < BLOCK - 8 ? BLOCK : 2 * BLOCK;
	for (unsigned i = 0; i < 8; i++)
		last[n - 8 + i] = (unsigned char)(bits >> 8 * i);
	for (uint32_t at = 0; at < n; at += BLOCK)
		add_block(state, last + at);
	for (unsigned i = 0; i < DFT_MD5_SIZE; i++)
		digest[i] = (unsigned char)(state[i / 4] >> 8 * (i % 4));
}
