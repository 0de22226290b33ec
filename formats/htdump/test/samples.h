#ifndef HTDUMP_SAMPLES_H
#define HTDUMP_SAMPLES_H

#include "htdump/test/build.h"

/* The .htdump samples that `make testdata` writes to testdata/. */

enum ht_packing { HT_PLAIN, HT_GZIP, HT_GZIP_MEMBERS, HT_ZSTD };

/* A file without findings, except notes. */
struct ht_good {
	const char *name; /* file name without .htdump */
	enum ht_layout layout;
	bool big;
	void (*make)(struct ht_build *b); /* after ht_init() */
	enum ht_packing packing;
};

extern const struct ht_good ht_good[]; /* terminated by a NULL name */

#define HT_MAX_EXPECTED 8

/* Expected findings of `tracetool validate`, in order. */
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
	int exit_status; /* of validate: 1 for errors, 0 for warnings and notes */
	void (*make)(struct ht_build *b, struct ht_expected *e);
	enum ht_packing packing;
};

extern const struct ht_bad ht_bad[]; /* terminated by a NULL name */

#endif
