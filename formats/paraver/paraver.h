/*
 * Private header of the Paraver writer.  Records are in order of time, so a span becomes two records, and the
 * second one waits in a heap until its time.  The head of the .prv file states the length of the trace and
 * its objects, so records are in a temporary file until both are known.
 *
 *   write.c   events to records; the .prv file; the writer
 *   spans.c   what waits: records and arrows until the end; open spans
 *   names.c   numbers of names and objects; the .pcf and .row files
 */
#ifndef PARAVER_PARAVER_H
#define PARAVER_PARAVER_H

#include "base/memory.h"
#include "base/numbers.h"
#include "base/os.h"
#include "base/table.h"
#include "format/format.h"
#include "output/text.h"
#include "output/text_json.h"

#define PARAVER_PRV "trace.prv"
#define PARAVER_PCF "trace.pcf"
#define PARAVER_ROW "trace.row"
#define PARAVER_LAST_TIME ((uint64_t)INT64_MAX) /* ns */

/* The first type of event.  Tracers that write Paraver traces use smaller or much larger types, so views for
 * their traces are empty for this output, in which the numbers have other meanings. */
#define PARAVER_FIRST_TYPE 1000U

/* Limits, so that memory does not grow with the trace. */
#define PARAVER_MAX_TYPES 16384U        /* of events; also the limit of groups */
#define PARAVER_MAX_NAMES (1U << 20)    /* values of all types */
#define PARAVER_MAX_TEXT (64U << 20)    /* bytes of names and labels */
#define PARAVER_MAX_OPEN (1U << 20)     /* spans */
#define PARAVER_MAX_STACKS (1U << 18)   /* of spans */
#define PARAVER_MAX_PENDING 65536U      /* spans that are not open yet, see struct paraver_pending */
#define PARAVER_LEVELS 1024U            /* depth of nested spans that have types of their own */
#define PARAVER_ASYNC_LANES 1024U       /* async spans at once, of one category and track */
#define PARAVER_ARROWS_HALF (1U << 19)  /* arrivals match only the latest arrows: one to two times this */
#define PARAVER_ARROWS_BLOCK 1024U      /* arrivals read from the file at once */
#define PARAVER_ARROWS_NEAR 65536U      /* arrivals in memory; earlier ones are in a file */
#define PARAVER_STORE_MEMORY (1U << 20) /* bytes of records in memory; earlier ones are in a file */

enum paraver_loss {
#define LOSS(row, ...) PARAVER_##row,
#include "paraver/losses.def"
#undef LOSS
	PARAVER_LOSSES
};

extern const struct loss paraver_losses[PARAVER_LOSSES + 1];

/* All structures below are zero-initialised. */

/* ---- names ---- */

/*
 * A group is a set of names that are numbered together: names of the spans and instants of a category, or of
 * a child track.  A type of event belongs to a group; types of one group share its names.  Numbers are in the
 * order of their first use.
 */
enum paraver_group_kind {
	PARAVER_CATEGORY, /* spans and instants of threads, by the category of their class */
	PARAVER_LINE,     /* a child track */
	PARAVER_COUNTER,
	PARAVER_ARROWS,
};

enum paraver_type_kind {
	PARAVER_SPANS, /* the innermost span; with a level: the span of this level */
	PARAVER_INSTANTS,
	PARAVER_ASYNC,
	PARAVER_NUMBERS, /* of a counter, or of arrows */
};

struct paraver_type {
	uint32_t group, next; /* next: next type of the same group */
	uint16_t lane;        /* of overlapping or async spans, from 0 */
	uint16_t level;       /* 0: the innermost */
	enum paraver_type_kind kind;
};

struct paraver_names {
	struct arena arena;
	struct paraver_group *groups;
	struct paraver_type *types; /* number - PARAVER_FIRST_TYPE */
	struct paraver_value *values;
	struct slice *texts;
	uint32_t ngroups, groups_cap, ntypes, types_cap, nvalues, values_cap, ntexts, texts_cap;
	uint64_t bytes;                     /* of texts and labels */
	struct tabletext by_text, by_label; /* texts[]; kind and label -> groups[] */
	struct table64 by_value, by_type;
	struct known_text known[KNOWN_TEXTS]; /* names of a group -> values */
	struct text key;
	bool failed; /* OOM */
};

/* ---- objects ---- */

