#ifndef PIPELINE_SORTER_H
#define PIPELINE_SORTER_H

#include "run/sort/run_merge.h"

/*
 * Puts the events of a trace into an order (model/event_order.h), with bounded
 * memory.  The result depends on the events and their order of arrival only,
 * not on the size of the memory or of the batches.
 *
 * Use:	sorter_init
 *	sorter_add for each batch of the input, then sorter_end
 *	sorter_next until it says SORTER_END
 *	sorter_free
 *
 * Where an event belongs is certain only when no earlier one can follow, so all
 * events wait for sorter_end().  An input known to be in order needs no sorter.
 * If it can be read twice, a first pass through order_watch_add() finds that out.
 *
 * How.  Events are packed (event_codec.h) into a load that fits the processor's
 * cache.  A load that is full is sorted by keys that stand apart (order_sort.h),
 * and put behind those before it as a run; a load that comes behind all before
 * it makes the last run longer.  When the memory is full, its runs are merged to
 * one in the file, or written as they are if there is only one.  In the end, the
 * runs in memory, or those in the file, are merged.  So events that arrive in
 * order are not sorted and not merged, and those that are nearly in order are
 * merged with few others.
 *
 * Memory.  At most `memory` bytes, and 170 for each run; while an event that is
 * larger than `memory` is added, up to twice its size.  Not counted are the
 * batches that sorter_next() fills: each is full at cap events, about 1 MiB of
 * data or 65536 fields, whatever comes first (one event may be larger).  When
 * nothing was spilled these share the sorter's memory, which is freed with the
 * last of them.  Event_codec.h says what an event takes.
 *
 * Disk.  What does not fit is written, sorted, to a temporary file without a
 * name (base/spill_file.h), in the folder of the output.  It takes as much
 * space as the events do in memory; where there are more runs than can be merged
 * at a time, some are merged twice, which takes at most as much again where the
 * file system cannot free parts of a file.
 *
 * One thread at a time uses a sorter.  The batches it filled are independent of
 * it and of each other: they stay valid when it is freed, and may be released on
 * any thread.
 */
#define SORTER_MEMORY (UINT64_C(64) << 20)     /* the usual limit */
#define SORTER_MEMORY_MIN (UINT64_C(64) << 10) /* less counts as this */
#define SORTER_MEMORY_MAX (UINT64_C(16) << 30) /* more counts as this */

struct sorter_options {
	struct order_rule order;
	bool with_bytes;    /* keep batch.bytes */
	uint64_t memory;    /* bytes */
	const char *beside; /* the temporary file goes to the folder of this path (its links followed), which
	                       need not exist; NULL: $TMPDIR or /tmp.  Borrowed until sorter_free */
};

/* For tests and for people who want to know. */
struct sorter_counts {
	uint64_t events;  /* added */
	uint64_t sorts;   /* loads that were not in order already */
	uint64_t runs;    /* in the file */
	uint64_t merges;  /* of runs in the file, before the final one */
	uint64_t spilled; /* bytes written to the file */
};

enum sorter_state {
	SORTER_FILLING,
	SORTER_MERGING, /* all events are coming out of memory, or of the file */
	SORTER_FAILED,
};

struct sorter_memory;

/* Packed events in order of arrival. */
struct sorter_load {
	char *data;
	uint64_t cap, used;
	struct order_key
	    *keys; /* keys_cap of them, and twice as many to sort them; position: where in data */
	uint32_t keys_cap, n;
	bool in_order;
	struct order_key last; /* the greatest key */
};

/* Some of them follow each other without gaps. */
struct sorter_runs {
	struct spill_run *list;
	uint32_t n, cap;
	struct order_key last; /* the greatest key of the last run */
};

struct sorter {
	struct sorter_options options;
	struct sorter_counts counts;
	enum sorter_state state;
	struct event_shapes shapes;
	struct sorter_load load;
	struct sorter_memory *memory;     /* `used` bytes of runs, one behind the other */
	uint64_t used, most;              /* most: what it may grow to, but for one large event */
	struct sorter_runs held;          /* in memory */
	struct order_key least, greatest; /* of what is there */
	struct spill_file file;
	struct sorter_runs spilled; /* in the file */
	struct run_merge merge;
	bool merges; /* it was begun */
};

/* Allocates nothing yet. */
void sorter_init(struct sorter *s, const struct sorter_options *options);

/* Copies all events of a batch, which may be released then.  false: failed; sorter_reason says why, and
 * nothing comes out any more. */
bool sorter_add(struct sorter *s, const struct batch *b);

/* No more events follow.  false: as sorter_add. */
bool sorter_end(struct sorter *s);

enum sorter_status {
	SORTER_MORE,        /* the batch holds at least one event; call again */
	SORTER_NEEDS_INPUT, /* nothing before sorter_end */
	SORTER_END,         /* nothing more */
	SORTER_NO_RESULT,   /* failed; the batch is empty */
};

/* Fills an empty batch (cap > 0) with the next events.  All that they point to belongs to the batch, or lives
 * as long as the trace.  Which tracks and classes are new is left to the caller: an event
 * may come out long after its track was new. */
enum sorter_status sorter_next(struct sorter *s, struct batch *out);

/* After a failure: one line, with the path where one is concerned. */
void sorter_reason(const struct sorter *s, char *why, size_t size);

/* At any time after sorter_init. */
void sorter_free(struct sorter *s);

#endif
