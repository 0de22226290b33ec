#ifndef DIAL9_STATE_H
#define DIAL9_STATE_H

#include <inttypes.h>
#include <stdio.h>

#include "dial9/dial9_type.h"
#include "dial9/dial9_wire.h"
#include "format/format.h"

enum d9_rule {
#define RULE(name, id, level, text, spec, explain) D9_RULE_##name,
#include "dial9/dial9_rules.def"
#undef RULE
	D9_RULE_COUNT
};

extern const struct rule d9_rules[D9_RULE_COUNT + 1]; /* ended by an id of NULL */

enum d9_dialect { D9_0_3, D9_0_4 };

extern const char *const d9_dialects[];

/* What came of one step. */
enum d9_result {
	D9_DONE,
	D9_MORE, /* the window ends inside it: nothing happened, and d9_state.lack says what is missing */
	D9_BAD,  /* nothing after this place can be trusted; a finding said why */
	D9_NO_MEMORY
};

/* One frame, or one entry of a pool, where it lies. */
struct d9_frame {
	const char *p, *end;      /* all of its bytes; while it is measured, `end` is the end of the window */
	uint64_t offset, ordinal; /* of the frame, for findings */
	uint64_t at; /* offset of its own first byte: the frame's, but for later entries of a pool */
	uint8_t tag;
};

/* ---- schemas ---- */

struct d9_field {
	struct slice name;
	uint8_t type; /* enum d9_type, perhaps with D9_OPTIONAL; as the schema says, known or not */
	bool used;    /* its meaning looks at it */
};

/* What this program does with an event besides showing it. */
enum d9_kind { D9_KIND_PLAIN, D9_KIND_CLOCK, D9_KIND_FACTS, D9_KIND_SYMBOL };

/* The fields that it does it with. */
enum d9_part { D9_PART_CLOCK, D9_PART_FACTS, D9_PART_ADDRESS, D9_PART_NAME, D9_PART_DEPTH, D9_PARTS };

/* A step of measuring an event: skip `gap` bytes, then what `kind` says (dial9_measure.c). */
struct d9_op {
	uint8_t kind, gap;
	uint8_t size;  /* of an item of a run */
	uint32_t need; /* after a value of any length: bytes the steps up to the next one may take */
};

#define D9_NO_FIELD UINT32_MAX

/* One schema of the trace; segments that register the same share it. */
struct d9_schema {
	struct class *cls;
	struct d9_field *fields;
	struct class_field
	    *shown;        /* the same for others; the class has those of the first schema of its name */
	struct d9_op *ops; /* NULL: measured field by field */
	uint32_t nfields;
	uint32_t nused; /* up to the last that is used */
	const struct plan
	    *plan;     /* by which they are used; that of the class may be of a later schema of its name */
	uint32_t need; /* an event with so many bytes before the end is measured without looking for it */
	uint32_t parts[D9_PARTS]; /* places of fields, or D9_NO_FIELD */
	uint8_t kind;             /* enum d9_kind */
	bool structure;           /* no event in time */
	bool timed;
	bool readable;
};

/* Schemas of the trace, and which of them this segment knows. */
struct d9_schemas {
	struct d9_schema **all; /* in order of arrival; owned */
	uint32_t n, cap;
	struct tabletext index; /* what follows the type_id in the frame -> all[] */
	uint32_t described_bytes;
	struct d9_schema **by_type; /* type_id -> schema of this segment, or NULL */
	uint32_t ntypes;            /* places of by_type */
	uint16_t *registered;       /* the type_ids of this segment */
	uint32_t nregistered, registered_cap;
};

/* ---- pools ---- */

enum d9_pool_kind { D9_STRINGS, D9_STACKS, D9_POOLS };

struct d9_entry {
	uint64_t hash; /* of its bytes, to tell another definition */
	union {
		const char *text;           /* strings; NULL: nobody wants them */
		const struct value *values; /* stacks, likewise */
	};
	uint32_t n, flags; /* bytes and flags of a string, frames of a stack */
	uint32_t id;
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

/* What a quiet pass over the whole trace found (dial9_ahead.c). */
struct d9_ahead;

/* ---- the reader ---- */

/* Something that is said once, with a count. */
struct d9_tally {
	uint64_t count, offset, ordinal;
	uint64_t value; /* of the first time */
};

/* What was missing when a step gave D9_MORE. */
struct d9_lack {
	const char *what;               /* "frame count" */
	const struct d9_schema *schema; /* of the event, or NULL */
	const struct d9_field *field;   /* or NULL */
	uint64_t bytes;                 /* how many are missing, at least */
	uint64_t length;                /* with says_length: the count or length that does not fit */
	uint64_t left;                  /* and what is left for it */
	bool says_length;
};

/* A pool or annotation frame whose entries are being read. */
struct d9_open_frame {
	uint8_t tag;
	uint32_t left, count; /* entries */
	uint32_t type_id;     /* annotations */
	uint64_t offset;
};

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
	bool strict;          /* check by the document of 0.3 */
	bool newer;           /* something was met that only 0.4 has */
	bool begun;           /* the first header was read */
	uint64_t base;        /* timestamp_base_ns */
	uint64_t segment;     /* number of the present one; the first is 1 */
	uint64_t last_offset; /* of the last whole frame */
	uint64_t records;     /* of this input: whole frames, and entries of pools */
	uint64_t told;        /* of these the trace knows */