/*
 * There is one application; a process is a task of it, a thread is a thread of the task.  Events of a process
 * itself are on a thread that has the name of the process.  Tasks and threads are numbered in the order of
 * their first events.
 */
struct paraver_row {
	const struct track *track; /* thread or process */
	uint32_t task, thread;     /* from 1 on */
	uint32_t next;             /* next row of its task; TABLE_NONE: none */
	uint32_t prefix_n;
	char prefix[32]; /* start of its records: cpu (0: unknown), application, task, thread */
};

struct paraver_rows {
	struct paraver_row *rows;
	struct paraver_task *tasks;
	uint32_t n, cap, ntasks, tasks_cap;
	struct table64 by_track, task_by_track;
};

/* ---- spans ---- */

/*
 * A stack contains the nested open spans of one category (or child track) and one thread, or lane of it.  The
 * value of its type of event is the innermost span, or 0.  A span inside others also has the type of its
 * level, so that spans inside it do not hide it.
 *
 * Async spans overlap freely.  While open, each has one of 1,024 types of its category.
 */
struct paraver_stack {
	uint64_t *busy; /* async: lanes in use, a bit each; PARAVER_ASYNC_LANES / 64 words */
	uint32_t row, group, lane;
	uint32_t type;    /* of the innermost span; async: 0 */
	uint32_t top;     /* open[]; TABLE_NONE: none */
	uint32_t pending; /* pending[]: the last of its pending spans, with equal ends; TABLE_NONE: none */
	uint32_t depth;
};

struct paraver_spans {
	struct paraver_stack *stacks;
	struct paraver_open *open;
	struct paraver_end *ends; /* ends of open spans: a heap with the first at [0] */
	struct paraver_pending *pending;
	uint32_t *with_pending; /* stacks with pending spans, in order of arrival */
	uint32_t nstacks, stacks_cap, nopen, open_cap, nends, ends_cap;
	uint32_t npending, pending_cap, nwith_pending, with_pending_cap;
	uint32_t free;   /* free slot: open[] + 1; 0: none */
	uint64_t now;    /* ns from the first event */
	uint64_t number; /* of the next end */
	struct table64 by_key;
};

struct paraver_span {
	uint64_t end, offset;
	uint32_t value;
};

/* ---- records and arrows until the end ---- */

/* Lines of the .prv file: in memory if they are few, else in a temporary file. */
struct paraver_store {
	struct text text; /* the last lines */
	struct spill_file file;
	const char *temp_dir; /* borrowed; see spill_open() */
	bool failed;          /* the file has failed; see spill_reason() */
};

/* In the store, marks the start of the line of an arrow: the offset of its event, a blank, and the record
 * without its receiver. */
#define PARAVER_ARROW_MARK '\001'

struct paraver_arrival {
	uint64_t time;
	uint32_t row;  /* index + 1; 0: it never arrived */
	uint32_t name; /* name of the arrow, as a value */
};

/*
 * Arrivals of arrows.  The record of a communication is stored at the time when it is sent, but its receiver
 * is known only later.  So each arrow gets a number when it is sent; its arrival is stored by that number,
 * and read at the end in the order of numbers.
 */
struct paraver_arrows {
	struct table64 young, old;    /* id -> number, of arrows without an arrival */
	uint32_t n;                   /* arrows sent */
	uint32_t nyoung;              /* ids in `young` */
	uint32_t first;               /* number of near[0] */
	struct paraver_arrival *near; /* PARAVER_ARROWS_NEAR */
	struct spill_file file;
	const char *temp_dir;                               /* borrowed; see spill_open() */
	struct paraver_arrival block[PARAVER_ARROWS_BLOCK]; /* the block of the file that was read last */
	uint32_t block_first, block_n;
	bool failed, no_memory; /* failed: the file has failed */
};

/* ---- writer ---- */

struct paraver_track {
	bool is_line;                    /* a child track */
	uint32_t row;                    /* TABLE_NONE: it has had no event */
	uint32_t group;                  /* of a child track; TABLE_NONE: at a limit */
	uint32_t last_group, last_stack; /* of its last span */
};

