#ifndef OUTPUT_OUTPUT_FAILURE_H
#define OUTPUT_OUTPUT_FAILURE_H

#include <stdbool.h>
#include <stddef.h>

/* The first thing that failed in an output, as a message "NAME: REASON".  Zero-initialise to start. */
struct output_failure {
	int error;  /* errno; 0: nothing failed */
	char *name; /* of the output, as a terminal may show it */
	char *text; /* has room for the message from the start */
	size_t size;
};

/* false: no memory. */
bool output_failure_init(struct output_failure *f, const char *name);
void output_failure_free(struct output_failure *f);

/* Remember the first failure; all return false.  reason: NULL is that of errno.  file: of a folder, not
 * longer than OUTPUT_FAILURE_FILE_MOST bytes. */
enum { OUTPUT_FAILURE_FILE_MOST = 1024 };
bool output_failure_set(struct output_failure *f, int error);
bool output_failure_because(struct output_failure *f, int error, const char *reason);
bool output_failure_in(struct output_failure *f, const char *file, int error, const char *reason);

/* NULL: nothing failed. */
const char *output_failure_text(const struct output_failure *f);

/* Copies the message, NUL-terminated, into n bytes.  When it is too long, the start of the name goes, not the
 * reason. */
void output_failure_tell(const struct output_failure *f, char *why, size_t n);

/* The message when there was no memory for a struct output_failure.  name: as it came, not escaped. */
void output_failure_no_memory(const char *name, char *why, size_t n);

#endif
