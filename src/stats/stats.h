#ifndef STATS_STATS_H
#define STATS_STATS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/memory.h"
#include "base/table.h"
#include "model/batch.h"
#include "model/trace_engine.h"
#include "output/columns.h"
#include "run/choose/select.h"
#include "stats/measures.h"
#include "stats/tables/longest.h"

/* ---- groups ---- */

/* Grouping of spans and instants. */
enum group_key {
	GROUP_BY_NAME,
	GROUP_BY_CATEGORY,
	GROUP_BY_THREAD, /* the process, for events of no thread */
	GROUP_BY_PROCESS,
	GROUP_BY_TRACK,
	GROUP_BY_FILE, /* path of the trace, as given */
	GROUP_BY_HOST, /* of the process, if the trace states it */
	GROUP_BY_ARG,  /* the value of a field, as `cat` shows it */
};

#define GROUP_KEYS_MAX 4
#define GROUP_KEY_MAX 128 /* bytes of a key, "arg:fname" */

struct group_column {
	enum group_key key;
	char head[GROUP_KEY_MAX]; /* the key as given; for a field "arg:" and its name */
};

/* n 0: spans by name and category, instants by name. */
struct group_by {
	unsigned n;
	struct group_column columns[GROUP_KEYS_MAX];
};

/* Parses "process,name".  Returns false with the reason in `why`, one line. */
bool group_by_parse(struct group_by *by, const char *words, char *why, size_t size);

/* Return the number of keys of the rows, and the name of a key; without keys, "name" and "category". */
unsigned group_by_count(const struct group_by *by);
const char *group_by_key(const struct group_by *by, unsigned i);

/* Whether both have the same keys.  No keys are the same as name,category. */
bool group_by_is_same(const struct group_by *a, const struct group_by *b);

#define GROUP_BY_WORDS (GROUP_KEYS_MAX * GROUP_KEY_MAX)

/* Writes the keys: "process,name"; "name,category" if there are none. */
void group_by_words(const struct group_by *by, char *to, size_t size);

/* Returns the parts of events that the keys need: WANT_FIELDS, WANT_NAMES. */
unsigned group_by_wants(const struct group_by *by);

/* Cache of numbers of names: by address for texts with SLICE_STAYS, else by their bytes. */
struct stats_known {
	const struct class *cls; /* NULL: any */
	uint64_t head, tail;     /* the address, or the first and the last bytes */
	uint64_t size;           /* bytes * 4, + 2 if the text stays, + 1; 0: unused */
	const char *copy;        /* a text of more than 16 bytes that does not stay, else NULL */
	uint32_t name;
};

#define STATS_KNOWN 256

/* Returns the key of a text, without its number. */
static inline struct stats_known stats_known_key(struct slice name, const struct class *cls)
{
	struct stats_known k = { .cls = cls, .size = (uint64_t)name.n << 2 | 1 };
	uint32_t half[2];

	if ((name.flags & SLICE_STAYS) != 0) {
		k.size |= 2;
		k.head = (uintptr_t)name.p;
	} else if (name.n >= 8) {
		memcpy(&k.head, name.p, 8);
		memcpy(&k.tail, name.p + name.n - 8, 8);
	} else if (name.n >= 4) {
		memcpy(&half[0], name.p, 4);
		memcpy(&half[1], name.p + name.n - 4, 4);
		k.head = (uint64_t)half[1] << 32 | half[0];
	} else {
		for (uint32_t i = 0; i < name.n; i++)
			k.head = k.head << 8 | (unsigned char)name.p[i];
	}
	return k;
}

static inline bool stats_known_is(const struct stats_known *k, const struct stats_known *key,
                                  struct slice name)
{
	return k->head == key->head && k->tail == key->tail && k->size == key->size && k->cls == key->cls &&
	       (k->copy == NULL || memcmp(k->copy, name.p, name.n) == 0);
}

