#ifndef BENCH_INPUTS_H
#define BENCH_INPUTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* An input of a benchmark: made once, kept in the bench folder.  A new format adds a row to bench_inputs.c.
 */
struct bench_input {
	const char *format;
	const char *suffix;                     /* of the file */
	uint64_t events;                        /* of the usual size */
	uint64_t big_events;                    /* of some 2 GB */
	bool (*make)(FILE *f, uint64_t events); /* NULL: it is only a folder */
	/* The same number of events as a folder of several files; NULL: none. */
	bool (*make_folder)(const char *dir, uint64_t events);
	bool on_request; /* only when it is named */
};

extern const struct bench_input bench_inputs[]; /* ended by a format of NULL */

/* Makes the file if it is not there; gz: the same, compressed by gzip(1).  Fills path.  false: it could not
 * be made. */
bool bench_input_ensure(const struct bench_input *in, const char *dir, bool big, bool gz, char *path,
                        size_t path_cap);

/* Likewise the folder. */
bool bench_folder_ensure(const struct bench_input *in, const char *dir, bool big, char *path,
                         size_t path_cap);

/* Spans of four threads, each flushed in blocks, in order of their end; 40 bytes a span. */
bool bench_make_htdump(FILE *f, uint64_t spans);
bool bench_make_dftracer(FILE *f, uint64_t records);

/* Actors of five streams, with attributes of all types; some 90 bytes an event. */
bool bench_make_heph(FILE *f, uint64_t events);
/* Segments of two tokio workers: polls, wakes, spans, parking; some 12 bytes an event. */
bool bench_make_dial9(FILE *f, uint64_t events);

/* Events of one thread, of four, of 20,000; 13 bytes each on average. */
bool bench_make_ovni(FILE *f, uint64_t events);
bool bench_make_ovni_folder(const char *dir, uint64_t events);
bool bench_make_ovni_many(const char *dir, uint64_t events);

#endif
