#ifndef SPEEDSCOPE_LANE_H
#define SPEEDSCOPE_LANE_H

#include "speedscope/state.h"

/*
 * The events of one evented profile: spans, which come in order of their
 * starts, of equal starts the longer first, become opens and closes.  Of spans
 * with the same start and end the one that came last lies around the others, as in
 * the statistics: so they wait for each other.
 */
#define SPEEDSCOPE_DEPTH 4096U /* spans inside each other */

/* Times are unsigned numbers that order as times do: of signed ones the highest bit is inverted. */
struct speedscope_clock {
	uint64_t bias; /* makes signed times order as unsigned ones */
	uint64_t zero; /* biased, what is 0 in the output */
};

struct speedscope_open {
	uint64_t end;
	uint32_t frame;
};

/* Zero-initialise to start. */
struct speedscope_lane {
	struct speedscope_open *open; /* the innermost last */
	uint32_t nopen, open_cap;
	uint32_t *equal; /* frames of spans that start and end together, and wait */
	uint32_t nequal, equal_cap;
	uint64_t equal_start, equal_end;
	uint64_t equal_offset; /* of the last one */
	uint64_t start, last;  /* times of the first and of the last event of this part */
	uint64_t events;       /* of this part, that were written */
};

struct speedscope_span {
	uint64_t start, end, offset;
	uint32_t frame;
};

void speedscope_time(struct text *t, struct speedscope_clock clock, uint64_t time);

/* Adds events to the chunk; failures of memory are its. */
void speedscope_lane_span(struct speedscope_lane *l, const struct speedscope_span *s,
                          struct speedscope_clock clock, struct chunk *chunk);

/* Closes what is open, at its end. */
void speedscope_lane_end(struct speedscope_lane *l, struct speedscope_clock clock, struct chunk *chunk);

/* Closes what is open, at `time` at the latest, and remembers what was open then. */
void speedscope_lane_pause(struct speedscope_lane *l, uint64_t time, struct speedscope_clock clock,
                           struct chunk *chunk);

/* Opens that again in a new part. */
void speedscope_lane_resume(struct speedscope_lane *l, uint64_t time, struct speedscope_clock clock,
                            struct chunk *chunk);

void speedscope_lane_free(struct speedscope_lane *l);

#endif
