#ifndef PIPELINE_MARK_SET_H
#define PIPELINE_MARK_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/spill_file.h"

/*
 * A set of numbers: first all are added, in any order, then it is asked for them, mostly in ascending order.
 *
 * Memory: MARK_SET_ROOM numbers of 8 bytes, and as much again while they are sorted.  Beyond that sorted runs
 * go to a temporary file, 8 bytes a number, and are merged into one when all were added.
 */
#define MARK_SET_ROOM (1U << 20)

/* Numbers of one cursor in memory, if the set lies in a file. */
#define MARK_SET_BLOCK 512

struct mark_run {
	uint64_t at; /* in the file, bytes */
	uint64_t n;
};

struct mark_set {
	uint64_t *keys; /* not sorted before mark_set_finish() */
	uint32_t n, cap;
	uint32_t most;      /* in memory; 0: MARK_SET_ROOM */
	const char *beside; /* for spill_open(); borrowed */
	struct spill_file file;
	struct mark_run *runs;
	uint32_t nruns, runs_cap;
	uint64_t total; /* after mark_set_finish(): different numbers */
	bool no_memory; /* or the file failed; nothing of this is to be used */
};

/* A place in the set.  Zero-initialise to start. */
struct mark_cursor {
	uint64_t at;     /* index of the least number that is not less than what was asked for */
	uint64_t last;   /* which is this */
	uint64_t from;   /* index of the first one in the block */
	uint32_t n;      /* in the block */
	uint64_t *block; /* NULL: the set is in memory */
};

/* Zero-initialise *s; `most` and `beside` may be set then.  Failures stick: mark_set_finish() tells. */
void mark_set_add(struct mark_set *s, uint64_t key);

/* All were added.  false: no memory, or the file failed (s->file.failed). */
bool mark_set_finish(struct mark_set *s);

void mark_set_free(struct mark_set *s);

/* Whether the set has the number.  Cheap if it is not less than what this cursor was asked for before.  After
 * a failure, as for mark_set_finish(), *failed is set. */
bool mark_cursor_has(struct mark_cursor *c, struct mark_set *s, uint64_t key, bool *failed);

/* The same for the greatest number of the set that is not beyond `key`.  false: there is none. */
bool mark_cursor_floor(struct mark_cursor *c, struct mark_set *s, uint64_t key, uint64_t *floor,
                       bool *failed);

void mark_cursor_free(struct mark_cursor *c);

#endif
