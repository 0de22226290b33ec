#ifndef OUT_FIELD_NAMES_H
#define OUT_FIELD_NAMES_H

#include "model/event.h"

struct arena;

/* For formats where the fields of an event have different names. */

/* Whether two of the fields may have one name; exact for 16 and fewer. */
bool field_names_may_repeat(const struct field *f, uint32_t n);

/* Returns a copy of the fields with names that differ: x, x (2), ...; NULL on OOM. */
struct field *field_names_unique(struct arena *a, const struct field *f, uint32_t n);

#endif
