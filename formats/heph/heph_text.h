#ifndef HEPH_TEXT_H
#define HEPH_TEXT_H

#include "base/textscan.h"

static inline bool
heph_is_ascii(const char *p, uint32_t n)
{
	uint32_t first, last;
	uint64_t w, any = 0;

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
	for (uint32_t i = 0; i < n - 8; i += 8) {
		memcpy(&w, p + i, sizeof w);
		any |= w;
	}
	memcpy(&w, p + n - 8, sizeof w);
	return ((any | w) & UINT64_C(0x8080808080808080)) == 0;
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
