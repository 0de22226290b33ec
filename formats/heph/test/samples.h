#ifndef HEPH_SAMPLES_H
#define HEPH_SAMPLES_H

#include "heph/test/build.h"

/* The Heph samples of testdata/: what `make testdata` writes, and why each is there. */

/* A file without anything worse than a note. */
struct heph_good {
	const char *name;                   /* of the file, without .bin.log */
	void (*make)(struct heph_build *b); /* after heph_init() */
};

extern const struct heph_good heph_good[]; /* ended by a name of NULL */

#define HEPH_MAX_EXPECTED 12

/* What `tracetool validate` must find, in order. */
struct heph_expected {
	size_t n;
	struct {
		const char *rule; /* without "heph/" */
		uint64_t offset;
	} row[HEPH_MAX_EXPECTED];
};

/* A file that provokes one rule. */
struct heph_bad {
	const char *name;
	int exit_status; /* of `validate`: 1 for errors, 0 for warnings and notes */
	void (*make)(struct heph_build *b, struct heph_expected *e);
};

extern const struct heph_bad heph_bad[]; /* ended by a name of NULL */

#endif
