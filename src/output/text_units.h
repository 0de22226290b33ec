#ifndef OUTPUT_TEXT_UNITS_H
#define OUTPUT_TEXT_UNITS_H

#include "output/text.h"

/* Times and sizes for people. */

/* ns since 1970 as ISO 8601, in UTC, with nine decimals: 2026-05-09T22:08:04.045651917Z */
void text_iso8601(struct text *t, uint64_t ns);

/* Likewise to milliseconds: 2026-05-09 22:08:04.045 UTC */
void text_wall(struct text *t, uint64_t ns);

/* A time with a fitting unit and up to four digits: 999 ns, 1.234 us, 56.78 ms, 12345 s. */
void text_time(struct text *t, unsigned __int128 ns);

/* Likewise with three digits, as percentiles are known to 1 %: a table of times has one precision, and a
 * percentile never seems to exceed the maximum.  999 ns, 1.23 us, 567 ms, 12345 s. */
void text_time_short(struct text *t, unsigned __int128 ns);

/* A time after the start, exact: +0.241 s, +1.500002 s, below 1 ms +123.456 us, +7 ns. */
void text_since(struct text *t, uint64_t ns);

/* Millionths as a percentage, 12.34 %, and as a fraction, 0.123456. */
void text_percent(struct text *t, unsigned __int128 millionths);
void text_fraction(struct text *t, unsigned __int128 millionths);

/* A number with six digits; integers are complete. */
void text_six_digits(struct text *t, double v);

/* Bytes with three digits, 1000 by 1000: 512 B, 1.57 MB. */
void text_bytes_short(struct text *t, unsigned __int128 bytes);

/* " (35.8 KiB)"; nothing below 1 KiB. */
void text_kib(struct text *t, uint64_t bytes);

#endif
