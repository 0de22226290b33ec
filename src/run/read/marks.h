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
 * A set of numbers: first all are added, in any order, then it is asked for them, mostly in ascending order.
 *
 * It consists of entries.  An entry is a number; or, with `pages`, for numbers that lie close together, a
 * page: the number of the page, then a bit for each of the MARK_PAGE numbers in it.  Pages stay open for a
 * while, so that numbers that come a little out of order cost no sorting.
 *
 * Memory: MARK_SET_ROOM words of 8 bytes, and as much again while they are sorted; MARK_SET_OPEN pages.
 * Beyond that sorted runs go to a temporary file, and are merged into one when all were added.
 */
#define MARK_SET_ROOM (1U << 20)
#define MARK_SET_OPEN 8192U
#define MARK_PAGE_BITS 9U /* of a number, that tell its bit in the page */
#define MARK_PAGE (1U << MARK_PAGE_BITS)
#define MARK_PAGE_WORDS (1U + MARK_PAGE / 64U) /* of an entry */

/* Words of one cursor in memory, if the set lies in a file. */
#define MARK_SET_BLOCK (64U * MARK_PAGE_WORDS)

struct mark_run {
	uint64_t at;          /* in the file, bytes */
	uint64_t n;           /* entries */
	uint64_t first, last; /* of their numbers */
};

struct mark_set {
	bool pages;         /* entries are pages */
	uint64_t *keys;     /* entries, not sorted before mark_set_finish() */
	uint32_t n, cap;    /* words */
	uint32_t most;      /* words in memory; 0: MARK_SET_ROOM */
	const char *beside; /* for spill_open(); borrowed */
	struct mark_page {
		uint64_t words[MARK_PAGE_WORDS];
	} * open; /* MARK_SET_OPEN of them; without a bit: none */
	struct spill_file file;
	struct mark_run *runs;
	uint32_t nruns, runs_cap;
	uint64_t total; /* after mark_set_finish(): entries, which differ */
	bool no_memory; /* or the file failed; nothing of this is to be used */
};

/* A place in the set.  Zero-initialise to start. */
struct mark_cursor {
	uint64_t at;          /* index of the least entry that is not less than what was asked for */
	uint64_t last;        /* which is this */
	uint64_t from;        /* index of the first one in the block */
	uint32_t n;           /* entries in the block */
	uint64_t *block;      /* NULL: the set is in memory */
	const uint64_t *page; /* the last one that was found; NULL: none */
};

/* Where the page of this number is, if it is open. */
static inline struct mark_page *mark_page_at(const struct mark_set *s, uint64_t number)
{
	/* what is high in the number are inputs, which are not to share their places */
	return &s->open[(number + (number >> 32) * 0x9E3779B1U) % MARK_SET_OPEN];
}

static inline void mark_page_set(struct mark_page *p, uint64_t key)
{
	p->words[1 + key % MARK_PAGE / 64] |= UINT64_C(1) << key % 64;
}

/* mark_set_add() of what is not on an open page. */
void mark_set_add_other(struct mark_set *s, uint64_t key);

/* Zero-initialise *s; `pages`, `most` and `beside` may be set then.  Failures stick: mark_set_finish() tells.
 */
static inline void mark_set_add(struct mark_set *s, uint64_t key)
{
	struct mark_page *const p = s->open != NULL ? mark_page_at(s, key >> MARK_PAGE_BITS) : NULL;

	if (p != NULL && p->words[0] == key >> MARK_PAGE_BITS)
		mark_page_set(p, key);
	else
		mark_set_add_other(s, key);
}

/* All were added.  false: no memory, or the file failed (s->file.failed). */
bool mark_set_finish(struct mark_set *s);
void mark_set_free(struct mark_set *s);

/* mark_cursor_has() of what is not on the page that was found last. */
bool mark_cursor_find(struct mark_cursor *c, struct mark_set *s, uint64_t key, bool *failed);

/* Whether the set has the number.  Cheap if it is not less than what this cursor was asked for before.  After
 * a failure, as for mark_set_finish(), *failed is set. */
static inline bool mark_cursor_has(struct mark_cursor *c, struct mark_set *s, uint64_t key, bool *failed)
{
	if (c->page == NULL || *c->page != key >> MARK_PAGE_BITS)
		return mark_cursor_find(c, s, key, failed);
	return (c->page[1 + key % MARK_PAGE / 64] >> key % 64 & 1) != 0;
}

void mark_cursor_free(struct mark_cursor *c);

/* ---- record marks ---- */

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

struct format;
struct select_found;

#define SPLIT_BITS 20                      /* of the number of a part in a mark */
#define SPLIT_ALL ((1U << SPLIT_BITS) - 1) /* of structure: all parts */
#define SPLIT_NONE UINT32_MAX

struct record_marks {
	enum record_marks_state state;
	/* Of a split (run/choose/split.h): each mark carries the number of a part. */
	bool has_parts;
	bool selects; /* records without a mark were not selected; else their part is that before */
	struct mark_set *planned; /* where the marks are, once made */
	uint32_t part, end;       /* records of these parts, [part, end), are not left out */
	uint32_t *parts;          /* of each event of the last batch; SPLIT_NONE: none */
	uint32_t parts_cap;
	/* While gathering: called with what a source read, before offsets become marks.  NULL: not called. */
	void (*note)(void *ctx, const struct batch *b, uint64_t input);
	void *note_ctx;
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
	} * cursors;           /* by number of the input */
	uint32_t ncursors;
	uint64_t
	    *others; /* while gathering, for each event of a batch: the mark of the record that ended it */
	struct select_found
	    *found; /* by the first pass, in interpreted events; the owner of the marks frees it */
	struct pipeline_why why; /* of the first pass, if it failed */
};

/* Notes the i-th event of a batch, which is as select.c found it.  part: of the split, or SPLIT_ALL. */
void record_marks_add(struct record_marks *m, const struct batch *b, uint32_t i, uint32_t part);

/* The bit from which on a mark holds the number of the input, if there are so many inputs. */
unsigned record_marks_shift(size_t inputs);

/* What a source just read: while gathering, offsets become marks; later, events are left out.  false: it
 * failed, see record_marks_reason(). */
bool record_marks_read(struct record_marks *m, uint32_t input, struct batch *b);

/* All was gathered; with_extents: findings will be asked for too.  false: see record_marks_reason(). */
bool record_marks_finish(struct record_marks *m, bool with_extents);

/* For findings of an input, the first argument of record_marks_left_out().  NULL: no memory. */
struct record_extents *record_marks_extents(struct record_marks *m, uint32_t input);

/* Whether the byte at this offset is of an event that was not selected.  Bytes of structure, and those that
 * belong to no record, are of none. */
bool record_marks_left_out(void *extents, uint64_t offset);
void record_marks_free(struct record_marks *m);

/* One line: why the marks cannot be used. */
void record_marks_reason(const struct record_marks *m, char *why, size_t size);

#endif
