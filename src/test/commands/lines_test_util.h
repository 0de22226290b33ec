#ifndef TEST_COMMANDS_LINES_TEST_UTIL_H
#define TEST_COMMANDS_LINES_TEST_UTIL_H

#include <stdbool.h>
#include <stddef.h>

#include "output/text.h"

struct lines {
	struct slice *v;
	size_t n;
};

/* Appends; the text of a line stays where it is. */
void lines_add(struct lines *l, struct slice line);

/* What a command wrote, as a .test file shows it: what cannot be seen is escaped, in *kept.  prefix: "" or
 * "2> ". */
void lines_shown(struct lines *l, const char *prefix, const char *p, size_t n, struct text *kept);

/*
 * Compares lines with what is expected.  "..." stands for any lines, within a line for any text of it.
 * Adds to *shown how they differ, one under the other, and to *mended what to expect instead: what fits
 * stays.
 */
bool lines_fit(const struct lines *want, const struct lines *got, struct text *shown, struct text *mended);

#endif
