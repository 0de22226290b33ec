#ifndef HEPH_TEXT_H
#define HEPH_TEXT_H

#include "base/textscan.h"

static inline uint64_t
heph_word(const char *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof w);
	return w;
}

/* Short texts are looked at without a loop, by words that overlap: their lengths differ, and the end of a
 * loop is hard to predict. */
static inline bool
heph_is_ascii(const char *p, uint32_t n)
{
	uint32_t first, last;
	uint64_t any = 0;

	if (n < 4) {
		for (uint32_t i = 0; i < n; i++)
			any |= (unsigned char)p[i];
		return (any & 0x80) == 0;
	}
	if (n < 8) {
		memcpy(&first, p, sizeof first);
		memcpy(&last, p + n - 4, sizeof last);
		return ((first | last) & UINT32_C(0x80808080)) == 0;
	}
	if (n > 16) {
		for (uint32_t i = 16; i < n - 16; i += 8)
			any |= heph_word(p + i);
		any |= heph_word(p + 8) | heph_word(p + n - 16);
	}
	any |= heph_word(p) | heph_word(p + n - 8);
	return (any & UINT64_C(0x8080808080808080)) == 0;
}

/* Text whose bytes are there.  Who only checks need not know whether JSON must escape something. */
static inline struct slice
heph_text(const char *p, uint32_t n, bool build)
{
	if (!build && heph_is_ascii(p, n))
		return (struct slice){ p, n, SLICE_UTF8 };
	return textscan_slice(p, n);
}

#endif
