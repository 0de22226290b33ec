#ifndef STATS_TABLES_TABLES_H
#define STATS_TABLES_TABLES_H

#include "stats/stats.h"
#include "stats/tables/arrows.h"
#include "stats/tables/cells.h"

/*
 * Further tables of `stats`, each in a file of its own: they count the events of a trace in order of time,
 * those that are left out as well, and write their rows with cells.h.
 */

/* What is asked for. */
struct stats_tables_asked {
	bool flows;
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

/* ---- all tables ---- */

/* Zero-initialise, then stats_tables_begin(). */
struct stats_tables {
	struct stats_tables_asked asked;
	struct arena text; /* all names */
	uint64_t first_ns; /* of the first event, left out or not */
	bool any;
	struct flow_table flows;
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
