#ifndef DIAL9_DIAL9_H
#define DIAL9_DIAL9_H

/*
 * Private header of the dial9 format.
 *
 * read.c reads resets and headers, and calls schemas.c for schemas and annotations, pools.c for pool entries,
 * meaning.c for events.  meaning.c finds the end of an event by fast.c or, if the event is not plain, checks
 * it value by value (check.c); on request it makes the event of the batch.  In runs of plain events fast.c
 * does all of this.
 *
 *   wire.h     the file: frames, types, reading values
 *   read.c     the row of the format, findings, dialects; the reader: frames and their entries
 *   schemas.c  schemas and their annotations
 *   check.c    the grammar of values
 *   fast.c     plain events at full speed
 *   pools.c    pools of strings and stacks, the look-ahead for names that are defined late
 *   meaning.c  events: plans, facts of the trace, events of batches
 *   made.c     events and tracks that tracetool wrote
 *   recover.c  recovery
 *   write/     the writer of events of other formats, and the copier
 */

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/table.h"
#include "dial9/wire.h"
#include "format/format.h"
#include "format/recover.h"
#include "out/kind.h"
#include "out/words.h"

/* ---- limits ---- */

/* Limits on hostile input, far above real traces; they bound memory and time. */
#define D9_MAX_NESTING 64U           /* of lists and maps in one field */
#define D9_FAST_FRAME (4U << 20)     /* bytes of an event that is measured at full speed, at most */
#define D9_MAX_SCHEMAS 65536U        /* different ones in the whole trace */
#define D9_MAX_DESCRIBED (16U << 20) /* bytes of memory of all schemas, without long ones */
#define D9_MAX_POOLED (16U << 20)    /* bytes of memory of the pools of one segment, without long entries */
#define D9_MAX_LASTING (16U << 20)   /* bytes of pooled texts that trace_text() does not keep but that stay */
#define D9_AHEAD_POOLED (1U << 20)   /* bytes of pools above which the look-ahead pass comes first */
#define D9_MAX_PENDING 16384U        /* ids of one segment that wait for their definition */
#define D9_MAX_LATE 16384U           /* definitions after their use, in the whole trace */
#define D9_MAX_SYMBOLS 65536U
#define D9_MAX_AHEAD_BYTES (4U << 20) /* of texts of symbols and late definitions */
#define D9_THREADS_AHEAD (32U << 20)  /* max bytes of the file searched for threads of workers */
#define D9_THREADS_QUIET (64U << 10)  /* the search ends after so many bytes without a new worker */
#define D9_MAX_WORKERS 65536U
#define D9_MAX_META 64U /* facts of the trace */
#define D9_MAX_META_BYTES (64U << 10)
#define D9_MAX_EVENT_POOLED (2U << 20) /* bytes that pools may add to one event; more only by one text */
#define D9_ADDRESS_COST 20U            /* approximate bytes of an address without a name in an output */
#define D9_DIRECT_IDS (1U << 18)       /* pool ids below this are looked up without hashing */

/* ---- schemas ---- */

struct d9_state;
struct d9_made;
struct d9_measure_step;
struct d9_read_step;

struct d9_field {
	struct slice name;    /* in events; duplicates are numbered */
	struct slice in_file; /* in findings */
	uint8_t type;         /* enum d9_type, perhaps with D9_OPTIONAL; as in the file, even if unknown */
	bool used;            /* by the plan */
};

/* Uses of an event in the reader. */
enum d9_use {
	D9_USE_PLAIN,
	D9_USE_CLOCK,
	D9_USE_FACTS,
	D9_USE_SYMBOL,
	D9_USE_TRACK,
	D9_USE_WORKER, /* thread of a worker; only in the pass for threads, plain in other passes */
};

/* Roles of fields in these uses. */
enum d9_role {
	D9_ROLE_CLOCK,
	D9_ROLE_FACTS,
	D9_ROLE_ADDRESS,
	D9_ROLE_NAME,
	D9_ROLE_DEPTH,
	D9_ROLE_WORKER,
	D9_ROLE_THREAD,
	D9_ROLES
};

