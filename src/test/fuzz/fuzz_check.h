#ifndef FUZZ_FUZZ_CHECK_H
#define FUZZ_FUZZ_CHECK_H

#include "format/format.h"

/*
 * Everything the program does with an input, in this process, with the promises
 * of the headers held against what happens: by the fuzzer, by the sweeps, by
 * tests, for every format.
 */
enum fuzz_parts {
	FUZZ_CHECK = 1,    /* the pass of `validate`; always made */
	FUZZ_EVENTS = 2,   /* all that can be wanted, and each batch looked through */
	FUZZ_CONVERT = 4,  /* to each format that can be written */
	FUZZ_REBASE = 8,   /* the same with --rebase */
	FUZZ_STATS = 16,   /* counts, and both reports */
	FUZZ_SLOW_64 = 32, /* once more through a window that grows by 64 bytes: the same events and findings;
	                  only of inputs up to 128 KiB, 7 up to 40 KiB, 1 up to 16 KiB */
	FUZZ_SLOW_7 = 64,
	FUZZ_SLOW_1 = 128,
	FUZZ_ALL = 255,
	FUZZ_FEW = 256, /* converts to one format in FUZZ_FEW_OF, which ones the input's length says */
};

#define FUZZ_FEW_OF 4

struct fuzz_result {
	int status;      /* what `validate` would exit with: 0, 1 or 2 */
	char fault[500]; /* the first promise that was broken; "": none was */
};

/* Reads n bytes at p, which are best an allocation of just that size, so that a checker of memory sees each
 * step outside. format NULL: told by content; dialect NULL: likewise.  True if all promises were kept. */
bool fuzz_check(struct fuzz_result *r, const char *p, size_t n, const struct format *format,
                const char *dialect, unsigned parts);

/* Notes a broken promise, the first one only; returns false. */
bool fuzz_broken(struct fuzz_result *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
