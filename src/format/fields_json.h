#ifndef FORMAT_FIELDS_JSON_H
#define FORMAT_FIELDS_JSON_H

#include "model/event.h"
#include "output/text_json.h"

/* Values of fields as standard JSON: exact, escaped, without NaN.  Integers beyond +-(2^53 - 1) are strings;
 * bytes and addresses are "0x" and digits; a map is an object if its keys are texts that differ, else a list
 * of pairs. */

/* Whether a MAP is an object in JSON, else it is a list of pairs: its keys are STRINGs that all differ, also
 * as text_utf8() writes them, because readers retain one value of a name.  False on OOM. */
bool value_is_object(const struct value *map);

/* Values that the text does not represent exactly. */
struct fields_json_lost {
	uint32_t bad_text;     /* texts that are not UTF-8; invalid bytes are U+FFFD */
	uint32_t not_a_number; /* NaN and infinities, written as strings */
	uint32_t too_deep;     /* lists and maps, written as null */
};

void fields_json_value(struct text *t, const struct value *v, struct fields_json_lost *lost);

/* The same for readers with 64-bit integers: all integers as digits, JSON unchanged.  Returns the number of
 * texts that are not UTF-8. */
uint32_t fields_json_as_is(struct text *t, const struct value *v);

/* The text of a BOOL, number or ADDRESS, in DECIMAL_F64_MAX bytes at most, without quotes; NaN and infinities
 * as by printf.  Returns its end; `to` for other values. */
char *fields_json_scalar(char *to, const struct value *v);

/* `"name":value`, with commas between the fields, without braces. */
void fields_json(struct text *t, const struct field *fields, size_t n, struct fields_json_lost *lost);

static inline bool fields_json_lost_any(const struct fields_json_lost *lost)
{
	return (lost->bad_text | lost->not_a_number | lost->too_deep) != 0;
}

/* The text of the i-th key of a MAP whose keys are text. */
static inline struct slice value_key(const struct value *map, uint32_t i)
{
	return value_text(&map->values[2 * (size_t)i]);
}

#endif