#define D9_NO_FIELD UINT32_MAX

/* A schema of the trace, shared by the segments that register it.  Texts and fields are in the trace's arena,
 * as events point to them. */
struct d9_schema {
	struct slice name;
	struct class *cls;
	struct d9_field *fields;
	struct class_field *declared;          /* `nhead` of the frame (raw events only), then the fields */
	struct d9_measure_step *measure_steps; /* NULL: measured field by field */
	struct d9_read_step *read_steps;       /* of events in runs; NULL: its events are in no run */
	const struct d9_measure_step *rest;    /* of the fields after those; NULL: none follow */
	uint32_t nfields, nhead;
	uint32_t nused;             /* fields up to the last that the plan uses */
	const struct d9_made *made; /* of events that tracetool wrote; else NULL */
	const struct plan *plan;    /* NULL: none, or raw events */
	size_t need;        /* for measuring by steps: bytes that must be in the window; SIZE_MAX: no steps */
	size_t run_need;    /* the same for runs of events that are only counted; SIZE_MAX: not in runs */
	size_t events_need; /* the same for runs that add the events */
	uint32_t roles[D9_ROLES]; /* indices of fields, or D9_NO_FIELD */
	uint8_t use;              /* enum d9_use */
	bool structure;           /* its events are structure, not events in time */
	bool timed;
	bool readable;       /* all field types are known */
	bool reader_applies; /* the reader applies the plan, not the engine */
	bool planned;        /* cls is the class of its events; else only a class of the same name */
};

/* All schemas of the trace, and those registered in the current segment. */
struct d9_schemas {
	struct d9_schema **all; /* in order of arrival; owned */
	uint32_t n, cap;
	struct tabletext index;       /* bytes after the type_id in the frame -> all[] */
	struct reader_charges memory; /* against D9_MAX_DESCRIBED */
	struct d9_schema **by_type;   /* type_id -> schema of this segment, or NULL */
	uint32_t ntypes;              /* size of by_type */
	uint16_t *registered;         /* the type_ids of this segment */
	uint32_t nregistered, registered_cap;
};

static inline struct d9_schema *d9_schema_find(const struct d9_schemas *s, uint64_t type_id)
{
	return type_id < s->ntypes ? s->by_type[type_id] : NULL;
}

/* Returns the bytes of an event's frame before its values. */
static inline uint32_t d9_schema_head(const struct d9_schema *s)
{
	return s->timed ? D9_TIMED_EVENT_HEAD : D9_EVENT_HEAD;
}

/* ---- pools ---- */

struct d9_entry {
	uint64_t hash; /* of its bytes, to detect another definition of the id */
	union {
		const char *text;           /* strings; NULL: content not needed */
		const struct value *values; /* stacks; likewise */
	};
	uint32_t n, flags; /* bytes and flags of a string, frames of a stack */
	uint32_t cost;     /* approximate bytes in an output */
	uint32_t id;
	uint8_t element; /* stacks: value.element */
};

/* An id that was referenced before its definition. */
struct d9_pending {
	uint64_t offset, ordinal, count; /* of the first reference; number of references */
	uint32_t id;
	bool defined;
	bool shown; /* as a number, in a field or a name of an event */
};

/* Texts and stacks of one segment.  Batches share this memory because values of events point into it: its
 * content neither moves nor changes. */
struct d9_pool_memory {
	struct shared_memory shared;
	struct arena arena;
};

/* The strings or stacks of one segment. */
struct d9_pool {
	struct d9_entry *entries;
	uint32_t n, cap;
	uint32_t *direct; /* id -> entries[] + 1, or 0 */
	uint32_t ndirect;
	struct table64 far; /* ids from D9_DIRECT_IDS on -> entries[] */
	struct d9_pending *pending;
	uint32_t npending, pending_cap;
	struct table64 pending_index; /* id -> pending[] */
};

/* ---- frames ---- */

