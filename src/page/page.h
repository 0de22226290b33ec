#ifndef PAGE_PAGE_H
#define PAGE_PAGE_H

#include "base/memory.h"
#include "base/table.h"
#include "output/text.h"
#include "stats/change/change.h"
#include "stats/stats.h"
#include "stats/tables/open.h"
#include "stats/tables/tables.h"

/*
 * The page of `report`: collects the shown data about the events of a trace in bounded memory, and writes the
 * sections as HTML and JSON.  src/report/html.c writes the document around them, with the findings.
 *
 *   page.c       the events: open spans of each track, with their stacks and rows
 *   sketch.c     each track and counter over time, in bins of 2^shift ns, with its longest spans
 *   matrix.c     self time of each name in each process or thread, for the section Balance
 *   flame.c      trees of stacks: of spans, and of each kind of samples
 *   data.c       the JSON that the script of the page draws
 *   sections.c   text of a trace as the page shows it, and the sections that need no script
 *
 * Events are in order of time.  Bins start at absolute multiples of their width, and widths only depend on
 * the events, so the page does not depend on the number of threads.
 */

/* ---- time (sketch.c) ---- */

#define PAGE_BINS 2048U           /* max bins of the whole time; beyond that, pairs of bins are added up */
#define PAGE_TRACKS 1024U         /* max tracks with bins: the first ones with spans */
#define PAGE_ALL_BINS (1U << 20)  /* max bins of all tracks together */
#define PAGE_SPANS (1U << 18)     /* max spans in memory while reading */
#define PAGE_CANDIDATES 2         /* categories, and names, counted in a bin */
#define PAGE_NAME_OTHER NAMES_MAX /* stands for all names beyond the limits */
#define PAGE_NAME_FRAME (NAMES_MAX + 1) /* names from here on are frames of samples */

/* The names (or categories) with the most time in a bin, by the algorithm of Misra and Gries.  They include
 * any name with more than a third of the bin. */
struct page_candidates {
	uint32_t what[PAGE_CANDIDATES];
	float ns[PAGE_CANDIDATES];
};

struct page_bin {
	float busy, waiting; /* ns */
	struct page_candidates categories, names;
};

struct page_span {
	uint64_t start, dur;
	uint32_t name;  /* index of page.names, or PAGE_NAME_OTHER */
	uint16_t depth; /* row of its track */
	bool waiting;
};

struct page_track {
	const struct track *track; /* NULL: no span yet */
	struct page_bin *bins;     /* NULL: none, see PAGE_TRACKS */
	uint64_t first_bin;        /* absolute number of bins[0] */
	uint32_t nbins, bins_cap;
	struct page_span *spans; /* in order of start */
	uint32_t nspans, spans_cap;
	uint64_t count; /* all spans, also those not in spans[] */
	struct total busy, waiting;
	uint16_t depth;  /* the largest of its spans */
	uint32_t nequal; /* spans of equal times at the end of spans[], each around the one before it */
	uint64_t *rows;  /* for each row of the timeline, the end of its last span */
	uint32_t nrows;
};

/* ---- stacks (flame.c) ---- */

#define PAGE_NODES (1U << 17) /* of a tree */
#define PAGE_DEPTH 256U       /* deeper spans and frames are added to the node around them */

enum { PAGE_OLD, PAGE_NEW, PAGE_SIDES };

struct page_node {
	uint32_t parent, name;
	uint16_t depth;
	/* ns, ns and spans, saturating; of samples: self and count are samples */
	uint64_t self[PAGE_SIDES], waiting[PAGE_SIDES], count[PAGE_SIDES];
};

/* A tree of stacks. */
struct page_flame {
	struct page_node *nodes; /* [0]: the root; a parent precedes its children */
	uint32_t nnodes, nodes_cap;
	struct table64 node_of; /* parent << 32 | name */
	bool full;
	/* All samples, those without frames; [PLAN_STACK_ANY]: of no stated kind, which are not shown. */
	uint64_t samples[PAGE_SIDES], bare[PAGE_SIDES];
};

#define PAGE_FLAMES 4U /* by enum plan_stack; [PLAN_STACK_ANY]: of spans */

/* Kinds of samples, by enum plan_stack. */
struct page_sampled {
	const char *id;          /* as in --stacks */
	const char *title, *who; /* `who` has been sampled */
};

