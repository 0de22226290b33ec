#ifndef NDJSON_NDJSON_H
#define NDJSON_NDJSON_H

#include <inttypes.h>
#include <stdio.h>

#include "format/format.h"
#include "json/scan.h"
#include "json/token.h"
#include "model/trace_origin.h"

/* ---- the reader ---- */

enum ndjson_rule {
#define RULE(name, id, level, text, spec, explain) NDJSON_RULE_##name,
#include "ndjson/rules.def"
#undef RULE
	NDJSON_RULE_COUNT
};

extern const struct rule ndjson_rules[NDJSON_RULE_COUNT + 1];
extern const struct reader_ops ndjson_reader_ops;

#define NDJSON_MAX_LINE (64u << 20) /* bytes */
#define NDJSON_MAX_FIELDS 65535     /* of an event */
#define NDJSON_MAX_CLASSES 65536
#define NDJSON_MAX_TEXT (64u << 20) /* bytes of all lines of tracks and classes */
#define NDJSON_MAX_LOSSES 256
#define NDJSON_MAX_VALUES 63 /* nesting of values; other readers return no deeper ones */

/* Types of lines. */
enum ndjson_type {
	NDJSON_SPAN,
	NDJSON_BEGIN,
	NDJSON_END,
	NDJSON_INSTANT,
	NDJSON_COUNTER,
	NDJSON_FLOW_OUT,
	NDJSON_FLOW_IN,
	NDJSON_STRUCTURE, /* up to here as enum phase */
	NDJSON_TRACE,
	NDJSON_TRACK,
	NDJSON_CLASS,
	NDJSON_TRACE_END,
	NDJSON_TYPES
};

enum ndjson_member {
#define MEMBER(name, text, kinds) NDJSON_M_##name,
#include "ndjson/members.def"
#undef MEMBER
	NDJSON_MEMBERS
};

/* A member of args or types. */
struct ndjson_pair {
	struct slice name; /* between its quotes */
	enum json_kind name_kind;
	struct json_token value;
};

struct ndjson_pairs {
	struct ndjson_pair *list;
	uint32_t n, cap;
};

/* The current line. */
struct ndjson_line {
	const char *p, *end; /* without \n or \r\n */
	enum ndjson_type type;
	uint64_t seen;                        /* bit m: of[m] is set */
	struct json_token of[NDJSON_MEMBERS]; /* by enum ndjson_member */
	bool async, step;                     /* variants of span and flow_in */
	struct ndjson_pairs args, types;
	const char *duplicate, *unknown; /* the first such member; NULL: none */
	const char *mistyped;            /* the first value of a wrong type; NULL: none */
	enum ndjson_member mistyped_member;
};

/* A track or a class. */
struct ndjson_entry {
	uint64_t index;
	struct class *cls;
	const struct track *track;
	struct tabletext types; /* of a class with many fields: name -> enum value_type */
	uint64_t open;          /* of a track: spans that have begun and not ended */
};

struct ndjson_index {
	struct ndjson_entry *list;
	uint32_t n, cap;
	struct table64 others; /* index -> position in the list, where they differ */
};

struct ndjson_reading {
	struct reader *r;
	struct json json;
	struct ndjson_line line;
	uint64_t number; /* of the current line, from 1 */
	size_t scanned;  /* bytes of it that have no line feed */
	bool has_trace;  /* the first line was read on open */
	bool has_end;
	bool raw;      /* the file was written with --raw */
	bool deferred; /* the line was parsed for the previous batch */
	bool too_long; /* the rest of the current line is dropped */
	bool no_memory;
	bool cut; /* the current line lacks its line feed */
	struct ndjson_index tracks, classes;
	uint64_t text_bytes; /* against NDJSON_MAX_TEXT */
	struct trace_origin *origin;
	struct event event;                          /* of the current line */
	struct class *raw_classes[NDJSON_TYPES + 1]; /* by type; the last: unreadable lines */
	struct value *stack;                         /* values of the lists that are being read */
	uint32_t nstack, stack_cap;
	struct arena scratch; /* for one line */
};

static inline bool ndjson_has(const struct ndjson_line *line, enum ndjson_member m)
{
	return (line->seen >> m & 1) != 0;
}

/* ---- format.c ---- */

int ndjson_probe(struct slice head, bool complete);

/* ---- read.c ---- */

