#ifndef PROPERTIES_COST_TEST_UTIL_H
#define PROPERTIES_COST_TEST_UTIL_H

#include <stddef.h>

/*
 * Small hostile inputs: time and output are proportional to the input, however often records refer to long
 * texts.  arguments: of the program, in a shell; the input is "$1" and standard input.
 */

/* Runs the program with a limit of CPU seconds (COST_SECONDS), many times the expected cost.  Asserts status
 * 0 or 1 and these words in the messages (NULL: any).  Returns the number of bytes written. */
double cost_of(const char *arguments, const void *p, size_t n, const char *words);

/* Asserts at most 64 MiB plus 50 bytes per input byte.  With `words` (a loss), also more than 64 MiB: else
 * the limit was not reached. */
void expect_in_proportion(const char *arguments, const void *p, size_t n, const char *words);

#endif