/*
 * A record is a frame, or an entry of a frame of a pool or of annotations.  The first entry includes the
 * frame's head.  While a record is read, its `end` is that of the window until the record is measured, and
 * its `offset` is that of the frame.  RECORD_MORE: nothing changed; d9_state.lack has the missing bytes.
 */

/* A pool or annotation frame whose entries are being read. */
struct d9_open_frame {
	uint8_t tag;
	uint32_t left, count; /* entries */
	uint64_t type_id;     /* annotations */
	uint64_t offset;
};

struct d9_pool_entry {
	uint32_t id;
	struct slice data; /* p NULL: absent */
};

struct d9_annotation {
	uint16_t field;
	struct slice key, value; /* p NULL: absent */
};

/* The rest of a frame or entry that is longer than --max-record: it is passed over in pieces. */
struct d9_pass {
	bool open;
	bool rest;              /* to the end of the input: later records cannot be read without this one */
	uint64_t run;           /* bytes to pass over before the next value */
	uint64_t total, length; /* bytes of the value, and the length or count that states them */
	const char *missing;    /* name of that length or count */
	const struct d9_field *value_of; /* field of the value */
	const struct d9_schema *schema;  /* of an event, whose values follow; NULL: none follow */
	uint32_t field;                  /* the next one */
	uint32_t depth;
	struct d9_pass_level {
		uint64_t values; /* left in a list or map */
		bool tagged;
	} levels[D9_MAX_NESTING];
	uint64_t offset, ordinal; /* of the record */
	uint64_t size;            /* bytes passed so far */
	const char *what;
};

/* ---- look-ahead ---- */

struct symbol;

/* Names that a look-ahead pass found.  Batches share them because events point to their texts; they do not
 * change after the pass. */
struct d9_ahead {
	struct shared_memory shared;
	struct table64 symbol_index; /* address -> symbols[] */
	struct symbol *symbols;
	uint32_t nsymbols, symbols_cap;
	struct table64 late_index; /* segment, kind and id -> late[] */
	struct slice *late;
	uint32_t nlate, late_cap;
	struct arena text; /* of symbols and late definitions */
	uint64_t dropped;  /* names above the limits */
};

/* The first thread of each worker, found by a short look-ahead pass. */
struct d9_threads {
	struct trace *trace; /* of the asking reader; its table thread-of gets the threads */
	const struct track *process;
	struct table64 workers; /* set of workers with a thread */
	uint64_t last;          /* offset of the record with the last new worker */
};

/* Whether the search ends at this offset of the file.  The size of batches has no influence. */
static inline bool d9_threads_end(const struct d9_threads *t, uint64_t offset)
{
	return offset >= D9_THREADS_AHEAD || offset > t->last + D9_THREADS_QUIET;
}

/* ---- state ---- */

/* Findings that are counted, and reported when reading ends. */
struct d9_tallies {
	struct finding_tally bools, late, redefined, pool_limit, names_limit, metadata, tracks, deep_tracks;
	struct finding_tally symbols_late,
	    unresolved; /* shown without names that follow: the input cannot be read twice */
};

/* The state of a reader, shared by all of its files. */
struct d9_state {
	struct reader *r;
	uint8_t asked_dialect; /* enum d9_dialect: of --dialect; D9_0_4 without it */
	bool begun;            /* the first header was read */
	uint64_t base;         /* timestamp_base_ns */
	uint64_t segment;      /* number of the current segment, from 1 */
	uint64_t last_offset;  /* of the last complete frame */

	struct class *frames[D9_FRAMES]; /* of structure records, by d9_frame_index() */
	struct d9_schemas schemas;
	/* plans of schemas that tracetool wrote, and their copies for spans that are waiting */
	const struct plan *made_plans[2], *waiting_plans[2];
	struct d9_pool pools[D9_POOLS];
	struct d9_pool_memory *pool_memory; /* content of both pools, or NULL */
	struct reader_charges pooled;       /* against D9_MAX_POOLED */
	bool pools_full;                    /* some entry of this segment was not retained */
	uint32_t lasting;                   /* against D9_MAX_LASTING */
	struct d9_open_frame open;
	struct d9_pass pass;
	struct d9_lack lack;

