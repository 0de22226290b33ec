#ifndef STATS_TABLES_TABLES_H
#define STATS_TABLES_TABLES_H

#include "stats/stats.h"
#include "stats/tables/activity.h"
#include "stats/tables/arrows.h"
#include "stats/tables/cells.h"

/*
 * Further tables of `stats`, each in a file of its own: they count the events of a trace in order of time,
 * those that are left out as well, and write their rows with cells.h.
 */

/* What is asked for. */
struct stats_tables_asked {
	bool flows;
	bool hist;      /* of stretches; without them of the groups of spans */
	uint64_t every; /* ns; 0: not asked for */
};

/* ---- arrows by the names of their ends (flows.c) ---- */

/* Pairs of ends; of one that has no partner, the end alone. */
struct flow_table {
	struct names names, categories; /* names: of ends, with the number of their category */
	struct open_arrows starts;      /* what: number of the name, or FLOW_LEFT_OUT */
	struct open_arrows early;       /* ends before a start of the same time */
	struct open_arrows sources;     /* instants from which an arrow leaves if it arrives somewhere */
	struct table64 pair_of;         /* leaving << 32 | arriving */
	struct flow_pair *pairs;
	uint32_t npairs, pairs_cap;
	struct histogram_pool pool;
};

/* ---- stretches of time (every.c) ---- */

#define EVERY_STRETCHES 10000U
#define EVERY_ROWS 65536U

enum every_refused {
	EVERY_FITS,
	EVERY_TOO_SHORT, /* more than EVERY_STRETCHES */
	EVERY_TOO_MANY,  /* more than EVERY_ROWS of all groups and counters */
};

struct every_table {
	uint64_t every, first_ns;
	struct activity activity;
	struct group_set set; /* with stats.by */
	struct names counters, series;
	struct table64 row_of; /* who << 32 | stretch */
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

/* ---- all tables ---- */

/* Zero-initialise, then stats_tables_begin(). */
struct stats_tables {
	struct stats_tables_asked asked;
	struct arena text; /* all names */
	uint64_t first_ns; /* of the first event, left out or not */
	bool any;
	struct flow_table flows;
	struct every_table every;
};

void stats_tables_begin(struct stats_tables *t, const struct stats_tables_asked *asked);

/* Adds an event that is not structure.  Returns false on OOM. */
bool stats_tables_add(struct stats_tables *t, struct stats *s, const struct batch *b, const struct event *e);

/* After the last event. */
bool stats_tables_end(struct stats_tables *t);

/* Whether there is any table; how many. */
unsigned stats_tables_count(const struct stats_tables_asked *asked);

/* Writes the tables.  Returns false on OOM. */
bool stats_tables_put(const struct stats *s, struct cells *c);
void stats_tables_free(struct stats_tables *t);

void flows_begin(struct flow_table *f, struct arena *text);
bool flows_add(struct flow_table *f, const struct event *e);
bool flows_end(struct flow_table *f);
bool flows_put(const struct flow_table *f, struct cells *c);
void flows_free(struct flow_table *f);

#endif
