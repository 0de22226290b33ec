#ifndef FORMAT_CHUNK_H
#define FORMAT_CHUNK_H

#include "base/slice.h"
#include "format/ledger.h"
#include "output/output.h"
#include "output/text.h"

/* For a folder: bytes of the text from `at` on are for this file. */
struct chunk_part {
	const char *name; /* borrowed */
	size_t at;
};

/* Bytes to insert at `at` of the text, written without a copy. */
struct chunk_borrowed {
	size_t at;
	struct slice bytes;
};

/* A run of output, and its losses.  Failures of both are sticky: writers need not check. */
struct chunk {
	struct text text;
	struct ledger ledger;
	/* Set by any function of the writer: a system call failed; one line with path and reason, owned by
	 * the writer and valid until `free`.  The output is discarded. */
	const char *failed;
	/* for the engine, and the functions below */
	struct chunk_part *parts;
	struct chunk_borrowed *borrowed;
	uint32_t nparts, parts_cap, nborrowed, borrowed_cap;
	bool (*flush)(void *ctx, struct chunk *c); /* NULL: chunk_flush() does nothing */
	void *flush_ctx;
};

/* For a folder (WRITER_FOLDER): text added from now on belongs to the file of this name, which is created
 * even if it is empty.  Call it before adding text.  Names are constants of the writer, or those of the
 * input's files if folder_name_wrong() accepts them, never other text of a trace; they may have sub-folders
 * ("a/b"), see output_folder_put().  The name is borrowed until `free`. */
void chunk_file(struct chunk *c, const char *name);

/* For writer_ops.close, if it writes much: outputs the content of the chunk.  For a folder, text added later
 * belongs to the same file.  Returns false if no more text is needed. */
bool chunk_flush(struct chunk *c);

/* For outputs of one file: appends bytes of the batch, without a copy if they are many; the chunk's text does
 * not contain them then. */
void chunk_borrow(struct chunk *c, struct slice s);

/* For the engine. */
void chunk_clear(struct chunk *c);
void chunk_free(struct chunk *c);

#endif
