#ifndef RUN_CHOOSE_SPLIT_H
#define RUN_CHOOSE_SPLIT_H

#include "base/table.h"
#include "run/read/operands.h"
#include "run/read/marks.h"

/*
 * Divides a trace into parts: each event is in the part in which it begins.  A pass (split_plan() in
 * run/pipeline.h) finds the parts, and, if records are copied, the part of each record; then each part is
 * written by a run whose job has `split` and `part`.
 *
 * A record is in the part of its event.  A record without an event is in the part of the record before it in
 * its input.  Structure is in all parts: the writer omits what a part does not need.
 *
 * Memory: that of the marks (run/read/marks.h), and SPLIT_MAX_PARTS parts.
 */
enum split_by {
	SPLIT_NOT,
	SPLIT_TIME,   /* intervals of `step` ns from the least time of the trace */
	SPLIT_PID,    /* processes by id */
	SPLIT_TID,    /* threads by id and process id */
	SPLIT_STREAM, /* inputs; only for copies of records, like SIZE */
	SPLIT_SIZE,   /* consecutive records with `step` bytes of output */
};

#define SPLIT_MAX_PARTS 10000 /* parts */
#define SPLIT_UNITS 16        /* per part, about; see split.units */
#define SPLIT_NAME_SIZE 64    /* bytes of a part's name, with the NUL */

/* Cache of one pass.  Zero-initialise. */
struct split_cache {
	uint32_t *of_track; /* by index of the track: part + 1 */
	uint32_t ntracks;
	uint64_t number; /* of the last part ... */
	uint32_t part;   /* ... and that part + 1 */
};

struct split {
	enum split_by by;
	uint64_t step;
	bool planned, copies; /* after split_plan(); copies: of records */
	bool selects;         /* not all events are selected */
	uint64_t first;       /* ns, of TIME */
	uint64_t bytes;       /* of all inputs, unpacked */
	uint64_t structure;   /* bytes of these records, about */
	const char **parts;   /* their names: "part-00003", "pid-17-tid-18"; only words and numbers */
	uint32_t nparts, parts_cap;
	/* SPLIT_SIZE only: number of events in each fixed-size range of the inputs, in order of reading.
	 * Parts are made of consecutive ranges, by the size of their output. */
	uint32_t *units, nunits, units_cap;
	uint64_t last_number; /* last unit seen + 1 */
	uint32_t last_unit;
	struct table64 by_number;
	struct tabletext by_name;
	struct arena names;
	struct operands operands; /* of the job, listed before outputs appear */
	struct record_marks marks;
	struct select_found *found; /* by the planning pass */
	bool no_memory;             /* also if a name could not be built */
	bool too_many;              /* parts */
	bool is_refused;            /* this trace has no such parts */
	bool is_changed;            /* an event was in no known part after planning: the input changed */
	char why[512];              /* why the plan failed */
};

/* The part of an event that begins at this time, in the input of this number; adds parts in the planning
 * pass.  Returns SPLIT_NONE on failure, with a flag set. */
uint32_t split_part_of(struct split *s, struct split_cache *c, const struct event *e, uint64_t start,
                       uint64_t input);

/* At the end of the planning pass: ensures one part at least, and names that sort. */
bool split_finish(struct split *s);

/* While SPLIT_SIZE is planned: counts the records of an input in their units. */
void split_note(void *split, const struct batch *b, uint64_t input);

void split_cache_free(struct split_cache *c);
void split_free(struct split *s);

#endif
