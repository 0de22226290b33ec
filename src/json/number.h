#ifndef JSON_NUMBER_H
#define JSON_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/cursor.h"
#include "base/slice.h"

/* Values of JSON numbers; integers from eight digits at a time. */

#define JSON_ZEROS UINT64_C(0x3030303030303030) /* the text 00000000 */

/* Returns the value of eight digits.  w: the digits as bytes 0 to 9, the first in the lowest byte. */
static inline uint64_t json_eight_digits(uint64_t w)
{
	w = w * 10 + (w >> 8);
	return ((w & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064) +
	        (w >> 16 & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001)) >>
	       32;
}

/* Returns the value of the n digits (1 to 8) before `end`.  Reads the 8 bytes before `end`. */
static inline uint64_t json_last_digits(const char *end, uint32_t n)
{
	const uint64_t w = load_u64(end - 8, false) ^ JSON_ZEROS;

	return json_eight_digits(w & ~UINT64_C(0) << 8 * (8 - n));
}

/* Whether json_last_digits() can read the n bytes at offset `at` without leaving the text. */
static inline bool json_few_digits(uint32_t at, uint32_t n)
{
	return n - 1 < 8 && at + n >= 8;
}

/* Returns a word whose lowest set bit is in the first byte that is no digit; 0: all eight are digits. Carries
 * of the addition change only the bytes after it. */
static inline uint64_t json_other_than_digits(const char *p)
{
	const uint64_t w = load_u64(p, false) ^ JSON_ZEROS;

	return ((w + UINT64_C(0x0606060606060606)) | w) & UINT64_C(0xf0f0f0f0f0f0f0f0);
}

/* Skips digits, eight at a time.  NULL: fewer than eight bytes are left. */
static inline const char *json_skip_eights(const char *p, const char *e)
{
	for (; e - p >= 8; p += 8) {
		const uint64_t other = json_other_than_digits(p);
		if (other != 0)
			return p + (low_bit(other) >> 3);
	}
	return NULL;
}

/* Reads a number from any bytes.  Returns false if not all are digits, or if it needs more than 64 bits. */
bool json_digits_any(const char *p, uint32_t n, uint64_t *v);

/* Likewise for digits after an optional minus sign.  *v: two's complement if there is one. */
bool json_integer(struct slice s, uint64_t *v);

/* Reads a valid number of any form, such as 1.0 or 10e-1.  Returns false if it has a minus sign, is not
 * whole, or needs more than 64 bits. */
bool json_whole(struct slice s, uint64_t *v);

/* Reads a number as the nearest double, or an infinity.  Returns false if the text is none, or has more than
 * 63 bytes. */
bool json_double(struct slice s, double *v);

/* Whether v, which was read from the number s, has the digits of s when it is rounded to as many. */
bool json_double_is_exact(struct slice s, double v);

/* Reads n bytes at offset `at` that are known to be digits.  Returns false if they need more than 64 bits. */
static inline bool json_digits(const char *text, uint32_t at, uint32_t n, uint64_t *v)
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
