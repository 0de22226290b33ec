#ifndef TESTING_TEXT_SAMPLES_H
#define TESTING_TEXT_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

/* Samples of a format made of text: what `make testdata` writes, and what `tracetool validate` must find in
 * them. */

#define TEXT_SAMPLE_EXPECTED 6

struct text_expected {
	const char *rule;   /* without the format's name; NULL: none */
	const char *marker; /* the finding is where this stands first; NULL: at the end */
};

struct text_sample {
	const char *name; /* NULL ends a list */
	const char *text;
	size_t n;
	int exit_status;
	unsigned records;
	struct text_expected expected[TEXT_SAMPLE_EXPECTED];
};

/* Writes DIR/KIND/NAME.SUFFIX and, beside it, NAME.expect for each; format: of the rules.  false: it could
 * not be done, and standard error says why. */
bool text_samples_write(const char *dir, const char *kind, const char *format, const char *suffix,
                        const struct text_sample *samples);

#endif
