#ifndef HTDUMP_UNFOLD_H
#define HTDUMP_UNFOLD_H

#include "htdump/plan.h"
#include "htdump/record.h"

/* The field of a class that is its base, or -1. */
int32_t ht_class_base(const struct ht_class *c);

/* Makes the leaves and paths of the plan of rec's class.  false: its layout cannot be known (see the
 * finding), or no memory, which the state remembers; the plan may hold some leaves then. */
bool ht_unfold(struct ht_state *st, const struct ht_record *rec, struct ht_plan *plan);

#endif
