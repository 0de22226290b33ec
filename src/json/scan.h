#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"

/* ---- json number ---- */

/*
 * Whole numbers from digits, eight digits at a time.  A stretch of digits is
 * n bytes from `at` on in a text; of the bytes before it, those of the text
 * are read too.
 */

/* Eight digits, the first in the lowest byte. */
static inline uint64_t json_eight_digits(uint64_t w)
{
	w = w * 10 + (w >> 8);
	return ((w & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064) +
	        (w >> 16 & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001)) >>
	       32;
}

/* The n digits (1 to 8) that end at `end`; 8 bytes can be read before it. */
static inline uint64_t json_last_digits(const char *end, uint32_t n)
{
	const uint64_t w = load_u64(end - 8, false) ^ UINT64_C(0x3030303030303030);

	return json_eight_digits(w & ~UINT64_C(0) << 8 * (8 - n));
}

/* Whether json_last_digits() reads the stretch and stays inside the text. */
static inline bool json_few_digits(uint32_t at, uint32_t n)
{
	return n - 1 < 8 && at + n >= 8;
}

/* Any bytes; false: not digits only, or more than 64 bits. */
bool json_digits_any(const char *p, uint32_t n, uint64_t *v);

/* The number of a stretch that is known to be digits; false: more than 64 bits. */
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

/* ---- json scan ---- */

/*
 * An index of a piece of JSON text, made 16 or more bytes at a time: where its
 * quotes, line feeds and "odd" bytes are (control bytes other than the line
 * feed, DEL, backslashes, all that is not ASCII).  A line without odd bytes has a
 * string between every two quotes, and the string is the bytes between them.
 *
 * Nothing is allocated, and nothing outside the piece is read.
 */
#define JSON_CHUNK 16384 /* bytes of a piece: these and the positions stay in the first-level cache */
#define JSON_BLOCK 64
#define JSON_BLOCKS (JSON_CHUNK / JSON_BLOCK)

/* A bit for each byte of a block, the first byte in the lowest. */
struct json_masks {
	uint64_t quotes[JSON_BLOCKS], lines[JSON_BLOCKS], odd[JSON_BLOCKS];
};

/* Positions in ascending order, counted from the start of the piece.  JSON_GUARDS times UINT32_MAX follow. */
#define JSON_GUARDS 8

struct json_positions {
	uint32_t n;
	uint32_t at[JSON_CHUNK + JSON_BLOCK + JSON_GUARDS];
};

/* 200 KiB: for the heap, made once and used again. */
struct json_index {
	const char *base; /* of the piece; NULL: there is no index */
	uint32_t n;       /* its bytes */
	struct json_positions quotes, lines, odd;
	struct json_masks masks;
};

/* An implementation; all give the same results. */
struct json_scanner {
	const char *name;
	/* Whole blocks only. */
	void (*masks)(const char *p, size_t blocks, struct json_masks *out);
	void (*positions)(const uint64_t *masks, size_t blocks, struct json_positions *out);
	bool (*usable)(void);
};

/* The fastest first, ended by a name of NULL; the last runs on any machine. */
extern const struct json_scanner json_scanners[];

/* The fastest of this machine. */
const struct json_scanner *json_scanner_best(void);

/* Makes the index of the first n bytes at p, at most JSON_CHUNK of them. */
void json_index_make(struct json_index *ix, const struct json_scanner *how, const char *p, size_t n);

#endif
