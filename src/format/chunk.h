#ifndef FORMAT_CHUNK_H
#define FORMAT_CHUNK_H

#include "format/format.h"

/* Chunks (format/writer.h) as the engine sees them. */

/* In the output of a folder: the text from `at` on is for this file. */
struct chunk_part {
	const char *name; /* borrowed */
	size_t at;        /* offset in the text */
};

/* Bytes of a batch, written without a copy; never in the output of a folder. */
struct chunk_borrowed {
	size_t at; /* offset in the text at which they are inserted */
	struct slice bytes;
};

void chunk_clear(struct chunk *c);
void chunk_free(struct chunk *c);

#endif
