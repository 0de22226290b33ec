#ifndef BASE_TEXTSCAN_H
#define BASE_TEXTSCAN_H

#include "base/slice.h"

/*
 * Looks at text 16 bytes at a time (SSE2, NEON, or plain words elsewhere).
 * None of these reads outside [p, end).
 */

/* Scans a NUL-terminated string that starts at p.  On success *out is the text before the NUL, with
 * SLICE_UTF8 and SLICE_JSON set if they hold (both are always decided: after this call a missing flag means
 * "not so").  false: no NUL before `end` (or the text is longer than 2^32 - 1); *out is then untouched. */
bool textscan_cstring(const char *p, const char *end, struct slice *out);

/* Decides both flags for text of known length. */
struct slice textscan_slice(const char *p, uint32_t n);

/* First byte in [p, end) that a JSON string must escape (0x00-0x1f, 0x7f, '"', '\\') or that is not ASCII;
 * `end` when there is none. */
const char *textscan_plain_end(const char *p, const char *end);

/* The same functions without any vector instruction: for tests, and for machines without. */
bool textscan_cstring_plain(const char *p, const char *end, struct slice *out);
const char *textscan_plain_end_plain(const char *p, const char *end);

#endif
