#ifndef RUN_CHOOSE_SELECT_H
#define RUN_CHOOSE_SELECT_H

#include "base/compiler.h"
#include "base/numbers.h"
#include "model/batch.h"
#include "model/trace_engine.h"
#include "model/value.h"
#include "run/choose/split.h"
#include "run/job.h"

/* ---- statistics ---- */

/*
 * Statistics of a selection: number of events, and the conditions that no event met, each taken alone, with
 * similar texts of the trace for messages.  A condition that was met once costs nothing from then on.
 *
 * Bounded: FOUND_LOOKS texts per condition, of at most FOUND_TEXT bytes.
 */
#define FOUND_TEXT 63U
#define FOUND_SHOWN 3U /* texts of the trace that a message lists if none is similar */
#define FOUND_LOOKS 16384U
#define FOUND_RECENT 4096U /* slots for hashes of texts that were compared already */

#define SELECT_MAX_CONDITIONS 64 /* of a selection: select_found.unmet has a bit for each */

struct select;

/* A condition that no event met. */
struct select_near {
	char best[FOUND_TEXT + 1];               /* the most similar text; "": none */
	size_t distance;                         /* edit distance of best */
	char first[FOUND_SHOWN][FOUND_TEXT + 1]; /* the first texts of the trace */
	unsigned n;                              /* number of first; FOUND_SHOWN + 1: more exist */
	uint32_t looks;                          /* compared texts */
	bool has_key; /* WHERE: the field exists, so texts are its values; else they are names of fields */
	uint64_t recent[FOUND_RECENT]; /* by hash: hash of a compared text */
};

struct select_found {
	uint64_t events;      /* seen */
	uint64_t left_out;    /* not selected */
	uint64_t crossing;    /* while records are marked: selected spans that cross an end of the window */
	uint64_t first, last; /* ns: first and last time of the events, if there are any */
	uint64_t zero;        /* trace.zero_ns */
	uint64_t epoch;       /* wall time at `zero`, ns since 1970, if epoch_known */
	bool epoch_known;
	bool complete;                                   /* the trace was read to its end */
	uint64_t unmet;                                  /* bit i: no event met conditions[i] */
	struct select_near *near[SELECT_MAX_CONDITIONS]; /* of unmet ones; NULL: none */
};

/* The first time of the whole trace.  f: NULL: no selection.  selected: first time of the selected events. */
static inline uint64_t select_found_first(const struct select_found *f, uint64_t selected)
{
	return f != NULL && f->events > 0 && f->first < selected ? f->first : selected;
}

/* NULL: no memory. */
struct select_found *select_found_new(const struct select *s);
void select_found_free(struct select_found *f); /* may be NULL */

/* Call it for each event, selected or not, while f->unmet is not 0.  kinds: SELECT_BIT of the conditions for
 * which the event may have a new text. */
void select_found_see(struct select_found *f, const struct select *s, const struct batch *b, uint32_t i,
                      unsigned kinds);

/* Adds statistics of another trace with the same conditions. */
void select_found_add(struct select_found *f, const struct select_found *other);

/* ---- select ---- */

/*
 * A selection of events.  Conditions of one kind are alternatives; an event must meet one of each kind in
 * use, and no inverted one.
 */
enum select_kind {
	SELECT_NAME,     /* of the event; a glob */
	SELECT_CATEGORY, /* a glob */
	SELECT_PID,
	SELECT_TID,
	SELECT_PROCESS, /* the name of its process; a glob */
	SELECT_THREAD,  /* the name of the thread that its track belongs to; a glob */
	SELECT_TRACK,   /* the name of its track or of an ancestor; a glob */
	SELECT_MIN_DUR, /* ns; events other than spans have duration 0 */
	SELECT_MAX_DUR,
	SELECT_WHERE,   /* a value of the field `key` matches the glob or comparison */
	SELECT_WAITING, /* a span during which its track does no work */
	SELECT_KINDS,
};

#define SELECT_BIT(kind) (1U << (kind)) /* of a set of kinds */

enum select_compare {
	SELECT_GLOB, /* not numeric */
	SELECT_LESS,
	SELECT_AT_MOST,
	SELECT_MORE,
	SELECT_AT_LEAST,
};

struct select_condition {
	enum select_kind kind;
	bool inverted;
	struct slice key; /* WHERE: the name of the field */
	enum select_compare compare;
	struct value with; /* operand of the comparison: U64, I64 or F64 */
	struct slice glob; /* glob_fits(); of a duration, its text on the command line */
	uint64_t number;   /* PID, TID, MIN_DUR, MAX_DUR */
};

enum select_time_kind {
	SELECT_ANY_TIME,
	SELECT_AT,          /* ns on the trace's own clock: from trace.zero_ns on */
	SELECT_EVENT_TIME,  /* a value of event.ts: join_window() converts the other kinds to it */
	SELECT_WALL,        /* ns since 1970 */
	SELECT_FROM_FIRST,  /* ns after the first time of the trace */
	SELECT_BEFORE_LAST, /* ns before its last time */
	SELECT_FRACTION,    /* fraction of the range, in units of 1 / SELECT_WHOLE */
};

#define SELECT_WHOLE UINT64_C(100000000)

struct select_time {
	enum select_time_kind kind;
	uint64_t v;
	const char *text; /* on the command line, for messages; NULL: the caller validated the window */
};

/* Treatment of spans that cross an end of the time window. */
enum select_edges {
	SELECT_CLIP, /* cut, with an additional field "clipped" */
	SELECT_KEEP,
	SELECT_DROP,
};

struct select {
	struct select_time since, until; /* [since, until) */
	enum select_edges edges;
	struct select_condition conditions[SELECT_MAX_CONDITIONS];
	uint32_t n;
};

