#ifndef DIAL9_DIAL9_H
#define DIAL9_DIAL9_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/table.h"
#include "format/format.h"
#include "out/kind.h"
#include "out/shape.h"
#include "out/tracks.h"
#include "format/recover.h"

/* ---- wire ---- */

/*
 * Facts of the bytes.  All integers are little-endian.  A stream is a header
 * and frames; each frame begins with its tag and has no length of its own.
 * What is marked 0.4 stands in files of crate 0.4 and later, under the same
 * version byte, and not in the document.
 */

/* "Header": TRC, NUL and the version.  Since 0.4 one may stand wherever a frame may: a new segment. */
#define D9_MAGIC "TRC"
#define D9_MAGIC_SIZE 4
#define D9_HEADER_SIZE 5
#define D9_VERSION 1

/* What dial9-tokio-telemetry wrote before release 0.2.0: this, and a version of 32 bits. */
#define D9_OLDER_MAGIC "TOKIOTRC"
#define D9_OLDER_MAGIC_SIZE 8

/* "Frames" */
enum d9_tag {
	D9_TAG_SCHEMA = 0x01,
	D9_TAG_EVENT = 0x02,
	D9_TAG_STRINGS = 0x03,
	D9_TAG_STACKS = 0x04, /* 0.4 */
	D9_TAG_RESET = 0x05,
	D9_TAG_ANNOTATIONS = 0x06, /* 0.4 */
	D9_TAG_HEADER = 'T',       /* 0.4: the first byte of another header */
};

#define D9_EVENT_HEAD 3       /* tag, type_id */
#define D9_TIMED_EVENT_HEAD 6 /* and timestamp_delta_ns */
#define D9_RESET_SIZE 9
#define D9_POOL_HEAD 5  /* tag, count */
#define D9_ENTRY_HEAD 8 /* pool_id, data_len or frame_count */

/* "Field Types" */
enum d9_type {
	D9_I64 = 1,
	D9_F64 = 2,
	D9_BOOL = 3,
	D9_STRING = 4,
	D9_BYTES = 5,
	D9_POOLED_STACK = 6, /* 0.4 */
	D9_POOLED_STRING = 7,
	D9_STACK = 8,
	D9_VARINT = 9,
	D9_STRING_MAP = 10,
	D9_U8 = 11,
	D9_U16 = 12,
	D9_U32 = 13,
	D9_LIST = 14, /* 0.4 */
	D9_MAP = 15,  /* 0.4 */
	D9_TYPES = 16
};

#define D9_OPTIONAL 0x80 /* "Optional Field Modifier" */
#define D9_VARINT_MAX 10 /* "A u64 requires at most 10 bytes" */

/* Limits of this program, far above what real traces need; they bound memory and time for hostile input. */
#define D9_MAX_NESTING 64U           /* of lists and maps in one field */
#define D9_MAX_FRAME (4U << 20)      /* bytes of an event, a schema or an entry of a pool */
#define D9_MAX_SCHEMAS 65536U        /* that differ, in the whole trace */
#define D9_MAX_DESCRIBED (16U << 20) /* bytes that all of them together cost */
#define D9_MAX_POOLED (16U << 20)    /* bytes that the pools of one segment cost */
#define D9_AHEAD_POOLED (1U << 20)   /* look ahead before the pools grow larger */
#define D9_MAX_PENDING 16384U        /* ids of one segment that wait for their definition */
#define D9_MAX_LATE 16384U           /* definitions behind their use, in the whole trace */
#define D9_MAX_SYMBOLS 65536U
#define D9_MAX_AHEAD_BYTES (4U << 20) /* of the texts of both */
#define D9_MAX_META 64U               /* facts of the trace */
#define D9_MAX_META_BYTES (64U << 10)
#define D9_MAX_EVENT_POOLED (2U << 20) /* bytes that the pools may add to one event */
#define D9_ADDRESS_COST 20U            /* of these, what an address without a name counts */
#define D9_DIRECT_IDS (1U << 18)       /* pool ids below this are looked up without hashing */

/* A batch is full when its events take this much, whatever their number. */
#define D9_NEXT_BYTES (1U << 20)
#define D9_NEXT_FIELDS 65536U

/* ---- type ---- */

enum d9_pool_kind { D9_STRINGS, D9_STACKS, D9_POOLS };

/* "Field Types", as one table that all who walk over values go by. */

/* How the bytes of a value lie. */
enum d9_shape {
	D9_SHAPE_UNKNOWN, /* no such type: the size of a value is not known */
	D9_SHAPE_FIXED,   /* `size` bytes */
	D9_SHAPE_BOOL,    /* one byte that should be 0 or 1 */
	D9_SHAPE_ID,      /* u32, an id of a pool */
	D9_SHAPE_LEB128,
	D9_SHAPE_TEXT,   /* u32 n, then n bytes of UTF-8 */
	D9_SHAPE_RUN,    /* u32 n, then n items of `size` bytes */
	D9_SHAPE_VALUES, /* u32 n, then n entries of `each` values, `size` bytes at least: each behind its
	                    type if `tagged`, else texts */
};

