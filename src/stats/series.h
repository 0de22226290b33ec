#ifndef STATS_SERIES_H
#define STATS_SERIES_H

#include "base/table.h"
#include "model/batch.h"
#include "stats/names.h"

/*
 * The values of counters, series by series.  A series is a numeric field of a counter; on several tracks it
 * is one series, of which each track has its own value.  Values are 64-bit floating-point numbers; those that
 * are no number, or infinite, are not counted.
 *
 * Percentiles are by nearest rank of the values (not of the time that they last), with a relative error of at
 * most 0.8 %; integers below 256 are exact.  Memory is bounded: SERIES_STEPS in all series, beyond which
 * values are counted with the nearest one that is known, and SERIES_STATES of a series on a track, beyond
 * which others have no mean over time.
 */
#define SERIES_STEPS (1U << 19)
#define SERIES_STATES (1U << 18)

/* How often values occur that are the same in their sign, exponent and first 7 bits. */
struct series_step {
	int32_t key; /* in the order of the values */
	uint32_t count;
};

struct series {
	uint32_t counter; /* as series_add() was told */
	uint64_t count;
	uint64_t first_ns, last_ns;
	double first, last; /* in time, of equal times in order of arrival */
	double min, max, sum;
	double held;               /* sum of value * ns until the next value on its track */
	double held_ns;            /* and of these ns */
	struct series_step *steps; /* by key */
	uint32_t nsteps, steps_cap;
	uint32_t state_track, state; /* where the last value was; index + 1 */
};

struct series_state {
	uint64_t ns;
	double value;
};

struct series_set {
	struct names names;  /* of fields, with the number of their counter */
	struct series *list; /* by number of the name */
	uint32_t n;
	uint32_t nsteps;         /* in all */
	struct table64 state_of; /* track << 32 | series */
	struct series_state *states;
	uint32_t nstates, states_cap;
};

/* text: for names, may serve others. */
void series_init(struct series_set *s, struct arena *text);
void series_free(struct series_set *s);

/* The fields of a counter, which has this number.  false: no memory. */
bool series_add(struct series_set *s, uint32_t counter, const struct batch *b, const struct event *e);

/* percent is 1 .. 100; never more than max. */
double series_percentile(const struct series *s, unsigned percent);

/* Of the values, within min and max. */
double series_mean(const struct series *s);

/* The mean over the time from the first value of each track to its last; where there is none, of the values.
 */
double series_time_mean(const struct series *s);

#endif
