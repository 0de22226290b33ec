#ifndef OUTPUT_TEXT_PUT_H
#define OUTPUT_TEXT_PUT_H

#include <stddef.h>
#include <string.h>

/* Copies n bytes to `to` and returns one past them: for the short texts of which traces are full, where the
 * call of memcpy costs more than the copy. */
static inline char *
text_put(char *to, const char *from, size_t n)
{
	if (n > 32)
		return (char *)memcpy(to, from, n) + n;
	if (n >= 16) {
		memcpy(to, from, 16);
		memcpy(to + n - 16, from + n - 16, 16);
	} else if (n >= 8) {
		memcpy(to, from, 8);
		memcpy(to + n - 8, from + n - 8, 8);
	} else if (n >= 4) {
		memcpy(to, from, 4);
		memcpy(to + n - 4, from + n - 4, 4);
	} else if (n > 0) {
		to[0] = from[0];
		to[n / 2] = from[n / 2];
		to[n - 1] = from[n - 1];
	}
	return to + n;
}

#endif
