#ifndef FUZZ_FUZZ_JOBS_H
#define FUZZ_FUZZ_JOBS_H

#include "test/fuzz/fuzz_sweep.h"

#define FUZZ_MAX_JOBS 256

/* Shares the places of a sweep among several processes (stride and first are set here), adds up what they
 * did, and says on stderr which case broke a promise, killed its process, or took longer than a minute.
 * false: one did. */
bool fuzz_jobs_sweep(const struct fuzz_sweep *s, unsigned jobs, const char *path, struct fuzz_swept *all);

#endif
