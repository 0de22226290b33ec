#ifndef NDJSON_STATE_H
#define NDJSON_STATE_H

#include "format/format.h"

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

static inline const struct ndjson_track *
ndjson_track_of(const struct track *t)
{
	return t->declared;
}

static inline const struct ndjson_class *
ndjson_class_of(const struct class *c)
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

/* The first line. */
void ndjson_put_trace(struct text *t, const struct writer *w);

/* Makes what events and render need.  false: no memory. */
bool ndjson_declare_track(struct ndjson_state *st, struct track *t);
bool ndjson_declare_class(struct ndjson_state *st, struct class *c);

void ndjson_put_track(struct text *t, const struct track *k);

/* Classes that are no longer what they were declared as, then the last line. */
void ndjson_put_end(struct chunk *c, const struct writer *w);

enum ndjson_loss {
#define LOSS(row, ...) NDJSON_LOSS_##row,
#include "ndjson/losses.def"
#undef LOSS
	NDJSON_LOSSES
};

extern const struct loss ndjson_losses[NDJSON_LOSSES + 1];

#endif
