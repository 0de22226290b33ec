#ifndef PIPELINE_SPLIT_H
#define PIPELINE_SPLIT_H

#include "base/table.h"
#include "run/read/operands.h"
#include "run/read/marks.h"

/*
 * A trace divided into several: each event is in the part in which it begins.  A pass of its own finds which
 * parts there are, and, where records are copied, of which part each record is; then each part is written by
 * a run of its own, whose job has `split` and `part`.
 *
 * Records of events are of the part of their event.  A record that makes no event is of the part of the
 * record before it in its input, so that each one is in some part.  Structure is of all parts: the writer
 * knows what of it a part needs.
 *
 * Memory: see mark_set.h; and SPLIT_MOST parts.
 */
enum split_by {
	SPLIT_NOT,
	SPLIT_TIME,   /* each `step` ns from the least time of the trace on */
	SPLIT_PID,    /* each process, by its id */
	SPLIT_TID,    /* each thread, by its id and that of its process */
	SPLIT_STREAM, /* each input; only where records are copied, and so is */
	SPLIT_SIZE,   /* as many records as have `step` bytes of output */
};

#define SPLIT_MOST 10000   /* parts */
#define SPLIT_UNITS 16     /* that have about the bytes of a part, see split.units */
#define SPLIT_NAME_SIZE 64 /* bytes of a part's name, with the NUL */

struct split_part {
	const char *name; /* "part-00003", "pid-17-tid-18": words and numbers alone */
};

/* What one pass knows already.  Zero-initialise to start. */
struct split_cache {
	uint32_t *of_track; /* by index of the track: its part and 1 */
	uint32_t ntracks;
	uint64_t number; /* of the last event's part ... */
	uint32_t part;   /* ... and 1 */
};

struct split {
	enum split_by by;
	uint64_t step;
	bool planned, copies; /* known after split_plan(); copies: of records */
	bool selects;         /* not all events are wanted */
	uint64_t first;       /* ns, of TIME */
	uint64_t bytes;       /* of all inputs, unpacked */
	struct split_part *parts;
	uint32_t nparts, parts_cap;
	/* Of SIZE, instead of parts: stretches of the inputs in the order in which they are read.  Parts are
	 * made of some of them in a row when it is known how large that is.  How many events each has. */
	uint32_t *units, nunits, units_cap;
	uint64_t last_number; /* of the unit that was noted last, and 1 */
	uint32_t last_unit;
	struct table64 by_number;
	struct tabletext by_name;
	struct arena names;
	struct operands operands; /* of the job: what is written meanwhile is none of them */
	struct record_marks marks;
	struct select_found *found; /* by the pass that plans */
	bool no_memory;             /* so is a name that could not be made; */
	bool too_many;              /* parts; */
	bool is_refused;            /* this trace has no such parts; */
	bool is_changed; /* later, an event was of no part that there is; nothing is to be used then */
	char why[512];   /* the plan failed */
};

/* The part of an event that begins at this time, in the input of this number.  In the pass that plans, parts
 * are made.  SPLIT_NONE: it has none, and a flag says why. */
uint32_t split_part_of(struct split *s, struct split_cache *c, const struct event *e, uint64_t start,
                       uint64_t input);

/* All events were seen while the split was planned: makes sure of one part at least, and that names sort. */
bool split_finish(struct split *s);

/* Notes the records of an input, while SPLIT_SIZE is planned. */
void split_note(struct split *s, const struct batch *b, uint64_t input);

void split_cache_free(struct split_cache *c);
void split_free(struct split *s);

#endif
