#ifndef FORMAT_WRITER_MODES_H
#define FORMAT_WRITER_MODES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice_type.h"
#include "output/output.h"

/* ---- writer modes ---- */

/* What events a writer can be given.  The first that applies is chosen unless the user says --raw.  Raw
 * events: see format/reader.h. */
enum writer_modes {
	WRITER_RAW_SAME = 1,    /* raw events, if the input is of the writer's own format */
	WRITER_INTERPRETED = 2, /* events with their meaning */
	WRITER_RAW = 4,         /* raw events of any format */
	WRITER_RAW_RUNS = 32,   /* with RAW_SAME: unless times are moved or events left out, one raw event
	                         * without fields may stand for a run of records, of which only the
	                         * bytes are looked at; ts: what it needs to write them elsewhere */
	WRITER_RAW_SELECT = 8,  /* with RAW_SAME: leaves out raw events with EVENT_LEFT_OUT, and structure
	                         * records that only such events refer to */
	WRITER_RAW_BARE = 64,   /* with RAW_SELECT: unless times are moved, render or write looks at fields of
	                         * structure records alone, and of what is at offset 0 */
	WRITER_RAW_BYTES = 16,  /* with RAW_SAME: looks at their bytes alone; they have no fields then */
	WRITER_TEXT = 128,      /* what it writes is text: of use under the suffix of another text */
	WRITER_SEEKS = 256,     /* its programs read here and there in it: of no use if compressed */
};

/* writer.raw: events are as the file has them.  writer.selected: they may have EVENT_LEFT_OUT; without it,
 * with RAW_SAME, all of the input is written.  For RAW_SELECT raw and interpreted events of a record have the
 * same offset, and no reader makes one event of several records: the engine does.
 *
 * Some formats count their records, or say in a field when each one is.  format.recounted names the fields
 * that a writer counts anew when records are left out or times are moved: that is no difference.
 *
 * A writer that has to know what retained events refer to before it writes what stands ahead of them has
 * writer_ops.survey: if events were selected, it gets all batches once in a pass of their own, behind open
 * and before the first render or write. */

struct chunk;

/* For writers of one file that copy records: adds bytes that the batch points to.  They go out behind what
 * was added before, without another copy if they are many; the chunk's text does not hold them then. */
void chunk_borrow(struct chunk *c, struct slice s);

/* ---- writer end ---- */

/*
 * For writers that keep what they make in temporary files (base/os.h,
 * beside writer.beside) and write it in the end.
 */
struct chunk_end {
	/* Set by close: there is more; it is called again when these bytes are written. */
	bool more;
	/* Set by any of the writer's functions: what the system failed to do, one line with path and reason.
	 * The text is the writer's, and stays until `free`; the output is given up. */
	const char *failed;
};

/* ---- writer folder ---- */

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
