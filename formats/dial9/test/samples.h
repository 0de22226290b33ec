#ifndef DIAL9_SAMPLES_H
#define DIAL9_SAMPLES_H

#include "dial9/test/build.h"

/* The dial9 samples of testdata/: what `make testdata` writes, and why each is there. */

/* A file without anything worse than a note. */
struct d9_good {
	const char *name; /* of the file, without .dial9 */
	void (*make)(struct d9_build *b);
};

extern const struct d9_good d9_good[];      /* ended by a name of NULL */
extern const struct d9_good d9_made_good[]; /* likewise: what this program writes */

#define D9_MAX_EXPECTED 16

/* What `tracetool validate` must find, in order. */
struct d9_expected {
	size_t n;
	struct {
		const char *rule; /* without "dial9/" */
		uint64_t offset;
	} row[D9_MAX_EXPECTED];
};

/* A file that provokes one rule (and the note on 0.4, where it cannot be done without). */
struct d9_bad {
	const char *name;
	int exit_status; /* of `validate`: 1 for errors, 0 for warnings and notes */
	void (*make)(struct d9_build *b, struct d9_expected *e);
};

extern const struct d9_bad d9_bad[]; /* ended by a name of NULL */
extern const struct d9_bad d9_cut[]; /* likewise: those whose input ends too early */
extern const struct d9_bad d9_made_bad[];

void d9s_expect(struct d9_expected *e, const char *rule, uint64_t offset);

/* A header, a whole event of schema 1, and schema 2 with this field (NULL: without); and another event at the
 * end. */
void d9s_begin(struct d9_build *b, const struct d9_field_desc *field);
void d9s_end(struct d9_build *b);

#endif
