#ifndef FORMAT_WRITER_FOLDER_H
#define FORMAT_WRITER_FOLDER_H

#include <stdint.h>

#include "output/folder_name.h"

/* The shape of a writer's output: one file, or a folder of files. */
enum writer_shape { WRITER_FILE, WRITER_FOLDER };

struct chunk;

/* Of a folder: what is added to the chunk from now on belongs to the file of this name, which is made even if
 * that is nothing.  Call it before anything is added.  Names are the writer's own words, or those of the
 * input's files where folder_name_wrong() finds nothing wrong, never other text of a trace; they may have
 * sub-folders ("a/b"), see output_folder_put().  The name stays the caller's, and unchanged, until `free`.
 * A folder needs no joint (writer_ops.joint is 0). */
void chunk_file(struct chunk *c, const char *name);

/* For the engine: which parts of a chunk's text are for which file, and what goes out between them (see
 * chunk_borrow()). */
struct chunk_files {
	struct chunk_part *parts;
	uint32_t n, cap;
	struct chunk_borrowed *borrowed;
	uint32_t nborrowed, borrowed_cap;
};

#endif
