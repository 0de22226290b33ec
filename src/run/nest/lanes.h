#ifndef RUN_NEST_LANES_H
#define RUN_NEST_LANES_H

#include "base/table.h"
#include "format/ledger.h"
#include "model/batch.h"
#include "model/trace.h"
#include "run/nest/nesting.h"

/* ---- nest sorted ---- */

/*
 * The lanes of spans that arrive in order of time (ORDER_TIME): by start, of
 * equal starts the longer first.  They are those that nesting.h gives, but found
 * with what is open at the present time only: a span fits a lane if it ends no
 * later than the innermost span that is open there.
 *
 * So nothing is forgotten, unless NEST_TOTAL_ROOM spans are open at a time:
 * what is opened then is marked as inexact, and not known to later ones.
 */
struct nest_open {
	uint64_t start, end;
};

/* What is open, the innermost last. */
struct nest_open_lane {
	struct nest_open *spans;
	uint32_t n, cap;
};

struct nest_open_track {
	struct nest_open_lane first; /* lane 0 */
	struct nest_open_lane *more; /* lanes 1 .. nmore */
	uint64_t missed;             /* the latest end of spans that were not kept */
	uint16_t nmore;
};

/* Zero-initialise to start. */
struct nest_sorted {
	struct nest_open_track *tracks; /* by index, made on demand */
	uint32_t ntracks;
	uint32_t room;   /* sum of cap over all lanes */
	uint32_t nextra; /* lanes above 0 */
	bool failed;     /* memory ran out some time: results since then are of no use */
};

/* Takes the next span of a track.  out: as of nesting_span, but for `covered` and `nlate`, which are 0. */
void nest_sorted_span(struct nest_sorted *n, uint32_t track, uint64_t start, uint64_t dur,
                      struct nest_result *out);
void nest_sorted_free(struct nest_sorted *n);

/* ---- lanes ---- */

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
	bool off;                /* all stay: spans that overlap are counted only */
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
