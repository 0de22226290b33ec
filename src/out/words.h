#ifndef OUT_WORDS_H
#define OUT_WORDS_H

#include "base/memory.h"
#include "output/text.h"
#include "out/kind.h"

/*
 * Words: properties of events that an output format cannot store, written as pairs of a name and a value so
 * that the events are read back unchanged.  This is the table of the words; a carrier (attributes of an
 * event, hidden fields of a schema) only decides where a pair is stored.  docs/words.md lists the carriers of
 * all formats.
 *
 * Every event has the class; other pairs are written only if they add something.
 */
#define WORDS_PREFIX "tracetool."
#define WORD_ROWS(ROW)                                                                                       \
	ROW(CLASS, "class", VALUE_STRING)                                                                    \
	ROW(CATEGORY, "category", VALUE_STRING) /* if not the name of the class */                           \
	ROW(KIND, "kind", VALUE_STRING)         /* if not a span */                                          \
	ROW(ARROW, "arrow", VALUE_U64)          /* id of an arrow */                                         \
	ROW(DURATION, "duration", VALUE_U64)    /* ns */                                                     \
	ROW(TYPES, "types", VALUE_STRING)       /* of the fields: see words_add_type() */                    \
	ROW(TRACK, "track", VALUE_U64)          /* number of a track described earlier */                    \
	ROW(NAME, "name", VALUE_STRING)                                                                      \
	ROW(CLOCK, "clock", VALUE_BOOL) /* timestamps of the wall clock */

enum word {
#define ROW(word, ...) WORD_##word,
	WORD_ROWS(ROW)
#undef ROW
	    WORDS
};

extern const struct slice word_names[WORDS]; /* with the prefix; NUL-terminated */

/* Whether the name is longer than the prefix and starts with it. */
static inline bool word_is_own(struct slice name)
{
	return name.n >= sizeof WORDS_PREFIX && memcmp(name.p, WORDS_PREFIX, sizeof WORDS_PREFIX - 1) == 0;
}

#define WORDS_OF_EVENT (WORD_TYPES + 1) /* the other words belong to other records, or to carriers */

/* Pairs by word; VALUE_NONE: absent. */
struct words {
	struct value of[WORDS_OF_EVENT];
};

/* Sets all pairs of an event, except types. */
void words_of_event(struct words *w, const struct event *e);

/* Reads a pair.  Returns false if the name is no word, or the value has the wrong type. */
bool words_read(struct words *w, struct slice name, const struct value *v);

/* Restores kind, arrow and duration of an event from words_of_event().  An unknown kind changes nothing. */
void words_apply(const struct words *w, struct event *e);

/* ---- names of fields ---- */

/* Escapes a name that starts with the prefix: "tracetool.field.NAME". */
void words_escape(struct text *t, struct slice name);
struct slice words_unescape(struct slice name);

/* ---- types ---- */

/* Types of fields that the format does not store, one item per field: "u8,,[bool]". */
struct word_types {
	struct text text;
	uint32_t n; /* number of items */
};

/* Adds the type of a field, by its index; list: the type of all elements. */
void words_add_type(struct word_types *to, uint32_t field, unsigned type, bool list);

/* Sets the types of fields from the list, if the values fit.  Values that need memory use the arena. */
void words_restore_types(struct slice types, struct field *f, uint32_t n, struct arena *a);

/* Converts a value to the type of the original trace.  Returns false, and changes nothing, if it does not
 * fit.  Conversions: U64 to BOOL, U8 to U32 and ADDRESS; I64 to I8 to I32; F64 to F32; text to BYTES
 * (hexadecimal digits), JSON and NONE ("null"); BYTES to text that is not UTF-8. */
bool words_restore(struct value *v, unsigned type, struct arena *a);

#endif