/* A name that is looked up in a cache: its key, and the slot that has it or is to have it. */
struct stats_lookup {
	struct stats_known key, *slot;
};

/* Gets the number of a name from a cache of STATS_KNOWN slots: it is in one of two slots beside each other.
 * Returns false if it has none; then call stats_known_keep().  cls: the class on which the number depends, or
 * NULL. */
INLINE bool stats_known_find(struct stats_known *known, struct slice name, const struct class *cls,
                             struct stats_lookup *l, uint32_t *number)
{
	l->key = stats_known_key(name, cls);
	const uint64_t mix = l->key.head ^ l->key.tail >> 3 ^ (uint64_t)(uintptr_t)cls << 16;
	/* not linear: texts are at regular distances, which else share slots */
	l->slot = &known[((mix ^ mix >> 7) * UINT64_C(0x9e3779b97f4a7c15)) >> 56];
	bool found = stats_known_is(l->slot, &l->key, name);
	if (!found && l->slot->size != 0) {
		l->slot = &known[(l->slot - known) ^ 1];
		found = stats_known_is(l->slot, &l->key, name);
	}
	if (found)
		*number = l->slot->name;
	return found;
}

/* Keeps the number of a name that was looked up.  NAMES_OTHER has no copy of the text, so it is kept only for
 * texts that stay; NAMES_FAILED is not kept. */
static inline void stats_known_keep(struct stats_lookup *l, const struct names *names, uint32_t number)
{
	const bool stays = (l->key.size & 2) != 0;

	if (number == NAMES_FAILED || (number == NAMES_OTHER && !stays))
		return;
	l->key.copy = stays || l->key.size >> 2 <= 16 ? NULL : names_text(names, number).p;
	l->key.name = number;
	*l->slot = l->key;
}

/* names_index() of a text, through a cache. */
static inline uint32_t stats_known_index(struct stats_known *known, struct names *names, struct slice text)
{
	struct stats_lookup l;
	uint32_t number;

	if (!stats_known_find(known, text, NULL, &l, &number)) {
		number = names_index(names, text, 0);
		stats_known_keep(&l, names, number);
	}
	return number;
}

/* Values of a key: numbers of texts, or indices of tracks. */
struct group_values {
	struct names texts;
	struct stats_known known[STATS_KNOWN];
	const struct track **tracks; /* tracks that are a value, by index */
	struct slice *labels;        /* their names, unique unless joined; after groups_label() */
	uint32_t ntracks;
};

/* Groups of a table: a number for each combination of values.  levels[i] maps the number of the first i
 * values and the next value to a number. */
struct group_set {
	struct table64 levels[GROUP_KEYS_MAX];
	uint32_t *values; /* by.n of each group */
	uint32_t n, cap;
};

/* ---- stats ---- */

/*
 * Statistics of the events of a trace, or of several.  Memory is bounded for any input (below 40 MiB, plus
 * self times): beyond 65,536 groups of a kind, or some MiB of names, events are counted as "(other names)".
 */

/* Sum of a numeric field over the spans of a group.  Negative values are not added: they are error codes of
 * calls that return a size. */
struct span_sum {
	struct total whole; /* integers */
	double real;        /* the others */
	uint64_t values, negative;
};

/* Spans of one name and category. */
struct span_group {
	struct total sum; /* ns */
	uint64_t count;
	uint64_t first_ns, last_ns; /* the earliest start, the latest end */
	struct histogram durations; /* also least and largest */
	/* the longest span, the first of several */
	uint64_t longest_offset, longest_ns; /* of its record; its start */
	const struct track *longest_track;   /* lives as long as the trace */
	struct span_sum field;               /* with stats.sum_of */
	struct total bytes;                  /* of spans whose class has `bytes` in the vocabulary */
};

/* Returns the mean duration in ns.  count > 0. */
static inline uint64_t span_mean(const struct span_group *g)
{
	return (uint64_t)rounded_mean(total_of(g->sum), g->count);
}