extern const struct page_sampled page_sampled[PAGE_FLAMES];

/* ---- counters (sketch.c) ---- */

#define PAGE_SERIES 256U

struct page_value {
	double min, max, last;
};

/* A field of a counter on a track. */
struct page_series {
	uint32_t name, field; /* indexes of page.names */
	const struct track *track;
	struct page_value *bins; /* a bin without values has min > max */
	uint64_t first_bin;
	uint32_t nbins, bins_cap;
	uint64_t count;
	double min, max;
};

/* ---- the matrix (matrix.c) ---- */

#define PAGE_CELLS (1U << 17)

struct page_cell {
	uint32_t name, track;
	uint64_t ns; /* self time without waiting; saturating */
};

/* ---- the page ---- */

enum page_parts {
	PAGE_TIME = 1,   /* tracks, counters, time of names by process */
	PAGE_STACKS = 2, /* stacks of the current side */
};

struct page {
	struct arena text;
	struct names names, categories; /* a name has the number of its category */
	struct arena frame_text;
	struct names frames;                   /* of samples: name - PAGE_NAME_FRAME */
	struct stats_known known[STATS_KNOWN]; /* cache: names of spans of this pass */
	struct activity activity;
	unsigned parts; /* enum page_parts, of the current pass */
	unsigned side;
	bool two_sides; /* stacks have an old side */
	bool no_memory;
	/* time */
	bool any;
	uint64_t first_ns, last_ns;
	unsigned shift;                         /* width of a bin: 2^shift ns */
	struct page_track *tracks;              /* by index of the track */
	uint32_t ntracks, nbinned, nwith_spans; /* all tracks; those with bins; those with spans */
	uint32_t all_bins, all_spans;
	uint32_t quota; /* keep this number of the longest spans in 2^stretch bins of a track; 0: all */
	unsigned stretch;
	/* stacks */
	struct page_flame flames[PAGE_FLAMES];
	/* counters */
	struct page_series *series;
	uint32_t nseries, series_cap;
	struct table64 series_of; /* name << 48 | field << 32 | track */
	/* matrix: name << 32 | index of the track -> cell */
	struct table64 cell_of[2]; /* by process, by thread */
	struct page_cell *cells[2];
	uint32_t ncells[2], cells_cap[2];
	const struct track **units; /* by index of the track */
	uint32_t nunits;
};

void page_init(struct page *p);
void page_free(struct page *p);

/* A pass over the events of a side, in order of time.  Call page_end() after the last batch.  The tracks of
 * the trace must live until then; with PAGE_TIME, until the page is written.  Return false on OOM. */
void page_begin(struct page *p, unsigned parts, unsigned side);
bool page_batch(struct page *p, const struct batch *b);
bool page_end(struct page *p);

/* Adds ns; the sum stays UINT64_MAX if it exceeds 64 bits. */
void page_add_saturating(uint64_t *sum, uint64_t ns);

/* The text of a name: an index of page.names, PAGE_NAME_OTHER, or PAGE_NAME_FRAME plus an index of
 * page.frames. */
struct slice page_name(const struct page *p, uint32_t name);

/* ---- the steps of page_batch() (sketch.c); bool: false on OOM ---- */

/* Extends the time of the page to `until`. */
void sketch_reach(struct page *p, uint64_t until);

/* Adds a span to its track.  depth: its row in the timeline. */
bool sketch_span(struct page *p, const struct event *e, uint32_t name, uint32_t depth);

/* Adds a period of a track, in which a span of this name is the innermost. */
bool sketch_spent(struct page *p, const struct track *track, uint64_t from, uint64_t to, uint32_t name,
                  bool waiting);

/* Adds the numeric fields of a counter to their series. */
bool sketch_counters(struct page *p, const struct batch *b, const struct event *e);

/* Keeps at most `max` spans: the longest in equal parts of the time of each track. */
void sketch_thin(struct page *p, uint32_t max);

/* Makes bins 2^by times as wide. */
void sketch_coarsen(struct page *p, unsigned by);

/* ---- the matrix (matrix.c) ---- */

/* Adds self time of a name in a track.  Returns false on OOM. */
bool matrix_add(struct page *p, const struct track *track, uint32_t name, uint64_t ns);

