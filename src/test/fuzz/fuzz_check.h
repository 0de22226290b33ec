#ifndef FUZZ_FUZZ_CHECK_H
#define FUZZ_FUZZ_CHECK_H

#include "base/compiler.h"
#include "format/format.h"

/*
 * Does everything that the program does with an input, in this process, and checks the promises of the
 * headers.  For the fuzzer, sweeps and tests of every format.
 */
enum fuzz_parts {
	FUZZ_CHECK = 1,    /* the pass of `validate`; always done */
	FUZZ_EVENTS = 2,   /* wants everything, and checks each batch */
	FUZZ_CONVERT = 4,  /* to each format with a writer */
	FUZZ_REBASE = 8,   /* the same with --rebase */
	FUZZ_STATS = 16,   /* statistics, and both reports */
	FUZZ_SLOW_64 = 32, /* again through a window that grows by 64 bytes: the same events and findings; for
	                  inputs up to 128 KiB (7: up to 40 KiB, 1: up to 16 KiB) */
	FUZZ_SLOW_7 = 64,
	FUZZ_SLOW_1 = 128,
	FUZZ_ALL = 255,
	FUZZ_FEW = 256, /* converts to one in FUZZ_FEW_OF formats, chosen by the length of the input */
};

#define FUZZ_FEW_OF 4

struct fuzz_result {
	int status;      /* exit status of `validate`: 0, 1 or 2 */
	char fault[500]; /* the first broken promise, or "" */
};

/* Reads n bytes at p, which should be an allocation of exactly that size, so that sanitizers see each access
 * outside.  format, dialect: NULL: detected by content.  Returns true if all promises were kept. */
bool fuzz_check(struct fuzz_result *r, const char *p, size_t n, const struct format *format,
                const char *dialect, unsigned parts);

/* Notes a broken promise, if it is the first one.  Returns false. */
bool fuzz_broken(struct fuzz_result *r, const char *fmt, ...) PRINTF(2, 3);

#endif
