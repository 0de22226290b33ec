#ifndef JSON_JSON_NUMBER_H
#define JSON_JSON_NUMBER_H

#include "base/cursor.h"

/*
 * Whole numbers from digits, eight digits at a time.  A stretch of digits is
 * n bytes from `at` on in a text; of the bytes before it, those of the text
 * are read too.
 */

/* Eight digits, the first in the lowest byte. */
static inline uint64_t
json_eight_digits(uint64_t w)
{
	w = w * 10 + (w >> 8);
	return ((w & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064) +
	        (w >> 16 & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001)) >>
	       32;
}

/* The n digits (1 to 8) that end at `end`; 8 bytes can be read before it. */
static inline uint64_t
json_last_digits(const char *end, uint32_t n)
{
	const uint64_t w = load_u64(end - 8, false) ^ UINT64_C(0x3030303030303030);

	return json_eight_digits(w & ~UINT64_C(0) << 8 * (8 - n));
}

/* Whether json_last_digits() reads the stretch and stays inside the text. */
static inline bool
json_few_digits(uint32_t at, uint32_t n)
{
	return n - 1 < 8 && at + n >= 8;
}

/* Any bytes; false: not digits only, or more than 64 bits. */
bool json_digits_any(const char *p, uint32_t n, uint64_t *v);

/* The number of a stretch that is known to be digits; false: more than 64 bits. */
static inline bool
json_digits(const char *text, uint32_t at, uint32_t n, uint64_t *v)
{
	const char *const end = text + at + n;

	if (json_few_digits(at, n)) {
		*v = json_last_digits(end, n);
		return true;
	}
	if (at < 8 || n - 1 > 18)
		return json_digits_any(text + at, n, v);
	*v = json_last_digits(end, 8) + json_last_digits(end - 8, n < 16 ? n - 8 : 8) * 100000000;
	if (n > 16)
		*v += json_last_digits(end - 16, n - 16) * UINT64_C(10000000000000000);
	return true;
}

#endif
