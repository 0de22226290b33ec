#ifndef PIPELINE_RECORD_MARKS_H
#define PIPELINE_RECORD_MARKS_H

#include "model/batch.h"
#include "format/ledger.h"
#include "run/choose/mark_set.h"
#include "run/stage.h"

/*
 * Which records of a trace a selection is made of.
 *
 * Who copies records as they are gets raw events, but a selection speaks of interpreted ones: a span may be
 * made of two records, and has the name of a third.  So a pass of its own over the same inputs interprets and
 * selects, and notes the records of what was selected: that at the event's offset, and the one that ended
 * a span.  Structure is noted as well.  In the pass that follows, raw events of other records are marked
 * with EVENT_LEFT_OUT, or taken away.
 *
 * A record is named by the number of its input, in the order in which inputs are opened, and its offset.
 * Memory: see mark_set.h; and one cursor for each input.
 */
enum record_marks_state {
	MARKS_NOT,       /* nothing is copied by its records */
	MARKS_GATHERING, /* this is the first pass */
	MARKS_MADE,
	MARKS_SCOPE,     /* made, for findings: events stay as they are */
	MARKS_READ_ONCE, /* there can be no first pass */
};

/* What is known of the records of an input, for findings. */
struct record_extents {
	struct record_marks *marks;
	uint32_t number; /* of the input */
	uint64_t end;    /* of the records that were met */
	struct mark_cursor extent, selected;
};

struct finding;
struct findings;
struct format;
struct select_found;
struct split;

struct record_marks {
	enum record_marks_state state;
	struct split *split; /* a record is marked with its part (run/choose/split.h), and the set is that of
	                      * the split; NULL: it is marked or not */
	uint32_t part, end;  /* of the split: records of these parts, [part, end), are not left out */
	uint32_t *parts;     /* of the split: of each event of the last batch, or SPLIT_NONE */
	uint32_t parts_cap;
	const struct format *format; /* whose records are copied; NULL: any */
	unsigned shift;              /* of the number of the input in a mark */
	bool drops;                  /* records that are not marked are taken away */
	bool too_large;              /* an offset is beyond that */
	bool failed;                 /* in the second pass: no memory, or the set's file failed */
	struct mark_set set;
	/* For findings: where each event begins, and where something else does, which is odd; see
	 * record_marks_left_out(). */
	struct mark_set extents;
	struct record_extents **inputs; /* by number; NULL: of no findings */
	uint32_t ninputs;
	struct mark_input {
		struct mark_cursor cursor;
		uint32_t part; /* of the last record that has one alone */
	} *cursors; /* by number of the input */
	uint32_t ncursors;
	uint64_t
	    *others; /* while gathering, for each event of a batch: the mark of the record that ended it */
	struct select_found *found; /* by the first pass, in interpreted events; NULL: there was none */
	struct pipeline_why why;    /* of the first pass, if it failed */
};

struct pipeline;

/* The first pass over the inputs of a pipeline whose job selects raw events.  false after a finding. */
bool record_marks_make(struct pipeline *p);

/* Of a pipeline whose job writes a part of what was split. */
void record_marks_of_part(struct pipeline *p);

/* Notes the i-th event of a batch, which is as select.c found it.  part: of the split, or SPLIT_ALL. */
void record_marks_add(struct record_marks *m, const struct batch *b, uint32_t i, uint32_t part);

/* The bit from which on a mark holds the number of the input, if there are so many inputs. */
unsigned record_marks_shift(size_t inputs);

/* What a source just read: while gathering, offsets become marks; later, events are left out.  false: it
 * failed, see record_marks_reason(). */
bool record_marks_read(struct record_marks *m, uint32_t input, struct batch *b);

/* One more pass, when the marks are made: gives each batch of raw events to `take`.  false after a finding.
 */
bool record_marks_survey(struct pipeline *p, void (*take)(void *ctx, const struct batch *b), void *ctx);

/* For findings of an input, the first argument of record_marks_left_out().  NULL: no memory. */
struct record_extents *record_marks_extents(struct record_marks *m, uint32_t input);

/* Whether the byte at this offset is of an event that was not selected.  Bytes of structure, and those that
 * belong to no record, are of none. */
bool record_marks_left_out(void *extents, uint64_t offset);

void record_marks_free(struct record_marks *m);

/* One line: why the marks cannot be used. */
void record_marks_reason(const struct record_marks *m, char *why, size_t size);

#endif
