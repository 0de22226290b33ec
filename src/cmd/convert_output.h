#ifndef CMD_CONVERT_OUTPUT_H
#define CMD_CONVERT_OUTPUT_H

#include "format/writer_folder.h"
#include "output/output.h"
#include "output/output_folder.h"

/* The output of a writer, whatever its shape: one file or a folder.  Zero-initialise to start; see
 * output/output.h and output/output_folder.h. */
struct convert_output {
	struct output *file;
	struct output_folder *folder; /* both NULL: not opened, or over */
};

/* flags: enum output_flags. */
bool convert_output_open(struct convert_output *o, const char *path, enum writer_shape shape, unsigned flags,
                         char *why, size_t n);

static inline bool
convert_output_is_open(const struct convert_output *o)
{
	return o->file != NULL || o->folder != NULL;
}

/* As writing_output.put; ctx is the struct convert_output. */
bool convert_output_put(void *ctx, const char *file, const char *p, size_t n);

/* Where the output is before it has its name; NULL: it was written directly. */
static inline const char *
convert_output_written(const struct convert_output *o)
{
	return o->folder != NULL ? output_folder_written(o->folder) : output_written(o->file);
}

bool convert_output_finish(struct convert_output *o);

/* When it is finished, with OUTPUT_SUMS: reads all its bytes.  false, which is a failure of the output: they
 * are not those that were written, or cannot be read. */
bool convert_output_check(struct convert_output *o);

/* As output_packed(). */
static inline const struct byte_sum *
convert_output_packed(const struct convert_output *o)
{
	return o->folder != NULL ? NULL : output_packed(o->file);
}

const char *convert_output_error(const struct convert_output *o);
bool convert_output_pipe_closed(const struct convert_output *o);
bool convert_output_commit(struct convert_output *o, char *why, size_t n);
void convert_output_discard(struct convert_output *o);

/* Whether such an output is there: a file, which got its name when it was complete; or a folder that
 * tracetool wrote, with all its files as large as they were.  *error: 0, or errno if that could not be found
 * out. */
bool convert_output_exists(const char *path, enum writer_shape shape, int *error);

#endif
