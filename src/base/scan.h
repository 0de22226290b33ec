#ifndef BASE_SCAN_H
#define BASE_SCAN_H

#include "base/compiler.h"
#include "base/cursor.h"
#include "base/slice.h"

/* ---- bytes ---- */

/* Returns the first place of `what` in a text; NULL: there is none. */
const char *slice_find(struct slice s, struct slice what);

/* Returns the last place of c in a text; NULL: there is none. */
const char *slice_find_last(struct slice s, char c);

/* ---- UTF-8 ---- */

/* The length of the longest prefix that is valid UTF-8 (RFC 3629: no surrogates, no overlong forms, no code
 * points above U+10FFFF).  Fast on ASCII. */
size_t utf8_valid_prefix(const char *p, size_t n);

/* Whether a text begins with the byte order mark of UTF-8, of 3 bytes. */
static inline bool utf8_has_mark(const char *p, size_t n)
{
	return n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0;
}

static inline bool utf8_valid(const char *p, size_t n)
{
	return utf8_valid_prefix(p, n) == n;
}

static inline bool slice_is_utf8(struct slice s)
{
	return (s.flags & (SLICE_UTF8 | SLICE_JSON)) != 0 || utf8_valid(s.p, s.n);
}

/* The size of the valid character at p, of n > 0 bytes; 0: there is none. */
size_t utf8_size(const char *p, size_t n);

/* After a valid prefix: the number of bytes that one U+FFFD replaces, by the "maximal subpart" rule of the
 * Unicode standard (chapter 3.9, U+FFFD substitution).  1 to 3, at most n; n > 0. */
size_t utf8_invalid_run(const char *p, size_t n);

/* The length, at most `max`, to which n bytes can be cut without splitting a character.  Invalid UTF-8 is cut
 * anywhere. */
size_t utf8_cut(const char *p, size_t n, size_t max);

/* The code point of a valid character of `size` bytes. */
uint32_t utf8_point(const char *p, size_t size);

/* Whether a character steers a terminal or is invisible: DEL, C1 controls, line and paragraph separators,
 * bidirectional controls and the like.  Joiners (U+200C, U+200D) do not count: they shape visible text in
 * several scripts. */
bool utf8_is_hidden(uint32_t point);

/* Whether a character is drawn over the letter before it: a combining diacritical mark. */
bool utf8_is_mark(uint32_t point);

/* Whether a character is in a block of scripts that are written from right to left: numbers beside it are
 * drawn on its other side. */
bool utf8_is_right_to_left(uint32_t point);

/* Whether the bytes are valid UTF-8.  If so, *hidden: whether there is a hidden character that is not
 * ASCII. */
bool utf8_valid_hidden(const char *p, size_t n, bool *hidden);

/* The first hidden character (of ASCII controls only DEL) in [p, end), and its size; `end` if there is none.
 * Skips invalid UTF-8. */
const char *utf8_find_hidden(const char *p, const char *end, size_t *size);

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* ---- scans ---- */

/*
 * Scans text 16 bytes at a time (SSE2, NEON, or 8 in a 64-bit word elsewhere).
 * No function reads outside [p, end).
 */

/* Scans a NUL-terminated string that starts at p.  *out is the text before the NUL, with SLICE_UTF8 and
 * SLICE_JSON set if they apply (a missing flag means that it does not).  Returns false, and leaves *out, if
 * there is no NUL before `end`, or the text is longer than 2^32 - 1. */
bool textscan_cstring(const char *p, const char *end, struct slice *out);

/* Scans text of known length; sets both flags as above. */
struct slice textscan_slice(const char *p, uint32_t n);

/* First byte in [p, end) that a JSON string must escape (0x00-0x1f, 0x7f, '"', '\\') or that is not ASCII;
 * `end` when there is none. */
const char *textscan_plain_end(const char *p, const char *end);

/* Returns the NUL after the ASCII text that begins at p.  Returns NULL if other bytes are before it, or if it
 * is within the last 15 bytes of [p, end); then call a function above. */
static inline const char *textscan_ascii_end_plain(const char *p, const char *end)
{
	for (const uint64_t lanes = UINT64_C(0x0101010101010101); end - p >= 16; p += 8) {
		const uint64_t w = load_u64(p, false);
		const uint64_t nul = (w - lanes) & ~w & lanes << 7; /* exact in the lowest bit that is set */
		if ((w & lanes << 7 & ~nul & (nul - 1)) != 0)
			return NULL;
		if (nul != 0)
			return p + (low_bit(nul) >> 3);
	}
	return NULL;
}

static inline const char *textscan_ascii_end(const char *p, const char *end)
{
#if defined(__SSE2__)
	for (; end - p >= 16; p += 16) {
		const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
		const unsigned nul = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_setzero_si128()));
		if (((unsigned)_mm_movemask_epi8(v) & ~nul & (nul - 1)) != 0)
			return NULL;
		if (nul != 0)
			return p + low_bit(nul);
	}
	return NULL;
#else
	return textscan_ascii_end_plain(p, end);
#endif
}

/* The functions without vector instructions: for tests, and for machines that have none. */
bool textscan_cstring_plain(const char *p, const char *end, struct slice *out);
const char *textscan_plain_end_plain(const char *p, const char *end);

#endif
