#ifndef PIPELINE_REPEATS_H
#define PIPELINE_REPEATS_H

#include "model/batch.h"
#include "model/trace_engine.h"
#include "format/ledger.h"
#include "run/adjust/repeats_cost.h"

/*
 * The stage that bounds what it costs that the input holds a text or list once and refers to it often: the
 * name of a task, a string of a pool, the name of a field, a call stack.
 *
 * Events pass whole until their texts and lists have taken `factor` times the bytes that were read so far,
 * or all of them together REPEATS_REST times that in addition, and REPEATS_FREE bytes (repeats_cost.h: bytes
 * as they are written).  From then on an event's texts are cut at REPEATS_SHORT bytes and its lists at
 * REPEATS_ENTRIES entries, if there is room for that, and else at REPEATS_LEAST and REPEATS_FEW.  Each cut is
 * counted.
 *
 * It works on one thread, before events are sorted, counted or rendered, so the same
 * input gives the same cuts.
 */
#define REPEATS_SHORT 256U
#define REPEATS_ENTRIES 256U
#define REPEATS_LEAST 16U
#define REPEATS_FEW 4U
#define REPEATS_FACTOR 32U
#define REPEATS_REST 16U
#define REPEATS_FREE (UINT64_C(64) << 20)

struct repeats {
	struct trace *trace;        /* borrowed */
	uint64_t factor;            /* > 0 */
	struct cost allowed, spent; /* bytes */
	struct class **cut; /* by index of a class: the same with its name and category cut, or NULL */
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
