#ifndef FORMAT_WRITER_END_H
#define FORMAT_WRITER_END_H

#include <stdbool.h>

/*
 * For writers that keep what they make in temporary files (base/spill_file.h,
 * beside writer.beside) and write it in the end.
 */
struct chunk_end {
	/* Set by close: there is more; it is called again when these bytes are written. */
	bool more;
	/* Set by any of the writer's functions: what the system failed to do, one line with path and reason.
	 * The text is the writer's, and stays until `free`; the output is given up. */
	const char *failed;
};

#endif