	/* The last record, from which its event is made. */
	uint8_t tag;              /* of its frame */
	bool first;               /* it begins with the head of its frame */
	struct d9_schema *schema; /* of an event; or the one that the frame registers */
	union {
		struct d9_pool_entry entry;
		struct d9_annotation annotation;
	};

	struct d9_ahead *ahead;     /* names that the look-ahead pass found, or NULL */
	struct d9_ahead *collects;  /* during that pass: receives the names; else NULL */
	struct d9_threads *threads; /* during the pass for threads: receives them */
	enum d9_dialect *dialect;   /* during the pass for the dialect: receives it */
	bool threads_pass;          /* this reader is that pass */
	bool tried_threads;
	bool tried_ahead; /* a look-ahead was tried; the input may not be readable twice */
	bool symbols_seen;
	uint64_t seed; /* of the hashes of pool entries */

	struct d9_tallies tallies;
	const struct track *process, *default_track; /* NULL: not needed yet */
	const struct track **tracks;                 /* number in track records of the segment -> track */
	uint32_t ntracks, tracks_cap;
	uint32_t tracks_made, track_names; /* of the whole input: tracks, bytes of their names */
	uint32_t meta_bytes;
	uint32_t event_pooled; /* bytes that pools added to the current event */
	bool unheld;           /* the current batch does not share all pools and names yet */
};

static inline bool d9_wants_fields(const struct d9_state *st)
{
	return (st->r->want & (WANT_FIELDS | WANT_STACKS)) != 0;
}

/* Raw events: ids and addresses stay numbers. */
static inline bool d9_wants_raw(const struct d9_state *st)
{
	return (st->r->want & WANT_RAW) != 0;
}

/* The bytes from the start of a frame to the end of the window. */
static inline struct d9_bytes d9_bytes_of(struct d9_state *st, const struct record *f)
{
	return (struct d9_bytes){ .p = f->p, .end = f->end, .lack = &st->lack };
}

/* ---- read.c: findings ---- */

enum d9_rule {
#define RULE(name, id, level, text, spec, explain) D9_RULE_##name,
#include "dial9/rules.def"
#undef RULE
	D9_RULE_COUNT
};

extern const struct rule d9_rules[D9_RULE_COUNT + 1]; /* ended by an id of NULL */

static inline void d9_tally(struct finding_tally *t, const struct record *f, uint64_t value)
{
	finding_tally_add(t, f->offset, f->ordinal, value, 0);
}

/* Report a finding at the frame, or at the byte `at` of it. */
#define d9_find(st, rule, f, ...)                                                                            \
	READER_FIND((st)->r->findings, &d9_rules[rule], (f)->offset, (f)->ordinal, __VA_ARGS__)
#define d9_find_at(st, rule, f, at, ...)                                                                     \
	READER_FIND((st)->r->findings, &d9_rules[rule], input_offset((st)->r->in, at), (f)->ordinal,         \
	            __VA_ARGS__)

/* Reports the text s if it is not UTF-8, as `what` of the field or schema `whose` (p NULL: of none). */
void d9_check_text(struct d9_state *st, const struct record *f, struct slice s, const char *what,
                   struct slice whose);

/* ---- read.c: dialects ---- */

/* Notes that the feature `what` at `at` exists only from the dialect `since` on.  Sets the dialect of the
 * trace to `since` if that is newer; reports an error if --dialect names an older one. */
void d9_note_newer(struct d9_state *st, const struct record *f, const char *at, const char *what,
                   enum d9_dialect since);

/* ---- read.c: records ---- */

/* Makes the frame, of the tag st->tag, a structure record.  Returns RECORD_DONE. */
enum record_status d9_end_frame(struct d9_state *st, struct record *f);

