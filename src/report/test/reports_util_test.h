#ifndef REPORT_TEST_REPORTS_UTIL_TEST_H
#define REPORT_TEST_REPORTS_UTIL_TEST_H

#include "cmd/test/cli_test_util.h"

/* For tests of reports. */

#define REPORT_KINDS 9

extern const char *const report_names[REPORT_KINDS];

/* How often a word is in a text. */
size_t count_word(const char *text, const char *word);

/* Runs `validate ARGS` by the shell, with $0 the program; both outputs are joined. */
struct ran validate_sh(const char *environment, const char *args);

/* In ARGS: inputs with faults, of a binary format and of one made of lines. */
#define FAULTS "$FAULTS"

#endif
