#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

/* The private header of the benchmarks. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "test/support/format_aids.h"

/* ---- bench_run.c ---- */

/* The cost of one run of a program. */
struct bench_cost {
	double wall, cpu; /* seconds; cpu: user and system */
	long rss_kib;     /* max resident set */
	int status;       /* exit status, or -1 */
};

/* Runs argv with output to out_path ("/dev/null", or a file that is replaced).  fed: NULL, or a file that is
 * piped to its standard input by a process that is not counted.  Returns false if it could not be started. */
bool bench_run(const char *const *argv, const char *fed, const char *out_path, struct bench_cost *cost);

/* References for the same machine at the same time, each in a process of its own: reading every byte of a
 * mapped file, and writing a file in pieces of 1 MiB. */
bool bench_sum_mapped(const char *path, struct bench_cost *cost);
bool bench_write_file(const char *path, uint64_t size, struct bench_cost *cost);

/* ---- bench_inputs.c ---- */

/* Creates an input file, unless it exists, and writes its path.  gz: compressed by gzip(1). */
bool bench_input_ensure(const struct bench_input *in, const char *dir, bool big, bool gz, char *path,
                        size_t path_cap);

/* Likewise for the folder. */
bool bench_folder_ensure(const struct bench_input *in, const char *dir, bool big, char *path,
                         size_t path_cap);

#endif