struct d9_type_info {
	const char *names[2]; /* the type, and the optional one */
	const char *missing;  /* what an input lacks that ends in such a value, or in its count */
	uint8_t shape;        /* enum d9_shape */
	uint8_t size;
	uint8_t each;
	uint8_t pool; /* enum d9_pool_kind */
	bool tagged;
	uint8_t value;     /* enum value_type of raw values */
	const char *newer; /* not in the document of 0.3: how to call it; NULL: it is */
};

extern const struct d9_type_info d9_types[D9_TYPES];

/* What a type is without the optional bit; types that are not known have the first row. */
static inline const struct d9_type_info *d9_type(uint8_t type)
{
	const unsigned inner = type & ~(unsigned)D9_OPTIONAL;

	return &d9_types[inner < D9_TYPES ? inner : 0];
}

static inline bool d9_is_optional(uint8_t type)
{
	return (type & D9_OPTIONAL) != 0;
}

static inline bool d9_type_known(uint8_t type)
{
	return d9_type(type)->shape != D9_SHAPE_UNKNOWN;
}

/* Bytes of each value; 0: they vary, or are not known. */
static inline uint32_t d9_fixed_size(uint8_t type)
{
	const struct d9_type_info *const t = d9_type(type);

	return t->shape <= D9_SHAPE_ID && !d9_is_optional(type) ? t->size : 0;
}

static inline bool d9_is_integer(uint8_t type)
{
	const struct d9_type_info *const t = d9_type(type);

	return t->shape == D9_SHAPE_LEB128 || (t->shape == D9_SHAPE_FIXED && t != &d9_types[D9_F64]);
}

/* Elements of lists and maps are never optional. */
static inline bool d9_is_element_type(uint8_t type)
{
	return type < D9_TYPES && d9_types[type].shape != D9_SHAPE_UNKNOWN;
}

static inline const char *d9_type_name(uint8_t type)
{
	return d9_type(type)->names[d9_is_optional(type)];
}

/* ---- bytes ---- */

/*
 * The bytes of a frame, taken from the front.  Mostly they all lie in the
 * window; those of a frame that is too large are fetched piece by piece, and
 * what was taken before is gone then.
 */

struct d9_schema;
struct d9_field;

/* What was missing when bytes could not be taken. */
struct d9_lack {
	const char *what;               /* "frame count" */
	const struct d9_schema *schema; /* of the event, or NULL */
	const struct d9_field *field;   /* or NULL */
	uint64_t bytes;                 /* how many are missing, at least */
	uint64_t length;                /* with has_length: the count or length that does not fit */
	uint64_t left;                  /* and what is left for it */
	bool has_length;
};

struct d9_bytes {
	const char *p, *end;
	struct input *in;
	struct d9_lack *lack;
	bool pieces;
};

/* Gets n more bytes into the window, or notes what is missing. */
bool d9_bytes_fetch(struct d9_bytes *b, size_t n, const char *what);

/* n items of `each` bytes; *p: where they lie, NULL if they were fetched in pieces.  false: they do not fit.
 */
bool d9_bytes_run(struct d9_bytes *b, uint32_t n, uint32_t each, const char *what, const char **p);

/* Whether n things of `each` bytes at least can still come; what comes in pieces is not known. */
bool d9_bytes_fit(struct d9_bytes *b, uint32_t n, uint32_t each, const char *what);

/* n bytes, 64 KiB at most, or NULL. */
static inline const char *d9_bytes_take(struct d9_bytes *b, size_t n, const char *what)
{
	if (n > (size_t)(b->end - b->p) && !d9_bytes_fetch(b, n, what))
		return NULL;
	b->p += n;
	return b->p - n;
}

static inline bool d9_bytes_u16(struct d9_bytes *b, uint16_t *v, const char *what)
{
	const char *const p = d9_bytes_take(b, 2, what);

	*v = p != NULL ? load_u16(p, false) : 0;
	return p != NULL;
}

static inline bool d9_bytes_u32(struct d9_bytes *b, uint32_t *v, const char *what)
{
	const char *const p = d9_bytes_take(b, 4, what);

	*v = p != NULL ? load_u32(p, false) : 0;
	return p != NULL;
}

/* A LEB128 number: how many bytes it took; 0: they are not all there; D9_VARINT_MAX + 1: it has no end within
 * D9_VARINT_MAX. Bits beyond 64 are dropped. */
unsigned d9_bytes_leb128(struct d9_bytes *b, uint64_t *v, const char *what);

static inline uint64_t d9_bytes_offset(const struct d9_bytes *b)
{
	return input_offset(b->in, b->p);
}

/* ---- frame ---- */

/* Frames where they lie, and who reads which. */

struct d9_state;

/* What came of one step.  Without memory it does not matter: d9_state.no_memory is set then. */
enum d9_result {
	D9_DONE,
	D9_MORE, /* the window ends inside it: nothing happened, and d9_state.lack is what is missing */
	D9_BAD,  /* nothing after this place can be trusted; a finding is the reason */
};

/* One frame, or one entry of a pool. */
struct d9_frame {
	const char *p, *end;      /* all of its bytes; until it is measured, `end` is the end of the window */
	uint64_t offset, ordinal; /* of the frame, for findings */
	uint64_t at; /* offset of its own first byte: the frame's, but for later entries of a pool */
	uint8_t tag;
};

/* A pool or annotation frame whose entries are being read. */
struct d9_open_frame {
	uint8_t tag;
	uint32_t left, count; /* entries */
	uint64_t type_id;     /* annotations */
	uint64_t offset;
};

