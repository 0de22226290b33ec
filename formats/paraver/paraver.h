#ifndef PARAVER_PARAVER_H
#define PARAVER_PARAVER_H

#include "base/memory.h"
#include "base/numbers.h"
#include "base/os.h"
#include "base/table.h"
#include "format/format.h"
#include "output/text.h"
#include "output/text_json.h"

/* ---- arrows ---- */

/*
 * Where arrows arrive.  A communication stands where it was sent, in order of
 * time, but its receiver is met later.  So each arrow gets a number when it
 * leaves, its arrival is put under that number, and in the end they are asked
 * for one after the other.
 *
 * Of the arrows that are under way the last million is known.
 */
#define PARAVER_ARROWS_WAY (1U << 19) /* half of it */
#define PARAVER_ARROWS_BLOCK 1024U
#define PARAVER_ARROWS_NEAR 65536U /* arrivals in memory; the others are in a file */

struct paraver_arrival {
	uint64_t time;
	uint32_t row;  /* index + 1; 0: it never arrived */
	uint32_t name; /* of the arrow; a number */
};

/* Zero-initialise to start, but `beside`. */
struct paraver_arrows {
	struct table64 young, old; /* id -> number, of those under way */
	uint32_t n;                /* arrows that left */
	uint32_t nyoung, first;    /* ids in `young`; number of near[0] */
	struct paraver_arrival *near;
	struct spill_file file;
	const char *beside;
	struct paraver_arrival block[PARAVER_ARROWS_BLOCK]; /* of the file, that was asked for last */
	uint32_t block_first, block_n;
	bool failed, no_memory;
};

/* An arrow leaves; false: there are 2^32 of them already. */
bool paraver_arrow_out(struct paraver_arrows *a, uint64_t id);

/* It arrives; false: none of this id is under way. */
bool paraver_arrow_in(struct paraver_arrows *a, uint64_t id, const struct paraver_arrival *at);

/* The arrival of an arrow, when nothing arrives any more; best asked for one after the other. */
struct paraver_arrival paraver_arrow_get(struct paraver_arrows *a, uint32_t number);
void paraver_arrows_free(struct paraver_arrows *a);

/* ---- names ---- */

/*
 * What the numbers of the output mean.  A group is a set of names that are
 * numbered together: those of the spans and instants of a category, or of a
 * time line below a thread.  A type of event belongs to a group, several types
 * of one group share its names.  Numbers are given in the order in which they
 * are first wanted.
 */

/* Bounds, so that memory does not grow with the trace. */
#define PARAVER_MOST_TYPES 16384U
#define PARAVER_MOST_NAMES (1U << 20)
#define PARAVER_MOST_TEXT (64U << 20) /* bytes of names */

/* The first type of event.  Those of the tracers that write Paraver traces themselves are smaller, or much
 * larger: views that were made for these show nothing of a trace where the numbers mean something else. */
#define PARAVER_FIRST_TYPE 1000U

enum paraver_group_kind {
	PARAVER_CATEGORY, /* spans and instants of threads, by the category of their class */
	PARAVER_LINE,     /* what a time line below a thread shows */
	PARAVER_COUNTER,
	PARAVER_ARROWS,
};

enum paraver_type_kind {
	PARAVER_SPANS, /* what is innermost; with a level: what is there */
	PARAVER_INSTANTS,
	PARAVER_ASYNC,
	PARAVER_NUMBERS, /* of a counter; of arrows */
};

struct paraver_group {
	struct slice label;
	uint32_t first_value, last_value, nvalues; /* numbers are 1, 2, ...; TABLE_NONE: none */
	uint32_t first_type, last_type;
	uint32_t other; /* value for names without room; 0: none yet */
	enum paraver_group_kind kind;
};

struct paraver_type {
	uint32_t group, next;
	uint16_t lane;  /* of overlapping spans, from 0; of async ones, from 0 */
	uint16_t level; /* 0: the innermost */
	enum paraver_type_kind kind;
};

struct paraver_value {
	uint32_t name, next; /* index of its text; value of the same group */
};

/* Zero-initialise to start. */
struct paraver_names {
	struct arena arena;
	struct paraver_group *groups;
	struct paraver_type *types; /* PARAVER_FIRST_TYPE + index */
	struct paraver_value *values;
	struct slice *texts;
	uint32_t ngroups, groups_cap, ntypes, types_cap, nvalues, values_cap, ntexts, texts_cap;
	uint64_t bytes;                     /* of texts and labels */
	struct tabletext by_text, by_label; /* texts[]; kind and label -> groups[] */
	struct table64 by_value, by_type;
	struct text key;
	bool failed; /* no memory */
};

