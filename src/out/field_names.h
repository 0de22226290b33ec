#ifndef OUT_FIELD_NAMES_H
#define OUT_FIELD_NAMES_H

#include "model/event.h"

struct arena;
struct chunk;
struct loss;

/* For formats in which the fields of an event have different names. */

/* Whether two of the fields may have one name; exact for 16 and fewer. */
bool field_names_may_repeat(const struct field *f, uint32_t n);

/* Numbers later fields of the same name: x, x (2), ...  Returns false on OOM. */
bool field_names_number(struct arena *a, struct field *f, uint32_t n);

/* The same for formats that write names as text_utf8() does, as two names that are not UTF-8 can become one.
 * Numbers them in a copy of the fields; returns f itself if all names differ, NULL on OOM.  Adds the number
 * of changed names to *renamed. */
const struct field *field_names_unique_utf8(struct arena *a, const struct field *f, uint32_t n,
                                            uint32_t *renamed);

/* The same for writers.  The copy is in the chunk, which counts the changed names; on OOM it has failed, and
 * f is returned.  offset: of the event in the input. */
const struct field *field_names_unique(struct chunk *c, const struct field *f, uint32_t n,
                                       const struct loss *repeated, uint64_t offset);

/* Returns the fields with names as text_utf8() writes them: f itself if all are UTF-8, else a copy, NULL on
 * OOM. Adds the number of changed names to *changed. */
struct field *field_names_repaired(struct arena *a, struct field *f, uint32_t n, uint32_t *changed);

#endif
