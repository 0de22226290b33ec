#ifndef STATS_TABLES_TABLES_H
#define STATS_TABLES_TABLES_H

#include "base/compiler.h"
#include "stats/stats.h"
#include "stats/tables/cells.h"
#include "stats/tables/longest.h"
#include "stats/tables/open.h"

/*
 * Further tables of `stats`, each in a file of its own.  They get the events of a trace in order of time (the
 * imbalance alone: in any order), including those that are left out, and write their rows as cells.
 */

enum imbalance_of { IMBALANCE_NOT, IMBALANCE_THREADS, IMBALANCE_PROCESSES, IMBALANCE_HOSTS };

/* Spans of A and B: globs of their names, or of their categories. */
struct overlap_asked {
	struct overlap_pattern {
		struct slice glob; /* borrowed; no bytes: not asked for */
		bool category;
	} patterns[2];
	uint64_t longer; /* ns; for events of B in spans of A that are longer */
	bool longer_given;
};

/* Parses "A,B", each GLOB or category:GLOB. */
bool overlap_parse(struct overlap_asked *o, const char *words);

/* The requested tables. */
struct stats_tables_asked {
	bool flows;
	bool hist;      /* of intervals, or without `every`, of groups of spans */
	uint64_t every; /* ns; 0: not asked for */
	bool share;
	uint64_t gaps; /* max gaps of each track, with `share` */
	enum imbalance_of imbalance;
	struct overlap_asked overlap;
};

/* ---- arrows by the names of their ends (flows.c) ---- */

/* Pairs of ends, and ends without a partner. */
struct flow_table {
	struct names names, categories; /* names: of ends, with the number of their category */
	struct arrow_pairing arrows;    /* what: number of the name, or FLOW_LEFT_OUT */
	struct open_arrows sources;     /* instants with EVENT_ARROW whose arrow did not start so far */
	struct table64 pair_of;         /* leaving << 32 | arriving */
	struct flow_pair *pairs;
	uint32_t npairs, pairs_cap, last;      /* last: the pair that was found last */
	struct stats_known known[STATS_KNOWN]; /* ends */
	struct histogram_pool pool;
};

void flows_begin(struct flow_table *f, struct arena *text);
bool flows_add(struct flow_table *f, const struct event *e);
bool flows_end(struct flow_table *f);
bool flows_put(const struct flow_table *f, struct cells *c);
void flows_free(struct flow_table *f);

/* Visits the delays of at most `most` pairs with both ends, by descending count.  texts: name and category of
 * both ends. */
typedef void flow_visitor(void *ctx, const struct slice *texts, const struct histogram *delays,
                          const struct histogram_pool *pool);
bool flows_visit(const struct flow_table *f, uint32_t most, flow_visitor *visit, void *ctx);

/* ---- intervals of time (every.c) ---- */

#define EVERY_INTERVALS 10000U
#define EVERY_ROWS 65536U

enum every_refused {
	EVERY_FITS,
	EVERY_TOO_SHORT, /* more than EVERY_INTERVALS */
	EVERY_TOO_MANY,  /* more than EVERY_ROWS of all groups and counters */
};

struct every_table {
	uint64_t every, first_ns;
	struct activity activity;
	struct group_set set; /* with stats.by */
	struct names counters, series;
	struct table64 row_of; /* who << 32 | interval */
	struct every_row *rows;
	uint32_t nrows, rows_cap, last;
	struct histogram_pool pool;
	enum every_refused refused; /* nothing is counted any more */
	bool no_memory;
};

void every_begin(struct every_table *v, struct arena *text, uint64_t every);
bool every_add(struct every_table *v, struct stats *s, const struct batch *b, const struct event *e,
               uint64_t first_ns);
bool every_end(struct every_table *v);
bool every_put(const struct every_table *v, struct cells *c, const struct stats *s, bool hist);
void every_free(struct every_table *v);

/* ---- time of each track (share.c) ---- */

#define SHARE_GAPS_MAX 1000

