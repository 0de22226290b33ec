#ifndef OVNI_MARKS_TEST_H
#define OVNI_MARKS_TEST_H

#include <stdint.h>

/* For tests: decodes a trace of marks without the reader, and asserts what the specification and ovniemu ask
 * of it: header, one OHx first and one OHe last, clocks that do not go back, stacks of marks that fit,
 * complete metadata. */

struct marked {
	char *label; /* NULL: the value has none */
	int64_t value;
	unsigned type;
	uint64_t count, ns;
};

struct marks_found {
	struct marked *list; /* by type and value */
	unsigned n, streams;
	char *titles[100];
	char *names; /* of threads and processes, each between two newlines */
};

/* dir: the output. */
void marks_decode(struct marks_found *m, const char *dir);
void marks_free(struct marks_found *m);

/* The marks of a label; NULL: there are none. */
const struct marked *marks_find(const struct marks_found *m, unsigned type, const char *label);

#endif
