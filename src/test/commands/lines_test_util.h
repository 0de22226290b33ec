#ifndef TEST_COMMANDS_LINES_TEST_UTIL_H
#define TEST_COMMANDS_LINES_TEST_UTIL_H

#include <stdbool.h>
#include <stddef.h>

#include "output/text.h"

struct lines {
	struct slice *v;
	size_t n;
};

/* Appends a line; its text is not copied. */
void lines_add(struct lines *l, struct slice line);

/* Splits output into the lines of a .test file, with invisible characters escaped.  The text is in *kept.
 * prefix: "" or "2> ". */
void lines_shown(struct lines *l, const char *prefix, const char *p, size_t n, struct text *kept);

/*
 * Compares expected and actual lines.  "..." matches any lines, and any text within a line.
 * Adds their differences to *shown, and the new expected lines to *mended, which keeps the lines that fit.
 */
bool lines_fit(const struct lines *want, const struct lines *got, struct text *shown, struct text *mended);

#endif