	struct class *structure[D9_STRUCTURES];
	struct d9_schemas schemas;
	struct d9_pool pools[D9_POOLS];
	struct d9_pool_memory *pool_memory; /* what the entries of both pools point to; NULL: nothing yet */
	uint64_t pooled_bytes;
	bool pools_full; /* some entry of this segment was not kept */
	struct d9_open_frame open;
	struct d9_lack lack;

	struct d9_ahead *ahead;    /* what a look-ahead pass found; NULL: there was none */
	struct d9_ahead *collects; /* this is such a pass: where it puts what it finds; else NULL */
	bool asked_ahead;          /* for one; the input may not be readable twice */
	bool looked_ahead;         /* and got it */
	bool symbols_met;
	uint64_t seed; /* of the hashes of pool entries */

	struct d9_tally bools, late, redefined, pool_limit;
	struct d9_tally symbols_late, unresolved; /* shown without names that stand later, on a pipe */
	const struct track *process, *no_track;
	uint32_t meta_bytes;
	uint32_t event_pooled; /* bytes that the pools added to the present event */
	uint64_t fill_pooled;  /* and to the present batch */
};

/* A place where an event cannot be read on, or what is wrong with a value. */
struct d9_fault {
	enum d9_rule rule;
	const char *at;
	uint64_t value;
};

/* ---- dial9_judge.c: saying things ---- */

