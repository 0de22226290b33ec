#include "base/utf8.h"

/*
 * What may follow a lead byte.  Only the second byte has bounds of its own
 * (they keep out overlong forms, surrogates, and all above U+10FFFF); the
 * others are 80..BF.
 */
struct lead {
	unsigned char size; /* bytes of the whole character; 0: not a lead byte */
	unsigned char low, high;
};

static inline struct lead
lead_of(unsigned char c)
{
	if (c < 0xc2 || c > 0xf4)
		return (struct lead){ 0, 0, 0 };
	if (c < 0xe0)
		return (struct lead){ 2, 0x80, 0xbf };
	if (c < 0xf0)
		return (struct lead){ 3, c == 0xe0 ? 0xa0 : 0x80, c == 0xed ? 0x9f : 0xbf };
	return (struct lead){ 4, c == 0xf0 ? 0x90 : 0x80, c == 0xf4 ? 0x8f : 0xbf };
}

/* How many bytes at p, of n, are the start of one valid character: all `size` of them, or fewer when it
 * goes wrong. */
static inline size_t
good_bytes(const unsigned char *p, size_t n, struct lead lead)
{
	if (n < 2 || p[1] < lead.low || p[1] > lead.high)
		return 1;

	size_t i = 2;
	while (i < lead.size && i < n && (p[i] & 0xc0) == 0x80)
		i++;
	return i;
}

static inline size_t
ascii_prefix(const unsigned char *p, size_t n)
{
	size_t i = 0;

	for (uint64_t w; n - i >= sizeof w; i += sizeof w) {
		memcpy(&w, p + i, sizeof w);
		if ((w & UINT64_C(0x8080808080808080)) != 0)
			break;
	}
	while (i < n && p[i] < 0x80)
		i++;
	return i;
}

size_t
utf8_valid_prefix(const char *text, size_t n)
{
	const unsigned char *const p = (const unsigned char *)text;
	size_t i = 0;

	while (i < n) {
		if (p[i] < 0x80) {
			i += ascii_prefix(p + i, n - i);
			continue;
		}
		const struct lead lead = lead_of(p[i]);
		if (lead.size == 0 || good_bytes(p + i, n - i, lead) != lead.size)
			break;
		i += lead.size;
	}
	return i;
}

size_t
utf8_invalid_run(const char *text, size_t n)
{
	const unsigned char *const p = (const unsigned char *)text;
	const struct lead lead = lead_of(p[0]);

	return lead.size == 0 ? 1 : good_bytes(p, n, lead);
}