/* What stands at the start of the window, which is not empty: a frame, or the next entry of the open one. */
enum d9_result d9_next_frame(struct d9_state *st, struct batch *b);

/*
 * The kinds of frames.  Each of these reads the frame, or the entry of one, at
 * f->p, sets f->end and adds a record to the batch if it is wanted.
 */
enum d9_result d9_event_frame(struct d9_state *st, struct d9_frame *f, struct batch *b);
enum d9_result d9_schema_frame(struct d9_state *st, struct d9_frame *f, struct batch *b);

/* The head of a frame with its first entry, if it has one; sets st->open. */
enum d9_result d9_pool_head(struct d9_state *st, struct d9_frame *f, struct batch *b);
enum d9_result d9_annotations_head(struct d9_state *st, struct d9_frame *f, struct batch *b);

/* The next entry of st->open. */
enum d9_result d9_pool_entry(struct d9_state *st, struct d9_frame *f, struct batch *b);
enum d9_result d9_annotation(struct d9_state *st, struct d9_frame *f, struct batch *b);

/* The same for an event or entry that is too large to hold: it is dropped in pieces.  Its bytes are gone
 * then, even when it is cut. */
enum d9_result d9_event_skip(struct d9_state *st, const struct d9_frame *f);
enum d9_result d9_pool_skip(struct d9_state *st, const struct d9_frame *f);
enum d9_result d9_annotation_skip(struct d9_state *st);

/* ---- dialect ---- */

/* The dialects: the document of 0.3, and what 0.4 writes under the same version. */

enum d9_dialect { D9_0_3, D9_0_4 };

extern const char *const d9_dialects[]; /* their names, ended by NULL */

/* By what the user asked for. */
void d9_dialect_begin(struct d9_state *st);

/* A feature that only 0.4 has was met at `at`: the trace is of 0.4; with
 * --from-dialect 0.3 that is an error each time. */
void d9_newer(struct d9_state *st, const struct d9_frame *f, const char *at, const char *what);

/* ---- findings ---- */

/* The rules, and how they are reported: at a frame, at a byte of it, or once at the end with a count. */

enum d9_rule {
#define RULE(name, id, level, text, spec, explain) D9_RULE_##name,
#include "dial9/rules.def"
#undef RULE
	D9_RULE_COUNT
};

extern const struct rule d9_rules[D9_RULE_COUNT + 1]; /* ended by an id of NULL */

/* What is counted, and reported when reading ends. */
struct d9_tallies {
	struct finding_tally bools, late, redefined, pool_limit, names_limit, metadata, tracks, deep_tracks;
	struct finding_tally symbols_late, unresolved; /* shown without names that stand later, on a pipe */
};

static inline void d9_tally(struct finding_tally *t, const struct d9_frame *f, uint64_t value)
{
	finding_tally_add(t, f->offset, f->ordinal, value, 0);
}

