#ifndef CMD_SAMPLES_TEST_UTIL_H
#define CMD_SAMPLES_TEST_UTIL_H

#include <cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/test/cli_test_util.h"

/* What tests of formats do with samples and with real traces.  Whatever fails here fails the test. */

/* ---- samples and what .expect files say of them ---- */

/*
 * NAME.expect says what `validate` finds in the sample NAME of the same folder: "exit N", "dialect D" and
 * "records N" if these are so, then a line "RULE OFFSET" for each finding.
 */
struct samples {
	const char *suffix;      /* of the names of samples, ".pfw"; ".gz" or ".zst" may follow */
	const char *passed_over; /* a rule that a sound sample may break on a pipe; NULL: none */
	bool dialect, records;
	bool lines; /* findings have lines and columns, which are compared with their offsets */
};

/* `validate --format json` of a path, or of in[0..n) if it is "-". */
struct ran validate_json(const char *given, const void *in, size_t n);

/* Such a report in the form of the .expect files, to be freed; notes only if wanted.  text: NULL, or what the
 * places of findings are in, for samples.lines.  what: named in messages. */
char *findings_text(const struct samples *s, const struct ran *r, bool notes, const char *text,
                    const char *what);

/* Such a report says what is wanted, but for notes if these are not; frees it. */
void expect_findings(const struct samples *s, struct ran r, const char *want, bool notes, const char *what);

/* What is found by a file, a pipe and, if it is not packed, compressed copies of these. */
void expect_by_all_ways(const struct samples *s, const char *path, const char *want, bool notes);

/* All samples of a folder that have an .expect; those of a folder without one, which have no findings but
 * notes.  Both return how many there were. */
size_t expect_samples(const struct samples *s, const char *folder);
size_t expect_sound_samples(const struct samples *s, const char *folder);

/* Each rule of the format is in an .expect of testdata/FORMAT/bad or, if it is a note, of good, or named in
 * elsewhere (NULL-terminated), not both. */
void expect_samples_of_rules(const char *format, const char *const *elsewhere);

/* ---- bytes ---- */

/* The unpacked bytes of a file, to be freed. */
char *read_unpacked(const char *path, size_t *n);

/* The program wrote these bytes, nothing on standard error, and ended with 0. */
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

/* Adds the files of a folder whose names end in suffix to count others, as they are.  Returns how many
 * there are now, at most MAX_FILES. */
size_t load_files(struct file *files, size_t count, const char *folder, const char *suffix);
void free_files(struct file *files, size_t n);

/* ---- real traces ---- */

/* Where they are, $TRACETOOL_TRACES or ../shared/traces; skips the test if they are not there. */
const char *real_traces(void);
bool has_real_traces(void);

/* Calls f for each member of EXPECTED.json in the folder whose name begins with prefix.  text: the whole
 * file.  Returns how many there were; skips the test if there is no such file. */
size_t each_expected(const char *folder, const char *prefix,
                     void (*f)(const char *folder, const cJSON *want, const char *text));

/* ---- reports ---- */

/* Runs stats; the report is to be deleted, its only input is returned in *input. */
cJSON *stats_of(const char *path, const cJSON **input);

/* A member that is a whole number. */
uint64_t number_at(const cJSON *object, const char *key);

#endif