/* Decades of durations: below 1 us, 10 us, ..., 10 s, and the rest. */
#define SPAN_DECADES 9

static inline unsigned span_decade(uint64_t ns)
{
	unsigned i = 0;

	for (uint64_t edge = 1000; i < SPAN_DECADES - 1 && ns >= edge; edge *= 10)
		i++;
	return i;
}

/* "<1us", ..., ">=10s" */
const char *span_decade_head(unsigned i);

/* Instants or counters by name. */
struct tally {
	struct names names;
	struct stats_known known[STATS_KNOWN];
	const struct stats *grouped; /* NULL: by name */
	struct group_set set;        /* instead of names */
	uint64_t *counts;            /* by number of the name or group */
	uint32_t cap;
	uint64_t other; /* events of NAMES_OTHER */
};

/* Spans by name and category, or by the keys of stats.by. */
struct span_table {
	struct names names;
	struct stats_known known[STATS_KNOWN];
	struct group_set set;      /* instead of names, with stats.by */
	struct span_group *groups; /* by number of the name or group */
	uint32_t cap;
	struct span_group other;
	uint64_t (*decades)[SPAN_DECADES]; /* by number, with stats.hist */
	uint32_t ndecades;
	uint64_t other_decades[SPAN_DECADES];
	struct longest longest; /* by number, with stats.examples */
};

#define STATS_EXAMPLES_MAX 1000

/* The slowest spans of each group: their number, and the function that writes their fields. */
struct stats_examples {
	uint32_t n; /* 0: none */
	struct slice (*fields)(const void *ctx, struct text *t, const struct batch *b, const struct event *e);
	const void *ctx;
	struct text text; /* fields of one span */
};

struct stats_tables; /* tables/tables.h */

/* Source of a table.  Texts are borrowed from the trace, or in the arena of the statistics. */
struct stats_origin {
	uint64_t traces;
	struct slice path;            /* no bytes: not the same for all traces */
	struct slice format, dialect; /* no bytes: none, not known, or not the same in all traces */
	uint64_t bytes;               /* of the unpacked traces */
	uint64_t records, events;     /* events: selected ones, if there is a selection */
	uint64_t left_out;            /* events that are not selected */
	uint64_t epoch_ns;
	bool epoch_known; /* and the same in all traces */
	bool selected;    /* there is a selection */
};

struct stats {
	struct stats_origin origin;  /* after stats_describe() */
	const struct trace *trace;   /* with the classes; NULL: several traces */
	struct tally classes;        /* records by class, of several traces */
	bool joint;                  /* of several traces: all values of keys are texts */
	bool of_portions;            /* the merged tables are of portions of one trace, without counters */
	bool joins_tracks;           /* for a joint table: tracks of equal names are one value of a key */
	bool overflowed;             /* joint: a count or a sum is too large, and stays at its limit */
	struct stats_tables *tables; /* borrowed; NULL: none */
	uint64_t events;
	uint64_t first_ns, last_ns; /* only if events > 0; last_ns is the latest end */
	uint64_t start_ns;          /* of the whole trace: text counts times from it, as --since does; after
	                               stats_describe() */
	uint64_t zero_ns;           /* trace.zero_ns */
	uint64_t tracks;            /* threads that have events */
	uint64_t unpaired;          /* BEGIN without END and END without BEGIN; set by the caller */
	struct group_by by;
	struct stats_examples examples; /* set before the first batch */
	struct slice file;              /* of GROUP_BY_FILE; borrowed */
	bool hist;                      /* count durations by decade; set before the first batch */
	struct slice sum_of;            /* the field whose values are added up; no bytes: none */
	uint64_t summed;                /* events that have the field */
	bool summed_number;             /* a value of the field is a number, or text of one */
	bool has_bytes; /* some spans have a field that the vocabulary names for their bytes */
	struct plan_bytes_cache bytes_known;
	struct group_values *values; /* by.n */

