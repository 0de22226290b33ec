#ifndef FORMAT_WRITER_MODES_H
#define FORMAT_WRITER_MODES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice_type.h"
#include "output/output.h"

/* ---- writer modes ---- */

/* The events that a writer accepts.  The first mode that applies is chosen, except with --raw.  Raw events:
 * format/reader.h. */
enum writer_modes {
	WRITER_RAW_SAME = 1,    /* raw events, if the input is of the writer's own format */
	WRITER_INTERPRETED = 2, /* events with their meaning */
	WRITER_RAW = 4,         /* raw events of any format */
	WRITER_RAW_RUNS = 32,   /* with RAW_SAME: the reader may return one event for several adjacent
	                         * records, unless times are moved or events left out; only `bytes` is
	                         * valid then, and ts: needed to write them at another position */
	WRITER_RAW_SELECT = 8,  /* with RAW_SAME: omits raw events with EVENT_LEFT_OUT, and structure
	                         * records that only such events refer to */
	WRITER_RAW_BARE = 64,   /* with RAW_SELECT: unless times are moved, it reads fields only of structure
	                         * records and of the record at offset 0 */
	WRITER_RAW_BYTES = 16,  /* with RAW_SAME: reads only their bytes; they have no fields then */
	WRITER_TEXT = 128,      /* the output is text: useful under the suffix of another text format */
	WRITER_COVERS = 512,    /* with INTERPRETED: also gets events that are not selected, with
	                         * EVENT_LEFT_OUT, as they cover time of others */
	WRITER_SEEKS = 256,     /* its programs read it at random offsets: useless if compressed */
};

/* writer.raw: events are unmodified records.  writer.selected: they may have EVENT_LEFT_OUT; without it, with
 * RAW_SAME, all of the input is written.  RAW_SELECT requires that raw and interpreted events of a record
 * have the same offset, and that no reader combines several records in one event: the engine does.
 *
 * Some formats count their records, or store the time of each one in a field.  format.recounted names the
 * fields that a writer recomputes when records are left out or times are moved: that is no difference.
 *
 * A writer that must know the references of selected events before it writes the records before them has
 * writer_ops.survey: if events were selected, it gets all batches once, in a pass after open and before the
 * first render or write. */

struct chunk;

/* For writers of one file that copy records: appends bytes that the batch points to, without a copy if they
 * are many; the chunk's text does not contain them then. */
void chunk_borrow(struct chunk *c, struct slice s);

/* ---- writer end ---- */

/*
 * For writers that buffer output in temporary files (spill_file in base/os.h, next to writer.temp_near) and
 * write it at the end.
 */
struct chunk_end {
	/* Set by close: call it again when these bytes are written. */
	bool more;
	/* Set by any function of the writer: a system call failed; one line with path and reason, owned by
	 * the writer and valid until `free`.  The output is discarded. */
	const char *failed;
};

/* ---- writer folder ---- */

/* The shape of a writer's output: one file, or a folder of files. */
enum writer_shape { WRITER_FILE, WRITER_FOLDER };

struct chunk;

/* For a folder: text added from now on belongs to the file of this name, which is created even if it is
 * empty.  Call it before adding text.  Names are constants of the writer, or those of the input's files if
 * folder_name_wrong() accepts them, never other text of a trace; they may have sub-folders ("a/b"), see
 * output_folder_put().  The name is borrowed until `free`.  writer_ops.joint is 0. */
void chunk_file(struct chunk *c, const char *name);

/* For the engine: the files that parts of a chunk's text are for, and bytes to insert (chunk_borrow()). */
struct chunk_files {
	struct chunk_part *parts;
	uint32_t n, cap;
	struct chunk_borrowed *borrowed;
	uint32_t nborrowed, borrowed_cap;
};

#endif
