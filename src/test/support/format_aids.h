#ifndef TESTING_FORMAT_AIDS_H
#define TESTING_FORMAT_AIDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * What a format brings for tests, benchmarks and fuzzing.  The file formats/X/X_aids.c defines
 *
 *     const struct format_aids X_aids = { .format = "X", ... };
 *
 * and the Makefile finds it.  None of it is linked into tracetool.  A format without such a file has no aids.
 */

/* An input of the benchmarks, made once and then kept in the bench folder. */
struct bench_input {
	const char *name;                       /* unique among all formats */
	const char *suffix;                     /* of the file */
	uint64_t events;                        /* of the usual size */
	uint64_t big_events;                    /* of some 2 GB */
	bool (*make)(FILE *f, uint64_t events); /* NULL: it is only a folder */
	/* The same number of events as a folder of several files; NULL: none. */
	bool (*make_folder)(const char *dir, uint64_t events);
	const char *on_request; /* what it is; runs only when it is named.  NULL: always */
};

struct format_aids {
	const char *format; /* the name in formats.def */
	/* Writes the samples of testdata/<format>, the same bytes each time.  `dir` is that folder, with good
	 * and bad in it.  false: it could not, and said why on standard error.  NULL: they have no generator.
	 */
	bool (*write_testdata)(const char *dir);
	const struct bench_input *bench_inputs; /* ended by a name of NULL; NULL: none */
	/* Small traces below testdata/<format>, files or folders, that together use what the reader can: each
	 * is read again and again with another call failing.  Ended by NULL; NULL: none. */
	const char *const *fault_samples;
	/* Ids of rules after whose findings the reader goes by what its window happens to show: such inputs
	 * may read otherwise through a small window.  Ended by NULL; NULL: none. */
	const char *const *window_rules;
};

extern const struct format_aids *const format_aids[]; /* ended by NULL */

const struct format_aids *format_aids_of(const char *format); /* NULL: it has none */

#endif
