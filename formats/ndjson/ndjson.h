/*
 * Private header of NDJSON, a format of tracetool: one JSON object a line (tracetool-ndjson(5)).
 *
 *   format.c        probe, row of the format
 *   read.c          the reader: lines, their members and types
 *   pieces.c        lines read by further threads
 *   meaning.c       meaning of lines: the trace, tracks, classes, events, the end
 *   properties.c    properties of classes, in their lines
 *   read_fields.c   fields of a line and their values
 *   raw.c           lines as raw records
 *   write.c         lines of the writer
 *   write_fields.c  fields of an event and their values
 *   recover/        recovery
 *   members.def     members of lines
 */
#ifndef NDJSON_NDJSON_H
#define NDJSON_NDJSON_H

#include <inttypes.h>
#include <stdio.h>

#include "base/compiler.h"
#include "format/format.h"
#include "format/recover.h"
#include "json/repair.h"
#include "json/number.h"
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

#define NDJSON_FEW_FIELDS 16    /* up to this number, names are compared with each other; else in a table */
#define NDJSON_MAX_FIELDS 65535 /* of an event */
#define NDJSON_MAX_CLASSES 65536
#define NDJSON_MAX_TEXT (64u << 20) /* total bytes of lines of tracks and classes */
#define NDJSON_MAX_LOSSES 256
#define NDJSON_MAX_VALUES 63 /* nesting of values, as in other readers */

/* Types of lines. */
/* clang-format off */
enum ndjson_type {
	NDJSON_SPAN, NDJSON_BEGIN, NDJSON_END, NDJSON_INSTANT, NDJSON_COUNTER, NDJSON_FLOW_OUT,
	NDJSON_FLOW_IN, NDJSON_STRUCTURE, /* up to here equal to enum phase */
	NDJSON_TRACE, NDJSON_TRACK, NDJSON_CLASS, NDJSON_TRACE_END, NDJSON_TYPES
};
/* clang-format on */

enum ndjson_member {
#define MEMBER(name, text, kinds) NDJSON_M_##name,
#include "ndjson/members.def"
	NDJSON_MEMBERS
};

/* A member of args or types. */
struct ndjson_pair {
	struct slice name; /* without its quotes */
	enum json_kind name_kind;
	struct json_token value;
};

struct ndjson_pairs {
	struct ndjson_pair *list;
	uint32_t n, cap;
};

/* A line as tokens. */
struct ndjson_line {
	const char *p, *end; /* without \n or \r\n */
	struct json json;    /* its flaws, or why it is no JSON */
	enum ndjson_type type;
	uint64_t seen;                        /* bit m: of[m] is set */
	struct json_token of[NDJSON_MEMBERS]; /* by enum ndjson_member */
	bool async, step;                     /* variants of span and flow_in */
	struct ndjson_pairs args, types;
	const char *duplicate, *unknown; /* the first such member; NULL: none */
	const char *mistyped;            /* the first value of a wrong type; NULL: none */
	enum ndjson_member mistyped_member;
	/* The member that followed each one last; [NDJSON_MEMBERS]: the first of a line. */
	uint8_t after[NDJSON_MEMBERS + 1];
	bool no_memory;
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
	struct table64 others; /* index -> position in the list, if they differ */
	bool limited;          /* a line was left out: ndjson/limit */
};

#define NDJSON_MESSAGE 600 /* bytes */

/* Errors of the current line, for recovery. */
struct ndjson_faults {
	struct ndjson_fault {
		const char *at;
		enum ndjson_rule rule;
	} * list;
	uint32_t n, cap;
	bool limit;               /* a limit was reached */
	char why[NDJSON_MESSAGE]; /* message of the first error */
};