/* Adds the fields of a structure record. */
void d9_structure_fields(struct d9_state *st, const struct record *f, struct batch *b, struct event *e);

/* ---- frames by file ---- */

/*
 * *_frame() reads the frame at f->p, or an entry of it, and sets f->end.  Before the first entry, if any, it
 * reads the frame's head and sets st->open.  *_pass() begins to pass over an event or entry that is longer
 * than --max-record: it sets st->pass.
 */

/* meaning.c */
enum record_status d9_event_frame(struct d9_state *st, struct record *f);
enum record_status d9_event_pass(struct d9_state *st, struct record *f);

/* reader_ops.event, .fields */
void d9_event(struct reader *r, const struct record *f, struct batch *b, struct event *e);
void d9_fields(struct reader *r, const struct record *f, struct batch *b, struct event *e);

/* Finds the plan of a schema, and its use in the reader.  Returns false on OOM. */
bool d9_schema_plan(struct d9_state *st, struct d9_schema *s);

/* Makes the classes of schemas without events, so that the trace has their declarations. */
void d9_schemas_declare(struct d9_state *st);

/* schemas.c */
enum record_status d9_schema_frame(struct d9_state *st, struct record *f);
enum record_status d9_annotation_frame(struct d9_state *st, struct record *f);
enum record_status d9_annotation_pass(struct d9_state *st, const struct record *f);
uint32_t d9_schema_fields(struct d9_state *st, const struct record *f, struct batch *b, struct field *to);
uint32_t d9_annotation_fields(struct d9_state *st, struct field *to); /* 5 at most */

/* pools.c */
enum record_status d9_pool_frame(struct d9_state *st, struct record *f);
enum record_status d9_pool_pass(struct d9_state *st, const struct record *f);
uint32_t d9_pool_fields(struct d9_state *st, struct batch *b, struct field *to); /* 3 at most */

/* recover.c.  d9_entries_status() checks whether the frame of entries at the start of the window is complete;
 * RECORD_BAD: it is cut. */
bool d9_has_entries(char tag);
enum record_status d9_entries_status(const struct reader *r);

/* ---- schemas.c ---- */

/* Forgets the types of a segment when the next one begins. */
void d9_schemas_clear(struct d9_schemas *s);
void d9_schemas_free(struct d9_schemas *s);

/* ---- pools.c ---- */

const struct d9_entry *d9_pool_far(const struct d9_pool *pool, uint32_t id);

static inline const struct d9_entry *d9_pool_find(const struct d9_pool *pool, uint32_t id)
{
	if (id >= D9_DIRECT_IDS)
		return d9_pool_far(pool, id);
	return id < pool->ndirect && pool->direct[id] != 0 ? &pool->entries[pool->direct[id] - 1] : NULL;
}

/* d9_pool_miss() notes a reference to an id that is not defined (yet); d9_pool_shown() notes that the id was
 * shown as a number. */
void d9_pool_miss(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, const struct record *f);
void d9_pool_shown(struct d9_state *st, enum d9_pool_kind kind, uint32_t id);

/* Reports, at the end of a segment, ids that were never defined. */
void d9_pools_check(struct d9_state *st);

/* Empties the pools when a segment begins.  Batches keep the content of the segment before. */
void d9_pools_clear(struct d9_state *st);
void d9_pools_free(struct d9_state *st);

/* Shares the pools, and the names that a look-ahead found, with a batch. */
void d9_names_hold(struct d9_state *st, struct batch *b);

/* Looks ahead for names, on the first call. */
void d9_look_ahead(struct d9_state *st);
void d9_ahead_drop(struct d9_state *st); /* batches keep their share */

/* Adds a symbol; called in a look-ahead. */
void d9_ahead_symbol(struct d9_state *st, uint64_t address, uint64_t depth, struct slice name);

/* Makes the pass for threads of workers, on the first call.  Must precede the first event, as its track may
 * be that of a worker. */
void d9_look_for_threads(struct d9_state *st);

