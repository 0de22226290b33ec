#ifndef PIPELINE_LANES_H
#define PIPELINE_LANES_H

#include "event/batch_pool.h"
#include "event/trace_engine.h"
#include "pipeline/nesting.h"
#include "format/ledger.h"

/* The stage before a writer that needs nested spans: a span that overlaps others of its track in part only is
 * moved to an extra lane, a track of its own (see trace_lane).  Spans that may overlap at will (EVENT_ASYNC)
 * stay. */
struct lanes {
	struct nesting nesting;
	bool off; /* all stay: spans that overlap are counted only */
};

/* false: no memory. */
bool lanes_init(struct lanes *l, bool off);
void lanes_free(struct lanes *l);

/* Goes over the events of a batch, in order; batches come in the order of the trace.  Tracks made on the way
 * count as new in this batch.  Spans for which no lane is left go to the last one and are counted in the
 * ledger. false: no memory. */
bool lanes_batch(struct lanes *l, struct trace *trace, struct batch *b, struct ledger *ledger);

#endif
