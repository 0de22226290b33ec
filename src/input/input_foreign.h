#ifndef INPUT_INPUT_FOREIGN_H
#define INPUT_INPUT_FOREIGN_H

#include <stddef.h>

/* What an input is that no format recognises, told by its first bytes, and what to do with it. */
struct input_foreign {
	const char *name;   /* "bzip2-compressed data" */
	const char *advice; /* "unpack it first (bzip2 -d)" */
};

/* NULL: nothing that is known. */
const struct input_foreign *input_foreign_find(const char *p, size_t n);

#endif
