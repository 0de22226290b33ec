#ifndef FORMAT_WRITER_MODES_H
#define FORMAT_WRITER_MODES_H

#include "base/slice_type.h"

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

#endif
