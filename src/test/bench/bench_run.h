#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include <stdbool.h>
#include <stdint.h>

/* What one run of a program cost. */
struct bench_cost {
	double wall, cpu; /* seconds; cpu is user and system */
	long rss_kib;     /* the largest resident set */
	int status;       /* exit status, or -1 */
};

/* Runs argv with output to out_path ("/dev/null" or a file, made anew).  fed: NULL, or a file that comes down
 * a pipe to its standard input; the feeding process is not counted.  false: it could not be started. */
bool bench_run(const char *const *argv, const char *fed, const char *out_path, struct bench_cost *cost);

/* Yardsticks for the same machine at the same time, each in a process of its own. */
bool bench_sum_mapped(const char *path, struct bench_cost *cost); /* every byte of a mapped file looked at */
bool bench_write_file(const char *path, uint64_t size,
                      struct bench_cost *cost); /* written in pieces of 1 MiB */

#endif
