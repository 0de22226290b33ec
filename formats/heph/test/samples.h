#ifndef HEPH_SAMPLES_H
#define HEPH_SAMPLES_H

#include "heph/test/build.h"

/* The Heph samples in testdata/, which `make testdata` writes. */

/* A file with no findings above notes. */
struct heph_good {
	const char *name;                   /* file name without .bin.log */
	void (*make)(struct heph_build *b); /* after heph_init() */
};

extern const struct heph_good heph_good[]; /* ended by a name of NULL */

#define HEPH_MAX_EXPECTED 12

/* The findings of `tracetool validate`, in order. */
struct heph_expected {
	size_t n;
	struct {
		const char *rule; /* without "heph/" */
		uint64_t offset;
	} row[HEPH_MAX_EXPECTED];
};

/* A file that violates one rule. */
struct heph_bad {
	const char *name;
	int exit_status; /* of `validate`: 1 for errors, 0 for warnings and notes */
	void (*make)(struct heph_build *b, struct heph_expected *e);
};

extern const struct heph_bad heph_bad[]; /* ended by a name of NULL */

#endif