/* Limits of the shown rows and columns, which are the largest. */
#define MATRIX_ROWS 24U
#define MATRIX_COLUMNS 64U

struct matrix_sum {
	uint128 ns;
	uint32_t what; /* a name, or the index of a track */
	uint64_t most; /* largest addend, ns, and its unit */
	uint32_t most_in;
};

/* Sorts the sums that are not 0, descending by time, then by number, before the others.  Returns how many. */
uint32_t matrix_sort(struct matrix_sum *sums, uint32_t n);

struct matrix {
	bool by_process;                             /* else by thread */
	uint32_t all_units;                          /* processes or threads, also those not shown */
	uint32_t nrows, ncolumns, rows[MATRIX_ROWS]; /* rows: indexes of page.names */
	const struct track *columns[MATRIX_COLUMNS];
	uint64_t ns[MATRIX_ROWS][MATRIX_COLUMNS];
	struct matrix_sum sums[MATRIX_ROWS]; /* of each row, over all units */
	struct slice *labels;                /* of units, by index of the track */
	struct arena text;
};

/* m: from malloc().  Returns false on OOM; matrix_free() must be called even then. */
bool matrix_make(struct matrix *m, const struct page *p);
void matrix_free(struct matrix *m); /* frees *m, too; NULL is allowed */

/* Appends the table of the rows: their largest and mean sums in a unit.  Returns false on OOM. */
bool matrix_html(struct text *t, const struct page *p);

/* ---- trees (flame.c) ---- */

/* Returns the child of a node that has the name; the parent itself beyond the limits or on OOM. */
uint32_t flame_node(struct page *p, struct page_flame *f, uint32_t parent, uint32_t name);

/* Counts an instant whose class has call stacks.  Returns false on OOM. */
bool flame_sample(struct page *p, const struct batch *b, const struct event *e);

/* Visits at most `max` nodes with spans or samples, those with the largest totals, in preorder, the larger
 * children first; the others are added to their parents.  *shown, *all: nodes that are visited, and with
 * those that are not.  Returns false on OOM. */
bool flame_visit(struct page_flame *f, uint32_t max, void (*visit)(void *ctx, const struct page_node *node),
                 void *ctx, uint32_t *shown, uint32_t *all);

/* Appends the table of the frames with the most samples.  Returns false on OOM. */
bool flame_html(struct text *t, const struct page *p, enum plan_stack kind, uint32_t rows);

/* ---- text of a trace (sections.c) ---- */

#define PAGE_TEXT_MAX 160 /* characters of a text; longer ones lose their middle */

/* Appends text of a trace as the page shows it: hidden characters escaped, at most three combining marks a
 * letter, long texts without their middle. */
void page_visible(struct text *t, struct slice s);

/* Appends the same text as HTML: markup escaped. */
void page_html(struct text *t, struct slice s);

/* Appends the same text as a JSON string, with quotes. */
void page_json(struct text *t, struct slice s);

/* Copies JSON into an HTML script element: <, > and & are escaped. */
void page_script(struct text *t, const struct text *json);

/* ---- the parts of the document ---- */

/* A trace of the page.  All borrowed. */
struct page_trace {
	const char *path;
	const char *format, *dialect; /* NULL: unknown */
	const struct trace *trace;    /* only if the page has one trace; NULL: not read */
};

struct page_view {
	struct page *page;
	const struct stats *stats;       /* with the tables `share` and `flows` */
	const struct page_trace *traces; /* all traces of the page */
	size_t ntraces;
	uint64_t bytes, files;               /* of all traces */
	const struct ledger *pairs, *cut;    /* losses of interpretation; NULL: none */
	const struct change *change;         /* NULL: no comparison */
	const char *const *old, *const *new; /* paths of both sides */
	size_t nold, nnew;                   /* traces of both sides */
	bool by_wall; /* clocks of several traces are aligned by wall time; else at the start of each trace */
};

/* Append HTML.  Return false on OOM. */
bool page_facts(struct text *t, const struct page_view *v);
bool page_sections(struct text *t, const struct page_view *v);

/* Appends the data of the script, as JSON.  Returns false on OOM. */
bool page_data(struct text *t, struct page_view *v);

#endif
