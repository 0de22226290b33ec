#ifndef FUZZ_FUZZ_SWEEP_TEST_UTIL_H
#define FUZZ_FUZZ_SWEEP_TEST_UTIL_H

#include <stddef.h>

/* Asserts that no prefix of the file and no change of a byte breaks a promise of the headers.  sparse: 0 for
 * all bytes, else every sparse-th. */
void expect_sweep(const char *path, size_t sparse);

/* Asserts the same for the files of a folder with this suffix, unchanged. */
void expect_promises(const char *folder, const char *suffix);

#endif
