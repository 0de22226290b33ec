#ifndef PIPELINE_RUN_MERGE_H
#define PIPELINE_RUN_MERGE_H

#include "base/spill_file.h"
#include "model/batch_pool.h"
#include "model/order_key.h"
#include "model/trace_engine.h"
#include "run/sort/event_shapes.h"

/*
 * Merges runs of packed events (event_codec.h) that lie in a spill file or in
 * memory, each in order.  Of events with equal keys that of the earlier run
 * comes first, so with the runs in order of arrival the merge is stable.
 *
 * A run takes part only from its first event on, so what an event costs depends
 * on how many runs overlap there, not on how many there are.
 *
 * Memory: for runs of a file, the buffers take what the caller allows, at least
 * 4 KiB for each of the runs that are merged at a time, and 150 bytes for each
 * run.  An event may be larger than its buffer.
 */
struct spill_run {
	uint64_t offset, bytes; /* in the file, or in memory */
};

struct run_rule {
	struct order_rule order;
	bool with_bytes;                   /* as the events were packed, and */
	const struct event_shapes *shapes; /* with these */
	uint64_t memory;                   /* for buffers */
};

/* How many runs are merged at a time with so much memory: 4 to 256. */
uint32_t run_merge_most(uint64_t memory);

/* Merges neighbours, as few as possible, until at most `most` of the *n runs are left.  They are written at
 * the end of the file; those they were made of are discarded.  *merges: how many merges it took.  false: no
 * memory, or the file failed. */
bool runs_reduce(struct spill_file *f, struct spill_run *runs, uint32_t *n, uint32_t most,
                 const struct run_rule *rule, uint32_t *merges);

struct run_reader;

struct run_merge {
	struct spill_file *file; /* NULL: the runs are in memory */
	struct run_rule rule;
	struct run_reader *readers;
	char *buffers;
	struct order_key *keys; /* of the next event of each run */
	struct order_key
	    *waiting;     /* of the first event of each run, in order; position: the number of the run */
	uint32_t *active; /* a heap of runs: the one whose next event comes first is at its top */
	uint32_t n, nstarted, nactive; /* runs; no longer waiting; in the heap */
};

/* n runs, at least one, in a file, or (f NULL) in memory.  The arguments but `runs` outlive *m.  In any case
 * end with run_merge_free.  false: as above. */
bool run_merge_init(struct run_merge *m, struct spill_file *f, const char *memory,
                    const struct spill_run *runs, uint32_t n, const struct run_rule *rule);
void run_merge_free(struct run_merge *m);

/* Whether no event is left. */
static inline bool
run_merge_ended(const struct run_merge *m)
{
	return m->nactive == 0;
}

/* Adds the next event to a batch with room for it.  What it points to is copied to the batch, or lies in the
 * memory of the runs.  false: as above. */
bool run_merge_next(struct run_merge *m, struct batch *out);

/* Writes all events that are left to the end of a file, through a buffer.  false: as above. */
bool run_merge_write(struct run_merge *m, struct spill_file *to, char *buffer, uint64_t cap);

#endif
