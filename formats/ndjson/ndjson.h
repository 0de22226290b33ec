#ifndef NDJSON_NDJSON_H
#define NDJSON_NDJSON_H

#include <inttypes.h>
#include <stdio.h>

#include "format/format.h"
#include "json/scan.h"
#include "json/token.h"
#include "model/trace_origin.h"

/* ---- read ---- */

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
#define NDJSON_MAX_VALUES 63 /* how deep values nest: as deep as readers give them */

/* What lines are. */
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
#define MEMBER(name, word, kinds) NDJSON_M_##name,
#include "ndjson/members.def"
#undef MEMBER
	NDJSON_MEMBERS
};

struct ndjson_token {
	const char *p, *end;
	enum json_kind kind;
};

/* A member of an object whose names are not known beforehand. */
struct ndjson_pair {
	struct slice name; /* between its quotes */
	enum json_kind name_kind;
	struct ndjson_token value;
};

struct ndjson_pairs {
	struct ndjson_pair *list;
	uint32_t n, cap;
};

/* The present line. */
struct ndjson_line {
	const char *p, *end; /* without what ends it */
	enum ndjson_type type;
	uint64_t seen; /* a bit for each member; the others are not set */
	struct ndjson_token of[NDJSON_MEMBERS];
	bool async, step; /* kinds of span and flow_in */
	struct ndjson_pairs args, types;
	const char *twice, *unknown; /* the first such member; NULL: none */
	const char *wrong;           /* the first value of a wrong type, of ... */
	enum ndjson_member wrong_member;
};

/* What the file calls by an index. */
struct ndjson_known {
	uint64_t index;
	struct class *cls;
	const struct track *track;
	struct tabletext types; /* of a class: name of a field -> enum value_type; for many fields only */
	uint64_t open;          /* of a track: spans that have begun ... */
	uint64_t open_at;       /* ... and where the outermost did */
};

struct ndjson_known_list {
	struct ndjson_known *list;
	uint32_t n, cap;
	struct table64 others; /* index -> place in the list, of those that do not stand at their index */
};

struct ndjson_reading {
	struct reader *r;
	struct json json;
	struct ndjson_line line;
	uint64_t number;   /* of the present line, from 1 */
	size_t scanned;    /* bytes of it in which no line feed is */
	bool has_trace;    /* the first line was read when the input was opened */
	bool has_end, raw; /* raw: the file was written so */
	bool waited;       /* the line was looked at for the batch before */
	bool too_long;     /* the rest of the present line is dropped */
	bool no_memory;
	bool cut;
	struct ndjson_known_list tracks, classes;
	uint64_t text_bytes;
	struct trace_origin *origin;
	struct event event;                          /* of the present line */
	struct class *raw_classes[NDJSON_TYPES + 1]; /* the last: of lines that cannot be read */
	struct value *stack;                         /* of lists that are being read */
	uint32_t nstack, stack_cap;
	struct arena scratch; /* for one line */
};

static inline bool ndjson_has(const struct ndjson_line *line, enum ndjson_member m)
{
	return (line->seen >> m & 1) != 0;
}

/* reader_ops.probe */
int ndjson_probe(struct slice head, bool complete);

/* ---- ndjson_read.c ---- */

