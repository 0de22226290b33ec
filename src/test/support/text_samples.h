#ifndef TESTING_TEXT_SAMPLES_H
#define TESTING_TEXT_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

/* Samples of text formats: written by `make testdata`, with the expected findings of `tracetool validate`. */

#define TEXT_SAMPLE_EXPECTED 6

struct text_expected {
	const char *rule;   /* without the name of the format; NULL: none */
	const char *marker; /* text at whose first occurrence the finding is; NULL: at the end */
};

struct text_sample {
	const char *name; /* NULL in the last */
	const char *text;
	size_t n;
	int exit_status;
	unsigned records;
	struct text_expected expected[TEXT_SAMPLE_EXPECTED];
};

/* Writes DIR/KIND/NAME.SUFFIX and DIR/KIND/NAME.expect for each sample.  format: of the rules.  Returns false
 * after a message. */
bool text_samples_write(const char *dir, const char *kind, const char *format, const char *suffix,
                        const struct text_sample *samples);

#endif