void d9_find(struct d9_state *st, enum d9_rule rule, const struct d9_frame *f, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void d9_find_at(struct d9_state *st, enum d9_rule rule, const struct d9_frame *f, const char *at,
                const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void d9_tally_add(struct d9_tally *t, const struct d9_frame *f, uint64_t value);

/* A feature that only 0.4 has was met at `at`: a note once, or an error each time with --dialect 0.3. */
void d9_newer(struct d9_state *st, const struct d9_frame *f, const char *at, const char *what);

/* Text that must be UTF-8; `what` and the field say which.  Says so if it is not. */
void d9_check_text(struct d9_state *st, const struct d9_frame *f, struct slice s, const char *what,
                   struct slice whose);

/* The input ends inside a frame: st->lack says where. */
enum d9_result d9_say_cut(struct d9_state *st, const struct d9_frame *f);

/* Notes what a cursor misses.  Always D9_MORE. */
enum d9_result d9_lacks(struct d9_state *st, const struct cursor *c);

/* The same for a length or count n that does not fit `left`. */
enum d9_result d9_lacks_length(struct d9_state *st, const char *what, uint64_t n, uint64_t bytes,
                               uint64_t left);

/* What was counted, at the end of the trace. */
void d9_say_tallies(struct d9_state *st);

/* ---- dial9_schema.c ---- */

void d9_schemas_free(struct d9_schemas *s);
void d9_schemas_forget(struct d9_schemas *s); /* a new segment: no type_id is registered */
enum d9_result d9_schema_frame(struct d9_state *st, struct d9_frame *f, struct batch *b);

static inline struct d9_schema *
d9_schema_of(const struct d9_state *st, uint32_t type_id)
{
	return type_id < st->schemas.ntypes ? st->schemas.by_type[type_id] : NULL;
}

/* ---- dial9_annotation.c ---- */

enum d9_result d9_annotations_head(struct d9_state *st, struct d9_frame *f, struct batch *b);
enum d9_result d9_annotation(struct d9_state *st, struct d9_frame *f, struct batch *b);

/* ---- dial9_measure.c: how long an event is, without checking ---- */

/* Makes s->ops, s->need.  false: no memory. */
bool d9_ops_make(struct d9_schema *s);

/* The end of an event that begins at p and has s->need bytes before `end`; NULL: not a plain case, look
 * closely. */
const char *d9_measure(const struct d9_state *st, const struct d9_schema *s, const char *p, const char *end);

/* ---- dial9_walk.c: measuring and checking field by field ---- */

/* Sets f->end. */
enum d9_result d9_walk_event(struct d9_state *st, const struct d9_schema *s, struct d9_frame *f);

/* Says why an event cannot be read on.  Always D9_BAD. */
enum d9_result d9_say_fault(struct d9_state *st, const struct d9_schema *s, const struct d9_field *field,
                            const struct d9_frame *f, uint64_t at, const struct d9_fault *fault);

/* ---- dial9_value.c: values of an event that was measured ---- */

/* The value at p; gives the end of it, NULL without memory. */
const char *d9_value(struct d9_state *st, struct batch *b, uint8_t type, const char *p, struct value *v,
                     const struct d9_frame *f);

/* The end of the value at p. */
const char *d9_value_end(uint8_t type, const char *p);

/* The number at p, if it is one; absent ones are none. */
bool d9_value_integer(uint8_t type, const char *p, uint64_t *v);

/* Where field i of an event begins. */
const char *d9_field_at(const struct d9_schema *s, const struct d9_frame *f, uint32_t i);

/* The field of this name, or D9_NO_FIELD. */
uint32_t d9_field_named(const struct d9_schema *s, struct slice name);

/* The names of a stack's addresses, or the addresses; st NULL: only those.  NULL: no memory. */
struct value *d9_stack_values(const struct d9_state *st, struct arena *a, const char *addresses, uint32_t n);

static inline uint64_t
d9_varint(const char **p)
{
	uint64_t v = 0;
	unsigned char byte;

	for (unsigned shift = 0;; shift += 7) {
		byte = (unsigned char)*(*p)++;
		v |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
		if (byte < 0x80)
			return v;
	}
}

/* ---- dial9_pool.c: what is defined ---- */

const struct d9_entry *d9_pool_far(const struct d9_pool *pool, uint32_t id);

static inline const struct d9_entry *
d9_pool_find(const struct d9_pool *pool, uint32_t id)
{
	if (id >= D9_DIRECT_IDS)
		return d9_pool_far(pool, id);
	return id < pool->ndirect && pool->direct[id] != 0 ? &pool->entries[pool->direct[id] - 1] : NULL;
}

/* Defines an id of the present segment; `data` are the bytes of the string or of the addresses. */
enum d9_result d9_pool_define(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, struct slice data,
                              const struct d9_frame *f);

/* An id was referenced that is not defined (yet). */
enum d9_result d9_pool_miss(struct d9_state *st, enum d9_pool_kind kind, uint32_t id,
                            const struct d9_frame *f);

/* Such an id was shown as a number. */
void d9_pool_shown(struct d9_state *st, enum d9_pool_kind kind, uint32_t id);

/* The end of a segment was reached: says what was never defined. */
void d9_pools_check(struct d9_state *st);

/* A new segment: no id is defined.  What batches hold of the one before stays with them. */
void d9_pools_forget(struct d9_state *st);

/* A batch is filled that may point to what is in the pools.  false: no memory. */
bool d9_pools_hold(struct d9_state *st, struct batch *b);
void d9_pools_free(struct d9_state *st);

/* ---- dial9_entry.c: pool frames ---- */

enum d9_result d9_pool_head(struct d9_state *st, struct d9_frame *f, struct batch *b);
enum d9_result d9_pool_entry(struct d9_state *st, struct d9_frame *f, struct batch *b);

/* ---- dial9_event.c: records as events ---- */

/* An event frame at f->p, of any kind. */
enum d9_result d9_event_frame(struct d9_state *st, struct d9_frame *f, struct batch *b);

/* Moves the time base by the delta of a timed event; says so if it goes past 2^64. */
void d9_advance(struct d9_state *st, const struct d9_frame *f);

/* Adds a structure record with these fields, if anybody wants it. */
enum d9_result d9_structure_add(struct d9_state *st, enum d9_structure which, const struct d9_frame *f,
                                struct batch *b, const struct field *fields, uint32_t n);

static inline bool
d9_wants_structure(const struct d9_state *st)
{
	return (st->r->want & WANT_STRUCTURE) != 0;
}

static inline bool
d9_wants_fields(const struct d9_state *st)
{
	return (st->r->want & WANT_FIELDS) != 0;
}

/* ---- dial9_meaning.c: what a schema means; the clock, facts ---- */

/* Looks up what the events of a schema mean. */
void d9_schema_mean(struct d9_state *st, struct d9_schema *s);

enum d9_result d9_learn(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f);

/* ---- dial9_ahead.c: what stands later in the trace ---- */

/* Asks for a look-ahead pass, the first time it is called.  false: no memory. */
bool d9_look_ahead(struct d9_state *st);
void d9_ahead_drop(struct d9_state *st); /* batches that hold it keep it */

/* A batch is filled that may point to what was found.  false: no memory. */
bool d9_ahead_hold(struct d9_state *st, struct batch *b);

/* Symbols and late definitions that were not kept. */
uint64_t d9_ahead_lost(const struct d9_state *st);

/* Called by the pass that looks ahead.  false: no memory. */
bool d9_ahead_symbol(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f);
bool d9_ahead_late(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, struct slice data);

/* The name of an address; p is NULL if it has none. */
struct slice d9_symbol(const struct d9_state *st, uint64_t address);

/* The bytes of a definition that stands later in this segment; p is NULL if there is none. */
struct slice d9_late_find(const struct d9_state *st, enum d9_pool_kind kind, uint32_t id);

/* ---- dial9_skip.c: frames that are too large to hold ---- */

/* Leaves out the event or pool entry at the start of the window, in pieces.  Its bytes are gone then, even
 * when it is cut. */
enum d9_result d9_skip(struct d9_state *st, struct d9_frame *f, struct batch *b);

/* ---- dial9_read.c ---- */

extern const struct reader_ops d9_reader_ops;

int d9_probe(struct slice head, bool whole);

#endif