/* Returns the bytes of the id's definition later in this segment; p is NULL if the look-ahead found none. */
struct slice d9_ahead_find(const struct d9_state *st, enum d9_pool_kind kind, uint32_t id);

/* Returns the names of a stack's addresses; the addresses themselves if they are unknown or `names` is false.
 * *cost: their approximate bytes in an output; *element: the type of all of them, or VALUE_NONE. */
struct value *d9_stack_values(struct d9_state *st, bool names, struct arena *a, const char *addresses,
                              uint32_t n, uint32_t *cost, uint8_t *element);

/* ---- check.c: walks ---- */

/* Reports a LEB128 number of more than 64 bits that ends at `end`. */
void d9_report_over_64_bits(struct d9_state *st, const struct record *f, const char *end);

enum d9_walk_mode {
	D9_WALK_OVER,   /* checks only sizes */
	D9_WALK_CHECK,  /* sets `has_finding` on findings that do not end reading */
	D9_WALK_REPORT, /* reports these findings */
};

struct d9_walk {
	struct d9_bytes bytes;
	struct d9_state *st;
	const struct record *f;
	const struct d9_schema *s;
	const struct d9_field *field;
	struct batch *b; /* for values */
	uint8_t mode;    /* enum d9_walk_mode */
	bool raw;        /* ids and addresses stay numbers */
	bool has_finding;
	bool stopped; /* the rest of the event is unreadable: `rule` at offset `at` */
	uint8_t rule;
	uint64_t at, value;
};

/* Begins a walk over the values of a checked event.  Such a walk fails only on OOM. */
static inline void d9_walk_values(struct d9_walk *w, struct d9_state *st, const struct d9_schema *s,
                                  const struct record *f, struct batch *b)
{
	*w = (struct d9_walk){ .bytes = d9_bytes_of(st, f), .st = st, .f = f, .s = s, .b = b };
	w->bytes.p += d9_schema_head(s);
	w->raw = d9_wants_raw(st);
}

/* Walks over the next value, and converts it to *v unless v is NULL.  depth: number of enclosing lists and
 * maps with tagged elements.  Returns false if the value is incomplete or the walk has stopped. */
bool d9_walk_value(struct d9_walk *w, uint8_t type, unsigned depth, struct value *v);

/* Checks an event in the window and sets f->end.  Reports findings only of complete events, because a frame
 * at the end of a window is walked more than once. */
enum record_status d9_walk_event(struct d9_state *st, const struct d9_schema *s, struct record *f);

/* Passes over the next piece of st->pass, at f->p, and sets f->end.  Clears st->pass.open after the last
 * piece.  RECORD_MORE: the window must grow, or the input is cut. */
enum record_status d9_pass(struct d9_state *st, struct record *f);

/* Passes over the rest of the input, from the record on.  The caller has reported the reason. */
enum record_status d9_pass_rest(struct d9_state *st, struct record *f);

/* Sets *v to the text or stack of an id, or to the number if that is unknown or above a limit.  Not for raw
 * events. */
void d9_value_id(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, const struct record *f,
                 struct batch *b, struct value *v);

/* ---- fast.c ---- */

/* A step of measuring an event. */
struct d9_measure_step {
	uint8_t kind;
	uint8_t size;  /* of an item of a run */
	uint32_t need; /* after a value of variable length: max bytes of the steps up to the next one */
};

/* Sets s->measure_steps and s->need, if events of this schema can be measured by steps. */
bool d9_make_measure_steps(const struct d9_state *st, struct d9_schema *s);

/* A step of reading the fields of an event and checking them. */
struct d9_read_step {
	struct slice name;
	uint8_t kind;
	uint8_t size;  /* of a value of fixed size, or bytes of fields that are passed over */
	uint8_t value; /* enum value_type */
	const struct d9_pool *pool;
};

/* Sets s->read_steps and s->events_need, if runs can have events of this schema.  Returns false on OOM. */
bool d9_make_read_steps(const struct d9_state *st, struct d9_schema *s);

