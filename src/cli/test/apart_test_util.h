#ifndef CLI_APART_TEST_UTIL_H
#define CLI_APART_TEST_UTIL_H

#include "cli/apart.h"

/* How a folder was read. */
struct apart_seen {
	struct trace_run run; /* first member */
	bool possible, apart;
	uint32_t joined, reported; /* number of parts, and of logs */
	uint64_t records;          /* of all parts */
};

/* Reads a folder apart, if that is possible, with so many threads. */
struct apart_seen apart_see(const char *dir, uint64_t threads);

/* Expects the same status and output of two command lines of the program, and some output. */
void expect_same_output(const char *const *args, const char *const *other, const char *what);

#endif
