#ifndef TEST_COMMANDS_LINES_TEST_UTIL_H
#define TEST_COMMANDS_LINES_TEST_UTIL_H

#include <stdbool.h>
#include <stddef.h>

#include "output/text.h"

struct lines {
	struct slice *v;
	size_t n;
};

/* Appends a line; its text is borrowed. */
void lines_add(struct lines *l, struct slice line);

/* Adds output as a .test file shows it: unprintable text is escaped, in *kept.  prefix: "" or "2> ". */
void lines_shown(struct lines *l, const char *prefix, const char *p, size_t n, struct text *kept);

/*
 * Compares output with the expected lines.  "..." matches any lines or, within a line, any text.  Appends to
 * *shown the differences, and to *mended the updated expectation: lines that match are kept.
 */
bool lines_fit(const struct lines *want, const struct lines *got, struct text *shown, struct text *mended);

#endif
