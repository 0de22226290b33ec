#ifndef PIPELINE_VALUE_ORDER_H
#define PIPELINE_VALUE_ORDER_H

#include "model/event.h"

/* The number that a text is, all of it, as JSON writes numbers; value: U64, I64 or F64.  false: it is none,
 * or is longer than numbers are. */
bool value_number(struct slice text, struct value *v);

/* How one number compares with another, whatever their types: *order is below, 0 or above.  false: one is no
 * number, or not a number. */
bool value_order(const struct value *a, const struct value *b, int *order);

#endif
