#ifndef TESTING_FORMAT_AIDS_H
#define TESTING_FORMAT_AIDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Aids of a format for tests, benchmarks and fuzzing.  The file formats/X/test/aids.c defines
 *
 *     const struct format_aids X_aids = { .format = "X", ... };
 *
 * and the Makefile finds it.  It is not linked into tracetool.  A format without such a file has no aids and
 * no samples (docs/samples.md).
 */

/* An input of the benchmarks, created once and kept in the bench folder. */
struct bench_input {
	const char *name;                       /* unique among all formats */
	const char *suffix;                     /* of the file */
	uint64_t events;                        /* of the default size */
	bool (*make)(FILE *f, uint64_t events); /* NULL: a folder */
	bool (*make_folder)(const char *dir, uint64_t events);
};

struct format_aids {
	const char *format; /* the name in formats.def */
	/* Writes files too large for the text of samples to dir, testdata/<format>; the same bytes each time.
	 * Returns false after a message.  May be NULL. */
	bool (*write_testdata)(const char *dir);
	const struct bench_input *bench_inputs; /* the last has a name of NULL; or NULL */
	/* Small traces below testdata/<format>, files or folders, that together use all features of the
	 * reader: each is read again and again with another call failing.  Ends with NULL; or NULL. */
	const char *const *fault_samples;
	/* Ids of rules after which the reader guesses by the content of its window: such inputs may be read
	 * differently through a small window.  Ends with NULL; or NULL. */
	const char *const *window_rules;
};

extern const struct format_aids *const format_aids[]; /* ends with NULL */

/* Returns the aids of a format, or NULL. */
const struct format_aids *format_aids_of(const char *format);

#endif
