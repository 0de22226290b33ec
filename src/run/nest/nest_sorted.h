#ifndef PIPELINE_NEST_SORTED_H
#define PIPELINE_NEST_SORTED_H

#include "run/nest/nesting.h"

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

#endif
