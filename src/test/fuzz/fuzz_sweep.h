#ifndef FUZZ_FUZZ_SWEEP_H
#define FUZZ_FUZZ_SWEEP_H

#include "test/fuzz/fuzz_check.h"

/* Checks all prefixes of an input, and changes of its single bytes. */
struct fuzz_sweep {
	const char *p;
	size_t n;
	const struct format *format; /* NULL: detected by content for each case */
	bool light;                  /* some ten changes of each byte instead of all 255 */
	size_t first, stride; /* prefixes of first, first + stride, ... bytes; bytes at these offsets ... */
	size_t sparse;        /* ... or at every sparse-th of them; 0: at all */
	unsigned full_every;  /* every nth case has all parts but the smallest steps, every 512 * nth these,
	                         too; 0: none */
	void (*at)(void *ctx, size_t place); /* called before each offset; may be NULL */
	void *ctx;
};

struct fuzz_swept {
	uint64_t prefixes, changes;
	uint64_t status[3];        /* cases with each exit status */
	struct fuzz_result result; /* of the first broken promise; the sweep stops there */
	size_t place;              /* length of the prefix, or offset of the changed byte ... */
	int byte;                  /* ... and its value; -1: a prefix */
};

/* Whether all promises were kept. */
bool fuzz_sweep_run(const struct fuzz_sweep *s, struct fuzz_swept *out);

#endif
