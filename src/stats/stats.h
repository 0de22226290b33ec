#ifndef STATS_STATS_H
#define STATS_STATS_H

#include "model/batch_pool.h"
#include "model/trace_engine.h"
#include "stats/histogram.h"
#include "stats/names.h"
#include "stats/self_times.h"
#include "stats/series.h"

/*
 * What the events of one input add up to.  Memory is bounded for any input
 * (below 40 MiB, and what self_times.h takes): beyond 65,536 groups of a kind, or some MiB of names, events
 * are counted under "(other names)".
 */

/* Spans of one name and category. */
struct span_group {
	struct total sum; /* ns */
	uint64_t count;
	struct histogram durations; /* knows the least and the largest, too */
	/* the longest of them, the first of several */
	uint64_t longest_offset, longest_ns; /* of its record; when it began */
	const struct track *longest_track;   /* lives as long as the trace */
};

/* The nearest integer; halves up.  count > 0. */
static inline uint64_t
span_mean(const struct span_group *g)
{
	return (uint64_t)((total_of(g->sum) + g->count / 2) / g->count);
}

/* The number of a name that was met lately, by where its text lies. */
struct stats_known {
	const char *p;
	const struct class *cls; /* NULL: of any */
	uint32_t n, name;
};

#define STATS_KNOWN 256

/* Instants or counters by name. */
struct tally {
	struct names names;
	struct stats_known known[STATS_KNOWN];
	uint64_t *counts; /* by number of the name */
	uint32_t cap;
	uint64_t other; /* events without a name of their own */
};

/* Spans by name and category. */
struct span_table {
	struct names names;
	struct stats_known known[STATS_KNOWN];
	struct span_group *groups; /* by number of the name */
	uint32_t cap;
	struct span_group other;
};

struct stats {
	uint64_t events;
	uint64_t first_ns, last_ns; /* only if events > 0; last_ns is the latest end */
	uint64_t tracks;            /* threads that have events */
	uint64_t unpaired; /* BEGIN without END and END without BEGIN; the engine knows, the caller sets it */

	struct arena text; /* all names */
	struct span_table spans;
	struct span_table async; /* those that may overlap at will: they have no self time */
	struct tally instants, counters;
	struct series_set series;           /* of the counters, by the number of their name */
	const struct class **counter_class; /* by that number: of the first of them */
	uint32_t ncounter_class;
	struct histogram_pool pool;
	struct names categories;
	uint32_t
	    *class_category; /* by index of the class; 0: not known yet, else number of the category + 1 */
	uint32_t nclasses;
	uint8_t *seen; /* by index of the track */
	uint32_t nseen;
	struct self_times times;
};

/* After this it must stay where it is.  false: no memory. */
bool stats_init(struct stats *s);
void stats_free(struct stats *s);

/* Adds a batch; batches come in the order of the trace.  Events with EVENT_LEFT_OUT are not counted, but
 * their spans take time from those around them.  false: no memory. */
bool stats_batch(struct stats *s, const struct batch *b);

/* After the last batch, before the results. */
bool stats_end(struct stats *s);

/* Events (spans, instants, counters) that are counted under "(other names)". */
uint64_t stats_other_names(const struct stats *s);

/* ---- results, sorted ---- */

struct span_row {
	struct slice name, category;
	const struct span_group *group;
	unsigned __int128
	    total;              /* ns that spans of the name take; of async ones the sum of their durations */
	unsigned __int128 self; /* ns of them that spans within them do not take; 0 for async ones */
	uint64_t recursive;     /* spans that lie in another of the same name; 0 for async ones */
};

struct tally_row {
	struct slice name;
	uint64_t count;
	uint32_t number; /* of the name; NAMES_OTHER: of others */
};

/* Largest total first, then by the bytes of name and category.  Texts and groups live as long as `s` and
 * until the next batch; the caller frees *rows.  t: one of s.  false: no memory. */
bool stats_span_rows(const struct stats *s, const struct span_table *t, struct span_row **rows, size_t *n);

struct series_row {
	struct slice name;
	const struct series *series;
};

struct counter_row {
	struct slice name, category;
	uint64_t count;
	const struct series_row *series; /* in the list */
	size_t nseries;
};

/* Largest count first, then by the bytes of the name; series of one counter in order of arrival.  The caller
 * frees *rows and *list.  false: no memory. */
bool stats_counter_rows(const struct stats *s, struct counter_row **rows, size_t *n,
                        struct series_row **list);

/* Largest count first, then by the bytes of the name. */
bool stats_tally_rows(const struct tally *t, struct tally_row **rows, size_t *n);

#endif
