#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/slice.h"

/* How many of the n bytes, from the first on, are whole valid UTF-8 (RFC 3629: no surrogates, no overlong
 * forms, nothing above U+10FFFF).  == n: all valid.  Fast on ASCII. */
size_t utf8_valid_prefix(const char *p, size_t n);

static inline bool utf8_valid(const char *p, size_t n)
{
	return utf8_valid_prefix(p, n) == n;
}

/* At an invalid place (the byte after a valid prefix): how many bytes one U+FFFD stands for, by the
 * "maximal subpart" rule of the Unicode standard (chapter 3.9, U+FFFD substitution).  1 to 3, never more than
 * n; n > 0. */
size_t utf8_invalid_run(const char *p, size_t n);

/* How many of the n bytes to take where at most `most` may be: all, or less than most so that no character
 * is cut.  What is not UTF-8 is cut as it comes. */
size_t utf8_cut(const char *p, size_t n, size_t most);

/* The code point of a valid character of `size` bytes. */
uint32_t utf8_point(const char *p, size_t size);

/* Characters that steer a terminal or cannot be seen: DEL, C1 controls, line and paragraph separators,
 * bidirectional controls and the like.  Joiners (U+200C, U+200D) are none: they shape visible text in several
 * scripts. */
bool utf8_is_hidden(uint32_t point);

/* Whether it is valid.  *hidden: whether there is a hidden character that is not ASCII; only if it is valid.
 */
bool utf8_valid_hidden(const char *p, size_t n, bool *hidden);

/* The first hidden character (no ASCII control but DEL) in [p, end), and its size; `end` when there is none.
 * Bytes that are not UTF-8 are passed over. */
const char *utf8_find_hidden(const char *p, const char *end, size_t *size);

#endif
