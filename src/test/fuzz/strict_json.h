#ifndef FUZZ_STRICT_JSON_H
#define FUZZ_STRICT_JSON_H

#include <stddef.h>

/*
 * A slow and strict check of JSON text (RFC 8259) that shares no code with the writers it judges.  Stricter
 * than the RFC: surrogates in escapes must be pairs, and values nest at most STRICT_JSON_DEPTH deep.
 */
#define STRICT_JSON_DEPTH 100

/* Returns NULL if the n bytes are one JSON value with white space around it; else the fault, and its offset
 * in *at. */
const char *strict_json_fault(const char *p, size_t n, size_t *at);

/* Returns the end of the JSON string that starts at p, or NULL. */
const char *strict_json_string_end(const char *p, const char *end);

/* Returns the length of the UTF-8 character at p, or 0 if it is missing or invalid. */
size_t strict_utf8_length(const char *p, const char *end);

#endif
