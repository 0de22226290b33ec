#ifndef RUN_READ_MARKS_H
#define RUN_READ_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/os.h"
#include "model/batch.h"
#include "run/read/mark_set.h"
#include "run/stage.h"

/*
 * The records that a selection consists of.
 *
 * A copy of records has raw events, but a selection applies to interpreted ones: a span may be made of two
 * records, and named by a third.  So a pass over the same inputs (run/passes.c) interprets, selects, and
 * marks the records of selected events: the record at the event's offset, and the record that ended a span.
 * Any other event of the latter marks the begin of that span, too (store_other() in interpret.c).
 * Structure is marked, as it may be an event if it is read raw.  In the next pass, raw events of records
 * without a mark get EVENT_LEFT_OUT, or are removed.
 *
 * If each record is an event that the reader completes (COPIER_WHOLE), that pass is made only if an event
 * needs it.  Events are selected as they are read; a survey marks them for the pass after it.
 *
 * A mark is the number of the input, in the order of opening, and the offset of the record.  Memory: that of
 * the set, and a cursor for each input.
 */
enum record_marks_state {
	MARKS_NOT,       /* not used */
	MARKS_GATHERING, /* in the first pass */
	MARKS_MADE,
	MARKS_SCOPE,         /* made, for findings only: events are unchanged */
	MARKS_READ_ONCE,     /* a first pass is impossible */
	MARKS_WHILE_READING, /* events are selected as they are read, until one needs marks */
};

/* Positions of the records of an input, for findings. */
struct record_extents {
	struct record_marks *marks;
	uint32_t number; /* of the input */
	uint64_t end;    /* of all records up to now */
	struct mark_cursor extent, selected;
};

struct format;
struct select_found;

#define SPLIT_BITS 20                      /* of the number of a part in a mark */
#define SPLIT_ALL ((1U << SPLIT_BITS) - 1) /* of structure: all parts */
#define SPLIT_NONE UINT32_MAX

struct record_marks {
	enum record_marks_state state;
	/* For a split (run/choose/split.h): each mark carries the number of a part. */
	bool has_parts;
	bool selects; /* a record without a mark is not selected; false: it is in the last part before it */
	struct mark_set *planned; /* the set with the marks, once made */
	uint32_t part, end;       /* records of these parts, [part, end), are not left out */
	uint32_t *parts;          /* of each event of the last batch; SPLIT_NONE: none */
	uint32_t parts_cap;
	/* While gathering: called with each batch of a source, before offsets become marks.  NULL: not
	 * called. */
	void (*note)(void *ctx, const struct batch *b, uint64_t input);
	void *note_ctx;
	/* With MARKS_WHILE_READING: leaves out events of a batch or, if that is not possible, makes the
	 * marks.  false: making them failed. */
	bool (*choose)(void *ctx, struct batch *b);
	void *choose_ctx;
	bool surveying;              /* events selected while reading are marked for the next pass, too */
	const struct format *format; /* of copied records; NULL: any */
	unsigned shift;              /* first bit of the input number in a mark */
	bool drops;                  /* records without a mark are removed */
	bool too_large;              /* an offset needs more bits than a mark has */
	bool failed;     /* OOM, or a file failed; while gathering, used by the thread that selects */
	bool no_extents; /* OOM; while gathering, used by the thread that reads */
	struct mark_set set;
	uint64_t ended; /* 1 + the mark of the record that ended the last span; 0: none */
	/* Ends of stretches of marked events: the first event after each that is not marked.  Available if
	 * events were marked in file order; a stretch of events that are all marked, or all left out, is read
	 * as one. */
	struct mark_set ends;
	bool has_stretches;
	bool was_chosen; /* the event marked last was selected */
	/* For findings: offsets shifted left by one, with bit 0 set where bytes without an event start,
	 * and clear where an event starts. */
	struct mark_set extents;
	struct record_extents **inputs; /* by number; NULL: unused */
	uint32_t ninputs;
	struct mark_input {
		struct mark_cursor cursor;
		struct mark_cursor begin, end; /* of stretches */
		uint64_t until;                /* end of the stretch found last */
		uint32_t part;                 /* of the last record that is in one part only */
	} * cursors;                           /* by number of the input */
	uint32_t ncursors;
	uint64_t *others; /* while gathering, by event of a batch: a further mark, see interpret.others */
	/* Marks with times, for a window that is known at the end: MARKS_TIMED in memory, others in the
	 * file. */
	struct timed_mark {
		uint64_t ts, dur, mark, other; /* dur 0: no span, or an empty one; other: may be `mark` */
	} * timed;
	uint32_t ntimed;
	struct spill_file timed_file;
	struct select_found *found; /* in interpreted events, by the first pass; freed by the marks' owner */
	struct pipeline_why why;    /* of the first pass, if it failed */
};

/* Marks the records of the i-th event of a batch.  part: of the split, or SPLIT_ALL. */
void record_marks_add(struct record_marks *m, const struct batch *b, uint32_t i, uint32_t part);

#define MARKS_TIMED (1U << 17)

/* The same for an event that is selected if it is in the window: keeps the mark and its times.  Not for a
 * split. */
void record_marks_keep(struct record_marks *m, const struct batch *b, uint32_t i);

/* Marks the kept events that `wanted` returns true for: of each, phase, ts and dur are valid.  Failures are
 * those of record_marks_finish(). */
void record_marks_release(struct record_marks *m, bool (*wanted)(void *ctx, const struct event *e),
                          void *ctx);

/* The first bit of the input number in a mark, for this number of inputs. */
unsigned record_marks_shift(size_t inputs);

/* Call it for each batch that a source read: while gathering, replaces offsets by marks; later, leaves out
 * events.  Returns false if it failed: record_marks_reason(). */
bool record_marks_read(struct record_marks *m, uint32_t input, struct batch *b);

/* To be called when all marks are gathered; with_extents: findings will need them too.  false: see
 * record_marks_reason(). */
bool record_marks_finish(struct record_marks *m, bool with_extents);

/* The first argument of record_marks_left_out(), for findings of an input. */
struct record_extents *record_marks_extents(struct record_marks *m, uint32_t input);

/* Whether the byte at this offset belongs to an event that was not selected; false for structure and bytes
 * without a record. */
bool record_marks_left_out(void *extents, uint64_t offset);

/* The end of the stretch with the event at this offset: the offset of the next event that is marked if this
 * event is not, or not marked if it is. */
uint64_t record_marks_stretch(struct record_marks *m, uint32_t input, uint64_t offset);

/* The offset of the first marked record from this offset on; UINT64_MAX: none. */
uint64_t record_marks_next(struct record_marks *m, uint32_t input, uint64_t offset);
void record_marks_free(struct record_marks *m);

/* Reason why the marks are invalid, one line. */
void record_marks_reason(const struct record_marks *m, char *why, size_t size);

#endif
