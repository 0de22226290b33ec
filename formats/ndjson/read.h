#ifndef NDJSON_READ_H
#define NDJSON_READ_H

#include <inttypes.h>
#include <stdio.h>

#include "model/trace_origin.h"
#include "format/format.h"
#include "json/json_number.h"
#include "json/json_token.h"

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

static inline bool
ndjson_has(const struct ndjson_line *line, enum ndjson_member m)
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

/* The line [p, end) into st->line.  false after a finding, or without memory: it is left out. */
bool ndjson_parse(struct ndjson_reading *st, const char *p, const char *end);

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

/* What format, dialect, byte_order, clock and record_id of the line say. */
bool ndjson_take_facts(struct ndjson_reading *st, struct trace_facts *to);

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

/* The value of a digit 0-9 or a-f; -1: it is none. */
int ndjson_hex_digit(char c);

/* "0x" and at most 16 digits. */
bool ndjson_hexadecimal(struct slice s, uint64_t *v);

/* The bits of a double that is no number, or infinite. */
bool ndjson_not_finite(struct slice s, uint64_t *bits);

/* The double of a JSON number [p, e), where that is found by one operation; false: it is not. */
bool ndjson_exact_f64(const char *p, const char *e, double *to);

#endif
