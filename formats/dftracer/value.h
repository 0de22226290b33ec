#ifndef DFTRACER_VALUE_H
#define DFTRACER_VALUE_H

#include "base/textscan.h"
#include "dftracer/record.h"
#include "format/format.h"

/* Tokens of a record as values and texts of events.  They point into the record. */

/* JSON text: a number, an object, an array, or a string with its quotes. */
static inline struct value
dft_json_value(struct slice s)
{
	return (struct value){ .type = VALUE_JSON, .count = s.n, .p = s.p };
}

/* Texts of lines without odd bytes need no second look. */
static inline struct slice
dft_clean_text(struct slice s)
{
	s.flags = SLICE_UTF8 | SLICE_JSON;
	return s;
}

/* A token as text: escapes resolved, in the arena if there are any.  p NULL: no memory. */
struct slice dft_text(struct arena *a, const struct dft_record *rec, struct dft_token t, enum json_kind kind);

/* A whole number; its digits as JSON if 64 bits do not hold it. */
struct value dft_integer_value(const struct dft_record *rec, struct dft_token t, bool minus);

/* nan or an infinity, as JSON_NOT_FINITE has it. */
struct value dft_not_finite_value(struct slice s);

#endif
