#ifndef STATS_STATS_THREAD_H
#define STATS_STATS_THREAD_H

#include <stdatomic.h>

#include "stats/stats.h"

/* Counts batches beside reading, on a thread of its own if there is one, in the order in which they come. */

#define STATS_SLOTS 8U /* batches that wait, at most */

struct stats_thread {
	struct stats *stats;     /* borrowed */
	struct workers *workers; /* NULL: there is one thread in all */
	struct batch *slots[STATS_SLOTS];
	atomic_bool no_memory;
};

/* threads: in all.  false: no memory; to be ended all the same. */
bool stats_thread_begin(struct stats_thread *t, struct stats *s, unsigned threads);

/* Takes over the batch.  false: no memory, now or before. */
bool stats_thread_put(struct stats_thread *t, struct batch *b);

/* Waits until all batches are counted and released; false: no memory. */
bool stats_thread_settle(struct stats_thread *t);

void stats_thread_end(struct stats_thread *t);

#endif
