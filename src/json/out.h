#ifndef JSON_OUT_H
#define JSON_OUT_H

#include "output/text.h"

/* Writes JSON: brackets, keys with the commas before them, and values, each appended to a text immediately.
 * The only state is `comma`.  So any depth of nesting costs nothing, and a document can be written in parts:
 * a writer that starts with comma = true continues after an element.
 *
 * `key` is NULL for elements of an array and for the document. */
struct json_out {
	struct text *t;
	bool comma; /* the next member or element needs a comma before it */
};

/* Writes one or more opening brackets: "{", "[", "[{".  White space may follow them. */
void json_out_begin(struct json_out *o, const char *key, const char *brackets);

/* The same after white space, which follows the comma: "\n  ". */
void json_out_begin_after(struct json_out *o, const char *space, const char *key, const char *brackets);

/* Writes one or more closing brackets, with white space anywhere: "}", "\n]}\n". */
void json_out_end(struct json_out *o, const char *brackets);

/* Writes the comma before the next member or element, if it needs one, and white space: "\n  ". */
void json_out_space(struct json_out *o, const char *space);

/* Writes the comma and the key.  The caller appends one value to the returned text. */
struct text *json_out_value(struct json_out *o, const char *key);

void json_out_slice(struct json_out *o, const char *key, struct slice s);
void json_out_string(struct json_out *o, const char *key, const char *s); /* NULL: null */
void json_out_u64(struct json_out *o, const char *key, uint64_t v);       /* all digits */
/* Writes the time ns - zero; unless it is negative, as text_json_u64().  zero: trace.zero_ns. */
void json_out_ns(struct json_out *o, const char *key, uint64_t ns, uint64_t zero);
/* Writes the time ns - zero in plain digits, as all numbers of a report. */
void json_out_plain_ns(struct json_out *o, const char *key, uint64_t ns, uint64_t zero);
void json_out_u64_or_string(struct json_out *o, const char *key, uint64_t v); /* see text_json_u64() */
void json_out_f64(struct json_out *o, const char *key, double v);             /* finite */
void json_out_bool(struct json_out *o, const char *key, bool v);
void json_out_null(struct json_out *o, const char *key);

#endif
