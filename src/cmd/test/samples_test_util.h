#ifndef CMD_SAMPLES_TEST_UTIL_H
#define CMD_SAMPLES_TEST_UTIL_H

#include <cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/test/cli_test_util.h"

/* For tests of formats with samples and with real traces.  A failure here fails the test. */

/* ---- samples and what .expect files say of them ---- */

/*
 * NAME.expect states the result of `validate` for the sample NAME of the same folder: optional lines "exit
 * N", "dialect D" and "records N", then a line "RULE OFFSET" for each finding.
 */
struct samples {
	const char *suffix;      /* of the names of samples, ".pfw"; ".gz" or ".zst" may follow */
	const char *passed_over; /* a rule that a sound sample may break on a pipe; NULL: none */
	bool dialect, records;
	bool lines; /* findings have lines and columns, which are compared with their offsets */
};

/* `validate --format json` of a path, or of in[0..n) if it is "-". */
struct ran validate_json(const char *given, const void *in, size_t n);

/* Returns the report of validate_json() in the form of the .expect files; the caller frees it.  notes:
 * includes notes.  text: the sample, to compare lines and columns with offsets (samples.lines), or NULL.
 * what: for messages. */
char *findings_text(const struct samples *s, const struct ran *r, bool notes, const char *text,
                    const char *what);

/* Expects these findings in the report r, and frees it.  notes: notes are compared, too. */
void expect_findings(const struct samples *s, struct ran r, const char *want, bool notes, const char *what);

/* Expects the same findings from a file, from a pipe and, unless the file is packed, from compressed
 * copies of both. */
void expect_by_all_ways(const struct samples *s, const char *path, const char *want, bool notes);

/* Test all samples of a folder that have an .expect, or all samples of a folder without .expect files,
 * which have no findings but notes.  Return their number. */
size_t expect_samples(const struct samples *s, const char *folder);
size_t expect_sound_samples(const struct samples *s, const char *folder);

/* Expects that each rule of the format is in an .expect of testdata/FORMAT/bad (notes: of good), or else
 * in the list `elsewhere`, which ends with NULL, but not in both. */
void expect_samples_of_rules(const char *format, const char *const *elsewhere);

/* ---- bytes ---- */

/* The unpacked bytes of a file, to be freed. */
char *read_unpacked(const char *path, size_t *n);

/* Expects these bytes on standard output, nothing on standard error, and the exit status 0. */
void expect_bytes(const char *what, const struct ran *r, const void *p, size_t n);

/* Calls f with the path and the unpacked bytes of each file in the folder whose name ends in suffix, or in
 * suffix and ".gz" or ".zst"; in `make test`, of every third file.  Returns the number of calls. */
size_t each_file(const char *folder, const char *suffix,
                 void (*f)(const char *path, const char *p, size_t n));

struct file {
	char path[600];
	char *p;
	size_t n;
};

#define MAX_FILES 64

/* Adds the files of a folder whose names end in suffix to the first `count` files.  Returns the new number
 * of files, at most MAX_FILES. */
size_t load_files(struct file *files, size_t count, const char *folder, const char *suffix);
void free_files(struct file *files, size_t n);

/* ---- real traces ---- */

/* Returns the folder of real traces, $TRACETOOL_TRACES or ../shared/traces; skips the test without it. */
const char *real_traces(void);
bool has_real_traces(void);

/* Calls f for each member of EXPECTED.json in the folder whose name begins with prefix.  text: the whole
 * file.  Returns the number of calls; skips the test without the file. */
size_t each_expected(const char *folder, const char *prefix,
                     void (*f)(const char *folder, const cJSON *want, const char *text));

/* ---- reports ---- */

/* Runs stats; the report is to be deleted, its only input is returned in *input. */
cJSON *stats_of(const char *path, const cJSON **input);

/* A member that is a whole number. */
uint64_t number_at(const cJSON *object, const char *key);

#endif
