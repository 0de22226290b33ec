#ifndef PIPELINE_LANES_H
#define PIPELINE_LANES_H

#include "base/table.h"
#include "model/batch.h"
#include "model/trace.h"
#include "run/nest/nest_sorted.h"
#include "format/ledger.h"

/*
 * Before a writer that needs nested spans: a span that overlaps others of its track in part only is moved to
 * an extra lane, a track of its own.  Spans that may overlap (EVENT_ASYNC) stay.
 *
 * Lanes do not belong to the trace, so that this may run on another thread than reading: nothing is shared
 * but tracks, which do not change.
 */
struct lanes {
	struct nesting nesting;
	struct nest_sorted open; /* instead, if all events come in order of time */
	bool sorted;             /* they do; set after lanes_init */
	bool off; /* all stay: spans that overlap are counted only */
	struct arena arena;
	struct track **tracks; /* that were made, in order */
	uint32_t ntracks, tracks_cap;
	uint32_t listed;       /* of them, in batches so far */
	struct table64 places; /* track index << 16 | lane -> tracks[] */
};

/* A lane's track.index counts from here. */
#define LANES_FIRST_INDEX (UINT32_C(1) << 31)

void lanes_init(struct lanes *l, bool off);
void lanes_free(struct lanes *l);

/* Goes over the events of a batch, in order; batches come in the order of the trace.  Spans for which no lane
 * is left go to the last one and are counted in the ledger.  false: no memory. */
bool lanes_batch(struct lanes *l, struct batch *b, struct ledger *ledger);

/* Adds the lanes that no batch lists yet to the tracks that are new in this one.  false: no memory. */
bool lanes_list(struct lanes *l, struct batch *b);

/* Adds all lanes to the tracks of a trace that nobody changes any more; they stay owned by `l`.  false: no
 * memory. */
bool lanes_join(const struct lanes *l, struct trace *trace);

#endif
