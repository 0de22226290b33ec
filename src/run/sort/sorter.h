#ifndef RUN_SORT_SORTER_H
#define RUN_SORT_SORTER_H

#include "base/compiler.h"
#include "base/os.h"
#include "model/batch.h"
#include "model/batch_fill.h"
#include "model/event.h"
#include "model/trace_engine.h"
#include "run/job.h"

/* ---- order key ---- */

/* An order of events. */
struct order_rule {
	enum event_order order;
	bool signed_time; /* ts is a signed number: after --rebase, earlier times wrap around */
	bool by_part;     /* by the part of a split alone, in the high bits of the offset; stable */
};

/* The first bit of the part in event.offset, if events are sorted by part. */
#define ORDER_PART_SHIFT 44

/* The sort key of an event.  Only keys of the same rule are comparable. */
struct order_key {
	uint64_t start;    /* unsigned, also where ts is signed */
	uint64_t inv_dur;  /* inverted duration: longer is less */
	uint32_t track;    /* index + 1; 0: none, or not part of the order */
	uint32_t position; /* not compared; for sorting */
};

/* A time as order_key.start. */
static inline uint64_t order_start(uint64_t ts, struct order_rule rule)
{
	return ts ^ (uint64_t)rule.signed_time << 63;
}

static inline struct order_key order_key_of(const struct event *e, struct order_rule rule)
{
	if (rule.by_part)
		return (struct order_key){ .track = (uint32_t)(e->offset >> ORDER_PART_SHIFT) };
	if (rule.order == ORDER_FILE)
		return (struct order_key){ .start = 0 };
	return (struct order_key){
		.start = order_start(e->ts, rule),
		.inv_dur = ~(e->phase == PHASE_SPAN ? e->dur : 0),
		.track = rule.order == ORDER_TRACK_TIME && e->track != NULL ? e->track->index + 1 : 0,
	};
}

/* Without a branch, as it would be unpredictable: if a has the lesser inv_dur, it is first of equal x and y,
 * and x <= y is x < y + 1. */
static inline bool order_key_less(const struct order_key *a, const struct order_key *b)
{
	const uint128 x = (uint128)a->track << 64 | a->start;
	const uint128 y = (uint128)b->track << 64 | b->start;

	return x < y + (a->inv_dur < b->inv_dur);
}

/* ---- rows of fields ---- */

/*
 * Common properties of the fields of an event: their names, and the types of their values.  A packed event
 * has the number of its row instead.  Names are interned by the sorting stage, so that unpacked ones have
 * SLICE_STAYS; names beyond its limits are copied into the row, to which the batch then has a reference.
 */
#define FIELD_ROW_NONE UINT16_MAX
#define FIELD_ROWS_MAX 4096U
#define FIELD_ROW_FIELDS 64U /* events with more fields have no row */
#define FIELD_ROW_BYTES 256U /* mean memory of a row */

struct field_row {
	const struct field *fields; /* their values are 0 */
	uint32_t n, hash;
};

struct field_rows {
	struct shared_memory shared; /* first: its address is that of the whole */
	struct texts *texts;         /* interns names; NULL: none does */
	struct arena arena;          /* fields, and copies of names */
	uint32_t max, n;
	uint64_t seed;
	uint32_t mask;   /* slots - 1 */
	uint16_t *slots; /* a hash table of indexes + 1 */
	struct field_row list[];
};

/* For at most `max` rows, up to FIELD_ROWS_MAX.  Free it with shared_memory_drop(&s->shared). */
struct field_rows *field_rows_new(uint32_t max, struct texts *texts);

/* The number of the row of n > 0 fields, or FIELD_ROW_NONE: too many, or OOM.  likely: the number to try
 * first, which need not be that of a row. */
uint16_t field_rows_find(struct field_rows *s, const struct field *f, uint32_t n, uint32_t likely);

/* ---- event shapes ---- */

/*
 * Common properties of events: all but times, offset, fields, and a name without SLICE_STAYS.  A packed event
 * stores the number of its shape instead.  Numbers are valid until event_shapes_free().  Zero-initialise, and
 * set `max`.
 */
#define EVENT_SHAPE_NONE UINT16_MAX /* larger than any number */
#define EVENT_SHAPES_MAX (1U << 14)
#define EVENT_SHAPE_BYTES 80U /* max memory of one, with its table slots */

