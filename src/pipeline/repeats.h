#ifndef PIPELINE_REPEATS_H
#define PIPELINE_REPEATS_H

#include "event/batch.h"
#include "event/trace_engine.h"
#include "format/ledger.h"

/*
 * The stage that bounds what texts cost that the input holds once and refers to
 * often: the name of a task, a string of a pool, the name of a field.
 *
 * Texts and long lists (more than REPEATS_ENTRIES entries) pass whole until they
 * have taken `factor` times the bytes that were read so far, and REPEATS_FREE bytes.
 * From then on long texts (more than REPEATS_SHORT bytes) and lists are cut to that
 * length while there is room for it, and else, like all texts of more than
 * REPEATS_LEAST bytes, to REPEATS_LEAST.  Each cut is counted.
 *
 * It works on one thread, before events are sorted, counted or rendered, so the same
 * input gives the same cuts.
 */
#define REPEATS_SHORT 256U
#define REPEATS_LEAST 16U
#define REPEATS_ENTRIES 256U
#define REPEATS_FACTOR 32U
#define REPEATS_FREE (UINT64_C(64) << 20)

struct repeats {
	struct trace *trace;     /* borrowed */
	uint64_t factor;         /* > 0 */
	uint64_t allowed, spent; /* bytes of texts and lists */
	struct class **cut;      /* by index of a class: the same with its name and category cut, or NULL */
	uint32_t ncut;
	struct ledger *ledger; /* borrowed */
};

/* factor 0: REPEATS_FACTOR. */
void repeats_init(struct repeats *r, struct trace *trace, uint64_t factor, struct ledger *ledger);
void repeats_free(struct repeats *r);

/* Goes over the events of a batch; `read`: bytes of the input up to it, all sources together.
 * false: no memory. */
bool repeats_batch(struct repeats *r, struct batch *b, uint64_t read);

#endif
