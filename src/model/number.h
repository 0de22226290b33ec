#ifndef MODEL_NUMBER_H
#define MODEL_NUMBER_H

#include "model/event.h"

/* Numbers of values: from texts, as integers, and compared across numeric types. */

/* Parses a text that is one JSON number; value: U64, I64 or F64.
 * Returns false if it is none, or too long. */
bool value_number(struct slice text, struct value *v);

/* How a value fits an integer of 64 bits. */
enum value_fit { VALUE_NO_NUMBER, VALUE_NAN, VALUE_LIMITED, VALUE_ROUNDED, VALUE_EXACT };

/* Sets *to to the integer nearest to a number, or to the number in JSON text, within the range of 64 bits. */
enum value_fit value_integer(const struct value *v, int64_t *to);

/* Compares two numbers of any types: *order is < 0, 0 or > 0.  Returns false if one is no number, or NaN. */
bool value_order(const struct value *a, const struct value *b, int *order);

#endif