	struct arena text; /* all names */
	struct span_table spans;
	struct span_table async; /* without self time, as they may overlap */
	struct tally instants, counters;
	struct series_set series;       /* of the counters, by the number of their name */
	struct slice *counter_category; /* by that number: of the first counter; p NULL: none yet */
	uint32_t ncounter_category;
	struct histogram_pool pool;
	struct histogram_late late; /* late counts of the pool, within a batch */
	struct names categories;
	uint32_t *class_category; /* by index of the class: number of the category + 1; 0: unknown yet */
	uint32_t nclasses;
	uint8_t *seen; /* by index of the track */
	uint32_t nseen;
	struct self_times times;
	uint128 busy; /* self times of all spans that are not waiting, ns; after stats_end() */
};

/* The struct must not move afterwards. */
void stats_init(struct stats *s);

struct span_row;

/* Sets the keys of groups and the field to sum up, before the first batch.  sum_of: borrowed; no bytes: no
 * field.  Returns false on OOM. */
bool stats_group(struct stats *s, const struct group_by *by, struct slice sum_of);
void stats_free(struct stats *s);

/* Adds a batch, in the order of the trace.  Events with EVENT_LEFT_OUT are not counted, but their spans
 * reduce the self time of those that contain them.  Returns false on OOM. */
bool stats_batch(struct stats *s, const struct batch *b);

/* Completes the statistics after the last batch, before results are read.  Returns false on OOM. */
bool stats_end(struct stats *s);

/* Describes the trace for a report.  found: counts of the selection; NULL: all events.  All are borrowed. */
void stats_describe(struct stats *s, const char *path, uint64_t bytes, const struct trace *trace,
                    const struct select_found *found);

/*
 * Adds statistics of one trace, after stats_describe(), or of several, to a joint table.  Before the first
 * merge, call stats_init() and stats_group(), with the same keys and field, for the joint table; after the
 * last one, stats_end().  Groups whose keys have equal texts are added up.  The result does not depend on the
 * order of merges, except for sums of non-integers.  A count or sum that is too large sets into->overflowed.
 * Both tables get the larger zero_ns.  Returns false on OOM.
 */
bool stats_merge(struct stats *into, struct stats *from);

/* Changes a joint table by name,category to one without keys, whose instants are by name.  The struct is made
 * again, at its place.  Returns false on OOM. */
bool stats_ungroup(struct stats *s);

/* Moves all times of a table to this zero_ns, if it is above the present one. */
void stats_move_zero(struct stats *s, uint64_t zero);

/* Steps of stats_merge(), also for tables that are read from files: each adds a row.  of: the pool of the
 * histogram of row->group.  other: the row is for names or groups beyond the limits.  *number: of the group
 * (number NULL: not needed) or of the name of the counter, or NAMES_OTHER.  Return false on OOM. */
bool stats_add_span(struct stats *s, struct span_table *t, const struct span_row *row,
                    const struct histogram_pool *of, uint32_t *number);
bool stats_add_count(struct stats *s, struct tally *t, const struct slice *values, bool other,
                     uint64_t count);
bool stats_add_counter(struct stats *s, struct slice name, struct slice category, bool other, uint64_t count,
                       uint32_t *number);
bool stats_add_origin(struct stats *s, const struct stats_origin *o);

/* Events (spans, instants, counters) counted as "(other names)". */
uint64_t stats_other_names(const struct stats *s);

/* ---- groups of a trace (groups.c) ---- */

/* Returns the number of an event's group: NAMES_OTHER beyond NAMES_MAX groups, NAMES_FAILED on OOM. */
uint32_t groups_find(struct stats *s, struct group_set *set, const struct batch *b, const struct event *e);

/* The same for a group whose values are texts. */
uint32_t groups_find_texts(struct stats *s, struct group_set *set, const struct slice *texts);

/* Returns the element with the number of a name or group, and extends the list if it is shorter; `other` for
 * NAMES_OTHER.  NULL for NAMES_FAILED, or on OOM.  list: address of a pointer to n elements. */
