#ifndef FUZZ_STRICT_JSON_H
#define FUZZ_STRICT_JSON_H

#include <stddef.h>

/*
 * A slow and strict check of JSON text (RFC 8259), written to disagree with
 * writers: it shares no code with them.  Stricter than the RFC: surrogates in
 * escapes come in pairs, and values nest at most STRICT_JSON_DEPTH deep.
 */
#define STRICT_JSON_DEPTH 100

/* NULL if the n bytes are one JSON value with nothing but white space around it; else what is wrong, and *at
 * is the place. */
const char *strict_json_fault(const char *p, size_t n, size_t *at);

/* One past the JSON string that starts at p; NULL if there is none. */
const char *strict_json_string_end(const char *p, const char *end);

/* How many bytes the UTF-8 character at p has; 0: none is there, or it is not valid. */
size_t strict_utf8_length(const char *p, const char *end);

#endif