struct share_table {
	struct activity activity;
	struct share_track *tracks; /* by index */
	uint32_t ntracks;
	struct names names;         /* of spans */
	uint64_t first_ns, last_ns; /* if `any`: the earliest start, the latest end */
	uint64_t now;               /* time of the current event */
	bool any, no_memory;
	bool several;                /* other processes than `process` have spans, too */
	const struct track *process; /* the first one that has spans */
	struct share_period *ring;   /* the last busy periods */
	uint64_t nperiods;           /* busy periods so far */
	uint128 *meanwhile;          /* ns by name, for the current gap; else 0 */
	struct share_gap *found;     /* gaps that ended at the current event */
	uint32_t nfound, found_cap;
	struct longest gaps; /* by track */
};

void share_begin(struct share_table *h, struct arena *text, uint64_t gaps);
bool share_add(struct share_table *h, const struct event *e);
bool share_end(struct share_table *h);
bool share_put(const struct share_table *h, struct cells *c);
void share_free(struct share_table *h);

/* ---- spans of a name over threads, processes or hosts (imbalance.c) ---- */

#define IMBALANCE_SHARES (1U << 18) /* pairs of name and unit */

struct imbalance_table {
	enum imbalance_of of;
	struct names names, categories; /* names: with the number of their category */
	struct names hosts;             /* units, of IMBALANCE_HOSTS */
	struct table64 share_of;        /* name << 32 | number of the unit */
	struct unit_share *shares;
	uint32_t nshares, shares_cap;
	uint32_t *first; /* by name: index + 1 of one of its units */
	uint32_t nfirst;
	uint64_t missed; /* spans */
};

void imbalance_begin(struct imbalance_table *m, struct arena *text, enum imbalance_of of);
bool imbalance_add(struct imbalance_table *m, const struct event *e);
bool imbalance_put(const struct imbalance_table *m, struct cells *c);
void imbalance_free(struct imbalance_table *m);

/* ---- two kinds of spans at once (overlap.c) ---- */

#define OVERLAP_OPEN (1U << 20) /* spans */

struct overlap_table {
	struct overlap_asked asked;
	struct overlap_process *processes; /* by index of the track */
	uint32_t nprocesses;
	uint32_t open;                /* open spans of all processes */
	struct overlap_track *tracks; /* by index */
	uint32_t ntracks;
	uint32_t nested; /* open and pending long spans of all tracks */
	struct names names;
	struct overlap_inside *inside;
	uint32_t ninside, inside_cap;
	struct table64 inside_of; /* outer << 32 | inner */
	uint64_t nlong;           /* long spans of A */
	uint64_t missed;          /* spans and events that are not counted */
	bool met[2];              /* an event fits the pattern */
};

void overlap_begin(struct overlap_table *o, struct arena *text, const struct overlap_asked *asked);
bool overlap_add(struct overlap_table *o, const struct event *e);
bool overlap_end(struct overlap_table *o);
bool overlap_put(struct overlap_table *o, struct cells *c);
void overlap_free(struct overlap_table *o);

/* ---- all tables ---- */

/* Zero-initialise, then stats_tables_begin(). */
struct stats_tables {
	struct stats_tables_asked asked;
	struct arena text; /* all names */
	uint64_t first_ns; /* of the first event, left out or not */
	bool any;
	struct flow_table flows;
	struct every_table every;
	struct share_table share;
	struct imbalance_table imbalance;
	struct overlap_table overlap;
};

void stats_tables_begin(struct stats_tables *t, const struct stats_tables_asked *asked);

/* Adds an event that is not structure.  Returns false on OOM. */
bool stats_tables_add(struct stats_tables *t, struct stats *s, const struct batch *b, const struct event *e);

/* After the last event. */
bool stats_tables_end(struct stats_tables *t);

/* Returns the number of requested tables. */
unsigned stats_tables_count(const struct stats_tables_asked *asked);

/* Writes the tables.  Returns false on OOM. */
bool stats_tables_put(const struct stats *s, struct cells *c);
void stats_tables_free(struct stats_tables *t);

#endif