struct event_shapes {
	uint64_t base; /* packed times are relative to it; set before packing */
	uint32_t max;  /* max number, up to EVENT_SHAPES_MAX; further events have no shape */
	/* Names without SLICE_STAYS are empty; name.p NULL remains NULL.  first_field: the row of the last
	 * one with fields, as the next one probably has it too. */
	struct event *list;
	uint32_t n, cap;
	uint16_t last;   /* found last: likely that of the next event */
	uint32_t *slots; /* a hash table of indexes + 1 */
	uint32_t mask;   /* slots - 1 */
	uint64_t seed;
	struct field_rows *rows; /* NULL: fields have no rows */
	bool few_fields;         /* only those of counters and call stacks are packed; others become empty */
};

/* The shape of an event as in the list. */
struct event event_shape_of(const struct event *e);

/* Its number, or EVENT_SHAPE_NONE: too many, or OOM. */
uint16_t event_shapes_find(struct event_shapes *s, const struct event *e);
void event_shapes_free(struct event_shapes *s);

/* ---- event codec ---- */

/*
 * Packs an event with everything it points to into contiguous bytes, which can be moved, written to a file
 * and read back by the same process.
 *
 * A packed event has these parts, without gaps:
 *
 *	u32     bits 0-19: total size; 20-23, 24-27, 28-31: sizes of dur, offset, ts
 *	u16     number of its shape
 *	u8[]    dur, offset, and ts relative to event_shapes.base, without leading zero bytes
 *	u64     total size, if the field above is EVENT_PACKED_LARGE
 *	struct event  the shape, if its number is EVENT_SHAPE_NONE
 *	text    the name, unless it is NULL or has SLICE_STAYS
 *	u16     number of the row of its fields, if it has any that are packed
 *	fields  of each: name and type, if there is no row; value; of lists and maps the number of entries
 *	u64, struct value[]  entries of lists and maps, breadth first; only if there are any
 *	text[]  texts of these entries
 *
 * A text is its length, of one byte or five, and its bytes.  Classes, tracks, and texts with SLICE_STAYS
 * live as long as the trace, and are stored as pointers.  A small event takes about 25 bytes, a field 3, or
 * one and its text.
 *
 * Readers may access EVENT_PACKED_SLACK bytes after a packed event.
 */
#define EVENT_PACKED_MAX (UINT64_C(1) << 40)
#define EVENT_PACKED_LARGE ((1U << 20) - 1)
#define EVENT_PACKED_SLACK 8U

/* Packs event i of b, without the bytes of its record, into [to, to + capacity).  shapes NULL: the shape is
 * stored with the event.  Returns the bytes used, or 0 if they do not fit; the buffer is then undefined.
 * Lists may be nested to any depth. */
uint64_t event_pack(char *to, uint64_t capacity, const struct batch *b, uint32_t i,
                    struct event_shapes *shapes);

/* Bytes of a packed event that event_packed_size() and event_read_head() read, or fewer if it is smaller. */
#define EVENT_PACKED_HEAD (40 + sizeof(struct event))

static inline uint64_t event_packed_size(const char *packed)
{
	uint32_t head;
	uint64_t size;

	memcpy(&head, packed, sizeof head);
	if ((head & EVENT_PACKED_LARGE) != EVENT_PACKED_LARGE)
		return head & EVENT_PACKED_LARGE;
	memcpy(&size, packed + 6 + (head >> 20 & 15) + (head >> 24 & 15) + (head >> 28), sizeof size);
	return size;
}

/* Numbers of a packed event, its shape, and the position after them. */
struct packed_head {
	uint64_t ts, dur, offset;
	const struct event *shape;
	const char *rest;
	struct event own; /* shape stored with the event; `shape` points to it */
};

/* shapes: as packed. */
void event_read_head(struct packed_head *h, const char *packed, const struct event_shapes *shapes);

struct order_key event_head_key(const struct packed_head *h, struct order_rule rule);

/* Add a packed event to a batch that is not full (n < cap).  On OOM the batch is unchanged, except for its
 * scratch arena.  shapes: as packed.
 *
 * event_unpack_in_place: the batch points into the packed event, which must live as long as the batch.
 * event_unpack_copy: copies texts and lists to the scratch arena of the batch. */
bool event_unpack_in_place(struct batch *out, const struct packed_head *h, const struct event_shapes *shapes);

bool event_unpack_copy(struct batch *out, const char *packed, const struct event_shapes *shapes);

/* ---- run merge ---- */

/*
 * Merges sorted runs of packed events in a spill file or in memory.  Of equal keys that of the earlier run is
 * first, so with runs in order of arrival the merge is stable.
 *
 * A run joins at its first event, so the cost of an event depends on the number of runs that overlap there.
 *
 * Memory, for runs of a file: buffers as the caller allows, at least 4 KiB for each run that is merged at a
 * time, and 150 bytes for each run.  An event may be larger than its buffer.
 */
struct spill_run {
	uint64_t offset, bytes; /* in the file, or in memory */
};

