#ifndef OUTPUT_TEXT_UNITS_H
#define OUTPUT_TEXT_UNITS_H

#include "output/text.h"

/* Numbers as people read them. */

/* ns since 1970 as ISO 8601, in UTC, with nine decimals: 2026-05-09T22:08:04.045651917Z */
void text_iso8601(struct text *t, uint64_t ns);

/* " (35.8 KiB)": nothing below 1 KiB. */
void text_kib(struct text *t, uint64_t bytes);

#endif