void *groups_at(void *list, uint32_t *n, size_t size, uint32_t number, void *other);

/* Adds the value of stats.sum_of, if the event has it. */
void groups_sum(struct stats *s, struct span_sum *sum, const struct batch *b, const struct event *e);

/* Adds the bytes of a span whose class has a plan. */
void groups_count_bytes(struct stats *s, struct total *bytes, const struct batch *b, const struct event *e);

/* Whether no event has the field of key i, or stats.sum_of (i == by.n).  After the last batch. */
bool groups_lacks_field(const struct stats *s, unsigned i);

/* Labels the tracks that are values, after the last batch. */
bool groups_label(struct stats *s);

/* Gets the values of a group as texts. */
void groups_values(const struct stats *s, const struct group_set *set, uint32_t number, struct slice *values);

/* Frees the values of all keys; each table frees its set. */
void groups_free(struct stats *s);
void groups_free_set(struct group_set *set);

/* ---- labels of tracks (labels.c) ---- */

/* `tracks` is by index; NULL tracks are skipped.  Sets labels to their names, which stay borrowed. */
void tracks_copy_names(const struct track *const *tracks, uint32_t n, struct slice *labels);

/* The same, with id, process and host added to equal ones, in the arena.  Returns false on OOM. */
bool tracks_label(struct arena *a, const struct track *const *tracks, uint32_t n, struct slice *labels);

/* Labels of tracks and of their processes, by index of the track: their names; parts are added as above to
 * those of processes, and of tracks of one process, that are equal. */
struct track_labels {
	struct arena text;
	struct slice *of; /* borrows names of tracks */
};

/* `tracks` is by index; NULL tracks are skipped.  Call track_labels_free() in any case.  Returns false on
 * OOM. */
bool track_labels_make(struct track_labels *l, const struct track *const *tracks, uint32_t n);
void track_labels_free(struct track_labels *l);

/* ---- results, sorted ---- */

struct span_row {
	union {
		struct slice values[GROUP_KEYS_MAX]; /* of the keys of stats.by */
		struct {
			struct slice name, category; /* without keys */
		};
	};
	const struct span_group *group;
	const uint64_t *decades;              /* NULL: none */
	const struct longest_group *examples; /* NULL: none; the longest first */
	uint128 total;      /* ns; union of the spans, or, of async ones, sum of durations */
	uint128 self;       /* ns not covered by spans inside; 0 for async ones */
	uint128 waiting;    /* ns; of self, in spans that are waiting */
	uint64_t recursive; /* spans inside another one of the same group; 0 for async ones */
	uint128 rank;       /* rows are sorted by rank, then by values[first] */
	unsigned first;
	bool other; /* groups beyond the limits */
};

/* Whether all spans of a group are waiting. */
static inline bool span_row_waits(const struct span_row *row)
{
	return row->waiting > 0 && row->waiting == row->self;
}

struct tally_row {
	union {
		struct slice values[GROUP_KEYS_MAX]; /* of the keys of stats.by */
		struct slice name;                   /* without keys */
	};
	uint64_t count;
	uint32_t number; /* of the name or group, or NAMES_OTHER */
};

/* ---- columns of spans (span_columns.c) ---- */

enum span_column {
	SPAN_COUNT,
	SPAN_TOTAL,
	SPAN_SELF,
	SPAN_WAITING,   /* of self, in spans that are waiting */
	SPAN_FIELD_SUM, /* of stats.sum_of, like RATE and NEGATIVE */
	SPAN_RATE,      /* sum per second of total time */
	SPAN_NEGATIVE,
	SPAN_BYTES,
	SPAN_BYTES_RATE, /* bytes per second of total time */
	SPAN_MEAN,
	SPAN_MIN,
	SPAN_QUANTILE,
	SPAN_MAX,
	SPAN_SHARE, /* total, as a part of the time from the first event to the last */
	SPAN_BUSY,  /* self without waiting, as a part of all such time */
	SPAN_FIRST,
	SPAN_LAST,
	SPAN_DECADE, /* durations of a decade, with stats.hist */
};