void d9_find(struct d9_state *st, enum d9_rule rule, const struct d9_frame *f, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

void d9_find_at(struct d9_state *st, enum d9_rule rule, const struct d9_frame *f, const char *at,
                const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Whether a finding of this rule would not be shown; then it is counted, and its message need not be made. */
bool d9_find_unshown(struct d9_state *st, enum d9_rule rule, const struct d9_frame *f);

/* Reports text that is not UTF-8: `what` of the field `whose` (p NULL: no field). */
void d9_check_text(struct d9_state *st, const struct d9_frame *f, struct slice s, const char *what,
                   struct slice whose);

/* Notes what a cursor misses.  Always D9_MORE. */
enum d9_result d9_lacks(struct d9_state *st, const struct cursor *c);

/* ---- pool ---- */

/* The strings and stacks that a segment defines by number. */

struct d9_frame;
struct d9_state;

struct d9_entry {
	uint64_t hash; /* of its bytes, to tell another definition */
	union {
		const char *text;           /* strings; NULL: not wanted */
		const struct value *values; /* stacks, likewise */
	};
	uint32_t n, flags; /* bytes and flags of a string, frames of a stack */
	uint32_t cost;     /* about how many bytes it takes in an output */
	uint32_t id;
	uint8_t element; /* stacks: value.element */
};

/* An id that was referenced and is not defined. */
struct d9_pending {
	uint64_t offset, ordinal, count; /* of the first reference; how many there are */
	uint32_t id;
	bool defined; /* by now */
	bool shown;   /* as a number, in a field or a name */
};

/*
 * Texts and stacks of one segment.  Values of events point into it, so batches
 * hold it; what is in it neither moves nor changes.
 */
struct d9_pool_memory {
	struct shared_memory shared;
	struct arena arena;
};

/* The strings or stacks of one segment. */
struct d9_pool {
	struct d9_entry *entries;
	uint32_t n, cap;
	uint32_t *direct; /* id -> its entry's number + 1, or 0 */
	uint32_t ndirect;
	struct table64 far; /* the same for larger ids; the number itself */
	struct d9_pending *pending;
	uint32_t npending, pending_cap;
	struct table64 pending_index; /* id -> pending[] */
};

const struct d9_entry *d9_pool_far(const struct d9_pool *pool, uint32_t id);

static inline const struct d9_entry *d9_pool_find(const struct d9_pool *pool, uint32_t id)
{
	if (id >= D9_DIRECT_IDS)
		return d9_pool_far(pool, id);
	return id < pool->ndirect && pool->direct[id] != 0 ? &pool->entries[pool->direct[id] - 1] : NULL;
}

/* Defines an id of the present segment; `data` are the bytes of the string or of the addresses. */
void d9_pool_define(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, struct slice data,
                    const struct d9_frame *f);

/* An id was referenced that is not defined (yet). */
void d9_pool_miss(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, const struct d9_frame *f);

/* Such an id was shown as a number. */
void d9_pool_shown(struct d9_state *st, enum d9_pool_kind kind, uint32_t id);

/* The end of a segment was reached: reports what was never defined. */
void d9_pools_check(struct d9_state *st);

/* A new segment: no id is defined.  What batches hold of the one before stays with them. */
void d9_pools_forget(struct d9_state *st);
void d9_pools_free(struct d9_state *st);

/* The batch that is to be filled may point to what is in the pools. */
void d9_pools_hold(struct d9_state *st, struct batch *b);

/* ---- ahead ---- */

/* What stands later in the trace: symbols, and definitions behind their use. */

struct symbol;

/* What a look-ahead pass found.  Events point to its texts, so batches hold it; it does not change once the
 * pass is over. */
struct d9_ahead {
	struct shared_memory shared;
	struct table64 symbol_index; /* address -> symbols[] */
	struct symbol *symbols;
	uint32_t nsymbols, symbols_cap;
	struct table64 late_index; /* segment, kind and id -> late[] */
	struct slice *late;
	uint32_t nlate, late_cap;
	struct arena text; /* of both */
	uint64_t dropped;  /* that were not retained, because of the bounds */
};

/* Asks for a look-ahead pass, the first time it is called. */
void d9_look_ahead(struct d9_state *st);
void d9_ahead_drop(struct d9_state *st); /* batches that hold it keep it */

/* The batch that is to be filled may point to what was found. */
void d9_ahead_hold(struct d9_state *st, struct batch *b);

/* Called by the pass. */
void d9_ahead_symbol(struct d9_state *st, uint64_t address, uint64_t depth, struct slice name);
void d9_ahead_late(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, struct slice data);

/* The bytes of a definition that stands later in this segment; p is NULL if there is none. */
struct slice d9_ahead_find(const struct d9_state *st, enum d9_pool_kind kind, uint32_t id);

/* The names of a stack's addresses, or the addresses where they have none; `names` false: only those.  *cost:
 * about how many bytes they take in an output; *element: the type of all of them, or VALUE_NONE.  NULL: no
 * memory. */
struct value *d9_stack_values(struct d9_state *st, bool names, struct arena *a, const char *addresses,
                              uint32_t n, uint32_t *cost, uint8_t *element);

/* ---- schema ---- */

/* Schemas, and what this program does with events of each. */

struct d9_made;
struct d9_op;

struct d9_field {
	struct slice name;    /* in events */
	struct slice in_file; /* as the schema has it, for findings, whoever looks at the events */
	uint8_t type;         /* enum d9_type, perhaps with D9_OPTIONAL; as in the file, known or not */
	bool used;            /* by its plan */
};

/* What this program does with an event besides showing it. */
enum d9_kind { D9_KIND_PLAIN, D9_KIND_CLOCK, D9_KIND_FACTS, D9_KIND_SYMBOL, D9_KIND_TRACK };

/* The fields that it does it with. */
enum d9_part { D9_PART_CLOCK, D9_PART_FACTS, D9_PART_ADDRESS, D9_PART_NAME, D9_PART_DEPTH, D9_PARTS };

#define D9_NO_FIELD UINT32_MAX

/* One schema of the trace; segments that register the same share it.  What events point to lies in the
 * trace's arena. */
struct d9_schema {
	struct slice name;
	struct class *cls;
	struct d9_field *fields;
	struct class_field *declared; /* `nhead` of the frame (raw events only), then the same fields for
	                                 others */
	struct d9_op *ops;            /* NULL: measured field by field */
	uint32_t nfields, nhead;
	uint32_t nused;             /* up to the last that is used */
	const struct d9_made *made; /* events that this program wrote: dial9_made.h; NULL: others */
	const struct plan *plan;    /* by which they are used; NULL: none, or raw events */
	size_t need; /* an event with so many bytes before the end is measured by steps; SIZE_MAX: none is */
	size_t run_need;          /* the same where an event need only be counted */
	uint32_t parts[D9_PARTS]; /* places of fields, or D9_NO_FIELD */
	uint8_t kind;             /* enum d9_kind */
	bool structure;           /* no event in time */
	bool timed;
	bool readable;
	bool reader_applies; /* the plan */
	bool planned;        /* cls is that of its events; before it is only one of the name */
};

/* Schemas of the trace, and which of them this segment knows. */
struct d9_schemas {
	struct d9_schema **all; /* in order of arrival; owned */
	uint32_t n, cap;
	struct tabletext index;     /* what follows the type_id in the frame -> all[] */
	uint32_t memory;            /* bytes that they cost */
	struct d9_schema **by_type; /* type_id -> schema of this segment, or NULL */
	uint32_t ntypes;            /* places of by_type */
	uint16_t *registered;       /* the type_ids of this segment */
	uint32_t nregistered, registered_cap;
};

void d9_schemas_free(struct d9_schemas *s);
void d9_schemas_forget(struct d9_schemas *s); /* a new segment: no type_id is registered */

static inline struct d9_schema *d9_schema_find(const struct d9_schemas *s, uint64_t type_id)
{
	return type_id < s->ntypes ? s->by_type[type_id] : NULL;
}

/* Where the values of an event of this schema begin in its frame. */
static inline uint32_t d9_schema_head(const struct d9_schema *s)
{
	return s->timed ? D9_TIMED_EVENT_HEAD : D9_EVENT_HEAD;
}

/* ---- state ---- */

/* The state of a reader: what all of its parts share. */

/* The kinds of frames, as classes of structure records. */
enum d9_structure {
	D9_S_HEADER,
	D9_S_SCHEMA,
	D9_S_STRINGS,
	D9_S_STACKS,
	D9_S_RESET,
	D9_S_ANNOTATIONS,
	D9_STRUCTURES
};

struct d9_state {
	struct reader *r;
	struct batch *batch;  /* that is being filled */
	bool no_memory;       /* some step found none: reading ends behind it */
	bool strict;          /* check by the document of 0.3 */
	bool begun;           /* the first header was read */
	bool resumes;         /* what follows a fault is wanted, and so not skipped */
	uint64_t base;        /* timestamp_base_ns */
	uint64_t segment;     /* number of the present one; the first is 1 */
	uint64_t last_offset; /* of the last complete frame */

	struct class *structure[D9_STRUCTURES];
	struct d9_schemas schemas;
	struct d9_pool pools[D9_POOLS];
	struct d9_pool_memory *pool_memory; /* what the entries of both pools point to; NULL: nothing yet */
	uint64_t pooled_bytes;
	bool pools_full; /* some entry of this segment was not retained */
	struct d9_open_frame open;
	struct d9_lack lack;

	struct d9_ahead *ahead;    /* what a look-ahead pass found; NULL: there was none */
	struct d9_ahead *collects; /* this is such a pass: where it puts what it finds; else NULL */
	bool asked_ahead;          /* for one; the input may not be readable twice */
	bool looked_ahead;         /* and got it */
	bool symbols_met;
	uint64_t seed; /* of the hashes of pool entries */

	struct d9_tallies tallies;
	const struct track *process, *no_track; /* NULL: not needed yet */
	const struct track **tracks;            /* of the present segment: number in track records -> track */
	uint32_t ntracks, tracks_cap;
	uint32_t tracks_made, track_names; /* of the whole input; names: bytes */
	uint32_t meta_bytes;
	uint32_t event_pooled; /* bytes that the pools added to the present event */
	uint64_t batch_pooled; /* and to the present batch */
};

static inline bool d9_wants_structure(const struct d9_state *st)
{
	return (st->r->want & WANT_STRUCTURE) != 0;
}

static inline bool d9_wants_fields(const struct d9_state *st)
{
	return (st->r->want & WANT_FIELDS) != 0;
}

/* The bytes from the start of a frame to the end of the window. */
static inline struct d9_bytes d9_bytes_of(struct d9_state *st, const struct d9_frame *f)
{
	return (struct d9_bytes){ .p = f->p, .end = f->end, .in = st->r->in, .lack = &st->lack };
}

/* The same of a frame that is too large; the caller moves the input's p when it is through. */
static inline struct d9_bytes d9_bytes_pieces(struct d9_state *st)
{
	struct input *const in = st->r->in;

	return (struct d9_bytes){ .p = in->p, .end = in->end, .in = in, .lack = &st->lack, .pieces = true };
}

/* Raw events: nothing is looked up in pools or symbols. */
static inline bool d9_wants_raw(const struct d9_state *st)
{
	return (st->r->want & WANT_RAW) != 0;
}

/* ---- made ---- */

/*
 * Events and tracks that this program wrote into a dial9 trace.  The vocabulary
 * names their schemas (`made: event`, `made: track`); the rest the schemas say:
 *
 *     tracetool:KIND:CATEGORY:CLASS     KIND: enum event_kind; % and : of CATEGORY are %25 and %3a
 *         tracetool.track     Varint, the number of a track
 *         tracetool.duration  Varint, ns; of spans
 *         tracetool.arrow     Varint; of arrows
 *         tracetool.name      PooledString, String; Bytes if it is not UTF-8
 *         FIELD[:WORD]        the arguments; WORD: enum d9_made_word
 *     tracetool:track
 *         track Varint (0, 1, 2, ... in a segment), parent optional Varint, kind String,
 *         id optional Varint, name String or Bytes
 */
#define D9_MADE_PREFIX "tracetool:"
#define D9_MADE_TRACK "tracetool:track"
#define D9_MADE_JSON_DEPTH 100U
#define D9_MADE_FIELDS 4 /* before the arguments, at most */

extern const char *const d9_made_kinds[EVENT_KINDS + 1];

extern const char *const d9_made_hidden[D9_MADE_FIELDS];

/* What a value is where dial9 has no type for it. */
enum d9_made_word {
	D9_MADE_PLAIN, /* as it is: said only where the name ends in one of the other words */
	D9_MADE_I8,
	D9_MADE_I16,
	D9_MADE_I32,
	D9_MADE_F32,
	D9_MADE_ADDRESS,
	D9_MADE_TEXT,  /* Bytes that are text, but not UTF-8 */
	D9_MADE_JSON,  /* String */
	D9_MADE_STACK, /* numbers in a list are addresses */
	D9_MADE_WORDS
};

extern const char *const d9_made_words[D9_MADE_WORDS + 1];

/* The word that a name of a field ends in, or D9_MADE_WORDS; *n: bytes of the name before it. */
enum d9_made_word d9_made_word_of(struct slice name, uint32_t *n);

/* What is known of a schema of such events. */
struct d9_made {
	uint8_t kind;    /* enum event_kind */
	uint8_t nhidden; /* fields before the arguments */
	struct slice cls, category;
	uint8_t *words; /* of each argument: enum d9_made_word */
};

/* Takes the schema apart.  false: it is none of these, or there is no memory, which the state remembers. */
bool d9_made_event_schema(struct d9_state *st, struct d9_schema *s);
bool d9_made_track_schema(const struct d9_schema *s);

/* A track record. */
void d9_made_track(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f);

/* Makes the event of its hidden fields; *args: where the others begin in the frame. */
void d9_made_event(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f, struct batch *b,
                   struct event *e, const char **args);

/* Gives an argument the type that it had. */
void d9_made_restore(struct d9_state *st, enum d9_made_word word, struct batch *b, struct value *v);

/* The process of events that no such track is for, which is named by the file.  NULL: no memory, which the
 * state remembers. */
const struct track *d9_process(struct d9_state *st);

/* ---- measure ---- */

/* How long an event is, at full speed. */

/* A step of measuring an event. */
struct d9_op {
	uint8_t kind;
	uint8_t size;  /* of an item of a run */
	uint32_t need; /* after a value of any length: bytes the steps up to the next one may take */
};

/* Makes s->ops and s->need, if events of this schema can be measured so.  false: no memory. */
bool d9_ops_make(struct d9_schema *s);

/* The end of an event that begins at p and has s->need bytes before `end`; NULL: it must be looked at more
 * closely. */
const char *d9_measure(const struct d9_state *st, const struct d9_schema *s, const char *p, const char *end);

/* Counts plain events and resets at the start of the window, for passes that want none of them; stops at
 * anything else.  How many. */
uint32_t d9_check_run(struct d9_state *st, uint32_t most);

/* ---- read ---- */

extern const struct reader_ops d9_reader_ops;

/* ---- record ---- */

/* Frames and entries as records of the trace: time, counts, events of a batch. */

/* Reports that the time base and a delta do not fit 64 bits. */
void d9_record_overflow(struct d9_state *st, const struct d9_frame *f, uint32_t delta);

/* Moves the time base by the delta of a timed event, to 2^64 - 1 at most. */
static inline void d9_record_time(struct d9_state *st, const struct d9_frame *f)
{
	const uint32_t delta = load_u32(f->p + 2, false) >> 8;

	if (delta > UINT64_MAX - st->base)
		d9_record_overflow(st, f, delta);
	else
		st->base += delta; /* "then set timestamp_base_ns = timestamp_ns" */
}

/* Counts an event that is complete. */
static inline void d9_count_event(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f)
{
	st->r->records++;
	st->r->trace->events += !s->structure;
	s->cls->records++;
	st->last_offset = f->offset;
}

/* Counts a frame of another kind, without entries to come. */
void d9_count_frame(struct d9_state *st, enum d9_structure which, const struct d9_frame *f);

/* The next event of the batch, at the present time; the caller adds 1 to b->n. */
static inline struct event *d9_record_event(struct d9_state *st, struct batch *b, const struct d9_frame *f,
                                            const struct class *cls)
{
	struct event *const e = &b->events[b->n];

	*e = (struct event){
		.ts = st->base, .name = cls->name, .cls = cls, .offset = f->at, .phase = PHASE_STRUCTURE
	};
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(f->p, (size_t)(f->end - f->p));
	return e;
}

/* Adds a structure record with these fields, if it is wanted. */
void d9_record_structure(struct d9_state *st, enum d9_structure which, const struct d9_frame *f,
                         struct batch *b, const struct field *fields, uint32_t n);

/* ---- recover ---- */

extern const struct recover_ops d9_recover_ops;

/* A frame of entries, as far as it is there. */
struct d9_entries {
	uint32_t count_at; /* where its count stands ... */
	uint32_t count_size;
	uint32_t count, whole; /* ... the count, and how many entries are complete */
	size_t size;           /* of the frame up to the end of these */
	bool large;            /* some entry is larger than the reader takes */
	bool more;             /* further bytes may complete it */
};

/* ---- value ---- */

/* Values that are looked up: what ids stand for, and the names of addresses.  Raw ones are not. */

void d9_value_id(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, const struct d9_frame *f,
                 struct batch *b, struct value *v);

/* ---- vocabulary ---- */

/* Plans of schemas, and events that hold facts of the whole trace. */

/* Looks up the plan of a schema, and what this program does with its events.  false: no memory. */
bool d9_schema_plan(struct d9_state *st, struct d9_schema *s);

/* The classes of schemas without events, for what they declare. */
void d9_schemas_declare(struct d9_state *st);

/* ---- walk ---- */

/*
 * The grammar of values, by the table of types: the one place where their
 * bytes are walked over, whether to check them, to drop them or to make values
 * of them.
 */

enum d9_walk_mode {
	D9_WALK_OVER,   /* nothing is checked but what sizes depend on */
	D9_WALK_CHECK,  /* sets `odd` if there is something to report that does not end reading */
	D9_WALK_REPORT, /* reports it */
};

struct d9_walk {
	struct d9_bytes bytes;
	struct d9_state *st;
	const struct d9_frame *f;
	const struct d9_schema *s;
	const struct d9_field *field;
	struct batch *b; /* for values */
	uint8_t mode;    /* enum d9_walk_mode */
	bool raw;        /* values are as the bytes have them: nothing is looked up */
	bool odd;
	bool stuck; /* the event cannot be read on; why: */
	uint8_t rule;
	uint64_t at, value;
};

/* On the values of an event that was checked: nothing can go wrong but memory. */
static inline void d9_walk_values(struct d9_walk *w, struct d9_state *st, const struct d9_schema *s,
                                  const struct d9_frame *f, struct batch *b)
{
	*w = (struct d9_walk){ .bytes = d9_bytes_of(st, f), .st = st, .f = f, .s = s, .b = b };
	w->bytes.p += d9_schema_head(s);
	w->raw = d9_wants_raw(st);
}

/* Walks over the next value, and makes *v of it unless v is NULL.  `depth`: lists and maps around it, whose
 * elements have types.  false: it is not all there, or stuck. */
bool d9_walk_value(struct d9_walk *w, uint8_t type, unsigned depth, struct value *v);

/* Checks an event in the window and sets f->end.  It is reported on only when it is complete, because a frame
 * at the end of a window is walked more than once. */
enum d9_result d9_walk_event(struct d9_state *st, const struct d9_schema *s, struct d9_frame *f);

/* Walks over an event in pieces, behind the frame at the start of the window. */
enum d9_result d9_walk_pieces(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f);

/* A LEB128 number that was checked: D9_VARINT_MAX bytes at most. */
static inline uint64_t d9_varint(const char **p)
{
	uint64_t byte = (unsigned char)*(*p)++, v = byte & 0x7f;

	for (unsigned shift = 7; byte >= 0x80; shift += 7) {
		byte = (unsigned char)*(*p)++;
		v |= (byte & 0x7f) << shift;
	}
	return v;
}

/* ---- write symbols ---- */

/* The entries of the symbol table in a selection: those come along whose address a written stack has. */

struct d9w_symbol {
	struct slice bytes; /* of the frame */
	uint64_t address, ts;
	bool timed;
};

struct d9w_symbols {
	struct table64 needed; /* addresses of the stacks that were written, of all segments */
	struct arena arena;
	struct d9w_symbol *retained; /* of this segment, while no stack had their address */
	uint32_t n, cap;
	bool all; /* too many addresses to remember: all symbols come */
};

/* ---- write select ---- */

/* What a selection of records refers to: schemas, annotations and pools of the present segment. */

/* A definition that an event may refer to: a schema, or an entry of a pool. */
struct d9w_known {
	struct slice bytes; /* of the schema frame, or of the entry; p NULL: it is not defined yet */
	uint32_t notes;     /* schemas: the first of its annotations + 1, or 0 */
	uint32_t last_note; /* likewise */
	bool written;
	bool refers;  /* schemas: events may refer to pools, or have stacks */
	bool symbol;  /* schemas: of symbols */
	bool timed;   /* schemas: of events with a time */
	bool awaited; /* entries: a retained event refers to it */
};

struct d9w_note {
	struct slice entry;
	uint32_t next; /* + 1, or 0 */
};

struct d9w_select {
	struct arena arena;   /* of this segment */
	struct table64 index; /* kind and number -> known[] */
	struct d9w_known *known;
	uint32_t nknown, known_cap;
	struct d9w_note *notes;
	uint32_t nnotes, notes_cap;
	uint64_t type_id;    /* of the annotations whose entries come */
	uint8_t entry_kind;  /* enum d9w_kind of the entries that come */
	bool any;            /* a header was written */
	bool header_pending; /* that of this segment was not */
	bool full;           /* what is defined from here on is written at once */
	struct d9w_symbols symbols;
};

struct d9w_state;

void d9w_select(struct d9w_state *st, const struct batch *b, struct chunk *chunk);

/* A trace of which nothing was selected is a header. */
void d9w_select_end(struct d9w_state *st, struct chunk *chunk);
void d9w_select_free(struct d9w_select *s);

/* ---- write ---- */

/* The writer. */

/* The record that an event of raw mode stands for. */
enum d9w_record {
	D9W_HEADER,
	D9W_SCHEMA,
	D9W_HEAD,  /* of a pool or annotations, with the first entry if there is one */
	D9W_ENTRY, /* a later one */
	D9W_RESET,
	D9W_EVENT,
	D9W_RUN, /* events and resets: WRITER_RAW_RUNS */
};

/* Records of a dial9 trace that are written as they are. */
struct d9w_raw {
	bool any;         /* something was written */
	bool skipping;    /* the records of this input are left out */
	uint64_t next;    /* offset behind the last record of this input */
	uint64_t was;     /* timestamp_base_ns of the input; followed if times are moved */
	uint64_t left;    /* entries to come of the frame that was written last */
	struct text last; /* an entry of that frame */
};

/* Bounds, so that memory does not grow with the trace and the reader (dial9_wire.h) reads the output. */
#define D9W_MOST_SCHEMAS 65000U
#define D9W_MOST_DESCRIBED (12U << 20) /* bytes that all schemas cost a reader */
#define D9W_MOST_FIELDS 60000U         /* of one event */
#define D9W_MOST_SCHEMA (3U << 20)     /* bytes of one schema */
#define D9W_MOST_EVENT (3U << 20)      /* bytes of texts, lists and maps of one event */
#define D9W_MOST_POOL (900U << 10)     /* bytes that the string pool costs a reader, before it looks ahead */
#define D9W_MOST_POOLED 1024U          /* bytes of a text in the pool */
#define D9W_MOST_REFERRED (1U << 20)   /* bytes of the texts that one event refers to */
#define D9W_MOST_FACTS 60U
#define D9W_MOST_FACT_BYTES (56U << 10)

/* Types of the output; others are those of events. */
enum d9w_type_id { D9W_ID_TRACK, D9W_ID_FACTS, D9W_ID_CLOCK, D9W_ID_FREE };

/* How a value is written. */
struct d9w_cell {
	uint8_t wire; /* enum d9_type, perhaps with D9_OPTIONAL */
	uint8_t word; /* enum d9_made_word */
	uint32_t id;  /* in the pool */
};

/* A schema of the output: events of one class and kind, with fields of the same names and types. */
struct d9w_layout {
	/* kind: enum event_kind, and the wire type of the event's name << 8; types of members: wire, and
	 * word << 8, of struct d9w_cell */
	struct shape shape;
	uint16_t id;
	bool bad_name, renamed; /* losses of its events */
	bool other;             /* shared by events of any class: all fields in one */
};

struct d9w_track {
	uint32_t number; /* from 1; 0: none yet */
	bool changed;    /* readers show its events under another name */
};

struct d9w_state {
	bool is_raw, selected, rebased, signed_time, as_0_3;
	uint64_t base; /* timestamp_base_ns of the output */
	struct d9w_raw raw;
	struct d9w_select select;
	struct arena arena;
	struct d9w_track *tracks; /* by index of the trace's track */
	uint32_t ntracks;
	uint32_t next_track;
	struct shapes shapes;                  /* struct d9w_layout */
	struct d9w_layout others[EVENT_KINDS]; /* id 0: not described yet */
	uint32_t next_id;
	struct tabletext pool; /* text -> id */
	uint32_t npool, pool_bytes;
	struct d9w_cell *cells; /* of the current event: its name, then its fields */
	uint32_t ncells;
	uint32_t left, referred; /* bytes that the current event may still have; that it refers to */
	struct text scratch;
};

enum d9w_loss {
#define LOSS(row, key, line, ...) D9W_##row,
#include "dial9/losses.def"
#undef LOSS
	D9W_LOSSES
};

extern const struct loss d9w_losses[D9W_LOSSES + 1];

static inline void d9w_lose(struct chunk *chunk, enum d9w_loss kind, uint64_t offset)
{
	ledger_add(&chunk->ledger, &d9w_losses[kind], offset, 1);
}

/* ---- write.c ---- */

/* A little-endian number of 1 to 8 bytes. */
void d9w_number(struct text *t, uint64_t v, unsigned size);

/* A timestamp reset, which becomes the time base. */
void d9w_reset(struct d9w_state *st, uint64_t ts, struct chunk *chunk);
void d9w_varint(struct text *t, uint64_t v);

/* A text with a length of 16 (32) bits before it. */
void d9w_text16(struct text *t, struct slice s);
void d9w_text32(struct text *t, struct slice s);

/* Adds the text, at most `most` bytes of it, with U+FFFD for what is not UTF-8; whether that changed it. */
bool d9w_clean(struct text *t, struct slice s, uint32_t most);
bool d9w_is_utf8(struct slice s);

/* The delta of a timed event at `ts`; a reset is written where there must be one. */
uint32_t d9w_delta(struct d9w_state *st, uint64_t ts, struct chunk *chunk);

/* ---- copy.c ---- */

void d9w_raw(struct d9w_state *st, const struct batch *b, struct chunk *chunk);

/* ---- write_values.c ---- */

#define D9W_NO_ID UINT32_MAX

/* ---- write_schema.c ---- */

/* Writes what every output begins with: the header, and the schemas up to D9W_ID_FREE. */
void d9w_prologue(struct chunk *chunk);

/* Returns the layout of an event by st->cells, whose schema is written if it is new. */
const struct d9w_layout *d9w_layout_of(struct d9w_state *st, const struct batch *b, const struct event *e,
                                       struct chunk *chunk);

/* Returns how a field is written; texts are added to the pool. */
struct d9w_cell d9w_cell_of(struct d9w_state *st, const struct value *v, struct chunk *chunk);

void d9w_value(struct d9w_state *st, struct d9w_cell cell, const struct value *v, struct chunk *chunk,
               uint64_t offset);
/* All fields of an event, as one value. */
struct d9w_cell d9w_all_cell(const struct d9w_state *st);
void d9w_all(struct d9w_state *st, const struct field *f, uint32_t n, struct chunk *chunk, uint64_t offset);

/* Returns the number of a track, whose record precedes its first event. */
uint32_t d9w_track(struct d9w_state *st, const struct track *t, struct chunk *chunk);

extern const struct writer_ops d9w_ops;

#endif
