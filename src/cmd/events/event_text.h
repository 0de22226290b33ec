#ifndef CMD_EVENT_TEXT_H
#define CMD_EVENT_TEXT_H

#include "format/fields_json.h"
#include "json/out.h"
#include "model/batch.h"
#include "output/text.h"

/* Events and values in the reports of cat, info, diff and convert --verify. */

/* `"kind":...,"offset":N`, without braces: all members but class and args.  They are named like the columns
 * of tables, see tracetool-csv(5).  zero: trace.zero_ns, which is subtracted from ts. */
void event_json(struct json_out *o, const struct event *e, uint64_t zero, struct fields_json_lost *lost);

/* A value for people: numbers in full, text in quotes and escaped. */
void value_text_put(struct text *t, const struct value *v);

/* Writes text of the trace, in quotes unless it has only plain letters. */
void value_text_word(struct text *t, struct slice s);

/* Fields of an event in a table: `json` as members of an object, else "k=v k=v". */
#define SHOWN_FIELDS_MAX 32 /* number of names */

struct shown_fields {
	bool json, named; /* named: the fields in `names`; else all in JSON, those with text in tables */
	struct slice names[SHOWN_FIELDS_MAX];
	unsigned n;
};

/* Parses "a,b", or "none".  Returns false if there is no name, an empty name, or too many names. */
bool shown_fields_parse(struct shown_fields *f, const char *words);

/* Clears the text and writes the fields to it; fields beyond 8 KiB are left out. */
struct slice shown_fields_put(struct text *t, const struct shown_fields *which, const struct batch *b,
                              const struct event *e);

#endif