struct run_rule {
	struct order_rule order;
	const struct event_shapes *shapes; /* of packing */
	uint64_t memory;                   /* for buffers */
};

/* Number of runs merged at a time with this memory: 4 to 256. */
uint32_t run_merge_most(uint64_t memory);

/* Merges as few adjacent runs as possible until at most `max` of the *n runs are left.  Results are appended
 * to the file; merged runs are discarded.  *merges: number of merges.  Returns false on OOM, or if the file
 * failed, like the functions below. */
bool runs_reduce(struct spill_file *f, struct spill_run *runs, uint32_t *n, uint32_t max,
                 const struct run_rule *rule, uint32_t *merges);

/* The runs of a merge by the keys of their next events; of equal keys that of the earlier run is first.  The
 * first run stays first, without comparison with others, as long as its keys are less than `bound`.
 * Not read/merge.h, whose keys have 64 bits. */
struct run_heap {
	struct order_key *keys;    /* of the next event of each run */
	struct order_key *waiting; /* of the first event of each run, sorted; position: number of the run */
	uint32_t *active;          /* heap of runs by their next event */
	uint32_t n, nstarted, nactive; /* runs; started; in the heap */
	struct order_key bound;        /* the least key of all other runs */
};

struct run_reader;

struct run_merge {
	struct spill_file *file; /* NULL: the runs are in memory */
	struct run_rule rule;
	struct run_reader *readers;
	char *buffers;
	struct run_heap heap;
	struct packed_head head; /* of the next event, if it is known */
	bool has_head;
};

/* n > 0 runs in a file, or (f NULL) in memory.  The arguments except `runs` outlive *m.  Always end with
 * run_merge_free(). */
bool run_merge_init(struct run_merge *m, struct spill_file *f, const char *memory,
                    const struct spill_run *runs, uint32_t n, const struct run_rule *rule);
void run_merge_free(struct run_merge *m);

/* Whether all events were merged. */
static inline bool run_merge_ended(const struct run_merge *m)
{
	return m->heap.nactive == 0;
}

/* The key of the next event, unless all events were merged. */
struct order_key run_merge_key(const struct run_merge *m);

/* Adds the next event to a batch with capacity for it; it points to memory of the batch or of the runs. */
bool run_merge_next(struct run_merge *m, struct batch *out);

/* Appends all remaining events to a file, through a buffer. */
bool run_merge_write(struct run_merge *m, struct spill_file *to, char *buffer, uint64_t cap);

/* ---- sorter ---- */

/*
 * Sorts the events of a trace (enum event_order) with bounded memory.  The result depends only on the events
 * and their order of arrival, not on the size of the memory or of batches.
 *
 * Use:	sorter_init
 *	sorter_add for each batch of the input, then sorter_end
 *	sorter_next until it returns SORTER_END
 *	sorter_free
 *
 * The position of an event is certain only when no earlier one can follow, so no event is returned before
 * sorter_end().
 * Writers depend on that: all tracks and classes of the trace are known with the first batch.
 *
 * Events are packed even if they fit in memory: copies that are not packed take three to four times the
 * space, and page faults and cache misses then cost more than packing and unpacking.
 *
 * Algorithm: external merge sort.  Events are packed (see event_pack()) into a load that fits the processor's
 * cache.  A full load is sorted by separate keys (order_sort()) and appended as a run; a load after all
 * earlier events extends the last run.  When the memory is full, its runs are merged to one in the file, or
 * written unchanged if there is only one.  At the end, the runs in memory, or those in the file, are merged.
 * So events that arrive in order are neither sorted nor merged, and nearly sorted ones are merged with few
 * others.
 *
 * Memory: at most `memory` bytes, and 170 for each run; while an event larger than `memory` is added, up to
 * twice its size.  Batches of sorter_next() are not included: each has at most cap events, about 1 MiB of
 * data or 65536 fields (one event may be larger).  If nothing was spilled, they share the sorter's memory,
 * which is freed with the last of them.
 *
 * Disk: sorted events that do not fit are in an unnamed temporary file (struct spill_file) in the folder of
 * the output.  Its size is that of the events in memory; if there are more runs than can be merged at a time,
 * some are merged twice, which takes at most as much again on file systems that cannot free parts of a file.
 *
 * Not thread-safe.  Batches are independent of the sorter and of each other: they remain valid when it is
 * freed, and may be released on any thread.
 */
#define SORTER_MEMORY (UINT64_C(64) << 20)      /* least default */
#define SORTER_MEMORY_SHARE (UINT64_C(1) << 30) /* greatest default */
#define SORTER_MEMORY_MIN (UINT64_C(64) << 10)  /* lower bound */
#define SORTER_MEMORY_MAX (UINT64_C(16) << 30)  /* upper bound */

