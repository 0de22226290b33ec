#ifndef CHANGE_CHANGE_H
#define CHANGE_CHANGE_H

#include "base/compiler.h"
#include "base/memory.h"
#include "check/rules.h"
#include "stats/stats.h"

/* Comparison of two sides, old and new, each of one or several runs: pairs of groups of spans, and a verdict
 * on each. */

/* ---- noise (noise.c) ---- */

/*
 * Sets *low and *high to ranks, from 1 to n, of two of n sorted independent values that enclose a quantile of
 * their distribution with a probability of at least 1 - 2 * alpha (binomial order statistics).
 * quantile: in millionths.  With too few values for a bound, *low is 0, *high is n + 1.
 */
void noise_ranks(uint64_t n, uint32_t quantile, double alpha, uint64_t *low, uint64_t *high);

/*
 * One-sided rank test of Mann and Whitney (Wilcoxon): returns the probability that the sum of ranks of b is
 * at least as large as here, if a and b have the same distribution.  Exact, also with ties, for up to
 * NOISE_EXACT values of both; else by the normal approximation.  n, m > 0.
 */
#define NOISE_EXACT 24

double noise_rank_test(const double *a, size_t n, const double *b, size_t m);

/* The probability that the true value is beyond one bound of its interval: the interval of a quantile holds
 * with 99 %, that of a ratio with at least 98 %. */
#define NOISE_ALPHA 0.005
#define NOISE_RUNS 3           /* min runs of each side for the rank test */
#define NOISE_SIGNIFICANT 0.05 /* of the rank test */

/* ---- maps (runs.c) ---- */

/* Names of the old side -> names of the new side.  Zero-initialise. */
struct change_map {
	struct arena nodes;
	char *text;
	struct tabletext index; /* old name -> row */
	struct change_name {
		struct slice old, new;
		bool met; /* a group has the old name */
	} * names;
	uint32_t n, cap;
};

#define CHANGE_MAP_MAX_BYTES ((size_t)1 << 20)

/* Reads a file.  Returns false after findings, or with *no_memory set. */
bool change_map_read(struct change_map *m, const char *path, struct findings *findings, bool *no_memory);
void change_map_free(struct change_map *m);

/* ---- pairs (pairs.c) ---- */

enum { CHANGE_OLD, CHANGE_NEW, CHANGE_SIDES };

#define CHANGE_RUNS_MAX 64 /* of a side */

struct change_side {
	struct stats **runs; /* a table for each; borrowed */
	size_t nruns;
	struct stats joint; /* of all runs */
};

/* Numbers of a group on one side; those below CHANGE_METRICS are judged. */
enum change_metric {
	CHANGE_TOTAL, /* ns */
	CHANGE_P50,
	CHANGE_P99,
	CHANGE_METRICS,
	CHANGE_COUNT = CHANGE_METRICS, /* of a run */
	CHANGE_SELF,                   /* ns; 0 of async spans */
	CHANGE_P90,
	CHANGE_BYTES, /* see change_has_bytes() */
	CHANGE_NUMBERS
};

/* A number of both sides that is judged. */
struct change_number {
	double low, high;    /* of the ratio, for noise of spans; NaN: not judged; infinity: no bound */
	double p;            /* of the rank test, for noise of runs; NaN: not judged */
	bool slower, faster; /* beyond noise and the least change */
};

/* In the order of reports. */
enum change_verdict {
	CHANGE_IS_SLOWER,
	CHANGE_IS_MIXED, /* slower in one percentile, but not in the other one, or in the mean */
	CHANGE_IS_NEW,
	CHANGE_IS_MORE,
	CHANGE_IS_FASTER,
	CHANGE_IS_FEWER,
	CHANGE_IS_GONE,
	CHANGE_IS_NOISE, /* above the least change, but not beyond noise */
	CHANGE_IS_SAME,
	CHANGE_IS_WAITING,  /* all its spans are waiting: not judged */
	CHANGE_IS_UNJUDGED, /* too few spans, or too little time */
	CHANGE_VERDICTS
};

struct change_values {
	bool there, waits;
	/* count, total, self and bytes are means over the runs, rounded; percentiles are those of all spans
	 * of all runs */
	uint128 n[CHANGE_NUMBERS];
	uint64_t spans; /* of all runs */
	double mean;    /* of their durations, ns */
	const struct histogram *durations;
};

struct change_pair {
	bool async;
	struct slice keys[GROUP_KEYS_MAX];
	struct change_values sides[CHANGE_SIDES];
	struct change_number numbers[CHANGE_METRICS];
	enum change_verdict verdict;
	uint128 distance; /* |difference of totals| */
	double ratio;     /* of totals, at least 1, for order; infinity: new or gone */
};

/* Changes and groups below these are not regressions. */
struct change_floors {
	double change; /* 0.05: 5 % */
	uint64_t time; /* ns, of a run */
	uint64_t count;
};

#define CHANGE_FLOORS                                                                                        \
	{                                                                                                    \
		.change = 0.05, .time = 1000000, .count = 20                                                 \
	} /* the default */

struct change {
	struct change_side sides[CHANGE_SIDES];
	struct change_floors floors;
	bool by_runs;              /* noise is of runs, not of spans */
	struct change_pair *pairs; /* sorted: by distance, then by ratio, then by keys */
	uint32_t n, cap;
	uint64_t verdicts[CHANGE_VERDICTS];
	bool overflowed;
};

/* Adds the spans of `from` to the table of a run.  map: for names of the old side; NULL: none.
 * ignore_lines: line and column are removed from names that are locations.  Returns false on OOM. */
bool change_add(struct stats *run, const struct stats *from, struct change_map *map, bool ignore_lines);

/* Pairs and judges the groups of all runs.  Set sides and floors, and call stats_end() for each run, before.
 * Returns false on OOM.  Call change_free() even after a failure. */
bool change_make(struct change *c);
void change_free(struct change *c);

/* Returns the number of groups of the new side alone whose name differs only in line and column from that of
 * a group of the old side alone; 0 on OOM. */
uint64_t change_count_moved(const struct change *c);

/* Whether spans of a side have a field that the vocabulary names for their bytes. */
bool change_has_bytes(const struct change *c);

const char *change_verdict_name(enum change_verdict v);

/* Returns the rule of a verdict; NULL: none. */
const struct rule *change_verdict_rule(enum change_verdict v);

/* Returns new / old; infinity if only old is 0, NaN if both are. */
double change_ratio(uint128 old, uint128 new);

/* ---- reports (report.c) ---- */

struct change_view {
	const struct change *change;
	const char *const *paths[CHANGE_SIDES]; /* of the runs */
	size_t traces[CHANGE_SIDES];            /* of a side whose only run is several traces; else 0 */
	enum report_form form;                  /* of change_text() */
	unsigned width;                         /* of text; 0: unlimited */
	size_t top;                             /* rows of text; 0: all */
};

bool change_text(struct text *t, const struct change_view *v);

/* schemas/compare.schema.json */
bool change_json(struct text *t, const struct change_view *v, const char *tool);
bool change_csv(struct text *t, const struct change_view *v);

/* Lines "key;key OLD NEW" with self times in ns, for differential flame graphs. */
bool change_folded(struct text *t, const struct change_view *v);

/* Writes the text of a finding about a pair. */
void change_put_message(struct text *t, const struct change *c, const struct change_pair *p);

#endif
