#ifndef PIPELINE_SELECT_MATCH_H
#define PIPELINE_SELECT_MATCH_H

#include "base/decimal.h"
#include "model/value.h"
#include "run/choose/select.h"

/* Whether the conditions choose the i-th event of a batch; the time window is not looked at. */
bool select_matches(const struct select *s, const struct batch *b, uint32_t i);

/* Whether an event meets one of them, be it inverted or not. */
bool select_meets(const struct select_condition *c, const struct batch *b, const struct event *e);

/* The thread that a track shows something of; the process where it is of no thread. */
const struct track *select_thread_of(const struct track *t);

/* The text of a value that is no list, as `cat` shows it, texts without quotes; in `room` or of the value. */
#define SELECT_VALUE_TEXT DECIMAL_F64_MAX
struct slice select_value_text(const struct value *v, char room[SELECT_VALUE_TEXT]);

#endif
