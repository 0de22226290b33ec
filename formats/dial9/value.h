#ifndef DIAL9_VALUE_H
#define DIAL9_VALUE_H

#include "dial9/state.h"

/* Values that are looked up: what ids stand for, and the names of addresses.  Raw ones are not. */

void d9_value_id(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, const struct d9_frame *f,
                 struct batch *b, struct value *v);

void d9_value_stack(struct d9_state *st, const char *addresses, uint32_t n, const struct d9_frame *f,
                    struct batch *b, struct value *v);

#endif