struct ndjson_reading {
	struct reader *r;
	struct ndjson_faults *faults; /* collects findings; NULL: findings are reported */
	struct ndjson_line line;      /* the current one */
	struct pieces *pieces;        /* NULL: no thread parses ahead */
	struct json_repair *plain;    /* a line without its spare escapes; NULL: no line had any yet */
	bool is_plain;                /* the tokens of the current line are in its text */
	uint64_t number;              /* number of the current line, from 1 */
	uint64_t lines;               /* lines that were read */
	size_t scanned;               /* bytes of the current line that have no line feed */
	bool has_trace;               /* the first line was read on open */
	bool has_end;
	bool raw;                     /* the file was written with --raw */
	bool deferred;                /* the line was parsed, and must be the first of a batch */
	bool too_long;                /* the rest of the current line is skipped */
	uint64_t long_at, long_bytes; /* of that line: its offset, skipped bytes */
	uint64_t cut;                 /* bytes of the current line if it lacks its line feed, else 0 */
	uint64_t before;              /* bytes of the current line before in->p: at the end of the input */
	bool ends_in_line;            /* ndjson/cut-line, which implies ndjson/no-end */
	bool readable;                /* the current line is neither damaged nor refused */
	struct ndjson_index tracks, classes;
	uint64_t text_bytes; /* used bytes of NDJSON_MAX_TEXT */
	struct trace_origin *origin;
	struct event event;                          /* of the current line */
	const struct ndjson_entry *entry;            /* its class */
	struct class no_class;                       /* of lines that are no events */
	struct batch no_batch;                       /* for fields that are only read for findings */
	struct class *raw_classes[NDJSON_TYPES + 1]; /* by type; the last: unreadable lines */
	struct value *stack;                         /* values of the lists that are being read */
	uint32_t nstack, stack_cap;
	struct arena scratch; /* for one line */
};

static inline bool ndjson_has(const struct ndjson_line *line, enum ndjson_member m)
{
	return (line->seen >> m & 1) != 0;
}

/* Returns true for types that a class may declare for a field. */
static inline bool ndjson_expectable(unsigned type)
{
	return type >= VALUE_U8 && type <= VALUE_BYTES;
}

/* Returns the last time of an event, as event.ts has it. */
static inline uint64_t ndjson_last_time(const struct ndjson_reading *st)
{
	const uint64_t zero = st->r->trace->zero_ns;

	return zero > 0 ? zero + INT64_MAX : UINT64_MAX;
}

/* ---- format.c ---- */

int ndjson_probe(struct slice head, bool complete);

/* See reader_ops.zero. */
uint64_t ndjson_zero(struct input *in);

/* Returns the type of the line that begins with the object at p, by its first members; NDJSON_TYPES: none. */
enum ndjson_type ndjson_begins(const char *p, const char *e);

/* ---- read.c ---- */

extern const char *const ndjson_type_names[NDJSON_TYPES];
extern const char *const ndjson_member_names[NDJSON_MEMBERS];

/* Returns NDJSON_MEMBERS for other keys. */
enum ndjson_member ndjson_find_member(struct slice key);

/* Returns the type for the value of `kind` (of_event) or of `type`; NDJSON_TYPES: none. */
enum ndjson_type ndjson_find_type(struct slice name, bool of_event);

/* Whether values of the member are of this kind. */
bool ndjson_fits_member(enum ndjson_member m, enum json_kind kind);

/* Returns the end of the line [p, end) without \n or \r\n. */
const char *ndjson_text_end(const char *p, const char *end);

void ndjson_line_clear(struct ndjson_line *line);

/* Reads the object at the brace p into a line that was cleared.  Returns its end; NULL: line->json has the
 * reason, or OOM.  Of all functions only this one and the one above run on other threads. */
const char *ndjson_read_tokens(struct ndjson_line *line, const char *p, const char *e);

/* ---- pieces.c ---- */

void ndjson_pieces_begin(struct ndjson_reading *st);

/* Requires st->pieces.  Sets st->line to the line of which the object begins at p if another thread has read
 * it, and there is nothing unusual in it.  Returns the end of the object, or NULL. */
const char *ndjson_line_read(struct ndjson_reading *st, const char *p);

/* ---- read.c ---- */

/* Reads the object that begins the line [p, end) into st->line.  Returns its end; NULL after a finding or on
 * OOM. */
const char *ndjson_read_object(struct ndjson_reading *st, const char *p, const char *end);

/* Checks that it is strict JSON with a known type and its members.  Returns false after a finding. */
bool ndjson_check_object(struct ndjson_reading *st);

/* ndjson_read_object() and ndjson_check_object() for a line that contains nothing else. */
bool ndjson_parse_line(struct ndjson_reading *st, const char *p, const char *end);

/* Applies the parsed line.  Returns false after a finding or on OOM. */
bool ndjson_read_by_type(struct ndjson_reading *st);

/* Reports a finding at a position of the current line.  Returns false. */
bool ndjson_report(struct ndjson_reading *st, enum ndjson_rule rule, const char *at, const char *fmt, ...)
    PRINTF(4, 5);

/* Returns the start of a value for a message. */
const char *ndjson_quoted(struct quoted *q, const struct json_token *t);

/* ---- meaning.c ---- */

/* Reads an integer without its sign.  Returns false if it has more than 64 bits. */
bool ndjson_magnitude(const struct json_token *t, uint64_t *v);

