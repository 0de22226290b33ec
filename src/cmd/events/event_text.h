#ifndef CMD_EVENT_TEXT_H
#define CMD_EVENT_TEXT_H

#include "format/fields_json.h"
#include "model/event.h"
#include "output/text.h"

/* Events and values in the reports of cat, info, diff and convert --verify. */

/* `"kind":...,"offset":N`, without braces: all members but class and args.  They are named like the columns
 * of tables, see tracetool-csv(5). */
void event_json(struct text *t, const struct event *e, struct fields_json_lost *lost);

/* A value for people: numbers in full, text in quotes and escaped. */
void value_text_put(struct text *t, const struct value *v);

/* Text of the trace as a word: in quotes if it has anything but plain letters. */
void value_text_word(struct text *t, struct slice s);

#endif