/* Index of the group; TABLE_NONE: there is no room. */
uint32_t paraver_group(struct paraver_names *n, enum paraver_group_kind kind, struct slice label);

/* Number of a name in a group, from 1 on; *full is set where it is that of all others. */
uint32_t paraver_value(struct paraver_names *n, uint32_t group, struct slice name, bool *full);

/* Number of a type; 0: there is no room. */
uint32_t paraver_type(struct paraver_names *n, struct paraver_type like);

static inline const struct paraver_type *paraver_type_at(const struct paraver_names *n, uint32_t number)
{
	return &n->types[number - PARAVER_FIRST_TYPE];
}

void paraver_names_free(struct paraver_names *n);

/* The file .pcf; labels that were changed are counted. */
void paraver_pcf(const struct paraver_names *n, struct chunk *chunk);

/* ---- rows ---- */

/*
 * The objects of the output.  There is one application; a process is a task
 * of it, a thread a thread of that.  What a process itself did is on a thread
 * that has the name of the process.  Both are numbered in the order of their
 * first events.
 */
struct paraver_task {
	const struct track *process;
	uint32_t nthreads;
	uint32_t first, last; /* of its rows */
};

struct paraver_row {
	const struct track *track; /* thread or process */
	uint32_t task, thread;     /* from 1 on */
	uint32_t next;             /* row of its task; TABLE_NONE: none */
	uint32_t prefix_n;
	char prefix[32]; /* of its events: cpu (0: unknown), application, task, thread */
};

/* Zero-initialise to start. */
struct paraver_rows {
	struct paraver_row *rows;
	struct paraver_task *tasks;
	uint32_t n, cap, ntasks, tasks_cap;
	struct table64 by_track, task_by_track;
};

/* The thread that a lane, or a track that shows something of a thread, is of; or a process. */
const struct track *paraver_row_track(const struct track *t);

/* Index of the row of such a track; TABLE_NONE: no memory. */
uint32_t paraver_row_of(struct paraver_rows *r, const struct track *t);

/* The object tree of the head of the .prv file: "1:2(4:1,4:1)". */
void paraver_objects(const struct paraver_rows *r, struct text *t);

/* The file .row. */
void paraver_row_file(const struct paraver_rows *r, struct chunk *chunk);
void paraver_rows_free(struct paraver_rows *r);

/* ---- spans ---- */

/*
 * Spans that are open, and their records in order of time.  A stack holds the
 * spans of one category (or time line) and one thread, or one of its lanes,
 * which lie within each other.  Its type of event has the innermost span as
 * value, 0 if there is none; a span below others has a type of its level
 * besides, so that nothing of it is hidden by what is inside it.
 *
 * Async spans overlap at will.  Each has one of 1,024 types of its category
 * as long as it is open.
 */
#define PARAVER_MOST_OPEN (1U << 20)
#define PARAVER_MOST_STACKS (1U << 18)
#define PARAVER_MOST_WAITING 65536U
#define PARAVER_LEVELS 1024U
#define PARAVER_ASYNC_WORDS 16U
#define PARAVER_ASYNC_LANES (64U * PARAVER_ASYNC_WORDS)

struct paraver_stack {
	uint64_t wait_end; /* of those that wait */
	uint64_t *busy;    /* async: lanes that are in use, a bit each; PARAVER_ASYNC_WORDS */
	uint32_t row, group, lane;
	uint32_t type;  /* of the innermost; async: 0 */
	uint32_t top;   /* open[]; TABLE_NONE: none */
	uint32_t waits; /* the last of waiting[]; TABLE_NONE: none */
	uint32_t depth;
};

struct paraver_open {
	uint64_t end;
	uint32_t value, type; /* of its level; 0: it has none */
	uint32_t below;       /* open[]; of a free place: the next one */
	uint32_t stack;
};

/* Spans that start and end together wait for each other: the last to come lies around the others, as in the
 * statistics. */
struct paraver_waiting {
	uint64_t offset;
	uint32_t value, next;
};

/* An end to come; the inner of two with one time has the larger number. */
struct paraver_end {
	uint64_t time, number;
	uint32_t open;
};

