#ifndef OUTPUT_TEXT_JSON_H
#define OUTPUT_TEXT_JSON_H

#include <stddef.h>
#include <string.h>

#include "base/numbers.h"

#include "output/text.h"

/* ---- UTF-8 ---- */

struct arena;

#define TEXT_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Adds a text, with U+FFFD for each invalid run of bytes (see utf8_invalid_run()).  Returns the number of
 * replacements.  SLICE_UTF8 and SLICE_JSON text is copied unchecked. */
size_t text_utf8(struct text *t, struct slice s);

/* Returns the text that text_utf8() adds: `s` itself if it is UTF-8, else a copy.  p is NULL on OOM. */
struct slice text_repaired(struct arena *a, struct slice s);

/* ---- JSON ---- */

/* Adds the characters of a JSON string.  Each maximal subpart that is not UTF-8 becomes U+FFFD; returns the
 * number of replacements.  Control bytes, '"' and '\\' are escaped (\b \f \n \r \t or \u00XX), and so are
 * characters that steer terminals (utf8_is_hidden()).  SLICE_JSON text is copied unchecked. */
size_t text_json_chars(struct text *t, struct slice s);

size_t text_json_quoted(struct text *t, struct slice s); /* for text_json_string() */

/* Likewise, in quotes. */
static inline size_t text_json_string(struct text *t, struct slice s)
{
	if ((s.flags & SLICE_JSON) == 0)
		return text_json_quoted(t, s);

	char *p = text_reserve(t, (size_t)s.n + 2);
	if (p == NULL)
		return 0;
	*p++ = '"';
	p = text_put(p, s.p, s.n);
	*p++ = '"';
	t->n += (size_t)s.n + 2;
	return 0;
}

/* Adds valid JSON, with hidden characters escaped: they are inside its strings. */
void text_json_text(struct text *t, const char *p, size_t n);

/* Integers beyond +-(2^53 - 1), which a JSON reader with doubles would round, are written as strings. */
void text_json_u64(struct text *t, uint64_t v);
void text_json_i64(struct text *t, int64_t v);
void text_json_address(struct text *t, uint64_t v); /* "0x1f" */

/* Adds the shortest text that reads back the same.  NaN and the infinities become the strings "NaN",
 * "Infinity", "-Infinity", and the function returns false. */
bool text_json_f64(struct text *t, double v);
bool text_json_f32(struct text *t, float v);

#endif
