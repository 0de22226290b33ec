#ifndef OUTPUT_TEXT_NUMBERS_H
#define OUTPUT_TEXT_NUMBERS_H

#include "output/text.h"

/* Numbers that few write. */
void text_u128(struct text *t, unsigned __int128 v);
void text_hex(struct text *t, const char *p, size_t n); /* two digits for each byte */

#endif
