#ifndef NDJSON_SAMPLES_H
#define NDJSON_SAMPLES_H

#include <stddef.h>

/* The samples: what `make testdata` writes, and what `tracetool validate` must find in them. */

#define NDJSON_EXPECTED 6

struct ndjson_expected {
	const char *rule;   /* without "ndjson/"; NULL: none */
	const char *marker; /* the finding is where this stands first; NULL: at the end */
};

struct ndjson_sample {
	const char *name;
	const char *text;
	size_t n;
	int exit_status;
	unsigned records;
	struct ndjson_expected expected[NDJSON_EXPECTED];
};

/* Ended by a name of NULL. */
extern const struct ndjson_sample ndjson_good[];
extern const struct ndjson_sample ndjson_bad[];

#endif