extern const char *const ndjson_type_names[NDJSON_TYPES];
extern const char *const ndjson_member_names[NDJSON_MEMBERS];

/* Reports a finding at a position of the current line. */
void ndjson_report(struct ndjson_reading *st, enum ndjson_rule rule, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- trace_read.c ---- */

/* Reads an integer member that the line has.  Returns false after a finding: it exceeds max. */
bool ndjson_read_number(struct ndjson_reading *st, enum ndjson_member m, uint64_t max, uint64_t *v);

/* Returns a text member, unescaped if `escaped` names it.  p NULL: a finding, or OOM. */
struct slice ndjson_read_text(struct ndjson_reading *st, enum ndjson_member m, struct arena *a);

/* Returns the entry that a member refers to; NULL after a finding. */
struct ndjson_entry *ndjson_find_entry(struct ndjson_reading *st, struct ndjson_index *k,
                                       enum ndjson_member m);

/* Return false after a finding or on OOM. */
bool ndjson_read_trace(struct ndjson_reading *st);
bool ndjson_read_track(struct ndjson_reading *st);
bool ndjson_read_class(struct ndjson_reading *st);
bool ndjson_read_end(struct ndjson_reading *st);
void ndjson_indexes_free(struct ndjson_reading *st);

/* ---- event_read.c ---- */

/* Adds the event of the line if the consumer wants it.  Returns false after a finding or on OOM. */
bool ndjson_read_event(struct ndjson_reading *st, struct batch *b);

/* Reports spans that are open at the end of the input. */
void ndjson_finish_events(struct ndjson_reading *st);

/* Adds the line, n bytes with its line feed, as a record. */
void ndjson_read_raw(struct ndjson_reading *st, struct batch *b, bool parsed, size_t n);

/* ---- fields_read.c ---- */

/* Destination of fields, and memory for values that are not in the input. */
struct ndjson_target {
	struct batch *b;
	struct arena *arena;
	bool copy; /* nothing may point into the input */
};

/* Reads args or pairs of the line and returns their number.  entry: of the class, NULL: none. */
uint32_t ndjson_read_fields(struct ndjson_reading *st, const struct ndjson_target *to,
                            const struct ndjson_entry *entry);

/* Fills entry->types if the class has many fields. */
bool ndjson_index_types(struct ndjson_entry *entry);

/* ---- value_read.c ---- */

struct ndjson_fault {
	const char *at;
	const char *why; /* NULL: no fault */
	bool range;      /* a number does not fit its type */
};

/* Reads a value.  expected: enum value_type, VALUE_NONE for none.  Sets *fault if it is invalid. */
struct value ndjson_read_value(struct ndjson_reading *st, const struct ndjson_target *to,
                               const struct json_token *t, unsigned expected, struct ndjson_fault *fault);

/* Reads a value of a type that the line names, such as "u8" or "[u8]". */
struct value ndjson_read_typed(struct ndjson_reading *st, const struct ndjson_target *to,
                               const struct json_token *t, struct slice type, struct ndjson_fault *fault);

/* Returns VALUE_NONE if no type has the name. */
unsigned ndjson_type_of_name(struct slice name);

/* Returns a string with its escapes resolved. */
struct slice ndjson_string_of(const struct ndjson_target *to, const struct json_token *t);

/* Replaces \xHH and \\ by bytes.  p NULL: *bad is set, or OOM. */
struct slice ndjson_unescape_bytes(struct arena *a, struct slice s, bool *bad);

/* ---- the writer ---- */

#define NDJSON_VERSION 1 /* of the format; a reader refuses a larger one */

/*
 * Written forms of a value: an enum value_type or one of these.  A list of values of one type is
 * NDJSON_LIST_OF | type if the source format declares it for the list, NDJSON_LIST_SAME | type if it does
 * not.
 */
enum ndjson_kind {
	NDJSON_ESCAPED = 32, /* text that is not UTF-8: \xHH for a byte, \\ for a backslash */
	NDJSON_JSON_TEXT,    /* JSON that a line cannot contain unchanged */
	NDJSON_OBJECT,       /* a map as an object; VALUE_MAP: as a list of pairs */
	NDJSON_LIST_OF = 64,
	NDJSON_LIST_SAME = 128,
};

/* A track as its events refer to it. */
struct ndjson_track {
	char text[96]; /* `,"track_index":3,"pid":1,"tid":7,"offset":` */
	uint8_t n;
};

struct ndjson_class {
	struct slice line;      /* declaration of the class */
	struct slice text;      /* in events, after the name: `","class_index":3,"category":"C"` */
	bool escaped;           /* the category is written escaped */
	struct tabletext types; /* name of a field -> enum value_type in the declaration */
	struct ndjson_class *next;
};

struct ndjson_state {
	bool signed_time;   /* ts may be before 0; set by open */
	struct arena arena; /* of the above structs and their texts */
	struct ndjson_class *classes;
};

static inline const struct ndjson_track *ndjson_track_of(const struct track *t)
{
	return t->declared;
}

static inline const struct ndjson_class *ndjson_class_of(const struct class *c)
{
	return c->declared;
}

extern const struct writer_ops ndjson_writer_ops;

/* ---- value.c: text ---- */

/* Write text as a JSON string, with and without quotes.  Return true if it is not UTF-8, thus escaped. */
bool ndjson_string(struct text *t, struct slice s);
bool ndjson_chars(struct text *t, struct slice s);
bool ndjson_is_utf8(struct slice s);

/* Write `,"NAME":VALUE`; the first returns like ndjson_string(). */
bool ndjson_member(struct text *t, const char *name, struct slice s);
void ndjson_member_u64(struct text *t, const char *name, uint64_t v);

/* Writes `,"escaped":[...]` with the names of the members that are, unless none is. */
void ndjson_escaped(struct text *t, const char *const *names, const bool *escaped, uint32_t n);

typedef struct slice ndjson_name_at(const void *ctx, uint32_t i);

/* Returns true if all n names differ; sets t->failed on OOM. */
bool ndjson_distinct(struct text *t, ndjson_name_at *at, const void *ctx, uint32_t n);

/* ---- value.c: values ---- */

/* Writes a value.  expected: the declared type, VALUE_NONE for none.  Returns the kind that must be written
 * with it so that it reads back the same; 0: none.  offset: of the event, for losses. */
unsigned ndjson_value(struct chunk *c, const struct value *v, unsigned expected, uint64_t offset);

/* Returns the same as ndjson_value() without writing. */
unsigned ndjson_value_kind(struct text *t, const struct value *v, unsigned expected);

/* Writes a value with its kind if that is needed: {"$u8":7}. */
void ndjson_typed_value(struct chunk *c, const struct value *v, uint64_t offset);

/* Returns true for types that a class may declare for a field. */
bool ndjson_expectable(unsigned type);

/* Writes the name of an enum value_type or ndjson_kind: u8, [u8]. */
void ndjson_put_kind(struct text *t, unsigned kind);

/* ---- fields.c ---- */

#define NDJSON_SHAPE_FIELDS 16
#define NDJSON_SHAPES 16

/* Prepared text for events of a class that have fields of these names. */
struct ndjson_shape {
	const struct ndjson_class *cls;
	uint32_t n;
	bool object; /* the names are UTF-8 and differ: args, not pairs */
	bool keyed;  /* `keys` has the text before each value */
	uint8_t expected[NDJSON_SHAPE_FIELDS];
	struct slice names[NDJSON_SHAPE_FIELDS];
	uint16_t key_ends[NDJSON_SHAPE_FIELDS];
	char keys[512];
	uint16_t kinds[NDJSON_SHAPE_FIELDS]; /* of the latest event with types */
	uint16_t types_n;                    /* bytes of `types`; 0: none are kept */
	char types[256];                     /* `,"types":{...}` for these kinds */
};

/* A cache, to be initialised with ndjson_shapes_init(). */
struct ndjson_shapes {
	struct ndjson_shape rows[NDJSON_SHAPES];
};

void ndjson_shapes_init(struct ndjson_shapes *s);

/* Writes `,"args":{...},"types":{...}` or `,"pairs":[...]` unless n is 0.  index: of the class. */
void ndjson_fields(struct ndjson_shapes *shapes, uint32_t index, const struct ndjson_class *cls,
                   const struct field *f, uint32_t n, uint64_t offset, struct chunk *c);

enum ndjson_loss {
#define LOSS(row, ...) NDJSON_LOSS_##row,
#include "ndjson/losses.def"
#undef LOSS
	NDJSON_LOSSES
};

extern const struct loss ndjson_losses[NDJSON_LOSSES + 1];

#endif
