#ifndef RUN_RAW_BYTES_UTIL_TEST_H
#define RUN_RAW_BYTES_UTIL_TEST_H

#include <stddef.h>

/* Asserts that the raw records of a trace of this format, put together, are its bytes, through windows that
 * grow by `step` bytes. */
void expect_raw_bytes(const char *format, const char *path, size_t step);

/* Of all files in a folder whose names end in suffix, through small windows and large ones. */
void expect_raw_bytes_of_all(const char *format, const char *folder, const char *suffix);

#endif
