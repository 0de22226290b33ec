#ifndef OUT_WORDS_H
#define OUT_WORDS_H

#include "base/memory.h"
#include "output/text.h"
#include "out/kind.h"

/*
 * What a format has no place for, as pairs of a word and a value, so that an event of another trace is read
 * back unchanged.  This is the table of the words: a carrier (attributes of an event, hidden fields of a
 * schema) knows only where a pair is.  docs/words.md has the places of all formats.
 *
 * Each event has the class, the others only where they add something.
 */
#define WORDS_PREFIX "tracetool."
#define WORD_ROWS(ROW)                                                                                       \
	ROW(CLASS, "class", VALUE_STRING)                                                                    \
	ROW(CATEGORY, "category", VALUE_STRING) /* if it differs from the class's name */                    \
	ROW(KIND, "kind", VALUE_STRING)         /* if it is not a span */                                    \
	ROW(ARROW, "arrow", VALUE_U64)          /* id of an arrow */                                         \
	ROW(DURATION, "duration", VALUE_U64)    /* ns */                                                     \
	ROW(TYPES, "types", VALUE_STRING)       /* of the fields: see words_add_type() */                    \
	ROW(TRACK, "track", VALUE_U64)          /* number of a track that was described before */            \
	ROW(NAME, "name", VALUE_STRING)                                                                      \
	ROW(CLOCK, "clock", VALUE_BOOL) /* of a time of the wall clock */

enum word {
#define ROW(word, ...) WORD_##word,
	WORD_ROWS(ROW)
#undef ROW
	    WORDS
};

extern const struct slice word_names[WORDS]; /* with the prefix; NUL-terminated */

/* Whether the name has the prefix, and more. */
static inline bool word_is_own(struct slice name)
{
	return name.n >= sizeof WORDS_PREFIX && memcmp(name.p, WORDS_PREFIX, sizeof WORDS_PREFIX - 1) == 0;
}

#define WORDS_OF_EVENT (WORD_TYPES + 1) /* the others belong to records of other kinds, or to carriers */

/* Pairs by word; VALUE_NONE: there is none. */
struct words {
	struct value of[WORDS_OF_EVENT];
};

/* Sets the pairs of an event, except types. */
void words_of_event(struct words *w, const struct event *e);

/* Reads a pair.  Returns false if the name is no word, or the value has another type than that of the word.
 */
bool words_read(struct words *w, struct slice name, const struct value *v);

/* Sets kind, arrow and duration of an event that words_of_event() had.  An unknown kind leaves it as it is.
 */
void words_apply(const struct words *w, struct event *e);

/* ---- names of fields ---- */

/* A name that begins like a word is escaped: "tracetool.field.NAME". */
void words_escape(struct text *t, struct slice name);
struct slice words_unescape(struct slice name);

/* ---- types ---- */

/* The types of the fields that the format does not tell, one item each: "u8,,[bool]". */
struct word_types {
	struct text text;
	uint32_t n; /* fields with an item */
};

/* Adds the type of a field, by its index; `list`: that of all its elements. */
void words_add_type(struct word_types *to, uint32_t field, unsigned type, bool list);

/* Gives the fields the types in the list, where they fit.  What has no place in the value is in the arena. */
void words_restore_types(struct slice types, struct field *f, uint32_t n, struct arena *a);

/* Gives a value the type that it had in another trace.  Returns false and changes nothing if it does not fit.
 * From U64 to BOOL, U8 to U32 and ADDRESS; from I64 to I8 to I32; from F64 to F32; from a text to BYTES
 * (hexadecimal digits), JSON and NONE ("null"); from BYTES to a text that is not UTF-8. */
bool words_restore(struct value *v, unsigned type, struct arena *a);

#endif
