#ifndef PROPERTIES_COST_TEST_UTIL_H
#define PROPERTIES_COST_TEST_UTIL_H

#include <stddef.h>

/*
 * Small hostile inputs: time and output stay in proportion to the input, however often records refer to long
 * texts. arguments: of the program, in a shell; the input is "$1", and comes down standard input too.
 */

/* Runs it with a limit of CPU seconds (COST_SECONDS) that is many times the expected cost, and asserts status
 * 0 or 1 and that these words are in its messages (NULL: any).  Returns the number of bytes that it writes.
 */
double cost_of(const char *arguments, const void *p, size_t n, const char *words);

/* Asserts at most 64 MiB and 50 bytes for each of the input; with `words` (a loss) more than 64 MiB: else the
 * limit would not be reached. */
void expect_in_proportion(const char *arguments, const void *p, size_t n, const char *words);

#endif
