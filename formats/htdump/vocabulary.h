#ifndef HTDUMP_VOCABULARY_H
#define HTDUMP_VOCABULARY_H

#include "htdump/class.h"
#include "htdump/plan.h"

/* Finds the leaves with a role, the kind of the class, and who wants its events.  Leaves and paths of the
 * plan are there.  like: gets the plan, and who applies it.  No memory: the state remembers. */
void ht_vocabulary_apply(struct ht_state *st, struct ht_class *c, struct ht_plan *plan, struct class *like);

/* Whether a class of this name may name integer labels. */
bool ht_vocabulary_may_map(const struct ht_state *st, struct slice name);

#endif