/* Reads an integer member.  Returns false if it is missing, no integer, or greater than max. */
bool ndjson_get_number(const struct ndjson_line *line, enum ndjson_member m, uint64_t max, uint64_t *v);

/* Whether the array t has this text as an element. */
bool ndjson_array_has(const struct json_token *t, const char *name);

/* Returns NULL if no line has the index. */
struct ndjson_entry *ndjson_find_entry(const struct ndjson_index *k, uint64_t index);

/* Return false after a finding or on OOM. */
bool ndjson_check_version(struct ndjson_reading *st);
bool ndjson_read_trace(struct ndjson_reading *st);
bool ndjson_read_track(struct ndjson_reading *st);
bool ndjson_read_class(struct ndjson_reading *st);
bool ndjson_read_end(struct ndjson_reading *st);
void ndjson_indexes_free(struct ndjson_reading *st);

/* Reads an event into st->event; also its fields, unless ndjson_event() does. */
bool ndjson_read_event(struct ndjson_reading *st);

/* reader_ops.event: reports faults of the fields, too. */
void ndjson_event(struct reader *r, const struct record *rec, struct batch *b, struct event *e);

/* Reports spans that are open at the end of the input. */
void ndjson_finish_events(struct ndjson_reading *st);

/* ---- raw.c ---- */

/* Returns the class for lines of the current type; NULL on OOM. */
struct class *ndjson_raw_class(struct ndjson_reading *st);

/* reader_ops.fields */
void ndjson_raw_fields(struct reader *r, const struct record *rec, struct batch *b, struct event *e);

/* ---- read_fields.c ---- */

/* Destination of fields, and memory for values that are not in the input. */
struct ndjson_target {
	struct batch *b;
	struct arena *arena;
	bool copy; /* nothing may point into the input */
};

/* Reads args or pairs of the line and returns their number.  entry: class of the event; NULL: none. */
uint32_t ndjson_read_fields(struct ndjson_reading *st, const struct ndjson_target *to,
                            const struct ndjson_entry *entry);

/* Adds the types that the class declares for its fields, by name; VALUE_NONE: one that is never expected. */
bool ndjson_index_types(struct tabletext *to, const struct class *c);

/* Returns an enum value_type; VALUE_NONE: no type has the name. */
unsigned ndjson_type_of_name(struct slice name);

/* Returns a string with its escapes resolved. */
struct slice ndjson_string_of(const struct ndjson_target *to, const struct json_token *t);

/* Replaces \xHH and \\ by bytes.  p NULL: *bad is set, or OOM. */
struct slice ndjson_unescape_bytes(struct arena *a, struct slice s, bool *bad);

/* ---- properties.c ---- */

/* Writes the members of a class line for the properties of the plan. */
void ndjson_put_properties(struct text *t, const struct plan *m);

/* Sets the plan of `like` if the class line has properties; one that is not valid is left out, after a
 * finding, and by recovery refused.  Returns false then, and on OOM. */
bool ndjson_read_properties(struct ndjson_reading *st, struct class *like);

/* ---- the writer ---- */

#define NDJSON_VERSION 1 /* of the format; a reader refuses a larger one */

struct ndjson_class {
	uint32_t index;         /* index in its line */
	bool is_new;            /* no earlier class has the same line */
	struct slice line;      /* declaration of the class, after its index */
	struct slice text;      /* in events, after the name: `","class_index":3,"category":"C"` */
	bool escaped;           /* the category is written escaped */
	struct tabletext types; /* name of a field -> enum value_type in the declaration */
	struct ndjson_class *next;
};

extern const struct writer_ops ndjson_writer_ops;

/* ---- write_fields.c ---- */

/* Write text as a JSON string, with and without quotes.  Return true if it is escaped, as it is not UTF-8. */
bool ndjson_string(struct text *t, struct slice s);
bool ndjson_chars(struct text *t, struct slice s);

/* Writes the name of an enum value_type, or of a kind: u8, [u8]. */
void ndjson_put_kind(struct text *t, unsigned kind);

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

/* Writes `,"args":{...},"types":{...}` or `,"pairs":[...]` unless n is 0.  cls NULL: no class. */
void ndjson_fields(struct ndjson_shapes *shapes, const struct ndjson_class *cls, const struct field *f,
                   uint32_t n, uint64_t offset, struct chunk *c);

enum ndjson_loss {
#define LOSS(row, ...) NDJSON_LOSS_##row,
#include "ndjson/losses.def"
#undef LOSS
	NDJSON_LOSSES
};

extern const struct loss ndjson_losses[NDJSON_LOSSES + 1];

/* ---- recovery ---- */

extern const struct recover_ops ndjson_recover_ops;

#endif
