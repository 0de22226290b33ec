#ifndef OVNI_COPY_H
#define OVNI_COPY_H

#include "format/format.h"

/* What a writer that copies streams gets besides their records (format/reader_copy.h). */

#define OVNI_MOST_FILES 4 /* of a stream, itself included; more are never read */

/* A file of a stream's folder that was read. */
struct ovni_file {
	char *name;
	char *content; /* NULL: it was too large */
	uint32_t n;    /* bytes of it */
};

/* Files that are still to be handed on. */
struct ovni_files {
	struct ovni_file list[OVNI_MOST_FILES];
	uint32_t n, next;
	bool done; /* the stream's own record was handed on, too */
};

#define OVNI_NOT_READ SIZE_MAX

/* Copies a file of n bytes at p; OVNI_NOT_READ: it is too large.  false: no memory. */
bool ovni_files_add(struct ovni_files *f, const char *name, const char *p, size_t n);
void ovni_files_free(struct ovni_files *f);

/* Whether this reader hands files on. */
static inline bool
ovni_copies_files(const struct reader *r)
{
	return (r->want & WANT_FILES) != 0 && (r->want & WANT_RAW) != 0;
}

/* Whether it hands on runs of records. */
static inline bool
ovni_copies_runs(const struct reader *r)
{
	return (r->want & WANT_RUNS) != 0 && (r->want & WANT_RAW) != 0;
}

/* Adds records of files until the batch is full; f->done: all of them.  number: of the stream, which becomes
 * `dur` of the records.  false: no memory. */
bool ovni_files_put(struct ovni_files *f, struct reader *r, struct batch *b, uint32_t number);

/* Adds one for a file of the folder of the trace.  false: no memory. */
bool ovni_copy_file(struct reader *r, struct batch *b, struct slice name, struct slice content,
                    uint32_t number);

/* Adds a run of records (WANT_RUNS), which must not be empty.  false: no memory. */
bool ovni_copy_run(struct reader *r, struct batch *b, struct slice bytes, uint64_t offset, uint32_t number);

#endif
