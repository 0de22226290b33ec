#ifndef DIAL9_SAMPLES_H
#define DIAL9_SAMPLES_H

#include "dial9/test/build.h"

/* The dial9 samples that `make testdata` writes. */

/* A file with notes at most. */
struct d9_good {
	const char *name; /* of the file, without .dial9 */
	void (*make)(struct d9_build *b);
};

extern const struct d9_good d9_good[];      /* ended by a name of NULL */
extern const struct d9_good d9_made_good[]; /* likewise: written by this program */

#define D9_MAX_EXPECTED 16

/* The findings of `tracetool validate`, in order. */
struct d9_expected {
	size_t n;
	struct {
		const char *rule; /* without "dial9/" */
		uint64_t offset;
	} row[D9_MAX_EXPECTED];
};

/* A file that provokes one rule (and, where unavoidable, the note on 0.4). */
struct d9_bad {
	const char *name;
	int exit_status; /* of `validate`: 1 for errors, 0 for warnings and notes */
	void (*make)(struct d9_build *b, struct d9_expected *e);
};

extern const struct d9_bad d9_bad[]; /* ended by a name of NULL */
extern const struct d9_bad d9_cut[]; /* likewise: those whose input ends too early */
extern const struct d9_bad d9_made_bad[];

void d9s_expect(struct d9_expected *e, const char *rule, uint64_t offset);

#endif
