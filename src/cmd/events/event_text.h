#ifndef CMD_EVENT_TEXT_H
#define CMD_EVENT_TEXT_H

#include "format/fields_json.h"
#include "json/out.h"
#include "model/batch.h"
#include "output/text.h"

/* Events and values in the reports of cat, info, diff and convert --verify. */

/* `"kind":...,"offset":N`, without braces: all members but class and args.  They are named like the columns
 * of tables, see tracetool-csv(5).  zero: trace.zero_ns, if ts are from there on. */
void event_json(struct json_out *o, const struct event *e, uint64_t zero, struct fields_json_lost *lost);

/* A value for people: numbers in full, text in quotes and escaped. */
void value_text_put(struct text *t, const struct value *v);

/* Text of the trace as a word: in quotes if it has anything but plain letters. */
void value_text_word(struct text *t, struct slice s);

/* Fields of an event in a table: `json` as members of an object, else "k=v k=v". */
#define SHOWN_FIELDS_MAX 32 /* names */

struct shown_fields {
	bool json, named; /* named: those of `names`; else those with text, in JSON all */
	struct slice names[SHOWN_FIELDS_MAX];
	unsigned n;
};

/* Parses "a,b", or "none".  Returns false if there are no names, too many, or empty ones. */
bool shown_fields_parse(struct shown_fields *f, const char *words);

/* Writes the fields to a text that is cleared first; what would exceed 8 KiB is left out. */
struct slice shown_fields_put(struct text *t, const struct shown_fields *which, const struct batch *b,
                              const struct event *e);

#endif
