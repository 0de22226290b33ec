#ifndef OUTPUT_TEXT_FIT_H
#define OUTPUT_TEXT_FIT_H

#include "output/text.h"

/*
 * Text that fits a number of columns.  A character is one column, good enough
 * for scripts without wide or combining ones; escapes of text_visible() are
 * not cut.
 */

size_t text_width(struct slice s);

/* Appends what fits: all of it, or "..." for what is cut off.  Paths and locations, src/main.rs:115:9 and
 * a::b::c, keep their end, other text its end and some of its beginning. */
void text_shorten(struct text *t, struct slice s, size_t width);

/* Bytes of the first line of a text that is broken at blanks; *next: where the second starts. */
size_t text_line(struct slice s, size_t width, size_t *next);

/* Appends a text broken at blanks into lines of `width` columns, of which the first starts in column `column`
 * and the others are indented by `indent`; width 0: as one line.  No newline at the end. */
void text_wrap(struct text *t, struct slice s, size_t column, size_t indent, size_t width);

/* The same for each line of a text. */
void text_wrap_lines(struct text *t, const struct text *lines, size_t indent, size_t width);

#endif
