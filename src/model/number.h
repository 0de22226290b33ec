#ifndef MODEL_NUMBER_H
#define MODEL_NUMBER_H

#include "json/number.h"
#include "json/token.h"
#include "model/value.h"

/* Numbers of values: from texts, as integers, and compared across numeric types. */

/* Parses a text that is one JSON number; value: U64, I64 or F64.
 * Returns false if it is none, or too long. */
bool value_number(struct slice text, struct value *v);

/* Returns the value of a JSON token that is not a string.  Numbers other than integers of 64 bits, and -0,
 * stay JSON, with all digits; so do objects and arrays. */
static inline struct value value_of_json(const struct json_token *t)
{
	const struct slice s = json_token_text(t);
	uint64_t v;

	switch (t->kind) {
	case JSON_UINT:
	case JSON_INT:
		if (slice_is(s, "-0") || !json_integer(s, &v))
			return value_json(s);
		return t->kind == JSON_INT ? (struct value){ .type = VALUE_I64, .i64 = (int64_t)v }
		                           : value_u64(v);
	case JSON_TRUE:
	case JSON_FALSE:
		return (struct value){ .type = VALUE_BOOL, .u64 = t->kind == JSON_TRUE };
	case JSON_NULL:
	case JSON_ABSENT:
		return (struct value){ .type = VALUE_NONE };
	default:
		return value_json(s);
	}
}

/* How a value fits an integer of 64 bits. */
enum value_fit { VALUE_NO_NUMBER, VALUE_NAN, VALUE_LIMITED, VALUE_ROUNDED, VALUE_EXACT };

/* Sets *to to the integer nearest to a number, or to the number in JSON text, within the range of 64 bits. */
enum value_fit value_integer(const struct value *v, int64_t *to);

/* Compares two numbers of any types: *order is < 0, 0 or > 0.  Returns false if one is NaN, or no number. */
bool value_order(const struct value *a, const struct value *b, int *order);

#endif