/* `asked`, or, if that is 0, the default: a quarter of the memory that the process may use, from
 * SORTER_MEMORY to SORTER_MEMORY_SHARE. */
uint64_t sorter_memory(uint64_t asked);

struct sorter_options {
	struct order_rule order;
	struct texts *texts; /* interns names of fields; NULL: they are copied */
	bool few_fields;     /* keep fields of counters and call stacks, of other events only their number */
	uint64_t memory;     /* bytes */
	const char *temp_near; /* the temporary file goes to the folder of this path, which need
	                       not exist; NULL: $TMPDIR or /tmp.  Borrowed until sorter_free */
};

/* For tests. */
struct sorter_counts {
	uint64_t events;  /* added */
	uint64_t sorts;   /* unsorted loads */
	uint64_t runs;    /* in the file */
	uint64_t merges;  /* of runs in the file, before the final one */
	uint64_t spilled; /* bytes written to the file */
};

enum sorter_state {
	SORTER_FILLING,
	SORTER_MERGING, /* output, from memory or from the file */
	SORTER_FAILED,
};

struct sorter_memory;

/* Packed events in order of arrival. */
struct sorter_load {
	char *data;
	uint64_t cap, used;
	struct order_key *keys; /* 3 * keys_cap: n keys, and scratch for order_sort(); position: in data */
	uint32_t keys_cap, n;
	bool in_order;
};

/* Runs; some are adjacent. */
struct sorter_runs {
	struct spill_run *list;
	uint32_t n, cap;
	struct order_key last; /* the greatest key of the last run */
};

struct sorter {
	struct sorter_options options;
	struct sorter_counts counts;
	enum sorter_state state;
	struct event_shapes shapes;
	struct sorter_load load;
	struct sorter_memory *memory;   /* `used` bytes of adjacent runs */
	uint64_t used, max;             /* max: limit, except for a single large event */
	struct sorter_runs held;        /* in memory */
	struct order_key min, greatest; /* of all keys in memory */
	struct spill_file file;
	struct sorter_runs spilled; /* in the file */
	struct run_merge merge;
	bool merges;           /* merge is initialised */
	struct order_key last; /* ORDER_NESTING: of the last event of the output */
	uint64_t nequal;       /* ORDER_NESTING: events of the output so far that have this key */
};

/* Allocates nothing yet. */
void sorter_init(struct sorter *s, const struct sorter_options *options);

/* Copies all events of a batch.  Returns false if the sorter failed: see sorter_reason(); it has no output
 * then. */
bool sorter_add(struct sorter *s, const struct batch *b);

/* Ends the input.  Returns false like sorter_add(). */
bool sorter_end(struct sorter *s);

enum sorter_status {
	SORTER_MORE,        /* the batch has at least one event; call again */
	SORTER_NEEDS_INPUT, /* before sorter_end() */
	SORTER_END,         /* no more events */
	SORTER_NO_RESULT,   /* failed; the batch is empty */
};

/* Fills an empty batch (cap > 0) with the next events.  They point to memory of the batch or of the trace.
 * New tracks and classes are not listed. */
enum sorter_status sorter_next(struct sorter *s, struct batch *out);

/* After a failure: one line, with the path if a file failed. */
void sorter_reason(const struct sorter *s, char *why, size_t size);

/* Reports that failure of a stage.  Returns false. */
bool sorter_fails(const struct sorter *s, const struct stage_faults *faults);

/* At any time after sorter_init. */
void sorter_free(struct sorter *s);

/* ---- order stage ---- */

/* The stage that sorts events. */
struct order_stage {
	struct stage stage;
	const struct arrangement *arrange; /* borrowed, like the following */
	const bool *raw;     /* events are records, which keep their order; known with the first batch */
	struct trace *trace; /* trace of the events: its range of times is set */
	struct batch_pool *pool;
	const struct stage_faults *faults;
	bool signed_time;   /* see order_rule */
	struct texts texts; /* names of fields */
	struct sorter sorter;
	bool begun;  /* the sorter was initialised */
	bool passed; /* all events that are not sorted are passed on */
};

enum stage_status order_stage_next(struct stage *stage, struct batch **out);
void order_stage_free(struct order_stage *st);

/* ---- order sort ---- */

/*
 * Sorts keys (stable).  Ascending and descending runs are merged, which is fast if there are few; keys
 * without long runs are radix sorted.  Worst case O(n log n).  scratch: space for 2 * n keys.
 */
void order_sort(struct order_key *keys, uint32_t n, struct order_key *scratch);

#endif
