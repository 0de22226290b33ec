#ifndef DFTRACER_SAMPLES_H
#define DFTRACER_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

/* The .pfw samples of testdata/: what `make testdata` writes, and what `tracetool validate` must find in
 * them. */

enum dft_packing {
	DFT_PLAIN,
	DFT_GZIP,
	DFT_GZIP_MEMBERS,          /* two, and an empty one before; a line crosses from one to the other */
	DFT_GZIP_MEMBERS_OF_LINES, /* two, each of whole lines */
	DFT_GZIP_NO_TRAILER,
	DFT_GZIP_BAD_CRC,
	DFT_GZIP_NULS_BEHIND,
	DFT_GZIP_BYTES_BEHIND,
	DFT_GZIP_CUT,
	DFT_GZIP_IN_NAME_ONLY, /* plain text, its name ends in .gz */
};

#define DFT_MAX_EXPECTED 8

/* A finding: at the first place where `marker` stands in the sample, `skip` bytes on.  NULL: none. */
struct dft_expected {
	const char *rule; /* without "dftracer/", unless it has a '/' */
	const char *marker;
	size_t skip;
};

struct dft_sample {
	const char *name; /* of the file, without .pfw */
	const char *text;
	size_t n;
	int exit_status; /* of `validate` */
	const char *dialect;
	unsigned records; /* that are kept */
	struct dft_expected expected[DFT_MAX_EXPECTED];
	enum dft_packing packing;
};

/* Ended by a name of NULL. */
extern const struct dft_sample dft_good[]; /* nothing worse than notes */
extern const struct dft_sample dft_bad[];  /* each provokes one rule, or is a row of what other tools do */

#endif
