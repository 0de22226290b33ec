#ifndef TESTING_TESTDATA_H
#define TESTING_TESTDATA_H

#include <stdbool.h>
#include <stddef.h>

/* For generators of testdata/.  false: it could not be done, and standard error says why. */

bool testdata_file(const char *path, const void *p, size_t n);

/* Makes a folder; it may be there already. */
bool testdata_folder(const char *path);

#endif