#define SPAN_COLUMNS_MAX 14
#define SPAN_SORT_KEYS 64 /* span_columns.sort from here on: a key of the groups */

struct span_columns {
	const char *sum_of; /* name of stats.sum_of, while columns are added; NULL: none.  Borrowed */
	unsigned n;
	struct span_column_row {
		enum span_column what;
		uint32_t number; /* SPAN_QUANTILE: in millionths; SPAN_DECADE: number of the decade */
		uint8_t drop;    /* columns.h */
		char head[GROUP_KEY_MAX];
	} list[SPAN_COLUMNS_MAX], sort_by;
	unsigned sort; /* 0: by sort_by; SPAN_SORT_KEYS + i: by the i-th key, ascending */
};

/* Sets the default: count, total, self, waiting, bytes, bytes/s, mean, p50, p90, p99, max; with sum_of also
 * sum, rate and negative of the field of this name, which makes SPAN_COLUMNS_MAX columns. */
void span_columns_init(struct span_columns *c, const char *sum_of);

/* Parses "99.9", more than 0, at most 100, with at most four decimals, as millionths; 0 for other texts. */
uint32_t span_percent(const char *p, size_t n);

/* Parse "count,total,p99.9", "50,95,99.9" and the name of a column or key to sort by.  Return false with the
 * reason in `why`, one line. */
bool span_columns_parse(struct span_columns *c, const char *words, char *why, size_t size);
bool span_columns_percentiles(struct span_columns *c, const char *numbers, char *why, size_t size);
bool span_columns_sort(struct span_columns *c, const struct group_by *by, const char *name, char *why,
                       size_t size);

/* Adds the decades.  own: to the present columns; else to count, the sum of a field if there is one, p99 and
 * max. */
bool span_columns_hist(struct span_columns *c, bool own, char *why, size_t size);

/* Lists the groups of t, a table of s, sorted by `order` (NULL: by descending total), then by the bytes of
 * the values.  Texts and groups are valid until the next batch.  The caller frees *rows.  Returns false on
 * OOM. */
bool stats_span_rows(const struct stats *s, const struct span_table *t, const struct span_columns *order,
                     struct span_row **rows, size_t *n);

/* The same, of which the caller reads the first `top` rows; 0: all.  *all: rows with and without those. */
enum span_rows {
	SPAN_ROWS_ALL,
	SPAN_ROWS_WAITING, /* those of span_row_waits() */
	SPAN_ROWS_WORKING, /* the others */
};
bool stats_top_rows(const struct stats *s, const struct span_table *t, const struct span_columns *order,
                    enum span_rows which, size_t top, struct span_row **rows, size_t *all);

/* Calls f for each row of spans, then of async spans, in descending order of total.  Returns false if f does,
 * or on OOM. */
typedef bool span_row_fn(void *ctx, const struct span_table *t, struct span_row *row);
bool stats_each_span(const struct stats *s, span_row_fn *f, void *ctx);

/* Returns a number of a row: ns, or a count; shares in millionths, rates per second, sums and their rates in
 * units of 2^-20, for sorting only. */
uint128 span_column_value(const struct span_column_row *c, const struct stats *s, const struct span_row *row);

/* Returns a number for sorting: it has the order of the values before they are rounded. */
uint128 span_column_rank(const struct span_column_row *c, const struct stats *s, const struct span_row *row);

/* Writes a SPAN_FIELD_SUM or SPAN_RATE: an integer, or a float, `exact` by its shortest decimal, else with at
 * most 15 digits. */
void span_column_sum(struct text *t, const struct span_column_row *c, const struct span_row *row, bool exact);

struct series_row {
	struct slice name;
	const struct series *series;
};

