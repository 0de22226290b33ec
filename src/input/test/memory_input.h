/* Inputs whose bytes are in memory, for tests, benchmarks and fuzzing. */
#ifndef INPUT_TEST_MEMORY_INPUT_H
#define INPUT_TEST_MEMORY_INPUT_H

#include <stddef.h>

#include "input/open.h"

/* Bytes in memory: they are not copied, and the window has all of them. */
struct input *input_from_memory(const char *p, size_t n);

/* Bytes in memory: a sliding window grows by at most `step` bytes (>= 1) and gets a new
 * buffer each time, so that every record crosses the end of a window. */
struct input *input_from_memory_slowly(const char *p, size_t n, size_t step);

#endif
