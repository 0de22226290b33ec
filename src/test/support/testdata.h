#ifndef TESTING_TESTDATA_H
#define TESTING_TESTDATA_H

#include <stdbool.h>
#include <stddef.h>

/* For generators of testdata/.  Return false after a message on standard error. */

bool testdata_file(const char *path, const void *p, size_t n);

/* Creates a folder, unless it exists. */
bool testdata_folder(const char *path);

#endif
