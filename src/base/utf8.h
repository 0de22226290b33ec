#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/slice.h"

/* The length of the longest prefix that is valid UTF-8 (RFC 3629: no surrogates, no overlong forms, no code
 * points above U+10FFFF).  Fast on ASCII. */
size_t utf8_valid_prefix(const char *p, size_t n);

static inline bool utf8_valid(const char *p, size_t n)
{
	return utf8_valid_prefix(p, n) == n;
}

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

#endif
