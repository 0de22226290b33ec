#ifndef PIPELINE_RUN_MERGE_H
#define PIPELINE_RUN_MERGE_H

#include "base/spill_file.h"
#include "event/batch_pool.h"
#include "event/order_key.h"
#include "event/trace_engine.h"

/*
 * Merges runs of packed events (event_codec.h) that lie in a spill file, each
 * in order.  Of events with equal keys that of the earlier run comes first, so
 * with the runs in order of arrival the merge is stable.
 *
 * Memory: the buffers take what the caller allows, at least 4 KiB for each of
 * the runs that are merged at a time.  An event may be larger than its buffer.
 */
struct spill_run {
	uint64_t offset, bytes; /* in the file */
};

struct run_rule {
	struct order_rule order;
	bool with_bytes; /* as the events were packed */
	uint64_t memory; /* for buffers */
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
	struct spill_file *file;
	struct run_rule rule;
	struct run_reader *readers;
	char *buffers;
	uint32_t *losers; /* of the matches at the inner nodes: 1 .. leaves - 1; above i is i / 2 */
	struct order_key *keys;
	uint32_t n, leaves;
	uint32_t winner; /* the run whose next event comes first */
};

/* n runs, at least one.  The arguments but `runs` outlive *m.  In any case end with run_merge_free.  false:
 * as above. */
bool run_merge_init(struct run_merge *m, struct spill_file *f, const struct spill_run *runs, uint32_t n,
                    const struct run_rule *rule);
void run_merge_free(struct run_merge *m);

/* Whether no event is left. */
bool run_merge_ended(const struct run_merge *m);

/* Adds the next event to a batch with room for it; all it points to is copied to the batch.  false: as above.
 */
bool run_merge_next(struct run_merge *m, struct batch *out);

#endif
