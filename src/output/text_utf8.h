#ifndef OUTPUT_TEXT_UTF8_H
#define OUTPUT_TEXT_UTF8_H

#include "output/text.h"

#define TEXT_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Adds a text, with U+FFFD for each run of bytes that is not UTF-8 (see utf8_invalid_run).  Returns how many
 * there were.  What is known to be UTF-8 (SLICE_UTF8, SLICE_JSON) is not looked at. */
size_t text_utf8(struct text *t, struct slice s);

#endif
