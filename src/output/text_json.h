#ifndef OUTPUT_TEXT_JSON_H
#define OUTPUT_TEXT_JSON_H

#include "output/text.h"
#include "output/text_put.h"

/* Values as JSON text. */

/* `s` as a JSON string with its quotes.  Bytes that are not UTF-8 become U+FFFD, one for each maximal
 * subpart; returns how many.  Control bytes, '"' and '\\' are escaped (\b \f \n \r \t or \u00XX), and so are
 * characters that steer terminals (utf8_is_hidden).  SLICE_JSON text is copied without looking. */
static inline size_t text_json_string(struct text *t, struct slice s);

/* The same without quotes. */
size_t text_json_chars(struct text *t, struct slice s);

/* The part of text_json_string that looks at the bytes; use that one. */
size_t text_json_quoted(struct text *t, struct slice s);

static inline size_t
text_json_string(struct text *t, struct slice s)
{
	if ((s.flags & SLICE_JSON) == 0)
		return text_json_quoted(t, s);

	char *p = text_room(t, (size_t)s.n + 2);
	if (p == NULL)
		return 0;
	*p++ = '"';
	p = text_put(p, s.p, s.n);
	*p++ = '"';
	t->n += (size_t)s.n + 2;
	return 0;
}

/* JSON text as it is, but for such characters: in valid JSON they are inside strings. */
void text_json_text(struct text *t, const char *p, size_t n);

/* Integers that a JSON reader with doubles would round (beyond +-(2^53 - 1)) are written as strings. */
void text_json_u64(struct text *t, uint64_t v);
void text_json_i64(struct text *t, int64_t v);

/* Shortest text that reads back the same; NaN and the infinities become the strings "NaN", "Infinity",
 * "-Infinity" and the return value is false. */
bool text_json_f64(struct text *t, double v);
bool text_json_f32(struct text *t, float v);

#endif
