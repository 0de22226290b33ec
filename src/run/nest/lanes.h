#ifndef RUN_NEST_LANES_H
#define RUN_NEST_LANES_H

#include "base/open_spans.h"
#include "base/table.h"
#include "format/ledger.h"
#include "model/batch.h"
#include "model/trace.h"
#include "run/nest/nesting.h"

/* ---- spans in order of time ---- */

/*
 * Lanes of spans in order of time (ORDER_TIME).  The result is that of nesting.h, but only open spans are
 * stored: a span fits a lane if it ends no later than the innermost open span there.  Nothing is dropped
 * unless NEST_TOTAL_ROOM spans are open at a time: further ones are inexact, and not stored.
 */
struct nest_open_track {
	struct nested_spans first; /* lane 0; `what` is the start */
	struct nested_spans *more; /* lanes 1 .. nmore */
	uint64_t missed;           /* latest end of spans that were not stored */
	uint16_t nmore;
};

/* Zero-initialise to start. */
struct nest_sorted {
	struct nest_open_track *tracks; /* by index, allocated on demand */
	uint32_t ntracks;
	uint32_t capacity; /* sum of cap over all lanes */
	uint32_t nextra;   /* lanes above 0 */
	bool failed;       /* OOM: later results are invalid */
};

/* Adds a span to a track.  out: as nesting_span(). */
void nest_sorted_span(struct nest_sorted *n, uint32_t track, uint64_t start, uint64_t dur,
                      struct nest_result *out);
void nest_sorted_free(struct nest_sorted *n);

/* ---- lanes ---- */

/*
 * For writers that need nested spans: a span that partially overlaps others of its track is moved to an extra
 * lane, a track of its own.  Spans that may overlap (EVENT_ASYNC) are unchanged.
 *
 * Lanes are not part of the trace, so this may run on another thread than reading: only tracks are shared,
 * and they do not change.
 */
struct lanes {
	struct nesting nesting;
	struct nest_sorted open; /* used instead if events are in order of time */
	bool sorted;             /* events are in order of time; set after lanes_init(), like bias */
	uint64_t bias;           /* of signed times 2^63, which makes them comparable by ^; else 0 */
	bool off;                /* overlapping spans are only counted */
	struct arena arena;
	struct track **tracks; /* of lanes, in order of creation */
	uint32_t ntracks, tracks_cap;
	uint32_t listed;       /* already listed in batches */
	struct table64 places; /* track index << 16 | lane -> tracks[] */
};

/* The first track.index of lanes. */
#define LANES_FIRST_INDEX (UINT32_C(1) << 31)

void lanes_init(struct lanes *l, bool off);
void lanes_free(struct lanes *l);

/* Moves spans of a batch to lanes; batches are in the order of the trace.  Spans without a free lane go to
 * the last one and are counted in the ledger. */
bool lanes_batch(struct lanes *l, struct batch *b, struct ledger *ledger);

/* Adds new lanes to the new tracks of the batch. */
bool lanes_list(struct lanes *l, struct batch *b);

/* At the end: adds all lanes to the tracks of a trace; they remain owned by `l`. */
bool lanes_join(const struct lanes *l, struct trace *trace);

#endif
