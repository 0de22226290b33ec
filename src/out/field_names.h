#ifndef OUT_FIELD_NAMES_H
#define OUT_FIELD_NAMES_H

#include "model/event.h"

struct arena;

/* For formats in which the fields of an event have different names. */

/* Whether two of the fields may have one name; exact for 16 and fewer. */
bool field_names_may_repeat(const struct field *f, uint32_t n);

/* Numbers later fields of the same name: x, x (2), ...  Returns false on OOM. */
bool field_names_number(struct arena *a, struct field *f, uint32_t n);

/* The same for formats that write names as text_utf8() does: two names that are not UTF-8 can become one. */
bool field_names_may_repeat_utf8(const struct field *f, uint32_t n);

/* Numbers them in a copy of the fields; returns f itself if all names differ, NULL on OOM.  Adds the number
 * of changed names to *renamed. */
struct field *field_names_unique_utf8(struct arena *a, struct field *f, uint32_t n, uint32_t *renamed);

/* Returns the fields with names as text_utf8() writes them: f itself if all are UTF-8, else a copy, NULL on
 * OOM. Adds the number of changed names to *changed. */
struct field *field_names_repaired(struct arena *a, struct field *f, uint32_t n, uint32_t *changed);

#endif
