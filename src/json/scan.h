#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/slice.h"

/*
 * Fast scanning of JSON: an index of its quotes, line feeds and special bytes, made by SIMD, and integers
 * from eight digits at a time.  Nothing is allocated.
 */

/* ---- integers ---- */

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
	const uint64_t w = load_u64(end - 8, false) ^ UINT64_C(0x3030303030303030);

	return json_eight_digits(w & ~UINT64_C(0) << 8 * (8 - n));
}

/* Returns true if json_last_digits() can read the n bytes at offset `at` without leaving the text. */
static inline bool json_few_digits(uint32_t at, uint32_t n)
{
	return n - 1 < 8 && at + n >= 8;
}

/* Returns a word whose lowest set bit is in the first byte that is no digit; 0: all eight are digits. Carries
 * of the addition change only the bytes after it. */
static inline uint64_t json_other_than_digits(const char *p)
{
	const uint64_t w = load_u64(p, false) ^ UINT64_C(0x3030303030303030);

	return ((w + UINT64_C(0x0606060606060606)) | w) & UINT64_C(0xf0f0f0f0f0f0f0f0);
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

/* Whether the double that was read from a number, rounded to as many digits as that has, has the same ones.
 */
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

/* ---- index ---- */

/*
 * An index of a piece of JSON text, made 16 or more bytes at a time: the positions of its quotes, line feeds
 * and "odd" bytes (control bytes other than the line feed, DEL, backslashes, bytes that are not ASCII).  In a
 * line without odd bytes every pair of quotes encloses a string, whose text is the bytes between them.
 * Nothing outside the piece is read.
 */
#define JSON_CHUNK 16384 /* max bytes of a piece; with its positions it fits the first-level cache */
#define JSON_BLOCK 64
#define JSON_BLOCKS (JSON_CHUNK / JSON_BLOCK)

/* A bit for each byte of a block, the first byte in the lowest. */
struct json_masks {
	uint64_t quotes[JSON_BLOCKS], lines[JSON_BLOCKS], odd[JSON_BLOCKS];
};

/* Ascending offsets in the piece, followed by JSON_GUARDS times UINT32_MAX. */
#define JSON_GUARDS 8

struct json_positions {
	uint32_t n;
	uint32_t at[JSON_CHUNK + JSON_BLOCK + JSON_GUARDS];
};

/* 200 KiB: allocate it once and reuse it. */
struct json_index {
	const char *base; /* start of the piece; NULL: no index */
	uint32_t n;       /* bytes of the piece */
	struct json_positions quotes, lines, odd;
	struct json_masks masks;
};

/* An implementation.  All implementations have the same results. */
struct json_scanner {
	const char *name;
	/* Makes the masks of whole blocks. */
	void (*masks)(const char *p, size_t blocks, struct json_masks *out);
	void (*positions)(const uint64_t *masks, size_t blocks, struct json_positions *out);
	bool (*usable)(void);
};

/* All implementations, the fastest first, terminated by a name of NULL.  The last one runs on any machine. */
extern const struct json_scanner json_scanners[];

/* Returns the fastest implementation that this machine can run. */
const struct json_scanner *json_scanner_best(void);

/* Indexes the first n bytes at p, at most JSON_CHUNK of them. */
void json_index_make(struct json_index *ix, const struct json_scanner *how, const char *p, size_t n);

#endif
