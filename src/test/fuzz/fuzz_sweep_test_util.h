#ifndef FUZZ_FUZZ_SWEEP_TEST_UTIL_H
#define FUZZ_FUZZ_SWEEP_TEST_UTIL_H

#include <stddef.h>

/* Asserts that no promise of the headers is broken by a cut of the file at each place, nor by changes of each
 * byte: all of them where sparse is 0, else a few of each sparse-th byte. */
void expect_sweep(const char *path, size_t sparse);

/* Nor by the files of a folder whose names end in suffix. */
void expect_promises(const char *folder, const char *suffix);

#endif
