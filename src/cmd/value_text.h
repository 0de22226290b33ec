#ifndef CMD_VALUE_TEXT_H
#define CMD_VALUE_TEXT_H

#include "model/event.h"
#include "output/text_visible.h"

/* A value for people: numbers in full, text in quotes and escaped. */
void value_text_put(struct text *t, const struct value *v);

/* Trace text as a word: in quotes when it holds anything but plain letters. */
void value_text_word(struct text *t, struct slice s);

#endif