static inline bool select_is_any(const struct select *s)
{
	return s->n == 0 && s->since.kind == SELECT_ANY_TIME && s->until.kind == SELECT_ANY_TIME;
}

/* Whether the window is empty for any trace: both ends have the same reference point. */
bool select_is_reversed(const struct select *s);

/* Writes why a window with these ends, ns from time 0 of the trace, is refused. */
#define SELECT_WHY 512

void select_put_reversed(char why[SELECT_WHY], const struct select *s, int128 since, int128 until);

/* The first and the last time of a trace, and its epoch. */
struct select_range {
	bool known; /* there is an event */
	uint64_t first, last;
	bool epoch_known;
	uint64_t epoch; /* ns after 1970 */
	uint64_t zero;  /* trace.zero_ns */
};

/* Adds the times of all events of a batch.  Start with .first = UINT64_MAX. */
void select_range_extend(struct select_range *r, const struct batch *b);

#define SELECT_NAMES_BITS 7

/* Whether events of this name meet the conditions for names. */
struct select_name {
	uint8_t n; /* bytes; 0: an empty slot */
	bool fits;
	char text[30];
};

/* A span that the window cut: from [start, end) to [from, to). */
struct select_cut {
	uint64_t from, to, start, end;
	const struct track *track;
};

struct select_stage {
	struct stage stage;
	const struct choice *choice; /* borrowed, like the following; NULL: nothing is selected */
	struct trace *trace;
	const struct stage_faults *faults;
	unsigned want;               /* enum want; with WANT_FIELDS clipped spans get a field */
	const struct select *select; /* NULL: all events */
	unsigned kinds;              /* of its conditions: SELECT_BIT */
	uint64_t since, until;       /* ns, [since, until); until UINT64_MAX: no end */
	bool ready;                  /* since and until are valid */
	bool waits;                  /* they become known at the end of the trace: records are marked then */
	bool zeroed;                 /* trace.zero_ns was added to those of SELECT_AT */
	bool assumed;                /* wall times were converted with `epoch`, known at the first event */
	uint64_t epoch;              /* ns since 1970 */
	const bool *chosen;          /* whether events were chosen when they were read; NULL: they were not */
	const struct class *plain;   /* last class whose plan changes no event; NULL: none yet */
	struct select_found *found;  /* NULL: moved to the marks of a survey */
	struct split_cache parts;
	/* Tracks of selected events, each after its ancestors. */
	struct track **tracks;
	uint32_t ntracks, tracks_cap;
	/* For each track and pair of times after the cut: the last span that was cut to them. */
	struct select_cut *cuts;
	uint32_t ncuts, cuts_cap;
	struct table64 cut_of; /* hash of track and times -> cuts[] */
	uint8_t *seen;         /* by index of the track: it is in `tracks` */
	uint32_t nseen;
	struct select_name names[1U << SELECT_NAMES_BITS]; /* a cache, by their bytes */
	struct table64 long_texts; /* cache for long names and categories: long_text_key() -> they fit */
};

/* Whether the window depends on the first and last event of the trace. */
bool select_needs_range(const struct select *s);

/* Sets the window.  If it needs a range and does not wait for the end, call select_stage_set_range() next;
 * without that call, the first event counts as the start of the range.  Both return false after a finding. */
bool select_stage_begin(struct select_stage *st, const struct choice *choice, unsigned want,
                        struct trace *trace, const struct stage_faults *faults);
bool select_stage_set_range(struct select_stage *st, const struct select_range *r);

/* The range could not be found: no event is returned. */
void select_stage_select_none(struct select_stage *st);

enum stage_status select_stage_next(struct stage *stage, struct batch **out);
void select_stage_free(struct select_stage *st);

/* Gives raw events that are not selected EVENT_LEFT_OUT.  false: one of them cannot be selected without other
 * records (COPIER_WHOLE), and all are unchanged. */
bool select_stage_choose(struct select_stage *st, struct batch *b);

/* Adds the tracks of events that another pipeline selected. */
bool select_stage_note(struct select_stage *st, const struct batch *b);

/* At the end of the trace: sets `hidden` of tracks without selected events. */
void select_stage_hide(struct select_stage *st);

/* ---- conditions (conditions.c) ---- */

/* Whether an event meets a condition, ignoring `inverted`. */
bool select_meets(const struct select_condition *c, const struct batch *b, const struct event *e);

/* Whether an event meets the conditions of these kinds (SELECT_BIT); the time window is ignored. */
bool select_meets_kinds(const struct select *s, const struct batch *b, const struct event *e, unsigned kinds);

/* The kinds of its conditions (SELECT_BIT). */
unsigned select_kinds(const struct select *s);
#define SELECT_DURATIONS (SELECT_BIT(SELECT_MIN_DUR) | SELECT_BIT(SELECT_MAX_DUR))

/* Parts of events that its conditions need from the reader: WANT_FIELDS, WANT_NAMES. */
unsigned select_wants(const struct select *s);

/* Whether a condition reads names or fields of events; or their tracks. */
bool select_reads_names(const struct select *s);
bool select_reads_tracks(const struct select *s);

#define SELECT_BYTES_MAX 128                             /* bytes of VALUE_BYTES in the text */
#define SELECT_VALUE_TEXT (2 + 2 * SELECT_BYTES_MAX + 1) /* struct text keeps a byte free */

/* The text of a value that is not a list, as `cat` shows it, texts without quotes.  It is in `space`, or the
 * text of the value itself. */
struct slice select_value_text(const struct value *v, char space[SELECT_VALUE_TEXT]);

#endif
