#ifndef MODEL_NUMBER_H
#define MODEL_NUMBER_H

#include "model/event.h"

/* Numbers of values: from texts, and compared across numeric types. */

/* Parses a text that is one JSON number; value: U64, I64 or F64.
 * Returns false if it is none, or too long. */
bool value_number(struct slice text, struct value *v);

/* Compares two numbers of any types: *order is < 0, 0 or > 0.  Returns false if one is no number, or NaN. */
bool value_order(const struct value *a, const struct value *b, int *order);

#endif
