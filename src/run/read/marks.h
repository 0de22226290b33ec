#ifndef RUN_CHOOSE_MARKS_H
#define RUN_CHOOSE_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/os.h"
#include "format/ledger.h"
#include "model/batch.h"
#include "run/stage.h"

/* ---- mark set ---- */

/*
 * A set of numbers, added in any order and then queried mostly in ascending order: an external sort.
 *
 * An entry is a number; or, with `pages`, for dense numbers, a page: its number, then a bitmap of the
 * MARK_PAGE numbers in it.  Pages remain open for a while, so that numbers slightly out of order need no
 * sorting.
 *
 * Memory: MARK_SET_ROOM words of 8 bytes, twice while they are sorted; MARK_SET_OPEN pages.  Beyond that
 * sorted runs are written to a temporary file, and merged into one at the end.
 */
#define MARK_SET_ROOM (1U << 20)
#define MARK_SET_OPEN 8192U
#define MARK_PAGE_BITS 9U /* low bits of a number: its bit in the page */
#define MARK_PAGE (1U << MARK_PAGE_BITS)
#define MARK_PAGE_WORDS (1U + MARK_PAGE / 64U) /* of an entry */

/* Words in memory per cursor, if the set is in a file. */
#define MARK_SET_BLOCK (64U * MARK_PAGE_WORDS)

struct mark_run {
	uint64_t at;          /* in the file, bytes */
	uint64_t n;           /* entries */
	uint64_t first, last; /* of their numbers */
};

struct mark_set {
	bool pages;            /* entries are pages */
	uint64_t *keys;        /* entries, sorted by mark_set_finish() */
	uint32_t n, cap;       /* words */
	uint32_t max;          /* max words in memory; 0: MARK_SET_ROOM */
	const char *temp_near; /* for spill_open(); borrowed */
	struct mark_page {
		uint64_t words[MARK_PAGE_WORDS];
	} * open; /* MARK_SET_OPEN of them; without a bit: unused */
	struct spill_file file;
	struct mark_run *runs;
	uint32_t nruns, runs_cap;
	uint64_t total; /* after mark_set_finish(): distinct entries */
	bool no_memory; /* or the file failed: the set is invalid */
};

/* A position in the set.  Zero-initialise. */
struct mark_cursor {
	uint64_t at;              /* index of the least entry >= the last query */
	uint64_t last;            /* the last query */
	uint64_t from;            /* index of the first entry in the block */
	uint32_t n;               /* entries in the block */
	uint64_t *block;          /* NULL: the set is in memory */
	const uint64_t *page;     /* found last; NULL: none */
	uint64_t absent, present; /* numbers of pages: those in [absent, present) do not exist */
};

/* The slot of the page of this number. */
static inline struct mark_page *mark_page_at(const struct mark_set *s, uint64_t number)
{
	/* The high bits are the input number; inputs must not share slots. */
	return &s->open[(number + (number >> 32) * 0x9E3779B1U) % MARK_SET_OPEN];
}

static inline void mark_page_set(struct mark_page *p, uint64_t key)
{
	p->words[1 + key % MARK_PAGE / 64] |= UINT64_C(1) << key % 64;
}

/* mark_set_add() of a number that is not on an open page. */
void mark_set_add_other(struct mark_set *s, uint64_t key);

/* Zero-initialise *s, and set `pages`, `max` and `temp_near` if needed.  Failures are sticky:
 * mark_set_finish() returns them. */
static inline void mark_set_add(struct mark_set *s, uint64_t key)
{
	struct mark_page *const p = s->open != NULL ? mark_page_at(s, key >> MARK_PAGE_BITS) : NULL;

	if (p != NULL && p->words[0] == key >> MARK_PAGE_BITS)
		mark_page_set(p, key);
	else
		mark_set_add_other(s, key);
}

/* Call it after the last number.  Returns false on OOM, or if the file failed (s->file.failed). */
bool mark_set_finish(struct mark_set *s);
void mark_set_free(struct mark_set *s);

/* mark_cursor_has() of a number that is not on the page found last. */
bool mark_cursor_find(struct mark_cursor *c, struct mark_set *s, uint64_t key, bool *failed);

/* Whether the set contains the number.  Cheap if it is not less than the last query of this cursor.  Sets
 * *failed on OOM, or if the file failed. */
static inline bool mark_cursor_has(struct mark_cursor *c, struct mark_set *s, uint64_t key, bool *failed)
{
	const uint64_t number = key >> MARK_PAGE_BITS;

	if (c->page == NULL || *c->page != number)
		return (number < c->absent || number >= c->present) && mark_cursor_find(c, s, key, failed);
	return (c->page[1 + key % MARK_PAGE / 64] >> key % 64 & 1) != 0;
}

/* The least number of the set that is >= key; UINT64_MAX: none.  Cost and failures are those of
 * mark_cursor_has(). */
uint64_t mark_cursor_next(struct mark_cursor *c, struct mark_set *s, uint64_t key, bool *failed);

void mark_cursor_free(struct mark_cursor *c);

/* ---- record marks ---- */

/*
 * The records that a selection consists of.
 *
 * A copy of records has raw events, but a selection applies to interpreted ones: a span may be made of two
 * records, and named by a third.  So a pass over the same inputs (run/passes.c) interprets, selects, and
 * marks the records of selected events: the record at the event's offset, and the record that ended a span.
 * If the latter has further events, the begin of the span is marked with these, too.
 * Structure is marked, too: it may be an event if it is read raw.  In the next pass, raw events of other
 * records get EVENT_LEFT_OUT, or are removed.
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
	bool selects; /* records without a mark: not selected; false: in the part of the record before */
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
	bool failed;                 /* OOM, or a file failed */
	struct mark_set set;
	/* Ends of stretches of marked events: the first event after each that is not marked.  Available if
	 * events were marked in file order; a stretch of events that are all marked, or all left out, is read
	 * as one. */
	struct mark_set ends;
	bool has_stretches, was_chosen;
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
	uint64_t *others; /* while gathering, by event of a batch: an additional mark, see struct interpret */
	/* Marks with times, for a window that is known at the end: MARKS_TIMED in memory, others in the
	 * file. */
	struct timed_mark {
		uint64_t ts, dur, mark, other; /* dur 0: no span, or an empty one; other: may be `mark` */
	} * timed;
	uint32_t ntimed;
	struct spill_file timed_file;
	struct select_found
	    *found; /* by the first pass, in interpreted events; the owner of the marks frees it */
	struct pipeline_why why; /* of the first pass, if it failed */
};

/* Marks the i-th event of a batch in the select stage.  part: of the split, or SPLIT_ALL. */
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
