#ifndef DFTRACER_PARSE_H
#define DFTRACER_PARSE_H

#include "dftracer/keys.h"

/* Any record at p, which is its brace.  False: rec->json.error (or no_memory) is the reason. */
bool dft_parse(struct dft_record *rec, struct dft_keys *keys, const char *p, const char *e);

/* Whether the bytes at p begin as tracers begin records. */
bool dft_begins_record(const char *p, const char *e);

/* Behind `"traceEvents":[` near the start of an object at p, as records are wrapped for Chrome; NULL: it has
 * none. */
const char *dft_wrapper_end(const char *p, const char *e);

#endif
