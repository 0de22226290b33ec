#ifndef FUZZ_FUZZ_SWEEP_H
#define FUZZ_FUZZ_SWEEP_H

#include "test/fuzz/fuzz_check.h"

/* All prefixes of an input, and changes of single bytes of it. */
struct fuzz_sweep {
	const char *p;
	size_t n;
	const struct format *format; /* NULL: told by content, each time anew */
	bool light;                  /* some ten changes of each byte instead of all 255 */
	size_t first,
	    stride; /* prefixes of first, first + stride, ... bytes; bytes are changed at these places ... */
	size_t sparse;       /* ... or at one in so many of them; 0: at all */
	unsigned full_every; /* one case in so many goes through all but the smallest steps, one in 512 times
	                        as many through these too; 0: none */
	void (*at)(void *ctx, size_t place); /* told before each place; may be NULL */
	void *ctx;
};

struct fuzz_swept {
	uint64_t prefixes, changes;
	uint64_t status[3];        /* how often each exit status came */
	struct fuzz_result result; /* of the first broken promise; the sweep stops there */
	size_t place;              /* of that: length of the prefix, or the changed byte ... */
	int byte;                  /* ... and its value; -1: a prefix */
};

/* True if all promises were kept. */
bool fuzz_sweep_run(const struct fuzz_sweep *s, struct fuzz_swept *out);

#endif