/* At a place of the present line. */
void ndjson_report(struct ndjson_reading *st, enum ndjson_rule rule, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- ndjson_parse.c ---- */

extern const char *const ndjson_type_words[NDJSON_TYPES];
extern const char *const ndjson_member_words[NDJSON_MEMBERS];

/* ---- ndjson_take.c ---- */

/* An integer from 0 on that the line has.  false after a finding: it does not fit. */
bool ndjson_number(struct ndjson_reading *st, enum ndjson_member m, uint64_t max, uint64_t *v);

/* A text, in the form that `escaped` says; p NULL: no memory, or a finding. */
struct slice ndjson_text_of(struct ndjson_reading *st, enum ndjson_member m, struct arena *a);

/* What the index of the line stands for; NULL after a finding. */
struct ndjson_known *ndjson_known(struct ndjson_reading *st, struct ndjson_known_list *k,
                                  enum ndjson_member m);

/* Lines that are no events. */
bool ndjson_take_trace(struct ndjson_reading *st);
bool ndjson_take_track(struct ndjson_reading *st);
bool ndjson_take_class(struct ndjson_reading *st);
void ndjson_take_free(struct ndjson_reading *st);

/* ---- ndjson_end.c ---- */

bool ndjson_take_end(struct ndjson_reading *st);

/* ---- ndjson_event.c ---- */

/* An event, unless nobody wants it.  false: the line is left out. */
bool ndjson_take_event(struct ndjson_reading *st, struct batch *b);

/* At the end: spans that have not ended. */
void ndjson_take_finish(struct ndjson_reading *st);

/* The line as a record, read or not. */
void ndjson_take_raw(struct ndjson_reading *st, struct batch *b, bool parsed, size_t n);

/* ---- ndjson_fields_read.c ---- */

/* Where fields go, and memory for what does not lie in the input. */
struct ndjson_into {
	struct batch *b; /* NULL: facts of the trace */
	struct arena *arena;
	bool copy; /* nothing may point into the input */
};

/* The fields of the line.  known: its class; NULL: none.  Returns how many there are. */
uint32_t ndjson_read_fields(struct ndjson_reading *st, const struct ndjson_into *to,
                            const struct ndjson_known *known);

/* Fills known->types where that is faster than looking. */
bool ndjson_learn_types(struct ndjson_known *known);

/* ---- ndjson_value_read.c ---- */

struct ndjson_fault {
	const char *at;
	const char *why; /* NULL: none */
	bool range;
};

/* The value of a token, where a type is expected (VALUE_NONE: none).  fault->why: it is none. */
struct value ndjson_read_value(struct ndjson_reading *st, const struct ndjson_into *to,
                               const struct ndjson_token *t, unsigned expected, struct ndjson_fault *fault);

/* The value of a token of which `word` says the type. */
struct value ndjson_read_said(struct ndjson_reading *st, const struct ndjson_into *to,
                              const struct ndjson_token *t, struct slice word, struct ndjson_fault *fault);

/* The enum value_type of a word; VALUE_NONE: there is none. */
unsigned ndjson_type_of_word(struct slice word);

/* ---- ndjson_text_read.c ---- */

/* A text without its escapes.  p NULL: no memory. */
struct slice ndjson_string_of(const struct ndjson_into *to, const struct ndjson_token *t);

/* \xHH and \\ become bytes.  p NULL: no memory, or *bad is set. */
struct slice ndjson_unescape_bytes(struct arena *a, struct slice s, bool *bad);

/* ---- state ---- */

#define NDJSON_VERSION 1 /* of what lines mean; a reader refuses a larger one */

/*
 * In which way a value is written, beside those that are an enum value_type.
 * A list whose values are all of one type is NDJSON_LIST_OF | that type where
 * the format says so for the list, NDJSON_LIST_SAME | that type where they
 * happen to be.
 */
enum ndjson_kind {
	NDJSON_ESCAPED = 32, /* text that is not UTF-8: \xHH for a byte, \\ for a backslash */
	NDJSON_JSON_TEXT,    /* JSON that cannot stand in a line as it is */
	NDJSON_OBJECT,       /* a map as an object; VALUE_MAP: as a list of pairs */
	NDJSON_LIST_OF = 64,
	NDJSON_LIST_SAME = 128,
};

/* What an event of a track says about it: `,"track_index":3,"pid":1,"tid":7,"offset":`. */
struct ndjson_track {
	char text[96];
	uint8_t n;
};

struct ndjson_class {
	struct slice line;      /* as it was declared */
	struct slice text;      /* of an event, behind its name: `","class_index":3,"category":"C"` */
	bool escaped;           /* so is that category */
	struct tabletext types; /* name of a field -> enum value_type that the line says */
	struct ndjson_class *next;
};

struct ndjson_state {
	bool signed_time;   /* ts may be before 0; set by open */
	struct arena arena; /* of what tracks and classes are declared as */
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

/* ---- ndjson_text.c ---- */

/* Text as a JSON string; without quotes.  true: it is not UTF-8 and stands in its escaped form. */
bool ndjson_string(struct text *t, struct slice s);
bool ndjson_chars(struct text *t, struct slice s);
bool ndjson_is_utf8(struct slice s);

/* `,"NAME":TEXT`; so too below. */
bool ndjson_member(struct text *t, const char *name, struct slice s);
void ndjson_member_u64(struct text *t, const char *name, uint64_t v);

/* `,"escaped":[...]`: which of these members are; nothing if none is. */
void ndjson_escaped(struct text *t, const char *const *names, const bool *escaped, uint32_t n);

typedef struct slice ndjson_name_at(const void *ctx, uint32_t i);

/* Whether all n names differ; t fails where there is no memory. */
bool ndjson_distinct(struct text *t, ndjson_name_at *at, const void *ctx, uint32_t n);

/* ---- ndjson_value.c ---- */

/* Writes a value where a type is expected (VALUE_NONE: none).  Returns the kind that must be said of it so
 * that it reads back the same; 0: nothing need be.  offset: of the event, for losses. */
unsigned ndjson_value(struct chunk *c, const struct value *v, unsigned expected, uint64_t offset);

/* What ndjson_value() would return. */
unsigned ndjson_value_kind(struct text *t, const struct value *v, unsigned expected);

/* The same where no type is expected, and the kind is said with it: {"$u8":7}. */
void ndjson_value_alone(struct chunk *c, const struct value *v, uint64_t offset);

/* Whether values of the type are written in a form of their own where it is expected. */
bool ndjson_expectable(unsigned type);

/* The word for an enum value_type or ndjson_kind: "u8", "[u8]". */
void ndjson_kind_word(struct text *t, unsigned kind);

/* ---- ndjson_fields.c ---- */

#define NDJSON_SHAPE_FIELDS 16
#define NDJSON_SHAPES 16

/* What is known of fields of these names, of events of this class. */
struct ndjson_shape {
	const struct ndjson_class *cls;
	uint32_t n;
	bool object; /* the names are UTF-8 and differ */
	bool keyed;  /* ... and `keys` holds what stands before each value */
	uint8_t expected[NDJSON_SHAPE_FIELDS];
	struct slice names[NDJSON_SHAPE_FIELDS];
	uint16_t key_ends[NDJSON_SHAPE_FIELDS];
	char keys[512];
	uint16_t kinds[NDJSON_SHAPE_FIELDS]; /* that were said, if ... */
	uint16_t types_n;                    /* ... this is not 0: so many bytes of ... */
	char types[256];                     /* ... how they were said */
};

/* The latest ones.  To be started with ndjson_shapes_init(). */
struct ndjson_shapes {
	struct ndjson_shape rows[NDJSON_SHAPES];
};

void ndjson_shapes_init(struct ndjson_shapes *s);

/* `,"args":{...},"types":{...}` or `,"pairs":[...]`; nothing when there are none.  index: of the class. */
void ndjson_fields(struct ndjson_shapes *shapes, uint32_t index, const struct ndjson_class *cls,
                   const struct field *f, uint32_t n, uint64_t offset, struct chunk *c);

/* ---- ndjson_lines.c ---- */

enum ndjson_loss {
#define LOSS(row, ...) NDJSON_LOSS_##row,
#include "ndjson/losses.def"
#undef LOSS
	NDJSON_LOSSES
};

extern const struct loss ndjson_losses[NDJSON_LOSSES + 1];

#endif