struct paraver_state {
	bool any;      /* an event was added */
	uint64_t base; /* time of the first event, on the clock of the trace */
	struct paraver_names names;
	struct paraver_rows rows;
	struct paraver_spans spans;
	struct paraver_arrows arrows;
	struct paraver_store store;
	struct paraver_track *tracks;
	struct table64 own_groups;   /* track and group of a label -> group with a number, see own_group() */
	struct table64 label_counts; /* row and group -> number of tracks with its label */
	uint32_t *categories;        /* group + 1 of each class; 0: not determined */
	uint32_t ntracks, tracks_cap, ncategories;
	struct arena arena;
	struct text scratch;
	uint64_t written; /* bytes of the store that are in the output */
	uint32_t narrows; /* number of arrows in these bytes */
	char why[256];    /* the reason of a failure; "": none */
};

static inline void paraver_add_loss(struct chunk *chunk, enum paraver_loss kind, uint64_t offset)
{
	ledger_add(&chunk->ledger, &paraver_losses[kind], offset, 1);
}

/* ---- names.c ---- */

/* Returns the index of the group with this kind and label; TABLE_NONE at a limit or on OOM. */
uint32_t paraver_group(struct paraver_names *n, enum paraver_group_kind kind, struct slice label);

/* Returns the value of a name in a group, from 1 on; 0 on OOM.  Sets *full if it is the value that all names
 * beyond the limit share. */
uint32_t paraver_value(struct paraver_names *n, uint32_t group, struct slice name, bool *full);

/* Returns the number of a type; 0 at the limit or on OOM. */
uint32_t paraver_type(struct paraver_names *n, struct paraver_type like);

/* Returns the index of the row of a thread or process; TABLE_NONE on OOM. */
uint32_t paraver_row(struct paraver_rows *r, const struct track *t);

/* Writes the object tree of the head of the .prv file: "1:2(4:1,4:1)". */
void paraver_write_objects(const struct paraver_rows *r, struct text *t);

/* Write the .pcf and the .row file.  Count each changed label as a loss. */
void paraver_write_pcf(const struct paraver_names *n, struct chunk *chunk);
void paraver_write_row(const struct paraver_rows *r, struct chunk *chunk);

void paraver_names_free(struct paraver_names *n);
void paraver_rows_free(struct paraver_rows *r);

/* ---- spans.c ---- */

/* Returns the stack of a track (its index) and like->group; a new one also gets row and lane of `like`.
 * TABLE_NONE at a limit or on OOM. */
uint32_t paraver_stack(struct paraver_state *st, const struct paraver_stack *like, uint32_t track,
                       bool async);

/* Advances the time: writes the starts of pending spans, and the ends up to `time`. */
void paraver_advance(struct paraver_state *st, uint64_t time, struct chunk *chunk);

/* Start a span at the current time. */
void paraver_start_span(struct paraver_state *st, uint32_t stack, const struct paraver_span *s,
                        struct chunk *chunk);
void paraver_start_async(struct paraver_state *st, uint32_t stack, const struct paraver_span *s,
                         struct chunk *chunk);

/* Writes the ends of all open spans, and advances the time to the last one. */
void paraver_spans_end(struct paraver_state *st, struct chunk *chunk);
void paraver_spans_free(struct paraver_spans *s);

/* ---- spans.c: records until the end ---- */

/* Moves the lines in memory to the file if they are many. */
void paraver_store_spill(struct paraver_store *s);
uint64_t paraver_store_size(const struct paraver_store *s);

/* Copies n bytes at `at`, which must be within the size, to `to`.  Nothing may be added afterwards. */
bool paraver_store_read(struct paraver_store *s, uint64_t at, char *to, size_t n);
void paraver_store_free(struct paraver_store *s);

/* Adds an arrow that is sent.  Returns false if there are nearly 2^32 already. */
bool paraver_arrow_out(struct paraver_arrows *a, uint64_t id);

/* Sets the arrival of an arrow.  Returns false if there is no arrow of this id without an arrival. */
bool paraver_arrow_in(struct paraver_arrows *a, uint64_t id, const struct paraver_arrival *at);

/* Returns the arrival of an arrow.  All arrivals must have been set.  Sequential access is fast. */
struct paraver_arrival paraver_arrow_get(struct paraver_arrows *a, uint32_t number);
void paraver_arrows_free(struct paraver_arrows *a);

/* ---- write.c ---- */

/* Adds a line "2:OBJECT:TIME:TYPE:VALUE", with ":TYPE2:VALUE2" if type2 is not 0, to the store. */
void paraver_add_record(struct paraver_state *st, uint32_t row, uint64_t time, uint32_t type, int64_t value,
                        uint32_t type2, uint32_t value2);

#endif
