#ifndef BENCH_INPUTS_H
#define BENCH_INPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "test/support/format_aids.h"

/* Makes the file if it is not there; gz: the same, compressed by gzip(1).  Fills path.  false: it could not
 * be made. */
bool bench_input_ensure(const struct bench_input *in, const char *dir, bool big, bool gz, char *path,
                        size_t path_cap);

/* Likewise the folder. */
bool bench_folder_ensure(const struct bench_input *in, const char *dir, bool big, char *path,
                         size_t path_cap);

#endif
