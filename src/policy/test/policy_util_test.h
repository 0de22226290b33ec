#ifndef POLICY_TEST_POLICY_UTIL_TEST_H
#define POLICY_TEST_POLICY_UTIL_TEST_H

#include "report/test/reports_util_test.h"

/* For tests of policies: a folder with a trace in it, "a.json". */

/* Six events of two threads of a process: spans "request" (500 us and 900 us), "parse" and "open", the last
 * without an end, an instant "tick", a counter "load"; from 1 ms to 2.6 ms. */
extern const char policy_trace[];

/* A new folder with it, and a folder .git; to be removed with remove_folder(). */
char *policy_folder(void);

/* Writes a file into it; makes the folders on the way. */
void policy_put(const char *dir, const char *name, const char *text);

/* Runs `validate ARGS` in the folder, with $0 the program; both outputs are joined. */
struct ran policy_run(const char *dir, const char *args);

/* The status, a text that the output has, and one that it lacks (both may be NULL). */
void policy_expect(const char *dir, const char *args, int status, const char *has, const char *lacks);

#endif
