#ifndef DIAL9_VOCABULARY_H
#define DIAL9_VOCABULARY_H

#include "dial9/dial9_state.h"

/* What the vocabulary says of events that tell something about the whole trace. */

/* Looks up the plan of a schema, and what this program does with its events. */
void d9_schema_plan(struct d9_state *st, struct d9_schema *s);

/* Does it, unless the kind is D9_KIND_PLAIN. */
void d9_learn(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f);

#endif
