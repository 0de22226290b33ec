#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/slice.h"

/* How many of the n bytes, from the first on, are whole valid UTF-8 (RFC 3629: no surrogates, no overlong
 * forms, nothing above U+10FFFF).  == n: all valid.  Fast on ASCII. */
size_t utf8_valid_prefix(const char *p, size_t n);

static inline bool
utf8_valid(const char *p, size_t n)
{
	return utf8_valid_prefix(p, n) == n;
}

/* At an invalid place (the byte after a valid prefix): how many bytes one U+FFFD stands for, by the
 * "maximal subpart" rule of the Unicode standard (chapter 3.9, U+FFFD substitution).  1 to 3, never more than
 * n; n > 0. */
size_t utf8_invalid_run(const char *p, size_t n);

#endif
