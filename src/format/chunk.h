#ifndef FORMAT_CHUNK_H
#define FORMAT_CHUNK_H

#include "format/format.h"

/* What the engine does with chunks (format.h). */

/* Of a folder's output: from here on it is for this file. */
struct chunk_part {
	const char *name; /* borrowed */
	size_t at;        /* in the text */
};

/* Bytes of a batch; never in the output of a folder. */
struct chunk_borrowed {
	size_t at; /* so much of the text goes out before them */
	struct slice bytes;
};

void chunk_clear(struct chunk *c);
void chunk_free(struct chunk *c);

#endif