/* Returns the end of the event at p; NULL: d9_walk_event() must check it.  At least s->need bytes must be
 * between p and `end`. */
const char *d9_measure(const struct d9_state *st, const struct d9_schema *s, const char *p, const char *end);

/* reader_ops.run: counts plain events and resets, adds the events if b is not NULL, stops at other frames. */
bool d9_run(struct reader *r, const char *limit, struct batch *b);

/* ---- made by tracetool (made.c, write/write.c) ---- */

/*
 * Events and tracks that tracetool wrote to a dial9 trace.  The vocabulary names their schemas (`made:
 * event`, `made: track`); the schemas define the rest:
 *
 *     tracetool:KIND:CATEGORY:CLASS     KIND: KIND_PART of out/kind.h, or D9_MADE_WAITING; % and : of
 *                                       CATEGORY are %25 and %3a
 *         tracetool.track     Varint, the number of a track
 *         tracetool.duration  Varint, ns; spans only
 *         tracetool.arrow     Varint; arrows only
 *         tracetool.name      PooledString, String; Bytes if it is not UTF-8
 *         FIELD[:TYPE]        the arguments; TYPE: enum d9_made_type
 *     tracetool:track
 *         track Varint (0, 1, 2, ... in a segment), parent optional Varint, kind String,
 *         id optional Varint, name String or Bytes
 */
#define D9_MADE_PREFIX "tracetool:"
#define D9_MADE_TRACK "tracetool:track"
#define D9_MADE_WAITING "waiting" /* a span during which its track does no work */
#define D9_MADE_FIELDS 4          /* before the arguments, at most */

extern const enum word d9_made_hidden[D9_MADE_FIELDS]; /* in this order */

static inline bool d9_made_has(enum event_kind kind, enum word hidden)
{
	return hidden == WORD_DURATION ? kind_is_span(kind) : hidden != WORD_ARROW || kind_is_arrow(kind);
}

/* Types that dial9 lacks, which are suffixes of argument names: those of enum value_type (I8, I16, I32, F32,
 * ADDRESS; JSON in a String), and these. */
enum d9_made_type {
	D9_MADE_PLAIN = VALUE_NONE,  /* unchanged; written only if the name itself ends in another suffix */
	D9_MADE_TEXT = VALUE_STRING, /* Bytes that contain text, but not UTF-8 */
	D9_MADE_STACK = VALUE_LIST,  /* a list of numbers that are addresses */
	D9_MADE_NONE = VALUE_TYPES,  /* no suffix */
};

const char *d9_made_suffix(unsigned type);

/* Returns the type of the suffix of a field's name, or D9_MADE_NONE.  Sets *n to the length of the name
 * without the suffix. */
unsigned d9_made_suffix_of(struct slice name, uint32_t *n);

/* A schema of such events. */
struct d9_made {
	uint8_t kind;    /* enum event_kind */
	uint8_t nhidden; /* fields before the arguments */
	bool waiting;
	struct slice cls, category;
	uint8_t *types; /* by argument: see enum d9_made_type */
};

/* Reads a schema of events that tracetool wrote.  Returns false for other schemas, or on OOM. */
bool d9_made_schema(struct d9_state *st, struct d9_schema *s);

bool d9_made_is_track(const struct d9_schema *s);

/* Adds the track that a track record describes. */
void d9_made_track(struct d9_state *st, const struct d9_schema *s, const struct record *f);

/* Sets the members of the event from its hidden fields, and *args to the position of its arguments. */
void d9_made_event(struct d9_state *st, const struct d9_schema *s, const struct record *f, struct batch *b,
                   struct event *e, const char **args);

/* Restores the type of an argument. */
void d9_made_restore(struct d9_state *st, unsigned type, struct batch *b, struct value *v);

/* Returns the process of events without a track that tracetool wrote; the file gives its name. */
const struct track *d9_process(struct d9_state *st);

/* ---- interfaces ---- */

extern const struct reader_ops d9_reader_ops;
extern const struct recover_ops d9_recover_ops;

#endif