struct counter_row {
	struct slice name, category;
	uint64_t count;
	const struct series_row *series; /* in the list */
	size_t nseries;
	bool other; /* names beyond the limits */
};

/* Lists counters by descending count, then by the bytes of the name; series of a counter in order of arrival,
 * in a joint table by name.  The caller frees *rows and *list.  Returns false on OOM. */
bool stats_counter_rows(const struct stats *s, struct counter_row **rows, size_t *n,
                        struct series_row **list);

/* Lists rows by descending count, then by the bytes of the values.  The caller frees *rows. */
bool stats_tally_rows(const struct tally *t, struct tally_row **rows, size_t *n);

/* Lists classes that have records, with their number: of one trace in order of arrival, of several by name.
 * The caller frees *rows.  Returns false on OOM. */
bool stats_class_rows(const struct stats *s, struct tally_row **rows, size_t *n);

/* ---- stats thread ---- */

/* Counts batches in order; if there is a further thread, on it and concurrently with reading. */

#define STATS_SLOTS 32U /* max waiting batches */

struct stats_thread {
	struct stats *stats;     /* borrowed */
	struct workers *workers; /* NULL: no further thread */
	struct batch *slots[STATS_SLOTS];
	atomic_bool no_memory;
};

/* threads: in total.  Call stats_thread_end() even after a failure. */
bool stats_thread_begin(struct stats_thread *t, struct stats *s, unsigned threads);

/* Takes ownership of the batch.  Returns false on OOM, now or before. */
bool stats_thread_put(struct stats_thread *t, struct batch *b);

/* Waits until all batches are counted and released. */
bool stats_thread_settle(struct stats_thread *t);
void stats_thread_end(struct stats_thread *t);

/* ---- stats report ---- */

/* Statistics, after stats_end() and stats_describe(), and options of their report. */
struct stats_view {
	const struct stats *stats;
	enum report_form form; /* of stats_text(): HTML has no head */
	bool classes;          /* text also lists classes: of all records, so not with a selection */
	bool full;             /* JSON has all that stats_merge() needs */
	unsigned width;        /* max characters in a line of text; 0: unlimited */
	size_t top;            /* max rows of each table of text; 0: all */
	const struct span_columns *columns;
};

/* Returns the title of a table: the path of a trace, or "3 traces" in `space`. */
struct slice stats_title(const struct stats_origin *o, char space[48]);

/* Comma-separated values: a row for each group, times in ns.  `first`: with the names of the columns. */
bool stats_csv_input(struct text *t, const struct stats_view *v, bool first);

/* Writes an input of the JSON report (schemas/stats.schema.json).  first: it is the first one. */
bool stats_json_input(struct text *t, const struct stats_view *v, bool first);

/* ---- JSON of --full, read (read.c) ---- */

#define STATS_LAYOUT 1 /* changes with the output of --full, and with the meaning of its numbers */
#define STATS_FILE_MAX ((size_t)256 << 20)

struct stats_file {
	struct slice text;          /* a NUL follows */
	const char *tool;           /* name and version of this program */
	bool any_version;           /* files of other versions with the same layout are read, too */
	struct stats *into;         /* a table over several traces; incomplete if the file is refused */
	bool grouped;               /* `into` had stats_group(); else it gets the keys of the file */
	struct histogram_pool pool; /* scratch */
	char why[512];              /* why it is refused; "": OOM */
};

/* Adds all inputs of a file with stats_merge().  Returns false with the reason in f->why; `into` is
 * incomplete then. */
bool stats_read(struct stats_file *f);

/* Whether a file begins like one of stats --format json; its first 64 bytes suffice. */
bool stats_file_begins(struct slice start);

/* Writes the report in text, Markdown or HTML.  Names and categories are shortened to fit the width, and to
 * at most 256 bytes. */
bool stats_text(struct text *t, const struct stats_view *v);

#define STATS_TOP 30 /* rows of commands, unless they are given */

#endif
