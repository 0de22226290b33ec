#ifndef RUN_CHOOSE_SELECT_H
#define RUN_CHOOSE_SELECT_H

#include "base/numbers.h"
#include "model/batch.h"
#include "model/batch_pool.h"
#include "model/value.h"
#include "run/choose/split.h"
#include "run/job.h"

/* ---- select found ---- */

/*
 * What a selection found in a trace: how many events, and which of its conditions no event met by itself,
 * with what they could have meant.  A condition that something met costs nothing any more.
 *
 * Bounded: of the texts that a condition is compared with, FOUND_LOOKS are looked at, of FOUND_TEXT bytes
 * at most.
 */
#define FOUND_TEXT 63U
#define FOUND_SHOWN 3U
#define FOUND_LOOKS 65536U
#define FOUND_RECENT 512U

struct select;

/* Of a condition that nothing met. */
struct select_near {
	char best[FOUND_TEXT + 1];               /* the text nearest to it; "": none is near */
	size_t distance;                         /* of that */
	char first[FOUND_SHOWN][FOUND_TEXT + 1]; /* texts that there are, the first few */
	unsigned n;                              /* of them; FOUND_SHOWN + 1: there are more */
	uint32_t looks;
	bool has_key; /* WHERE: there is such a field, the texts are its values; else names of fields */
	uint64_t recent[FOUND_RECENT]; /* hashes of texts that were looked at */
};

struct select_found {
	uint64_t events;              /* that were looked at */
	uint64_t left_out;            /* of them, not selected */
	uint64_t clipped;             /* selected spans that cross an end of the time window */
	uint64_t first, last;         /* ns, if there are events: their first and last time */
	bool complete;                /* the trace was read to its end */
	uint64_t unmet;               /* bit i: no event met conditions[i] */
	struct select_near *near[64]; /* of those; NULL: nothing was noted */
};

/* NULL: no memory. */
struct select_found *select_found_new(const struct select *s);
void select_found_free(struct select_found *f); /* may be NULL */

/* The i-th event of a batch, whether it is selected or not, while f->unmet is not 0. */
void select_found_see(struct select_found *f, const struct select *s, const struct batch *b, uint32_t i);

/* Adds what was found in another trace with a selection of the same conditions. */
void select_found_add(struct select_found *f, const struct select_found *other);

/* ---- select ---- */

/*
 * Which events of a trace somebody wants.  Conditions of one kind are
 * alternatives; an event has to meet one of each kind that is asked for, and
 * none that is inverted.
 */
enum select_kind {
	SELECT_NAME,     /* of the event; a glob */
	SELECT_CATEGORY, /* a glob */
	SELECT_PID,
	SELECT_TID,
	SELECT_PROCESS, /* the name of its process; a glob */
	SELECT_THREAD,  /* the name of the thread that its track shows something of; a glob */
	SELECT_TRACK,   /* the name of its track, or of the thread or process that its track is of; a glob */
	SELECT_MIN_DUR, /* ns; what is no span takes no time */
	SELECT_MAX_DUR,
	SELECT_WHERE, /* a field of this name has a value whose text matches the glob, or that compares so */
	SELECT_KINDS,
};

enum select_compare {
	SELECT_GLOB, /* none of numbers */
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
	struct value with; /* what the field compares with: U64, I64 or F64 */
	struct slice glob; /* see glob_fits(); of a duration, as it was asked for */
	uint64_t number;   /* PID, TID, MIN_DUR, MAX_DUR */
};

enum select_time_kind {
	SELECT_ANY_TIME,
	SELECT_AT,          /* ns on the trace's own clock */
	SELECT_WALL,        /* ns since 1970 */
	SELECT_FROM_FIRST,  /* ns behind the least time of the trace */
	SELECT_BEFORE_LAST, /* ns before its last time */
	SELECT_PART,        /* of the way from the first to the last, SELECT_WHOLE being all of it */
};

#define SELECT_WHOLE UINT64_C(100000000)

struct select_time {
	enum select_time_kind kind;
	uint64_t v;
	const char
	    *text; /* as it was asked for, in messages; NULL: the caller knows the window to be right */
};

/* What becomes of spans that cross an end of the time window. */
enum select_edges {
	SELECT_CLIP, /* they are cut there, and marked by a field "clipped" */
	SELECT_KEEP,
	SELECT_DROP,
};

#define SELECT_MOST 64 /* conditions */

struct select {
	struct select_time since, until; /* [since, until) */
	enum select_edges edges;
	struct select_condition conditions[SELECT_MOST];
	uint32_t n;
};

static inline bool select_is_any(const struct select *s)
{
	return s->n == 0 && s->since.kind == SELECT_ANY_TIME && s->until.kind == SELECT_ANY_TIME;
}

/* Whether it looks at fields: they have to be wanted then. */
bool select_needs_fields(const struct select *s);

/* Whether no time is in the window, whatever the trace: both ends count from the same point. */
bool select_is_reversed(const struct select *s);

/* The first and the last time of a trace, and its epoch. */
struct select_range {
	bool known; /* there is an event */
	uint64_t first, last;
	bool epoch_known;
	uint64_t epoch; /* ns after 1970 */
};

/* Adds the times of all events of a batch.  Start with .first = UINT64_MAX. */
void select_range_extend(struct select_range *r, const struct batch *b);

struct select_stage {
	struct stage stage;
	const struct pipeline_job *job; /* borrowed, as are the following; NULL: nothing is selected */
	struct trace *trace;
	const struct stage_faults *faults;
	const struct select *select; /* NULL: everything is wanted */
	uint64_t since, until;       /* ns, [since, until); until UINT64_MAX: no end */
	bool ready;                  /* they are known */
	struct select_found *found;
	struct split_cache parts;
	/* Tracks of events that were selected, and those above them, in that order. */
	struct track **tracks;
	uint32_t ntracks, tracks_cap;
	uint8_t *seen; /* by index of the track */
	uint32_t nseen;
};

/* Whether the window depends on the first and last event of the trace. */
bool select_needs_range(const struct select *s);

/* Sets the window, unless it needs a range: select_stage_set_range() follows then; without it the first event
 * decides as far as it can.  Both: false after a finding. */
bool select_stage_begin(struct select_stage *st, const struct pipeline_job *job, struct trace *trace,
                        const struct stage_faults *faults);
bool select_stage_set_range(struct select_stage *st, const struct select_range *r);

/* The range could not be found: no event comes out. */
void select_stage_select_none(struct select_stage *st);

enum stage_status select_stage_next(struct stage *stage, struct batch **out);
void select_stage_free(struct select_stage *st);

/* Notes the tracks of events that another pipeline selected.  false: no memory. */
bool select_stage_note(struct select_stage *st, const struct batch *b);

/* All was read: tracks that were not selected are `hidden`. */
void select_stage_hide(struct select_stage *st);

/* ---- select match ---- */

/* Whether an event meets one of them, be it inverted or not. */
bool select_meets(const struct select_condition *c, const struct batch *b, const struct event *e);

/* The thread that a track shows something of; the process where it is of no thread. */
const struct track *select_thread_of(const struct track *t);

/* The text of a value that is no list, as `cat` shows it, texts without quotes; in `room` or of the value. */
#define SELECT_VALUE_TEXT DECIMAL_F64_MAX

struct slice select_value_text(const struct value *v, char room[SELECT_VALUE_TEXT]);

#endif