/* Zero-initialise to start. */
struct paraver_spans {
	struct paraver_stack *stacks;
	struct paraver_open *open;
	struct paraver_end *ends; /* a heap, the first end at [0] */
	struct paraver_waiting *waiting;
	uint32_t *waiters; /* stacks with waiting spans, in order of arrival */
	uint32_t nstacks, stacks_cap, nopen, open_cap, nends, ends_cap;
	uint32_t nwaiting, waiting_cap, nwaiters, waiters_cap;
	uint32_t free; /* open[] + 1; 0: none */
	uint64_t now, number;
	struct table64 by_place;
};

struct paraver_state;

/* What a span is, besides its place. */
struct paraver_span {
	uint64_t end, offset;
	uint32_t value;
};

/* The stack of a place; TABLE_NONE: there is no room. */
uint32_t paraver_stack_of(struct paraver_state *st, const struct paraver_stack *like, uint32_t track,
                          bool async);

/* Time goes on: what begins and ends before is written. */
void paraver_advance(struct paraver_state *st, uint64_t time, struct chunk *chunk);

/* A span begins now. */
void paraver_span(struct paraver_state *st, uint32_t stack, const struct paraver_span *s,
                  struct chunk *chunk);

void paraver_async(struct paraver_state *st, uint32_t stack, const struct paraver_span *s,
                   struct chunk *chunk);

/* All that is open ends, at its time. */
void paraver_spans_end(struct paraver_state *st, struct chunk *chunk);
void paraver_spans_free(struct paraver_spans *s);

/* ---- store ---- */

/*
 * Bytes that can be written in the end only: the head of the .prv file says
 * when the trace ends.  In memory while they are few, then in a temporary
 * file.  Zero-initialise to start, but `beside`.
 */
#define PARAVER_STORE_MEMORY (1U << 20)

struct paraver_store {
	struct text text; /* what is added; its end goes to the file */
	struct spill_file file;
	const char *beside;
	bool failed; /* of the file: see paraver_store_why() */
};

/* To be called now and then: gives what is in memory to the file if it is much. */
void paraver_store_settle(struct paraver_store *s);
uint64_t paraver_store_size(const struct paraver_store *s);

/* [at, at + n) into `to`, of what is there.  Nothing is added from here on.  false: failed. */
bool paraver_store_read(struct paraver_store *s, uint64_t at, char *to, size_t n);
void paraver_store_free(struct paraver_store *s);

/* ---- state ---- */

/*
 * The writer of Paraver traces.  Records are in order of time, so a span is two
 * of them, and ends wait until it is their turn.  The head of the .prv file
 * says how long the trace is and what objects there are, so the records wait,
 * too, in a temporary file.
 */
#define PARAVER_PRV "trace.prv"
#define PARAVER_PCF "trace.pcf"
#define PARAVER_ROW "trace.row"
#define PARAVER_LAST_TIME ((uint64_t)INT64_MAX)

/* In the store: the line behind it is an arrow that lacks its receiver. */
#define PARAVER_ARROW_MARK '\001'

enum paraver_loss {
#define LOSS(row, ...) PARAVER_##row,
#include "paraver/losses.def"
#undef LOSS
	PARAVER_LOSSES
};

extern const struct loss paraver_losses[PARAVER_LOSSES + 1];
extern const struct writer_ops paraver_writer_ops;

/* What a track is in the output. */
struct paraver_track {
	const struct track *row_track;
	uint32_t row;   /* TABLE_NONE: it has had no event */
	uint32_t group; /* TABLE_NONE: that of the category */
	uint32_t lane;
	uint32_t last_group, last_stack; /* of its last span */
};

struct paraver_state {
	bool any;      /* there was an event */
	uint64_t base; /* its time, on the clock of the events */
	struct paraver_names names;
	struct paraver_rows rows;
	struct paraver_spans spans;
	struct paraver_arrows arrows;
	struct paraver_store store;
	struct paraver_track *tracks;
	uint32_t *categories; /* group + 1 of each class; 0: not looked for */
	uint32_t ntracks, tracks_cap, ncategories;
	struct arena arena;
	struct text scratch;
	bool closing;
	uint64_t given;   /* of the store */
	uint32_t narrows; /* met in it */
	char why[256];
};

static inline void paraver_lose(struct chunk *chunk, enum paraver_loss kind, uint64_t offset)
{
	ledger_add(&chunk->ledger, &paraver_losses[kind], offset, 1);
}

/* Writes "2:OBJECT:TIME:TYPE:VALUE" and, if type2 is not 0, ":TYPE2:VALUE2". */
void paraver_put(struct paraver_state *st, uint32_t row, uint64_t time, uint32_t type, uint64_t value,
                 uint32_t type2, uint32_t value2);

/* ---- paraver_event.c ---- */

/* ---- paraver_close.c ---- */

#endif
