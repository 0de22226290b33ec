#ifndef CHROME_SAMPLES_H
#define CHROME_SAMPLES_H

#include <stddef.h>

/* The samples: what `make testdata` writes, and what `tracetool validate` must find in them. */

#define CHROME_EXPECTED 4

struct chrome_expected {
	const char *rule;   /* without "chrome/"; NULL: none */
	const char *marker; /* the finding is where this stands first */
};

struct chrome_sample {
	const char *name;
	const char *text;
	size_t n;
	int exit_status;
	unsigned records;
	struct chrome_expected expected[CHROME_EXPECTED];
};

/* Ended by a name of NULL. */
extern const struct chrome_sample chrome_good[];
extern const struct chrome_sample chrome_bad[];

#endif
