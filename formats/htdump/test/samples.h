#ifndef HTDUMP_SAMPLES_H
#define HTDUMP_SAMPLES_H

#include "htdump/test/build.h"

/* The .htdump samples of testdata/: what `make testdata` writes, and why each is there. */

enum ht_packing { HT_PLAIN, HT_GZIP, HT_GZIP_MEMBERS, HT_ZSTD };

/* A file without anything worse than a note. */
struct ht_good {
	const char *name; /* of the file, without .htdump */
	enum ht_layout layout;
	bool big;
	void (*make)(struct ht_build *b); /* after ht_init() */
	enum ht_packing packing;
};

extern const struct ht_good ht_good[]; /* ended by a name of NULL */

#define HT_MAX_EXPECTED 8

/* What `tracetool validate` must find, in order. */
struct ht_expected {
	size_t n;
	struct {
		const char *rule; /* without "htdump/" */
		uint64_t offset;
	} row[HT_MAX_EXPECTED];
};

/* A file that provokes one rule. */
struct ht_bad {
	const char *name;
	enum ht_layout layout;
	bool big;
	int exit_status; /* of `validate`: 1 for errors, 0 for warnings and notes */
	void (*make)(struct ht_build *b, struct ht_expected *e);
	enum ht_packing packing;
};

extern const struct ht_bad ht_bad[]; /* ended by a name of NULL */

#endif
