#ifndef PIPELINE_SORTER_H
#define PIPELINE_SORTER_H

#include "pipeline/run_merge.h"

/*
 * Puts the events of a trace into an order (event/event_order.h), with bounded
 * memory.  The result depends on the events and their order of arrival only,
 * not on the size of the memory or of the batches, unless events are late
 * (sorter_set_floor).
 *
 * Use:	sorter_init
 *	until the input ends: sorter_next until it says SORTER_NEEDS_INPUT, then sorter_add
 *	sorter_end
 *	sorter_next until it says SORTER_END
 *	sorter_free
 *
 * What streams.  Where an event belongs is certain only when no earlier one
 * can follow, so in general all events wait for sorter_end().  Events come out
 * before that
 *  - in ORDER_FILE;
 *  - in ORDER_TIME, as far as the caller says by sorter_set_floor() that no
 *    earlier ones follow.  They come out when the memory is half full or more and
 *    at least a quarter of the events in it are before the floor.  If the memory
 *    is full before that, events are spilled, and from then on all wait for the
 *    end.
 * An input known to be in order needs no sorter.  If it can be read twice, a
 * first pass through order_watch_add() finds that out.
 *
 * What is cheap.  Events that arrive in order cost one comparison each: they are
 * not sorted, not copied once more when they are spilled (they make a single run
 * in the file), and not merged.  Others are sorted in memory by a natural merge
 * sort, so runs that are in order already cost little.
 *
 * Memory.  At most `memory` bytes, and 16 for each spilled run; while an event
 * that is larger than `memory` is added, up to twice its size.  Not counted are
 * the batches that sorter_next() fills: each is full at cap events, about 1 MiB
 * of data or 65536 fields, whatever comes first (one event may be larger).  When
 * nothing was spilled these share the sorter's memory, which is freed with the
 * last of them.  An event takes 64 bytes, each of its fields 32, each entry of a
 * list 16, plus text without SLICE_STAYS, plus 48 bytes for sorting.
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
	uint64_t late;    /* added with a place before one that had come out; see sorter_set_floor */
	uint64_t sorts;   /* memory loads that were not in order already */
	uint64_t runs;    /* in the file */
	uint64_t merges;  /* before the final one */
	uint64_t spilled; /* bytes written to the file */
};

enum sorter_state {
	SORTER_FILLING,
	SORTER_DRAINING, /* the first events of the memory are coming out, the rest stays */
	SORTER_EMPTYING, /* all events are in memory, and are coming out */
	SORTER_MERGING,  /* all events are in the file, and are coming out */
	SORTER_FAILED,
};

struct sorter_memory;

struct sorter {
	struct sorter_options options;
	struct sorter_counts counts;
	enum sorter_state state;
	/* packed events in order of arrival: count of them, used bytes; behind them room for their keys */
	struct sorter_memory *memory;
	uint64_t used;
	uint32_t count;
	bool in_order;         /* those in memory */
	struct order_key last; /* the greatest key in memory */
	/* what comes out of memory, and how far it is */
	const struct order_key *sorted; /* their keys in order; NULL: they lie in order */
	uint32_t taken, ready;
	uint64_t taken_bytes; /* where they lie in order */
	/* coming out before the end */
	uint64_t floor;
	struct order_key given; /* the key of the last one that did */
	uint64_t drain_at;      /* try when so many bytes are used */
	/* spilled runs */
	struct spill_file file;
	struct spill_run *runs;
	uint32_t nruns, runs_cap;
	struct order_key run_last; /* the greatest key of the last run */
	struct run_merge merge;
};

/* Allocates nothing yet. */
void sorter_init(struct sorter *s, const struct sorter_options *options);

/* Copies all events of a batch, which may be released then.  false: failed; sorter_reason says why, and
 * nothing comes out any more. */
bool sorter_add(struct sorter *s, const struct batch *b);

/* The caller promises that all events it adds from now on have ts >= `ts`; a smaller ts than before changes
 * nothing.  An event that breaks the promise is not lost: it comes out behind those that are out already,
 * which is out of order, and is counted as late when it is. */
void sorter_set_floor(struct sorter *s, uint64_t ts);

/* No more events follow.  false: as sorter_add. */
bool sorter_end(struct sorter *s);

enum sorter_status {
	SORTER_MORE,        /* the batch holds at least one event; call again */
	SORTER_NEEDS_INPUT, /* nothing now: add, or end; only before sorter_end */
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
